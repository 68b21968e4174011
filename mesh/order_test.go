package mesh

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// Memories have the order of their ledger, whether the clock goes on between them or not.
func TestOrderDoesNotDependOnTheClock(t *testing.T) {
	t.Parallel()
	for _, step := range []time.Duration{0, time.Millisecond} {
		t.Run(step.String(), func(t *testing.T) {
			v, clock := clocked(t, t.TempDir(), audience.DM())
			var want []string
			for i := range 12 {
				content := fmt.Sprintf("tea number %d", i)
				keep(t, v, record.Memory{Content: content, Metadata: failure(fmt.Sprint("pattern-", i%4), "x")})
				want = append(want, content)
				clock.advance(step)
			}
			all, err := v.All(t.Context(), 0)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, contents(all)); diff != "" {
				t.Errorf("all memories (-want +got):\n%s", diff)
			}
			newest, err := v.All(t.Context(), 5)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want[7:], contents(newest)); diff != "" {
				t.Errorf("the newest five (-want +got):\n%s", diff)
			}
			stores, _, err := v.compartments(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			backwards := slices.Clone(want)
			slices.Reverse(backwards)
			if diff := cmp.Diff(backwards, contents(recent(stores, len(want)))); diff != "" {
				t.Errorf("recent memories (-want +got):\n%s", diff)
			}
			var candidates []string
			for i := range 4 {
				candidates = append(candidates, fmt.Sprintf("possible pattern-%d/x [error repeated] 3", i))
			}
			if diff := cmp.Diff(candidates, outcomes(runCycle(t, v, true))); diff != "" {
				t.Errorf("candidates for lessons (-want +got):\n%s", diff)
			}
			for _, content := range want[:3] {
				search(t, v, SearchRequest{Query: content, Limit: 3})
			}
			recalled, err := v.Recalled(t.Context(), clock.now().Add(-time.Hour), nil)
			if err != nil {
				t.Fatal(err)
			}
			var order []string
			for _, r := range recalled {
				order = append(order, r.Content)
			}
			sorted := slices.SortedFunc(slices.Values(order),
				func(a, b string) int { return slices.Index(want, a) - slices.Index(want, b) })
			if diff := cmp.Diff(sorted, order); diff != "" || len(order) != 3 {
				t.Errorf("%d recalled memories (-want +got):\n%s", len(order), diff)
			}
		})
	}
}

// The order of memories in different compartments is that in which they were stored.
func TestOrderAcrossCompartments(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	dm, red, blue := open(t, dir, audience.DM(), new(words)), open(t, dir, group(t, "red"), new(words)),
		open(t, dir, group(t, "blue"), new(words))
	var want []string
	for i := range 40 {
		request := record.Memory{Content: fmt.Sprintf("number %d", i)}
		view := []*View{dm, red, dm, blue}[i*7%4]
		to := record.Visibility("")
		if view == dm && i%3 == 0 {
			to = record.Shared
		}
		keep(t, view, request, to)
		want = append(want, request.Content)
	}
	all, err := dm.All(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, contents(all)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
