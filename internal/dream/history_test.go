package dream

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
)

// The event of a sweep tells what it did in fields, not in its rationale.
func TestSweepIsRecordedTyped(t *testing.T) {
	t.Parallel()
	n := newFixture(t, nil)
	id := n.remember(audience.DM(), "The pump is blue")
	order := n.remember(audience.DM(), "Always paint the walrus")
	n.recall(3, "blue pump", "paint the walrus")
	s := n.open()
	n.sweep(s)
	events, err := s.Editor.History(t.Context(), workspace.MemoryFile, "")
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(events, func(e edit.Event) bool { return e.MadeBy().Source == edit.FromSweep })
	if at < 0 {
		t.Fatalf("none of %d events is from a sweep", len(events))
	}
	want := &edit.Origin{Source: edit.FromSweep, Sweep: &edit.Sweep{
		Recalls: 6, Memories: 2, Days: Window, Promoted: []string{id}, Held: []string{order},
	}}
	if diff := cmp.Diff(want, events[at].Origin); diff != "" {
		t.Errorf("the origin (-want +got):\n%s", diff)
	}
}
