package watch

import (
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/workspace"
)

// Only a DM's folders are watched by the operating system: its events would wake a group's process for private files.
func TestHintsAreForDMsOnly(t *testing.T) {
	t.Parallel()
	folder, err := workspace.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close() //nolint:errcheck // nothing was written
	var group audience.Audience
	for who, want := range map[audience.Audience]bool{audience.DM(): true, group: false} {
		hints := New(folder.View(who), Options{}).hints()
		if (hints != nil) != want {
			t.Errorf("%v has hints: %t, want %t", who, hints != nil, want)
		}
		if hints != nil {
			if err := hints.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
