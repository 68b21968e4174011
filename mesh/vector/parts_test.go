package vector

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func axis(i int) []float32 {
	v := make([]float32, 4)
	v[i] = 1
	return v
}

func TestParts(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "v")
	s := Open(path, "m", 4)
	best := func(s *Set, query []float32) []float32 {
		out := make([]float32, 3)
		for _, x := range s.PartScores(query, nil) {
			out[x.Doc] = x.Score
		}
		return out
	}
	track := func(s *Set) {
		for _, id := range []string{"short", "long", "longer"} {
			s.Track(id)
			if id != "short" {
				s.WantParts(id)
			}
		}
	}
	lacking := func(s *Set, want ...int) {
		t.Helper()
		docs, n := s.MissingParts(10)
		if diff := cmp.Diff(want, docs); diff != "" || n != len(want) {
			t.Errorf("%d documents lack parts (-want +got):\n%s", n, diff)
		}
	}
	track(s)
	lacking(s) // none yet: they have no vector of their own
	if err := s.Append([]string{"short", "long", "longer"}, [][]float32{axis(0), axis(0), axis(0)}); err != nil {
		t.Fatal(err)
	}
	lacking(s, 1, 2)
	if err := s.AppendParts("long", 0, 2, [][]float32{axis(1), axis(2)}); err != nil {
		t.Fatal(err)
	}
	lacking(s, 2)
	if err := s.AppendParts("longer", 0, 1, [][]float32{axis(3)}); err != nil {
		t.Fatal(err)
	}
	lacking(s)
	other := Open(path, "m", 4)
	track(other)
	if err := other.Refresh(); err != nil {
		t.Fatal(err)
	}
	lacking(other)
	for name, s := range map[string]*Set{"written": s, "read": other} {
		if diff := cmp.Diff([]float32{0, .5, 0}, best(s, axis(2))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff([]float32{1, 1, 1}, s.Cosines(axis(0), nil)); diff != "" {
			t.Errorf("%s, their own (-want +got):\n%s", name, diff)
		}
	}

	// A text with only some of its parts is not complete.
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	size := s.rowSize()
	if err := os.WriteFile(path, raw[:len(raw)-2*size], 0o600); err != nil {
		t.Fatal(err)
	}
	if err := other.Refresh(); err != nil {
		t.Fatal(err)
	}
	lacking(other, 1, 2)
	if err := other.AppendParts("long", 0, 1, [][]float32{axis(3)}); err != nil {
		t.Fatal(err)
	}
	if err := other.AppendParts("longer", 0, 1, [][]float32{axis(2)}); err != nil {
		t.Fatal(err)
	}
	lacking(other)
	if diff := cmp.Diff([]float32{0, 1, 0}, best(other, axis(3))); diff != "" {
		t.Errorf("split differently (-want +got):\n%s", diff)
	}

	other.Untrack(1, "long")
	if err := other.Prune(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() != int64(headerSize+3*size) {
		t.Errorf("after Prune the file has %d bytes (%v), want two vectors and a part", info.Size(), err)
	}
	fresh := Open(path, "m", 4)
	track(fresh)
	if err := fresh.Refresh(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]float32{0, 0, 1}, best(fresh, axis(2))); diff != "" {
		t.Errorf("after Prune (-want +got):\n%s", diff)
	}
	for _, bad := range [][][]float32{nil, {{1, 2}}} {
		if err := fresh.AppendParts("longer", 0, max(1, len(bad)), bad); err == nil {
			t.Errorf("AppendParts of %v: no error", bad)
		}
	}
}

// A file of version 1 is read, and converted to version 2 when a part is added.
func TestFirstVersion(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "v")
	s := Open(path, "m", 4)
	if err := s.Append([]string{"a", "b"}, [][]float32{axis(0), axis(1)}); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	copy(raw, magic1)
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := s.Audit()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Audit{Model: "m", Dimension: 4, Rows: 2, Orphans: 2}, a); diff != "" {
		t.Errorf("audit (-want +got):\n%s", diff)
	}
	if !a.Matches("m", 4) {
		t.Error("the audit does not match the model of the file")
	}
	old := Open(path, "m", 4)
	old.Track("a")
	old.Track("b")
	if err := old.Append([]string{"b"}, [][]float32{axis(2)}); err != nil {
		t.Fatal(err)
	}
	if raw, err = os.ReadFile(path); err != nil || !bytes.HasPrefix(raw, []byte(magic1)) {
		t.Errorf("appending a vector changed the version (%v)", err)
	}
	if err := old.AppendParts("a", 0, 1, [][]float32{axis(3)}); err != nil {
		t.Fatal(err)
	}
	if raw, err = os.ReadFile(path); err != nil || !bytes.HasPrefix(raw, []byte(magic)) {
		t.Errorf("appending a part did not change the version (%v)", err)
	}
	fresh := Open(path, "m", 4)
	fresh.Track("a")
	fresh.Track("b")
	if err := fresh.Refresh(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]float32{0, 1}, fresh.Cosines(axis(2), nil)); diff != "" {
		t.Errorf("cosines (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]PartScore{{0, 1}}, fresh.PartScores(axis(3), []PartScore{{7, 7}})); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
	if other := Open(path, "another", 4); other.Refresh() != nil || !other.OfAnotherModel() {
		t.Error("another model's vectors are taken for its own")
	}
}
