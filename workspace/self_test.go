package workspace

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
)

func TestDreamed(t *testing.T) {
	t.Parallel()
	const memory = "## People\n\n- One.\n\n## Dreamed 2026-02-01 03:00 UTC\n\n- Two _(score=0.42, hits=5, days=3)_\n" +
		"- Three\n\n" +
		"## Dreamed 2026-01-15 03:00 UTC\n- Four\n\n## Dreamed 2026-13-01 03:00 UTC\n- Five\n\n## Dreamed of sheep\n" +
		"- Six\n```\n## Dreamed 2026-03-01 03:00 UTC\n- Seven\n```\n"
	w := folderOf(t, map[string]string{"MEMORY.md": memory, "SOUL.md": "x", "memory/heartbeat-state.json": "{}"})
	promoted, last, err := w.View(audience.DM()).Dreamed()
	switch {
	case err != nil:
		t.Error(err)
	case promoted != 3:
		t.Errorf("promoted = %v, want 3", promoted)
	case !last.Equal(time.Date(2026, 2, 1, 3, 0, 0, 0, time.UTC)):
		t.Errorf("last = %v", last)
	}
	switch promoted, last, err := w.View(group(t, "a")).Dreamed(); {
	case promoted != 0:
		t.Errorf("a group: promoted = %v, want 0", promoted)
	case !last.IsZero():
		t.Error("a group: last.IsZero() = false")
	case err != nil:
		t.Errorf("a group: %v", err)
	}
	switch promoted, last, err := kate(t).View(audience.DM()).Dreamed(); {
	case promoted != 0:
		t.Errorf("without dreams: promoted = %v, want 0", promoted)
	case !last.IsZero():
		t.Error("without dreams: last.IsZero() = false")
	case err != nil:
		t.Errorf("without dreams: %v", err)
	}
	if diff := cmp.Diff([]string{"MEMORY.md", "SOUL.md"}, w.View(audience.DM()).Present()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"SOUL.md"}, w.View(group(t, "a")).Present()); diff != "" {
		t.Error(diff)
	}
}
