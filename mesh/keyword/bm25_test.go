package keyword

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBM25(t *testing.T) {
	t.Parallel()
	x := NewBM25()
	for _, text := range []string{"green tea", "green green paint dries", "camelCase teapot"} {
		x.Add(text)
	}
	terms := Terms("Green teapot")
	var s BM25Statistics
	x.Count(terms, &s)
	got := x.Match(terms, s)
	// By hand: 3 documents of 2, 4 and 3 terms; "green" is in two of them, "teapot" in one.
	green, teapot := math.Log(1+1.5/2.5), math.Log(1+2.5/1.5)
	want := map[int]float64{
		0: green * 2.2 / (1 + 1.2*(.25+.75*2/3)),
		1: green * 2 * 2.2 / (2 + 1.2*(.25+.75*4/3)),
		2: teapot * 2.2 / (1 + 1.2),
	}
	for doc, score := range want {
		if math.Abs(got[doc]-score) > 1e-12 {
			t.Errorf("document %d: %v, want %v", doc, got[doc], score)
		}
	}
	x.Remove(1, "green green paint dries")
	s = BM25Statistics{}
	x.Count(terms, &s)
	if got = x.Match(terms, s); len(got) != 2 {
		t.Errorf("%d documents match after the removal, want 2: %v", len(got), got)
	}
	wantStats := BM25Statistics{documents: 2, length: 5, containing: map[string]int{"green": 1, "teapot": 1}}
	if diff := cmp.Diff(wantStats, s, cmp.AllowUnexported(BM25Statistics{})); diff != "" {
		t.Errorf("statistics after the removal (-want +got):\n%s", diff)
	}
	if got := NewBM25().Match(terms, BM25Statistics{}); len(got) != 0 {
		t.Errorf("without documents: %v", got)
	}
}
