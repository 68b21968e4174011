package workspace_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/workspace"
)

func TestPassages(t *testing.T) {
	long := strings.Repeat("word ", 300)
	tests := map[string]struct {
		text string
		want []workspace.Passage
	}{
		"empty":             {"", nil},
		"only headings":     {"# A\n\n## B\n", nil},
		"no heading":        {"\ntea\n", []workspace.Passage{{"", "tea"}}},
		"front matter":      {"---\ndate: 2026-01-01\n---\n\n# A\ntea\n", []workspace.Passage{{"A", "A\n\ntea"}}},
		"byte order mark":   {"\uFEFF# A\ntea", []workspace.Passage{{"A", "A\n\ntea"}}},
		"invalid UTF-8":     {"# A\nt\xffa", []workspace.Passage{{"A", "A\n\nt\uFFFDa"}}},
		"CRLF":              {"# A\r\ntea\r\nmilk\r\n", []workspace.Passage{{"A", "A\n\ntea\nmilk"}}},
		"levels":            {"# A\n1\n## B\n2\n### C\n3\n## D\n4\n# E\n5", []workspace.Passage{{"A", "A\n\n1"}, {"B", "A > B\n\n2"}, {"C", "A > B > C\n\n3"}, {"D", "A > D\n\n4"}, {"E", "E\n\n5"}}},
		"a level left out":  {"# A\n### C\n3\n## B\n2", []workspace.Passage{{"C", "A > C\n\n3"}, {"B", "A > B\n\n2"}}},
		"code is no header": {"# A\n```sh\n# a comment\n```\n", []workspace.Passage{{"A", "A\n\n```sh\n# a comment\n```"}}},
		"no heading mark":   {"#tag\n####### seven", []workspace.Passage{{"", "#tag\n####### seven"}}},
		"cut at a blank":    {"# A\n" + long[:1000] + "\n\n" + long[:1000], []workspace.Passage{{"A", "A\n\n" + strings.TrimSpace(long[:1000])}, {"A", "A\n\n" + strings.TrimSpace(long[:1000])}}},
	}
	for name, test := range tests {
		if diff := cmp.Diff(test.want, workspace.Passages(test.text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// No word outside headings and front matter is lost, and no passage is blank or too long.
func FuzzPassages(f *testing.F) {
	f.Add("# A\n\ntea\n\n## B\n- one\n- two\n")
	f.Add(strings.Repeat("word ", 600))
	f.Add(strings.Repeat("ä", 3000) + "\n# x\ny")
	f.Add("```\n# no heading\n")
	f.Add("---\na: b\n---\nx")
	f.Fuzz(func(t *testing.T, text string) {
		var all strings.Builder
		for _, p := range workspace.Passages(text) {
			if strings.TrimSpace(p.Text) == "" || !utf8.ValidString(p.Text) {
				t.Fatalf("blank or invalid passage %q", p.Text)
			}
			body := p.Text
			if p.Heading != "" {
				_, body, _ = strings.Cut(p.Text, "\n\n")
			}
			if n := utf8.RuneCountInString(body); n > 1200 {
				t.Fatalf("passage of %d characters", n)
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

func TestSearched(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{
		"SOUL.md", "USER.md", "MEMORY.md", "DREAMS.md", "BOOTSTRAP.md", "TOOLS.md", "memory/2020-01-01.md", "memory/2020-01-01-slug.md",
		"memory/2020-01-01-group-hiking.md", "memory/imports/chat/a.md", "memory/dreaming/rem/2020-01-01.md", "memory/heartbeat-state.json",
		"memory/.hidden.md", "memory/.git/x.md", "memory/archive/2019-01-01.md.gz", "notes/b.md", "other/c.md", "memory/a%.md",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("MEMORY.md", filepath.Join(dir, "memory", "link.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("imports", filepath.Join(dir, "memory", "linked")); err != nil {
		t.Fatal(err)
	}
	w, err := workspace.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}()
	var names []string
	for _, file := range w.View(audience.DM()).Searched() {
		names = append(names, file.Name)
	}
	want := []string{
		"MEMORY.md", "memory/2020-01-01-group-hiking.md", "memory/2020-01-01-slug.md", "memory/2020-01-01.md", "memory/imports/chat/a.md", "notes/b.md",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if files := w.View(audience.Audience{}).Searched(); files != nil {
		t.Errorf("a group searches %v", files)
	}
	for name, group := range map[string]string{"memory/2020-01-01-group-hiking.md": "hiking", "memory/2020-01-01.md": "", "MEMORY.md": "", "memory/2020-01-01-slug.md": ""} {
		if got := workspace.GroupOf(name); got != group {
			t.Errorf("%s is of group %q", name, got)
		}
	}
}
