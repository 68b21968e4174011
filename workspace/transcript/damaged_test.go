package transcript

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
)

// Torn, foreign and huge lines are passed over in bounded memory.
func TestDamagedLogs(t *testing.T) {
	entry := func(text string) string {
		return `{"type":"entry","timestamp":"2026-01-01T00:00:00Z","role":"user","content":"` + text + `"}`
	}
	dir := t.TempDir()
	file, err := os.Create(filepath.Join(dir, "s.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	huge := strings.Repeat("x", 1<<20)
	lines := []string{
		`{"type":"session","agent_id":"kate"}`, entry("one"), "not JSON", "", "[]", "null", `{"type":"other"}`, `{"type":5}`,
	}
	for _, line := range append(lines, `{"type":"entry","role":"user","content":"needle`) {
		if _, err := file.WriteString(line + "\n"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := file.WriteString(`{"type":"entry","role":"user","content":"needle `); err != nil {
		t.Fatal(err)
	}
	for range 100 { // a line of 100 MiB
		if _, err := file.WriteString(huge); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := file.WriteString("\"}\n" + entry("two") + "\n" + entry("torn")[:60]); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	v := open(t, dir).View(audience.DM())
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := v.ReadSession(t.Context(), "s", 0, 0, 0)
	runtime.ReadMemStats(&after)
	switch {
	case err != nil:
		t.Error(err)
	case got.TotalEntries != 2:
		t.Errorf("got.TotalEntries = %v, want 2", got.TotalEntries)
	case got.Entries[0].Content != "one":
		t.Errorf("got.Entries[0].Content = %q, want %q", got.Entries[0].Content, "one")
	case got.Entries[1].Content != "two":
		t.Errorf("got.Entries[1].Content = %q, want %q", got.Entries[1].Content, "two")
	case got.Header.SkippedLines != 7: // too long, no JSON, torn, [], null, two of unknown form
		t.Errorf("got.Header.SkippedLines = %v, want 7", got.Header.SkippedLines)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 32<<20 {
		t.Errorf("reading allocated %d MiB", used>>20)
	}
	switch hits, err := v.Search(t.Context(), "needle", "", 0, 0); {
	case err != nil:
		t.Errorf("search: %v", err)
	case hits.Count != 0:
		t.Errorf("search: hits.Count = %v, want 0", hits.Count)
	case hits.SkippedLines != 2: // too long, torn
		t.Errorf("search: hits.SkippedLines = %v, want 2", hits.SkippedLines)
	}
	f := folderOf(t, map[string]string{"whole.jsonl": entry("no line end")})
	if got, err := f.View(audience.DM()).ReadSession(t.Context(), "whole", 0, 0, 0); err != nil || got.TotalEntries != 1 {
		t.Errorf("last line without an end: %+v, %v", got, err)
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := sample(t).View(audience.DM()).Search(ctx, "e", "", 0, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestLinksAreMissing(t *testing.T) {
	t.Parallel()
	f := sample(t)
	dir := f.dir
	for _, link := range []string{"groups/hiking/s1.jsonl", "s2.jsonl"} {
		if err := os.Symlink(filepath.Join(dir, "groups/book-club/"+bookClub+".jsonl"),
			filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("book-club", filepath.Join(dir, "groups/linked")); err != nil {
		t.Fatal(err)
	}
	if _, err := f.View(group(t, "hiking")).ReadSession(t.Context(), "s1", 0, 0, 0); !errors.Is(err, ErrNotFound) {
		t.Errorf("linked log: %v", err)
	}
	if _, err := f.View(audience.DM()).ReadSession(t.Context(), "s2", 0, 0, 0); !errors.Is(err, ErrNotFound) {
		t.Errorf("linked log: %v", err)
	}
	if got, err := f.View(group(t, "linked")).ListSessions(t.Context(), 0); err != nil || got.Count != 0 {
		t.Errorf("linked folder: %+v, %v", got, err)
	}
}
