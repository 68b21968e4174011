package passage

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestCut(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text string
		want []Passage
	}{
		"empty":           {"", nil},
		"only headings":   {"# A\n\n## B\n", nil},
		"no heading":      {"\ntea\n", []Passage{{"", "", "tea", 2}}},
		"front matter":    {"---\ndate: 2026-01-01\n---\n\n# A\ntea\n", []Passage{{"A", "A", "tea", 6}}},
		"byte order mark": {"\uFEFF# A\ntea", []Passage{{"A", "A", "tea", 2}}},
		"invalid UTF-8":   {"# A\nt\xffa", []Passage{{"A", "A", "t\uFFFDa", 2}}},
		"CRLF":            {"# A\r\ntea\r\nmilk\r\n", []Passage{{"A", "A", "tea\nmilk", 2}}},
		"blank lines": {
			"# A\n\n\ntea\n\nmilk\n\n\n# B\n\nrum",
			[]Passage{{"A", "A", "tea\n\nmilk", 4}, {"B", "B", "rum", 11}},
		},
		"levels": {
			"# A\n1\n## B\n2\n### C\n3\n## D\n4\n# E\n5",
			[]Passage{
				{"A", "A", "1", 2}, {"B", "A > B", "2", 4}, {"C", "A > B > C", "3", 6}, {"D", "A > D", "4", 8}, {"E", "E", "5", 10},
			},
		},
		"a level left out":  {"# A\n### C\n3\n## B\n2", []Passage{{"C", "A > C", "3", 3}, {"B", "A > B", "2", 5}}},
		"code is no header": {"# A\n```sh\n# a comment\n```\n", []Passage{{"A", "A", "```sh\n# a comment\n```", 2}}},
		"no heading mark":   {"#tag\n####### seven", []Passage{{"", "", "#tag\n####### seven", 1}}},
	}
	for name, test := range tests {
		if diff := cmp.Diff(test.want, Cut(test.text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// No word outside headings and front matter is lost, no passage is blank, and each begins on its line.
func FuzzCut(f *testing.F) {
	f.Add("# A\n\ntea\n\n## B\n- one\n- two\n")
	f.Add(strings.Repeat("word ", 600))
	f.Add(strings.Repeat("ä", 3000) + "\n# x\ny")
	f.Add("```\n# no heading\n")
	f.Add("---\na: b\n---\nx")
	f.Fuzz(func(t *testing.T, text string) {
		var all strings.Builder
		for _, p := range Cut(text) {
			if strings.TrimSpace(p.Text) == "" || !utf8.ValidString(p.Text) {
				t.Fatalf("blank or invalid passage %q", p.Text)
			}
			first, _, _ := strings.Cut(p.Text, "\n")
			if lines := strings.Split(strings.ToValidUTF8(text, "\uFFFD"), "\n"); !strings.Contains(lines[p.Line-1], first) {
				t.Fatalf("%q is not on line %d", first, p.Line)
			}
			all.WriteString(p.Text)
		}
		if strings.ContainsAny(text, "#`~-") || !utf8.ValidString(text) || strings.Contains(text, "\uFEFF") {
			return
		}
		for word := range strings.FieldsSeq(text) {
			if utf8.RuneCountInString(word) < 500 && !strings.Contains(all.String(), word) {
				t.Fatalf("%q is lost", word)
			}
		}
	})
}

func TestSections(t *testing.T) {
	t.Parallel()
	text := "---\ntags:\n  - memory\n---\n# Memory\n- first\n\n## People ##\r\n\r\n- Luis prefers Spanish\r\n" +
		"  but is fine with English.\r\n" +
		"* Ana uses a Samsung\n\nprose - not a bullet\n  indented prose\n\n### Deep\n  - nested\n    + deeper\n\n## C#\n" +
		"- sharp\n\n## Empty\n\ntext\n\n#hashtag\n" +
		"```\n## Code\n- code\n```\n## Dreamed 2026-04-23 03:00 UTC\n- a _(score=0.42, hits=5, days=3)_\n"
	want := []Section{
		{"Memory", []string{"first"}, ""},
		{
			"People",
			[]string{"Luis prefers Spanish but is fine with English.", "Ana uses a Samsung"},
			"prose - not a bullet\n  indented prose",
		},
		{"Deep", []string{"nested", "deeper"}, ""},
		{"C#", []string{"sharp"}, ""},
		{"Empty", []string{}, "text\n\n#hashtag\n```\n## Code\n- code\n```"},
		{"Dreamed 2026-04-23 03:00 UTC", []string{"a _(score=0.42, hits=5, days=3)_"}, ""},
	}
	if diff := cmp.Diff(want, Sections(text)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A paragraph and a list item of megabytes are read in milliseconds, not minutes.
func TestSectionsOfManyLines(t *testing.T) {
	t.Parallel()
	const lines = 250_000
	got := Sections("# A\n" + strings.Repeat("line of text\n", lines) +
		"# B\n- item\n" + strings.Repeat("  more\n", lines))
	if len(got) != 2 || len(got[0].Text) != lines*len("line of text\n")-1 || len(got[1].Bullets) != 1 {
		t.Fatalf("%d sections", len(got))
	}
	if want := len("item") + lines*len(" more"); len(got[1].Bullets[0]) != want {
		t.Errorf("the item has %d bytes, want %d", len(got[1].Bullets[0]), want)
	}
}

func TestSays(t *testing.T) {
	t.Parallel()
	tests := []struct {
		body, text string
		want       bool
	}{
		{"- Luis\n- Ana.\n", "Ana", true},
		{"- Ana Maria\n", "Ana", false}, // a short text is compared by lines
		{"So the pump  is\n  BLUE at night, always", "The pump is blue at night.", true},
		{"The pump is\u200b blue at night", "the pump is blue at night", true},
		{"The pump is blue", "The pump is blue at night", false},
		{"anything", "", false},
	}
	for _, test := range tests {
		if got := Says(test.body, test.text); got != test.want {
			t.Errorf("Says(%q, %q): %t, want %t", test.body, test.text, got, test.want)
		}
	}
}

func ExampleCut() {
	for _, p := range Cut("# Notes\n\nTea is in the tin.\n\n## Trains\n\nThe night train leaves at ten.\n") {
		fmt.Printf("%d: %s: %s\n", p.Line, p.Path, p.Text)
	}
	// Output:
	// 3: Notes: Tea is in the tin.
	// 7: Notes > Trains: The night train leaves at ten.
}

func ExampleSections() {
	for _, s := range Sections("# Memory\n\n## People\n\n- Ana\n- Luis\n") {
		fmt.Println(s.Heading, s.Bullets)
	}
	// Output: People [Ana Luis]
}
