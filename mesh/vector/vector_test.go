package vector

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const dim = 8

func unit(r *rand.Rand) []float32 {
	v := make([]float32, dim)
	var sum float64
	for i := range v {
		v[i] = float32(r.NormFloat64())
		sum += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v
}

// fill appends n random vectors to s, documents m0, m1, …, and returns them.
func fill(t *testing.T, s *Set, n int) (ids []string, vectors [][]float32) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		ids, vectors = append(ids, fmt.Sprintf("m%d", i)), append(vectors, unit(r))
		s.Track(ids[i])
	}
	if err := s.Append(ids, vectors); err != nil {
		t.Fatal(err)
	}
	return ids, vectors
}

// reopen opens the file with the same documents, as another process would.
func reopen(t *testing.T, s *Set, ids []string) *Set {
	t.Helper()
	other := Open(s.path, s.model, s.dim)
	for _, id := range ids {
		other.Track(id)
	}
	if err := other.Refresh(); err != nil {
		t.Fatal(err)
	}
	return other
}

func near(a, b float32) bool { return math.Abs(float64(a-b)) < 1e-6 }

func TestCosinesFollowDocumentOrder(t *testing.T) {
	t.Parallel()
	s := Open(filepath.Join(t.TempDir(), "v", "vectors"), "model", dim)
	ids, vectors := fill(t, s, 3*chunk)
	s.Track("not embedded")
	query := vectors[5]
	for _, set := range []*Set{s, reopen(t, s, append(ids, "not embedded"))} {
		cosines := set.Cosines(query, nil)
		if len(cosines) != len(ids)+1 {
			t.Fatalf("%d cosines, want %d", len(cosines), len(ids)+1)
		}
		for i := range ids {
			if want := dot(query, vectors[i]); !near(cosines[i], want) {
				t.Fatalf("document %d: cosine %v, want %v", i, cosines[i], want)
			}
		}
		if last := cosines[len(ids)]; !math.IsNaN(float64(last)) || set.Has(len(ids)) {
			t.Errorf("a document without a vector has cosine %v", last)
		}
	}
}

func TestOtherProcessSeesAppendsAndRemovals(t *testing.T) {
	t.Parallel()
	s := Open(filepath.Join(t.TempDir(), "vectors"), "model", dim)
	ids, vectors := fill(t, s, 4)
	other := reopen(t, s, append(ids, "later"))
	s.Track("later")
	if err := s.Append([]string{"later"}, vectors[:1]); err != nil {
		t.Fatal(err)
	}
	if err := other.Refresh(); err != nil {
		t.Fatal(err)
	}
	if !other.Has(4) {
		t.Fatal("the other process does not see the appended vector")
	}
	before := other.Epoch()
	if err := errors.Join(s.Prune(), other.Refresh()); err != nil || other.Epoch() != before {
		t.Fatalf("prune without anything to remove: %v, epoch %d became %d", err, before, other.Epoch())
	}
	for _, set := range []*Set{s, other} {
		set.Untrack(2, "m2")
	}
	// What a process left that was killed while it removed others may have the vectors of what is removed now.
	part := filepath.Join(filepath.Dir(s.path), ".vectors-7")
	if err := os.WriteFile(part, []byte("vectors"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Prune(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(part); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what a killed process left is still there: %v", err)
	}
	if err := other.Refresh(); err != nil {
		t.Fatal(err)
	}
	if other.Epoch() != before+1 {
		t.Errorf("epoch %d after a replacement, want %d", other.Epoch(), before+1)
	}
	for _, set := range []*Set{s, other} {
		if docs, n := set.Missing(10); n != 0 || docs != nil {
			t.Errorf("%d missing after a removal: %v", n, docs)
		}
		for doc, want := range []bool{true, true, false, true, true} {
			if set.Has(doc) != want {
				t.Errorf("document %d known: %v, want %v", doc, !want, want)
			}
		}
		if got := set.Vector(3); !near(dot(got, vectors[3]), 1) {
			t.Errorf("document 3 has another vector after a removal: %v", got)
		}
	}
	info, err := os.Stat(s.path)
	if err != nil {
		t.Fatal(err)
	}
	if want := int64(headerSize + 4*s.rowSize()); info.Size() != want {
		t.Errorf("the file has %d bytes after a removal, want %d", info.Size(), want)
	}
}

func TestTornAndDamagedRowsAreNotReturned(t *testing.T) {
	t.Parallel()
	for cut := 1; cut < 2*(rowHead+4*dim); cut += 7 {
		s := Open(filepath.Join(t.TempDir(), "vectors"), "model", dim)
		ids, vectors := fill(t, s, 4)
		info, err := os.Stat(s.path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(s.path, info.Size()-int64(cut)); err != nil {
			t.Fatal(err)
		}
		torn := reopen(t, s, ids)
		if torn.Has(3) || !torn.Has(0) {
			t.Fatalf("cut %d: has row 0: %v, want true; has the torn row 3: %v, want false", cut, torn.Has(0), torn.Has(3))
		}
		if err := torn.Append(ids[2:], vectors[2:]); err != nil {
			t.Fatal(err)
		}
		whole := reopen(t, s, ids)
		for doc := range ids {
			if !near(dot(whole.Vector(doc), vectors[doc]), 1) {
				t.Fatalf("cut %d: document %d is lost or changed after the repair", cut, doc)
			}
		}
	}

	s := Open(filepath.Join(t.TempDir(), "vectors"), "model", dim)
	ids, _ := fill(t, s, 3)
	raw, err := os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	clear(raw[headerSize+s.rowSize()+keySize+4 : headerSize+2*s.rowSize()]) // zeros, as a power loss leaves them
	if err := os.WriteFile(s.path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	set := reopen(t, s, ids)
	for doc, want := range []bool{true, false, true} { // row 1 is damaged
		if set.Has(doc) != want {
			t.Errorf("document %d known: %v, want %v", doc, !want, want)
		}
	}
}

// The vectors of another model are as good as none, are kept until there is one of this model, and then are gone for
// the other one, too.
func TestAnotherModel(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(path string) *Set{
		"another name":      func(path string) *Set { return Open(path, "other", dim) },
		"another dimension": func(path string) *Set { return Open(path, "model", dim-1) },
	} {
		s := Open(filepath.Join(t.TempDir(), "vectors"), "model", dim)
		ids, vectors := fill(t, s, 3)
		before, err := os.ReadFile(s.path)
		if err != nil {
			t.Fatal(err)
		}
		other := open(s.path)
		for _, id := range ids {
			other.Track(id)
		}
		for range 2 { // the second time it is known
			if err := other.Refresh(); err != nil {
				t.Fatal(err)
			}
			if _, missing := other.Missing(0); missing != 3 || !other.OfAnotherModel() || other.Epoch() != 1 {
				t.Errorf("%s: %d missing, of another model %v, epoch %d", name, missing, other.OfAnotherModel(), other.Epoch())
			}
		}
		if after, err := os.ReadFile(s.path); err != nil || !bytes.Equal(before, after) {
			t.Errorf("%s: reading changed the file (%v)", name, err)
		}
		if err := other.Append(ids[:1], [][]float32{vectors[0][:other.dim]}); err != nil {
			t.Fatal(err)
		}
		if !other.Has(0) || other.Has(1) || other.OfAnotherModel() {
			t.Errorf("%s: after its first vector: %v %v %v", name, other.Has(0), other.Has(1), other.OfAnotherModel())
		}
		if err := s.Refresh(); err != nil || s.Has(0) || !s.OfAnotherModel() {
			t.Errorf("%s: the first model still has vectors (%v)", name, err)
		}
		if err := s.Prune(); err != nil {
			t.Fatal(err)
		}
		if a, err := s.Audit(); err != nil || a.Rows != 0 || a.Model != "model" {
			t.Errorf("%s: after a prune: %+v, %v", name, a, err)
		}
	}
}

// Models whose long names have the same beginning are not confused.
func TestLongModelNames(t *testing.T) {
	t.Parallel()
	path, name := filepath.Join(t.TempDir(), "vectors"), strings.Repeat("m", headerSize)
	fill(t, Open(path, name+"-small", dim), 1)
	if err := Open(path, name+"-small", dim).Refresh(); err != nil {
		t.Errorf("the same model: %v", err)
	}
	if large := Open(path, name+"-large", dim); large.Refresh() != nil || !large.OfAnotherModel() {
		t.Error("another one is taken for the same")
	}
}

func BenchmarkCosines(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := Open(filepath.Join(b.TempDir(), "vectors"), "model", 384)
			r := rand.New(rand.NewPCG(1, 2))
			query := make([]float32, 384)
			ids, vectors := make([]string, n), make([][]float32, n)
			for i := range n {
				ids[i], vectors[i] = fmt.Sprint(i), make([]float32, 384)
				for j := range vectors[i] {
					vectors[i][j] = float32(r.NormFloat64())
				}
				s.Track(ids[i])
			}
			if err := s.Append(ids, vectors); err != nil {
				b.Fatal(err)
			}
			var buf []float32
			for b.Loop() {
				buf = s.Cosines(query, buf)
			}
		})
	}
}
