package workspace_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/workspace"
)

func TestSearched(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{
		"SOUL.md", "USER.md", "MEMORY.md", "DREAMS.md", "BOOTSTRAP.md", "TOOLS.md", "memory/2020-01-01.md",
		"memory/2020-01-01-slug.md",
		"memory/2020-01-01-group-hiking.md", "memory/imports/chat/a.md", "memory/dreaming/rem/2020-01-01.md",
		"memory/heartbeat-state.json",
		"memory/.hidden.md", "memory/.git/x.md", "memory/archive/2019-01-01.md.gz", "notes/b.md", "other/c.md",
		"memory/a%.md",
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
		"MEMORY.md", "TOOLS.md", "USER.md", "memory/2020-01-01-group-hiking.md", "memory/2020-01-01-slug.md",
		"memory/2020-01-01.md", "memory/a%.md", "memory/imports/chat/a.md", "notes/b.md",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if files := w.View(audience.Audience{}).Searched(); files != nil {
		t.Errorf("a group searches %v", files)
	}
	for name, group := range map[string]string{
		"memory/2020-01-01-group-hiking.md": "hiking", "memory/2020-01-01.md": "", "MEMORY.md": "",
		"memory/2020-01-01-slug.md": "",
	} {
		if got := workspace.GroupOf(name); got != group {
			t.Errorf("%s is of group %q", name, got)
		}
	}
}
