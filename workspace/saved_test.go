package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

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

// Of a long log the newest entries remain, of MEMORY.md the newest sections; neither is longer than allowed.
func TestShorten(t *testing.T) {
	t.Parallel()
	var log, memory strings.Builder
	log.WriteString("# Memory — 2026-02-14\n\n## Session [08:00]\n")
	memory.WriteString("# Memory\n\n## Preferences\n\n- Tea.\n")
	for i := range 400 {
		fmt.Fprintf(&log, "\nEntry %d: something of medium length happened here.\n", i)
		fmt.Fprintf(&memory, "\n## Section %d\n\n- Fact %d is of medium length, as facts often are.\n", i, i)
	}
	short := newestEntries(log.String(), 3000)
	if !strings.HasPrefix(short, "# Memory — 2026-02-14\n\n[…]\n\n## Session [08:00]\n\nEntry ") {
		t.Errorf("the log begins %.80q", short)
	}
	if !strings.Contains(short, "Entry 399:") || strings.Contains(short, "Entry 9:") {
		t.Errorf("the log keeps the wrong entries: %.200q", short)
	}
	kept := newestSections(memory.String(), 3000)
	for _, want := range []string{"- Tea.", "Fact 399 ", "Fact 390 ", "[…]"} {
		if !strings.Contains(kept, want) {
			t.Errorf("MEMORY.md lacks %q", want)
		}
	}
	for n := range 400 {
		for what, text := range map[string]string{
			"log": newestEntries(log.String(), n), "memory": newestSections(memory.String(), n),
		} {
			if size := utf8.RuneCountInString(text); size > n {
				t.Errorf("%s of %d has %d characters", what, n, size)
			}
		}
	}
}
