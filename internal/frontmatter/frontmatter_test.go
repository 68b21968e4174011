package frontmatter

import (
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
