package rank

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLeadersAreTheBest(t *testing.T) {
	t.Parallel()
	h := newLeaders(3)
	for doc, score := range []float32{.1, .5, .5, .9, .2, .5, -1} {
		h.add(leader{score, 0, doc})
	}
	if diff := cmp.Diff([]leader{{.9, 0, 3}, {.5, 0, 1}, {.5, 0, 2}}, h.sorted(),
		cmp.AllowUnexported(leader{})); diff != "" {
		t.Errorf("leaders (-want +got):\n%s", diff)
	}
}
