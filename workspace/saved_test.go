package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
)

// The last save and flush are the newest, and a startup shows them with the notes of today and yesterday.
func TestLastSaves(t *testing.T) {
	t.Parallel()
	const save = "---\ndate: \"2026-02-10\"\ntype: session-save\ntags: [a]\n---\n\nwhat was done\n"
	w := folderOf(t, map[string]string{
		"SOUL.md": "soul", "memory/2026-02-10-auth-one.md": save, "memory/2026-02-09-auth-two.md": save,
		"memory/2026-02-08-flush-101010.md": "old flush", "memory/2026-02-11-flush-101010.md": "new flush",
		"memory/2026-02-13-topic-of-day.md": "a topic", "notes/2026-02-14.md": "a note", "notes/2026-02-01.md": "an old note",
		"memory/2026-02-14-group-a.md": "hearsay",
	})
	dm := w.View(audience.DM())
	var names []string
	for _, file := range dm.LastSaves() {
		names = append(names, file.Name)
	}
	if want := []string{"memory/2026-02-13-topic-of-day.md"}; !slices.Equal(names, want) {
		t.Errorf("last saves %q, want %q: the flush is older", names, want)
	}
	got := startup(t, w, audience.DM())
	for _, want := range []string{"## notes/2026-02-14.md\na note", "## memory/2026-02-13-topic-of-day.md\na topic"} {
		if !strings.Contains(got, want) {
			t.Errorf("the startup lacks %q", want)
		}
	}
	for _, unwanted := range []string{"an old note", "hearsay", "old flush"} {
		if strings.Contains(got, unwanted) {
			t.Errorf("the startup has %q", unwanted)
		}
	}
	if err := os.Remove(filepath.Join(w.dir, "memory", "2026-02-13-topic-of-day.md")); err != nil {
		t.Fatal(err)
	}
	got = startup(t, w, audience.DM())
	if !strings.Contains(got, "what was done") || !strings.Contains(got, "new flush") {
		t.Errorf("the startup lacks the last save or flush:\n%s", got)
	}
	if files := w.View(group(t, "a")).LastSaves(); len(files) > 0 {
		t.Errorf("a group has %v", files)
	}
	now := time.Date(2026, 4, 1, 12, 0, 0, 0, time.UTC)
	w.now = func() time.Time { return now }
	name := "memory/2026-02-10-auth-one.md"
	if err := dm.ArchiveLog(t.Context(), name, false); err != nil {
		t.Fatal(err)
	}
	if data, err := dm.Read(name); err != nil || string(data) != save {
		t.Errorf("archived: %q, %v", data, err)
	}
}
