package workspace

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
)

func TestQuotes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"SOUL.md": "# Soul\n",
		"MEMORY.md": "# Memory\n\nThe pump is blue at night.\n\n## Dreamed 2026-01-02 03:04 UTC\n\n" +
			"- The pump  is\n  BLUE at night _(score=0.42, hits=5, days=3)_\n\n## Pumps\n\n- The pump is blue\n",
		"USER.md":                  "# User\n\n- The pump is not blue at night\n",
		"notes/pumps.md":           "# Pumps\n\n## Colours\n\n* The pump is blue at night\n",
		"memory/2026-01-02.md":     "# 2026-01-02\n\nLuis says: the pump is blue at night, and so it is.\n",
		"users/luis/overview.md":   "# Luis\n",
		"elsewhere/2026-01-02.md":  "The pump is blue at night",
		".yamo/private/secret.txt": "The pump is blue at night",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	want := []Place{
		{"MEMORY.md", ""},
		{"MEMORY.md", "Dreamed 2026-01-02 03:04 UTC"},
		{"memory/2026-01-02.md", ""},
		{"notes/pumps.md", "Colours"},
	}
	for _, text := range []string{"The pump is blue at night.", "- the pump\nis blue\u200b at NIGHT"} {
		if diff := cmp.Diff(want, w.View(audience.DM()).Quotes(text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
	for _, text := range []string{"", "pump", "The pump is red at night"} {
		if got := w.View(audience.DM()).Quotes(text); len(got) != 0 {
			t.Errorf("%q: %v", text, got)
		}
	}
	if got := w.View(group(t, "a")).Quotes("The pump is blue at night"); len(got) != 0 {
		t.Errorf("a group is told %v", got)
	}
}
