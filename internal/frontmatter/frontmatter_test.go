package frontmatter

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestSplit(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		matter, body string
		ok           bool
	}{
		"---\na: 1\n---\nbody":                {"a: 1\n", "body", true},
		"---\r\na: 1\r\n--- \r\n\r\nbody\r\n": {"a: 1\r\n", "\r\nbody\r\n", true},
		"\uFEFF---\n---\n":                    {"", "", true},
		"---\na: 1\n---":                      {"a: 1\n", "", true},
		"---\na: 1\n----\n":                   {"", "---\na: 1\n----\n", false},
		"---\nopen":                           {"", "---\nopen", false},
		" ---\na\n---\n":                      {"", " ---\na\n---\n", false},
		"text\n---\na\n---\n":                 {"", "text\n---\na\n---\n", false},
		"":                                    {"", "", false},
	}
	for text, want := range tests {
		if matter, body, ok := Split(text); matter != want.matter || body != want.body || ok != want.ok {
			t.Errorf("Split(%q): %q, %q, %t, want %q, %q, %t", text, matter, body, ok, want.matter, want.body, want.ok)
		}
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()
	var got struct {
		Name string `yaml:"name"`
	}
	if err := Decode("name: a\nother: 1\n", &got); err != nil || got.Name != "a" {
		t.Errorf("Decode: %q, %v", got.Name, err)
	}
	err := Decode("name: [\n", &got)
	if err == nil || !strings.HasPrefix(err.Error(), "front matter: ") || strings.Contains(err.Error(), "\n") {
		t.Errorf("Decode of what is not YAML: %v, want one line", err)
	}
}

// Whatever the YAML is, it is read or refused in one line, at once.
func TestDecodeSurvives(t *testing.T) {
	t.Parallel()
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'k'; c++ {
		p := string(c - 1)
		bomb += fmt.Sprintf("%c: &%c [*%s,*%s,*%s,*%s,*%s,*%s,*%s,*%s,*%s]\n", c, c, p, p, p, p, p, p, p, p, p)
	}
	for matter, want := range map[string]string{
		"tags: !x": "", strings.Repeat("- ", 20_000): "nested", "tags: !!int\n": "", "tags: *a\n": "alias",
		bomb + "tags: *j\n": "alias", "tags: !<": "",
		"tags: " + strings.Repeat("[", 60_000): "nested", "a: " + strings.Repeat("x", 70_000): "longer", "tags: {a: b}": "",
		"tags: [[a]]": "neither", "? a\n: b\n? [c]": "", "tags: >-\n": "", "<<: *x": "alias", "\x00": "", "tags: @a": "",
		"tags: %a": "", "- a": "", "a: b: c": "", "tags: !!binary x": "", "&a": "", "!!set {a}": "", "tags:\n\t- a": "",
	} {
		var got struct {
			Tags List `yaml:"tags"`
		}
		err := Decode(matter, &got)
		if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.60q: %v, want %q", matter, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%.60q: more than a line: %v", matter, err)
		}
	}
}

// An error is about the text, and does not name this program's types.
func TestDecodeNamesTheField(t *testing.T) {
	t.Parallel()
	var got struct {
		Date string `yaml:"date"`
	}
	const want = "front matter: the value of date has another type than it should; write it as text, in quotes"
	if err := Decode("date: !!timestamp 2026-11-23\n", &got); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	for matter, want := range map[string]List{
		"tags: a": {"a"}, "tags: [a, b]": {"a", "b"}, "tags:\n- 2026\n- c/d": {"2026", "c/d"}, "tags:": nil, "tags: []": nil,
		"tags: memory/session": {"memory/session"}, "tags: \"x y\"": {"x y"}, "tags: 7": {"7"},
		"tags: [a, null]": {"a"}, "x: 1": nil,
	} {
		var got struct {
			Tags List `yaml:"tags"`
		}
		if err := Decode(matter, &got); err != nil {
			t.Errorf("%q: %v", matter, err)
		}
		if !slices.Equal(got.Tags, want) {
			t.Errorf("%q: %q, want %q", matter, got.Tags, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("tags: !x")
	f.Add("a: &a [b]\nc: *a")
	f.Fuzz(func(_ *testing.T, matter string) {
		var got struct {
			Tags  List   `yaml:"tags"`
			Date  string `yaml:"date"`
			Links List   `yaml:"links"`
		}
		_ = Decode(matter, &got) // it only must not panic
	})
}

// Splitting takes a text apart without changing it.
func FuzzSplit(f *testing.F) {
	f.Add("---\na: 1\n---\nbody")
	f.Add("\uFEFF---\r\n---\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		matter, body, ok := Split(text)
		if !ok && (matter != "" || body != text) {
			t.Errorf("Split(%q): %q, %q without front matter", text, matter, body)
		}
		if !strings.HasSuffix(text, body) || !strings.Contains(text, matter) {
			t.Errorf("Split(%q): %q, %q are no parts of it", text, matter, body)
		}
	})
}
