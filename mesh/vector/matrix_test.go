package vector

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// direction returns a random vector of unit length.
func direction(r *rand.Rand, dim int) []float32 {
	v, sum := make([]float32, dim), 0.
	for i := range v {
		x := r.NormFloat64()
		v[i], sum = float32(x), sum+x*x
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v
}

// The processor's instructions compute what Go does, for any number of rows and the largest codes.
func TestProducts(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for _, blocks := range []int{1, 2, 6, 24} {
		for _, rows := range []int{1, 2, 7, 256} {
			codes, query := make([]byte, rows*blocks*block/2), make([]int8, blocks*block)
			for i := range codes {
				codes[i] = byte(r.IntN(256))
			}
			for i := range query {
				query[i] = int8(r.IntN(255) - 127)
			}
			for range 2 {
				want, got := make([]int32, rows), make([]int32, rows)
				productsGo(codes, query, want)
				products(codes, query, got)
				if diff := gocmp.Diff(want, got); diff != "" {
					t.Errorf("%d blocks, %d rows (-Go +processor):\n%s", blocks, rows, diff)
				}
				for i := range codes { // the next time the extremes
					codes[i] = 0xff
				}
				for i := range query {
					query[i] = -127
				}
			}
		}
	}
}

// So do those that make codes, and every number is within half a step of its code.
func TestPack(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 8))
	for _, dim := range []int{1, 33, 64, 384} {
		for round := range 20 {
			v, codes := direction(r, dim), make([]byte, (dim+block-1)/block*block/2)
			if round == 0 {
				clear(v)
			}
			step := pack(v, codes)
			if want := largestNumberGo(v); largestNumber(v) != want {
				t.Errorf("%d numbers: the largest is %v, want %v", dim, largestNumber(v), want)
			}
			want := make([]byte, len(codes))
			packCodesGo(v, want, 1/step)
			if diff := gocmp.Diff(want, codes); diff != "" {
				t.Errorf("%d numbers: codes (-Go +processor):\n%s", dim, diff)
			}
			for i, x := range v {
				c := codes[i/block*block/2+i%(block/2)] >> (i % block / (block / 2) * 4) & 15
				if off := x - step*(float32(c)-middle); math.Abs(float64(off)) > float64(step)*.50001 {
					t.Errorf("%d numbers: %v has code %d of step %v", dim, x, c, step)
				}
			}
		}
	}
}

// compactSet is a set that is compact from limit rows on.
func compactSet(path string, dim, limit int) *Set {
	s := Open(path, "model", dim)
	s.matrix.limit = limit
	return s
}

// A compact matrix has the same neighbours, their exact cosines, and estimates of the others.
func TestCompactCosines(t *testing.T) {
	t.Parallel()
	for _, dim := range []int{384, 100, 7} {
		t.Run(fmt.Sprint(dim), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(3, uint64(dim)))
			path := filepath.Join(t.TempDir(), "vectors")
			const n = 3000
			exact, written := Open(path, "model", dim), compactSet(path, dim, n/2)
			ids, vectors := make([]string, n), make([][]float32, n)
			for i := range n {
				ids[i], vectors[i] = fmt.Sprint("m", i), direction(r, dim)
				written.Track(ids[i])
			}
			for from := 0; from < n; from += 500 { // it becomes compact on the way
				if err := written.Append(ids[from:from+500], vectors[from:from+500]); err != nil {
					t.Fatal(err)
				}
			}
			loaded := compactSet(path, dim, n/2)
			for _, s := range []*Set{exact, loaded} {
				s.TrackAll(ids)
				if err := s.Refresh(); err != nil {
					t.Fatal(err)
				}
			}
			if exact.matrix.compact() || !written.matrix.compact() || !loaded.matrix.compact() {
				t.Fatal("the wrong sets are compact")
			}
			if !slices.Equal(written.matrix.codes, loaded.matrix.codes) {
				t.Error("the codes that were loaded are not those that were written")
			}
			for range 4 {
				query := direction(r, dim)
				want := exact.Cosines(query, nil)
				for name, s := range map[string]*Set{"written": written, "loaded": loaded} {
					compareCosines(t, name, want, s.Cosines(query, nil), dim)
				}
			}
			for doc, want := range vectors {
				if !slices.Equal(loaded.Vector(doc), want) {
					t.Fatalf("vector %d is not what was stored", doc)
				}
			}
		})
	}
}

// compareCosines compares those of a compact set with exact ones.
func compareCosines(t *testing.T, name string, want, got []float32, dim int) {
	t.Helper()
	best := func(list []float32) []int {
		docs := make([]int, len(list))
		for i := range docs {
			docs[i] = i
		}
		slices.SortFunc(docs, func(a, b int) int { return cmp.Or(cmp.Compare(list[b], list[a]), cmp.Compare(a, b)) })
		return docs[:20]
	}
	if diff := gocmp.Diff(best(want), best(got)); diff != "" {
		t.Errorf("%s: the nearest (-want +got):\n%s", name, diff)
	}
	for _, doc := range best(want) {
		if !near(want[doc], got[doc]) { // the order of additions depends on where a vector is in memory
			t.Errorf("%s: document %d has cosine %v, want exactly %v", name, doc, got[doc], want[doc])
		}
	}
	sum := 0.
	for doc := range want {
		sum += math.Pow(float64(want[doc]-got[doc]), 2)
	}
	// A step is about 3/7.5 of a number's deviation.
	if deviation := math.Sqrt(sum / float64(len(want))); deviation > .2/math.Sqrt(float64(dim)) {
		t.Errorf("%s: the estimates have a deviation of %v", name, deviation)
	}
}

// largest finds at least as many as are asked for, and none that is smaller than one it left out.
func TestLargest(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(9, 1))
	values := make([]float32, 200_000)
	for i := range values {
		if values[i] = float32(r.NormFloat64() / 5); i%7 == 0 {
			values[i] = float32(math.NaN())
		}
	}
	values[3], values[4] = 1, -1
	for _, n := range []int{1, 20, 512, len(values)} {
		found := largest(values, n)
		in := make([]bool, len(values))
		least := float32(2)
		for _, i := range found {
			in[i], least = true, min(least, values[i])
		}
		if want := min(n, len(values)-(len(values)+6)/7); len(found) < want || !slices.IsSorted(found) {
			t.Errorf("the %d largest: %d are found, want %d", n, len(found), want)
		}
		for i, x := range values {
			if !in[i] && x > least {
				t.Fatalf("the %d largest: %v is left out, and %v is not", n, x, least)
			}
		}
	}
}

// Parts, removed documents and a file that another process replaced are what they are in a set that is not compact.
func TestCompactChanges(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "vectors")
	r := rand.New(rand.NewPCG(5, 6))
	s, other := compactSet(path, 64, 1), compactSet(path, 64, 1)
	ids, vectors := []string{"a", "b", "c", "d"}, make([][]float32, 4)
	for i, id := range ids {
		vectors[i] = direction(r, 64)
		for _, s := range []*Set{s, other} {
			s.Track(id)
			if id == "b" || id == "d" {
				s.WantParts(id)
			}
		}
	}
	parts := [][]float32{direction(r, 64), direction(r, 64)}
	for _, id := range []string{"b", "d"} {
		if err := s.AppendParts(id, 0, 2, parts); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Append(ids, vectors); err != nil {
		t.Fatal(err)
	}
	if err := other.Refresh(); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*Set{s, other} {
		s.Untrack(1, "b")
	}
	if err := s.Prune(); err != nil {
		t.Fatal(err)
	}
	// The other process has not noticed: it has estimates and no vectors.
	if got := other.Cosines(vectors[0], nil); math.Abs(float64(got[0]-1)) > .1 || other.Vector(0) != nil {
		t.Errorf("before Refresh: cosine %v, vector %v", got[0], other.Vector(0))
	}
	if err := other.Refresh(); err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]*Set{"pruned": s, "read": other} {
		if s.matrix.rows != 5 {
			t.Errorf("%s: %d rows, want 5", name, s.matrix.rows)
		}
		for doc, want := range map[int]bool{0: true, 1: false, 2: true, 3: true} {
			if got := s.Vector(doc); want != (got != nil) || want && !slices.Equal(got, vectors[doc]) {
				t.Errorf("%s: document %d has vector %v, want %v", name, doc, got, vectors[doc])
			}
		}
		if _, n := s.MissingParts(9); n != 0 {
			t.Errorf("%s: %d documents lack parts", name, n)
		}
		got := s.PartCosines(parts[1], 3, "d", 2)
		want := []float32{dot(parts[1], vectors[3]), dot(parts[1], parts[0]), dot(parts[1], parts[1])}
		if diff := gocmp.Diff(want, got, gocmp.Comparer(near)); diff != "" {
			t.Errorf("%s: parts (-want +got):\n%s", name, diff)
		}
		if scores := s.PartScores(parts[1], nil); len(scores) != 1 || scores[0].Doc != 3 || scores[0].Score < .3 {
			t.Errorf("%s: scores of parts %v", name, scores)
		}
	}
}

// A row's numbers are the same in its own memory and decoded, wherever it begins.
func TestNumbers(t *testing.T) {
	t.Parallel()
	want := []float32{0, 1, -2.5, float32(math.Inf(-1)), 1e-40}
	for at := range 5 {
		body := make([]byte, at, 64)
		for _, x := range want {
			body = binary.LittleEndian.AppendUint32(body, math.Float32bits(x))
		}
		if diff := gocmp.Diff(want, numbers(body[at:], make([]float32, len(want)))); diff != "" {
			t.Errorf("at %d (-want +got):\n%s", at, diff)
		}
	}
}
