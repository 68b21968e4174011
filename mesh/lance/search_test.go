package lance

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// exact is the reference: cosine with every row.
func exact(rows []Memory, vec []float32, k int) []Hit {
	out := make([]Hit, len(rows))
	for i, r := range rows {
		var dot float64
		for j, x := range r.Vector {
			dot += float64(x) * float64(vec[j])
		}
		out[i] = Hit{ID: r.ID, Similarity: dot}
	}
	slices.SortFunc(out, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), cmp.Compare(a.ID, b.ID))
	})
	return out[:min(k, len(out))]
}

func TestNearestIsExact(t *testing.T) {
	t.Parallel()
	db := newTest(t)
	rng := testRNG()
	rows := someMemories(rng, 0, 3_000, testDim)
	for at := 0; at < len(rows); at += 500 { // several fragments
		mustAdd(t, db, rows[at:at+500])
	}
	deleted := idsOf(rows[:100])
	if err := db.DeleteMemories(t.Context(), deleted); err != nil {
		t.Fatal(err)
	}
	for _, k := range []int{1, 20, 500, 5_000} {
		vec := unit(rng, testDim)
		got, err := db.Nearest(t.Context(), vec, k, Filter{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(exact(rows[100:], vec, k), got, cmpopts.EquateApprox(0, 1e-5)); diff != "" {
			t.Errorf("k = %d (-want +got):\n%s", k, diff)
		}
	}
}

func TestSimilarityIsCosine(t *testing.T) {
	t.Parallel()
	db := newTest(t)
	axis := func(x, y float32) []float32 {
		v := make([]float32, testDim)
		v[0], v[1] = x, y
		return v
	}
	half := float32(math.Sqrt(0.5))
	mustAdd(t, db, []Memory{
		{ID: "mem_1_b", Vector: axis(1, 0)},
		{ID: "mem_1_a", Vector: axis(1, 0)},
		{ID: "mem_1_c", Vector: axis(half, half)},
		{ID: "mem_1_d", Vector: axis(0, 1)},
		{ID: "mem_1_e", Vector: axis(-1, 0)},
	})
	got, err := db.Nearest(t.Context(), axis(1, 0), 5, Filter{})
	if err != nil {
		t.Fatal(err)
	}
	want := []Hit{{"mem_1_a", 1}, {"mem_1_b", 1}, {"mem_1_c", float64(half)}, {"mem_1_d", 0}, {"mem_1_e", -1}}
	if diff := gocmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-6)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Readers, a writer and compactions at once in one process: every read sees all rows added before it began.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	db := newTest(t)
	rng := testRNG()
	rows := someMemories(rng, 0, 200, testDim)
	mustAdd(t, db, rows[:10])
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				hits, err := db.Nearest(t.Context(), rows[0].Vector, 10, Filter{})
				if n := len(hits); err != nil || n != 10 {
					t.Errorf("nearest = %d hits, %v; want 10", n, err)
					return
				}
				if hits[0].ID != rows[0].ID {
					t.Errorf("nearest = %v; want %s first", hits, rows[0].ID)
					return
				}
			}
		})
	}
	for at := 10; at < len(rows); at += 10 {
		mustAdd(t, db, rows[at:at+10])
		mustCount(t, db, at+10)
		if at%50 == 0 {
			if err := db.Compact(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	close(done)
	readers.Wait()
}
