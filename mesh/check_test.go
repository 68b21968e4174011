package mesh

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/index"
	"github.com/yamo-protocol/yamo-mcp/mesh/lance"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// check is the report on the private compartment.
func check(t *testing.T, v *View) index.Report {
	t.Helper()
	reports, err := v.Maintenance().Check(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case len(reports) < 2:
		t.Fatalf("len(reports) = %v, must not be < 2", len(reports))
	case reports[0].Compartment != record.Private:
		t.Fatalf("reports[0].Compartment = %v, want %v", reports[0].Compartment, record.Private)
	case reports[1].Compartment != record.Shared:
		t.Fatalf("reports[1].Compartment = %v, want %v", reports[1].Compartment, record.Shared)
	}
	return reports[0]
}

func TestCheckIndex(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	// tables opens the private compartment's, as another program would.
	tables := func(t *testing.T, dir string, change func(*lance.DB) error) {
		t.Helper()
		m := new(words).Model()
		db := lance.Open(filepath.Join(dir, "lance"), lance.ModelInfo{Name: m.Name, Dimension: m.Dim}, lance.Options{})
		if err := errors.Join(change(db), db.Close()); err != nil {
			t.Fatal(err)
		}
	}
	// replace writes the first row again.
	replace := func(t *testing.T, dir string, change func(*lance.Memory)) {
		t.Helper()
		tables(t, dir, func(db *lance.DB) error {
			for row, err := range db.AllMemories(ctx, true) {
				if err != nil {
					return err
				}
				change(&row)
				return errors.Join(db.DeleteMemories(ctx, []string{row.ID}), db.AddMemories(ctx, []lance.Memory{row}))
			}
			return errors.New("no rows")
		})
	}
	const n = 30
	for name, test := range map[string]struct {
		damage   func(t *testing.T, dir string)
		embedder index.Embedder // of the check, if it is another one
		problems []string       // parts of them
		behind   bool
	}{
		"nothing": {func(*testing.T, string) {}, nil, nil, false},
		"no vectors": {func(t *testing.T, dir string) {
			t.Helper()
			if err := os.Remove(filepath.Join(dir, "vectors.f32")); err != nil {
				t.Fatal(err)
			}
		}, nil, nil, true},
		"no tables": {func(t *testing.T, dir string) {
			t.Helper()
			tables(t, dir, func(db *lance.DB) error { return db.Drop(ctx) })
		}, nil, nil, true},
		"a damaged vector": {func(t *testing.T, dir string) {
			t.Helper()
			path := filepath.Join(dir, "vectors.f32")
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			raw[len(raw)-1] ^= 1
			if err := os.WriteFile(path, raw, 0o600); err != nil {
				t.Fatal(err)
			}
		}, nil, []string{"1 vectors are damaged"}, true},
		"another row": {func(t *testing.T, dir string) {
			t.Helper()
			tables(t, dir, func(db *lance.DB) error {
				vectors, err := new(words).Embed(ctx, []string{"x"})
				if err != nil {
					return err
				}
				return db.AddMemories(ctx, []lance.Memory{{ID: "mem_1_000000", Vector: vectors[0], Content: "of a deleted memory"}})
			})
		}, nil, []string{"1 rows of memory_entries are of no memory"}, false},
		"another text": {func(t *testing.T, dir string) {
			t.Helper()
			replace(t, dir, func(m *lance.Memory) { m.Content = "planted" })
		}, nil, []string{"1 rows of memory_entries have another text"}, false},
		"another vector": {func(t *testing.T, dir string) {
			t.Helper()
			replace(t, dir, func(m *lance.Memory) { m.Vector[0], m.Vector[1] = -m.Vector[1], m.Vector[0] })
		}, nil, []string{"1 rows of memory_entries have another vector"}, false},
		"another model": {
			func(*testing.T, string) {}, new(otherWords),
			[]string{"the vectors were made with model", "the tables were made with model"},
			true,
		},
		"a block gone": {func(t *testing.T, dir string) {
			t.Helper()
			tables(t, dir, func(db *lance.DB) error {
				for row, err := range db.Blocks(ctx) {
					if err != nil {
						return err
					}
					return db.DeleteBlocks(ctx, []string{row.ID})
				}
				return errors.New("no blocks")
			})
		}, nil, nil, true},
		"a damaged ledger": {func(t *testing.T, dir string) {
			t.Helper()
			path := filepath.Join(dir, "ledger.ndjson")
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(strings.Replace(string(raw), "predicate7", "predicate8", 1)),
				0o600); err != nil {
				t.Fatal(err)
			}
		}, nil, []string{"the ledger is damaged at line 8"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			v := Open(Options{Dir: filepath.Join(dir, ".yamo"), Audience: audience.DM(), Embedder: new(words)})
			fillWith(t, v, n)
			if err := v.Close(ctx); err != nil {
				t.Fatal(err)
			}
			private := filepath.Join(dir, ".yamo", "private")
			test.damage(t, private)
			before := fingerprint(t, private)
			e := test.embedder
			if e == nil {
				e = new(words)
			}
			looker := Open(Options{Dir: filepath.Join(dir, ".yamo"), Audience: audience.DM(), Embedder: e})
			r := check(t, looker)
			if err := looker.Close(ctx); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, fingerprint(t, private)); diff != "" {
				t.Errorf("looking changed something (-before +after):\n%s", diff)
			}
			if len(r.Problems) != len(test.problems) {
				t.Fatalf("problems %q, want %q", r.Problems, test.problems)
			}
			for i, want := range test.problems {
				if !strings.Contains(r.Problems[i], want) {
					t.Errorf("problem %q, want %q", r.Problems[i], want)
				}
			}
			if r.Behind() != test.behind {
				t.Errorf("behind: %+v, want %v", r, test.behind)
			}
			if name == "a damaged ledger" {
				return
			}
			// What is wrong is what a rebuild mends.
			mender := open(t, dir, audience.DM(), e)
			if err := mender.Maintenance().Rebuild(ctx, nil); err != nil {
				t.Fatal(err)
			}
			want := index.Report{
				Compartment: record.Private, Memories: n, Vectors: n, Rows: n, Blocks: n, BlockRows: n,
				Problems: []string{},
			}
			if diff := cmp.Diff(want, check(t, mender)); diff != "" {
				t.Errorf("after a rebuild (-want +got):\n%s", diff)
			}
		})
	}
}

// otherWords is words under the name of another model.
type otherWords struct{ words }

func (w *otherWords) Model() (m embed.Model) {
	m = w.words.Model()
	m.Name = "other"
	return m
}

// fingerprint is the size and time of every file below dir.
func fingerprint(t *testing.T, dir string) (list []string) {
	t.Helper()
	for _, name := range tree(t, dir) {
		info, err := os.Lstat(name)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, fmt.Sprintf("%s %d %s", name, info.Size(), info.ModTime()))
	}
	return list
}

func TestCheckingAnEmptyMemoryCreatesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := open(t, dir, audience.DM(), new(words))
	want := index.Report{Compartment: record.Private, Problems: []string{}}
	if diff := cmp.Diff(want, check(t, v)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if files := tree(t, dir); len(files) > 1 { // the folder itself
		t.Errorf("created: %q", files)
	}
}

func TestCompact(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := open(t, dir, audience.DM(), new(words))
	for i := range 6 {
		fillWith(t, v, 2+3*i) // a fragment each
	}
	done, err := v.Maintenance().Compact(t.Context())
	switch {
	case err != nil:
		t.Fatal(err)
	case len(done) != 1:
		t.Fatalf("len(done) = %v, want 1", len(done))
	case done[0].Compartment != record.Private:
		t.Fatalf("done[0].Compartment = %v, want %v", done[0].Compartment, record.Private)
	}
	switch b, a := done[0].Before, done[0].After; {
	case b.Rows != a.Rows:
		t.Errorf("b.Rows = %v, want %v", b.Rows, a.Rows)
	case a.Fragments >= b.Fragments:
		t.Errorf("a.Fragments = %v, must not be >= b.Fragments", a.Fragments)
	case a.Versions >= b.Versions:
		t.Errorf("a.Versions = %v, must not be >= b.Versions", a.Versions)
	case a.Fragments != 2:
		t.Errorf("a.Fragments = %v, want 2", a.Fragments)
	}
	if r := check(t, v); len(r.Problems) > 0 || r.Behind() {
		t.Errorf("after compacting: %+v", r)
	}
}

// A rebuild that is interrupted goes on where it was, unless it was for another model.
func TestRebuildGoesOn(t *testing.T) {
	t.Parallel()
	const n = 3 * index.EmbedBatch
	dir := t.TempDir()
	filled := open(t, dir, audience.DM(), new(words))
	fillWith(t, filled, n)
	// Otherwise its background work makes the vectors that the rebuild is to make.
	if err := filled.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	interrupted := func(e index.Embedder) (done int) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		v := open(t, dir, audience.DM(), e)
		err := v.Maintenance().Rebuild(ctx, func(_ string, batch, _ int) {
			if done = batch; done >= index.EmbedBatch {
				cancel()
			}
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("interrupted: %v", err)
		}
		// Otherwise it goes on in the background.
		if err := v.Close(t.Context()); err != nil {
			t.Error(err)
		}
		return done
	}
	interrupted(new(words))
	e := new(words)
	v := open(t, dir, audience.DM(), e)
	if err := v.Maintenance().Rebuild(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if made := e.texts.Load(); made != n-index.EmbedBatch+1 { // one text finds out whether it works at all
		t.Errorf("embedded %d texts, want %d", made, n-index.EmbedBatch+1)
	}
	if r := check(t, v); len(r.Problems) > 0 || r.Behind() {
		t.Errorf("after going on: %+v", r)
	}
	interrupted(new(words))
	e = new(words)
	if err := open(t, dir, audience.DM(), &otherWords{}).Maintenance().Rebuild(t.Context(), nil); err != nil {
		t.Errorf("for another model: %v", err)
	}
	if err := open(t, dir, audience.DM(), e).Maintenance().Rebuild(t.Context(), nil); err != nil || e.texts.Load() != n+1 {
		t.Errorf("a rebuild after a whole one embedded %d texts, %v; want %d", e.texts.Load(), err, n+1)
	}
}
