package lance

import (
	"bytes"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tree returns the files below dir with their contents.
func tree(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	out := make(map[string][]byte)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		out[path], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func mustCompact(t testing.TB, db *DB) {
	t.Helper()
	if err := db.Compact(t.Context()); err != nil {
		t.Fatal("compact:", err)
	}
}

func mustStats(t testing.TB, db *DB) Stats {
	t.Helper()
	s, err := db.Stats(t.Context())
	if err != nil {
		t.Fatal("stats:", err)
	}
	return s
}

func TestCompactKeepsRowsAndMergesFragments(t *testing.T) {
	t.Parallel()
	db := newTest(t)
	rng := testRNG()
	rows := someMemories(rng, 0, smallFragment+300, testDim)
	mustAdd(t, db, rows[:smallFragment]) // large enough to stay
	for at := smallFragment; at < len(rows); at += 10 {
		mustAdd(t, db, rows[at:at+10])
	}
	before := mustStats(t, db)
	if want := (Stats{Rows: len(rows), Fragments: 31, Small: 30, Versions: 32}); before != want || !before.Fragmented() {
		t.Errorf("stats = %+v, want %+v", before, want)
	}
	mustCompact(t, db)
	after := mustStats(t, db)
	if want := (Stats{Rows: len(rows), Fragments: 2, Small: 1, Versions: 1}); after != want || after.Fragmented() {
		t.Errorf("stats = %+v, want %+v", after, want)
	}
	sameRows(t, rows, collect(t, db, true))
	files := tree(t, db.dir)
	if len(files) != 5 { // index.json, a manifest, its transaction, two data files
		t.Errorf("%d files are left: %q", len(files), slices.Collect(mapsKeys(files)))
	}
	mustCompact(t, db) // nothing to do
	if diff := cmp.Diff(files, tree(t, db.dir)); diff != "" {
		t.Errorf("compacting twice changed files:\n%s", diff)
	}
	mustAdd(t, db, someMemories(rng, len(rows), 1, testDim)) // the result can be written to
	mustCount(t, db, len(rows)+1)
}

// Small and large fragments by turns, with deletions on both sides of the 32-bit boundaries.
func TestSpansCoverTheRewrittenRowsAndNoOther(t *testing.T) {
	t.Parallel()
	m := &manifest{fragments: []fragment{
		{id: 7, rows: 3},
		{id: 0, rows: 2},
		{id: 1, rows: 9000},
		{id: 2, rows: 1},
		{id: 3, rows: 2},
		{id: 5, rows: 1},
		{id: 6, rows: 8000, deleted: 1},
	}}
	const f = 1 << 32
	for _, c := range []struct {
		limit uint64
		want  []span
	}{
		{4_000, []span{
			{0, 2, 2}, {2 * f, 5*f + 1, 4}, {6 * f, 6*f + 4000, 4000}, {6*f + 4000, 6*f + 8000, 4000}, {7 * f, 7*f + 3, 3},
		}},
		{math.MaxUint32, []span{{0, 2, 2}, {2 * f, 7*f + 3, 8007}}},
	} {
		if diff := cmp.Diff(c.want, spans(m, victims(m), c.limit), cmp.AllowUnexported(span{})); diff != "" {
			t.Errorf("limit %d (-want +got):\n%s", c.limit, diff)
		}
	}
}

func mapsKeys(m map[string][]byte) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func TestDeletedContentIsGoneAfterCompact(t *testing.T) {
	t.Parallel()
	for name, n := range map[string]int{"one of several": 1, "all of a fragment": 5, "all": 8} {
		t.Run(name, func(t *testing.T) {
			db := newTest(t)
			rows := someMemories(testRNG(), 0, 8, testDim)
			for i := range rows {
				rows[i].Content = "canary-" + rows[i].ID
			}
			mustAdd(t, db, rows[:5])
			mustAdd(t, db, rows[5:])
			if err := db.DeleteMemories(t.Context(), idsOf(rows[:n])); err != nil {
				t.Fatal(err)
			}
			mustCompact(t, db)
			var all []byte
			for _, content := range tree(t, db.dir) {
				all = append(all, content...)
			}
			for i, r := range rows {
				if got, want := bytes.Contains(all, []byte(r.Content)), i >= n; got != want {
					t.Errorf("row %d on disk: %v, want %v", i, got, want)
				}
			}
			sameRows(t, rows[n:], collect(t, db, true))
		})
	}
}

// A crash leaves either an unpublished next generation or an old one that was not deleted yet.
func TestCompactAfterACrash(t *testing.T) {
	t.Parallel()
	db := newTest(t)
	rows := someMemories(testRNG(), 0, 20, testDim)
	mustAdd(t, db, rows[:10])
	mustAdd(t, db, rows[10:])
	old := generation(t, db.dir)
	for path, content := range tree(t, old) {
		for _, g := range []string{"g2", "g7"} {
			to := strings.Replace(path, old, filepath.Join(db.dir, g), 1)
			if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(to, content[:len(content)/2], 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(db.dir, ".index.json-123"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	mustCount(t, db, 20)
	mustCompact(t, db)
	sameRows(t, rows, collect(t, db, true))
	entries, err := os.ReadDir(db.dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if diff := cmp.Diff([]string{linkName, filepath.Base(generation(t, db.dir)), indexName}, names); diff != "" {
		t.Errorf("the folder (-want +got):\n%s", diff)
	}
}

// A reader that has the old generation open continues with the new one.
func TestCompactUnderAnotherReader(t *testing.T) {
	t.Parallel()
	db := newTest(t)
	rows := someMemories(testRNG(), 0, 30, testDim)
	mustAdd(t, db, rows[:10])
	reader := openTest(t, db.dir, testModel)
	mustCount(t, reader, 10)
	mustAdd(t, db, rows[10:])
	mustCompact(t, db)
	hits, err := reader.Nearest(t.Context(), rows[25].Vector, 1, Filter{})
	if err != nil || len(hits) != 1 {
		t.Fatalf("nearest = %v, %v; want one", hits, err)
	}
	if hits[0].ID != rows[25].ID {
		t.Errorf("nearest = %s; want %s", hits[0].ID, rows[25].ID)
	}
	if err := db.Drop(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustCount(t, reader, 0)
}
