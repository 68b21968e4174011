package edit

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

const plansText = "# Memory\n\n## Plans\n\n- 2025-01-02: Sail to Oslo\n- **Ana** paints the boat\n" +
	"- 2025-01-03: Sail to Bergen\n  by way of Stavanger\n- Sleep\n\n## Notes\n\nText.\n"

func retiring(retire []string, add ...string) Request {
	q := request("MEMORY.md", grammar.CurateItems, "Plans", "")
	q.Retire, q.Items = retire, add
	return q
}

func TestRetire(t *testing.T) {
	t.Parallel()
	d := newFixture(t, map[string]string{"MEMORY.md": plansText})
	e := d.open()
	q := retiring([]string{"- **Ana** paints", "2025-01-03: Sail to Bergen by way"}, "2026-02-14: Sail to Cork")
	q.Key = "k"
	done := d.edit(e, q)
	want := "# Memory\n\n## Plans\n\n- 2025-01-02: Sail to Oslo\n- Sleep\n- 2026-02-14: Sail to Cork\n\n## Notes\n\n" +
		"Text.\n"
	if diff := cmp.Diff(want, d.read("MEMORY.md")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	retired := []string{"**Ana** paints the boat", "2025-01-03: Sail to Bergen\nby way of Stavanger"}
	if diff := cmp.Diff(retired, done.Event.Retired); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	history, err := d.open().History(t.Context(), "MEMORY.md", "Plans")
	if err != nil || len(history) != 1 {
		t.Fatalf("%+v, %v", history, err)
	}
	if diff := cmp.Diff(retired, history[0].Retired); diff != "" {
		t.Errorf("the history (-want +got):\n%s", diff)
	}
	if again := d.edit(d.open(), q); !again.Repeated || d.read("MEMORY.md") != want {
		t.Errorf("again: %+v\n%s", again, d.read("MEMORY.md"))
	}
	other := retiring([]string{"2025-01-02: Sail to Oslo"}, "2026-02-14: Sail to Cork")
	other.Key = "k"
	if _, err := e.Edit(t.Context(), other); err == nil || !strings.Contains(err.Error(), "idempotency_key") {
		t.Errorf("another edit with that key: %v", err)
	}
	d.edit(e, retiring([]string{"2025-01-02: Sail to Oslo", "Sleep", "2026-02-14"}))
	switch r := d.replay(e, "MEMORY.md", ""); {
	case r.Text != d.read("MEMORY.md"):
		t.Errorf("replayed: r.Text = %q, want %q", r.Text, d.read("MEMORY.md"))
	case r.Drift != nil:
		t.Errorf("replayed: r.Drift = %v, want nil", r.Drift)
	case strings.Contains(r.Text, "- "):
		t.Errorf("replayed: %q contains %q", r.Text, "- ")
	}
}

// An entry is retired by the text that it was added with, without the date that it got.
func TestRetireWithoutDate(t *testing.T) {
	t.Parallel()
	d := newFixture(t, map[string]string{"MEMORY.md": plansText})
	e := d.open()
	add := retiring(nil, "Lives in Porto", "Sail to Cork")
	add.Op, add.Dated = grammar.AppendItem, time.UTC
	if items := d.edit(e, add).Items; len(items) != 2 || items[0] == "Lives in Porto" {
		t.Fatalf("the items %q got no dates", items)
	}
	d.edit(e, retiring([]string{"Lives in Porto", "Sail to C", "Sail to Oslo"}))
	for _, gone := range []string{"Porto", "Cork", "Oslo"} {
		if strings.Contains(d.read("MEMORY.md"), gone) {
			t.Errorf("%s is still there:\n%s", gone, d.read("MEMORY.md"))
		}
	}
	d.edit(e, retiring(nil, "2026-02-14: Swim", "2026-02-15: Swim"))
	_, err := e.Edit(t.Context(), retiring([]string{"Swim"}))
	if err == nil || !strings.Contains(err.Error(), "with the date") {
		t.Errorf("an entry of two days: %v", err)
	}
}

func TestRetireRefuses(t *testing.T) {
	t.Parallel()
	d := newFixture(t, map[string]string{"MEMORY.md": plansText})
	e := d.open()
	section, op := retiring([]string{"Sleep"}), retiring([]string{"Sleep"}, "x")
	section.Section, op.Op = "Songs", grammar.AppendItem
	for want, q := range map[string]Request{
		"no entry is or begins with":        retiring([]string{"Swim"}),
		"is the beginning of 2 entries":     retiring([]string{"2025-01"}),
		"an entry is empty":                 retiring([]string{" - "}),
		`no section "Songs"`:                section,
		"items are retired by curate_items": op,
	} {
		if _, err := e.Edit(t.Context(), q); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if d.read("MEMORY.md") != plansText {
		t.Error("the file was changed")
	}
}

// What others add meanwhile stays.
func TestRetireBesideOthers(t *testing.T) {
	t.Parallel()
	text := "## Plans\n\n"
	for i := range 8 {
		text += fmt.Sprintf("- old %d\n", i)
	}
	d := newFixture(t, map[string]string{"MEMORY.md": text})
	var edits sync.WaitGroup
	for i := range 8 {
		e := d.open()
		edits.Go(func() {
			if _, err := e.Edit(context.Background(),
				retiring([]string{fmt.Sprintf("old %d", i)}, fmt.Sprintf("new %d", i))); err != nil {
				t.Error(err)
			}
		})
	}
	edits.Wait()
	got := d.read("MEMORY.md")
	for i := range 8 {
		if strings.Count(got, fmt.Sprintf("- new %d\n", i)) != 1 || strings.Contains(got, fmt.Sprintf("- old %d\n", i)) {
			t.Fatalf("MEMORY.md:\n%s", got)
		}
	}
}
