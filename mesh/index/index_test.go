package index

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
	"github.com/yamo-protocol/yamo-mcp/mesh/vector"
)

// lengths embeds a text as its length, or fails with err, and keeps what it was asked for.
type lengths struct {
	mu    sync.Mutex
	texts []string
	err   error
	short bool // returns a vector too few
}

func (e *lengths) Model() embed.Model { return embed.Model{Name: "lengths", Dim: 2} }

func (e *lengths) Embed(_ context.Context, texts []string) ([][]float32, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.texts = append(e.texts, texts...)
	if e.err != nil {
		return nil, e.err
	}
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = []float32{0, 1}
		if len(text)%2 == 0 {
			vectors[i] = []float32{1, 0}
		}
	}
	if e.short {
		return vectors[1:], nil
	}
	return vectors, nil
}

// asked returns the texts of the calls since the last one, sorted.
func (e *lengths) asked() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	texts := e.texts
	e.texts = nil
	slices.Sort(texts)
	return texts
}

// process opens the compartment in dir and its index as another process would.
func process(t *testing.T, dir string, e Embedder) (*store.Compartment, *Index) {
	t.Helper()
	options := ledger.Options{
		Path: filepath.Join(dir, "ledger.ndjson"), Name: "private", Lock: filepath.Join(dir, "ledger.lock"),
		Key: func(bool) ([]byte, error) { return make([]byte, 32), nil },
	}
	m := e.Model()
	vectors := vector.Open(filepath.Join(dir, "vectors.f32"), m.Name, m.Dim)
	c := store.New(record.Private, ledger.New(options), vectors, time.Hour)
	ix := New(Options{
		Compartment: c, Dir: dir, LockPath: filepath.Join(dir, "index.lock"), Ledger: options, Embedder: e,
		Logger: slog.New(slog.DiscardHandler),
	})
	t.Cleanup(func() {
		if err := ix.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return c, ix
}

func retain(t *testing.T, c *store.Compartment, ids ...string) {
	t.Helper()
	err := c.Append(t.Context(), func(*store.Snapshot, time.Time) (drafts []ledger.Draft, _ error) {
		for _, id := range ids {
			memory := record.Memory{Content: "about " + id, Type: "event"}
			r := &record.Record{ID: id, CreatedAt: time.UnixMilli(1), Memory: memory}
			drafts = append(drafts, ledger.Draft{Op: store.OpRetain, ID: id, Block: "a block", Data: r})
		}
		return drafts, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// check returns what Check finds.
func check(t *testing.T, ix *Index) Report {
	t.Helper()
	r := Report{Problems: []string{}}
	if err := ix.Check(t.Context(), &r, func(int, int) {}); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestUpdateFollowsTheLedger(t *testing.T) {
	t.Parallel()
	e := &lengths{}
	c, ix := process(t, t.TempDir(), e)
	retain(t, c, "mem_1_a", "mem_2_bb", "mem_3_c")
	if want := (Report{Memories: 3, Blocks: 3, Problems: []string{}}); !cmp.Equal(want, check(t, ix)) {
		t.Errorf("before (-want +got):\n%s", cmp.Diff(want, check(t, ix)))
	}
	if err := ix.Update(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := Report{Memories: 3, Vectors: 3, Rows: 3, Blocks: 3, BlockRows: 3, Problems: []string{}}
	if diff := cmp.Diff(want, check(t, ix)); diff != "" {
		t.Errorf("after (-want +got):\n%s", diff)
	}
	e.asked()
	retain(t, c, "mem_4_d")
	if err := ix.Update(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"about mem_4_d"}, e.asked()); diff != "" {
		t.Errorf("embedded for one more memory (-want +got):\n%s", diff)
	}
	err := c.Erase(t.Context(), func(*store.Snapshot, time.Time) ([]ledger.Draft, error) {
		return []ledger.Draft{{Op: ledger.OpDelete, ID: "mem_1_a", Block: "a delete block"}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := ix.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	want = Report{Memories: 3, Vectors: 3, Rows: 3, Blocks: 4, BlockRows: 4, Problems: []string{}}
	if diff := cmp.Diff(want, check(t, ix)); diff != "" {
		t.Errorf("after a deletion (-want +got):\n%s", diff)
	}
	if rows, err := ix.Tables.Memories(t.Context(), []string{"mem_1_a"}, false); err != nil || len(rows) > 0 {
		t.Errorf("the deleted row: %v, %v", rows, err)
	}
}

// A lost file of vectors is restored from LanceDB. A rebuild makes them again.
// A process that is killed, or fails, between deleting rows and compacting leaves the compaction to the next work,
// which learns from the ledger what was deleted. It does so once.
func TestDeletedRowsAreCompactedLater(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c, ix := process(t, dir, &lengths{})
	retain(t, c, "mem_1_a", "mem_2_bb", "mem_3_c")
	if err := ix.Update(t.Context()); err != nil {
		t.Fatal(err)
	}
	gone := func(*store.Snapshot, time.Time) ([]ledger.Draft, error) { return []ledger.Draft{{ID: "mem_2_bb"}}, nil }
	if err := c.Erase(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	err := ix.Do(t.Context(), func() error { // tryFlush up to the compaction
		if _, err := ix.reconcile(t.Context()); err != nil {
			return err
		}
		_, err := ix.blocks.flush(t.Context(), ix.Tables)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if left := filesWith(t, filepath.Join(dir, "lance"), "about mem_2_bb"); len(left) == 0 {
		t.Fatal("nothing is left to compact")
	}
	_, next := process(t, dir, &lengths{})
	if err := next.Update(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left := filesWith(t, dir, "about mem_2_bb"); len(left) > 0 {
		t.Errorf("still in %q", left)
	}
	generation := filesWith(t, filepath.Join(dir, "lance"), "about mem_1_a")
	c, third := process(t, dir, &lengths{})
	retain(t, c, "mem_4_d")
	if err := third.Update(t.Context()); err != nil {
		t.Fatal(err)
	}
	if again := filesWith(t, filepath.Join(dir, "lance"), "about mem_1_a"); !cmp.Equal(generation, again) {
		t.Errorf("it was compacted again: %q became %q", generation, again)
	}
}

// filesWith returns the files below dir that contain text.
func filesWith(t *testing.T, dir, text string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(path)
		if bytes.Contains(raw, []byte(text)) {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func TestVectorsComeFromLanceDB(t *testing.T) {
	t.Parallel()
	dir, e := t.TempDir(), &lengths{}
	c, first := process(t, dir, e)
	retain(t, c, "mem_1_a", "mem_2_b")
	if err := first.Update(t.Context()); err != nil {
		t.Fatal(err)
	}
	e.asked()
	if err := os.Remove(filepath.Join(dir, "vectors.f32")); err != nil {
		t.Fatal(err)
	}
	_, ix := process(t, dir, e)
	if err := ix.Update(t.Context()); err != nil {
		t.Fatal(err)
	}
	if texts := e.asked(); texts != nil {
		t.Errorf("embedded again: %q", texts)
	}
	if n := check(t, ix).Vectors; n != 2 {
		t.Errorf("%d vectors, want 2", n)
	}
	if err := ix.Rebuild(t.Context(), func(int, int) {}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"about mem_1_a", "about mem_2_b"}, e.asked()); diff != "" {
		t.Errorf("embedded by a rebuild (-want +got):\n%s", diff)
	}
}

// After a failure the work rests: a search does not wait for it, and a broken provider is not asked all the time.
func TestFailedWorkRests(t *testing.T) {
	t.Parallel()
	broken := errors.New("connection refused")
	e := &lengths{err: broken}
	c, ix := process(t, t.TempDir(), e)
	retain(t, c, "mem_1_a")
	pending, err := ix.Ready(t.Context(), time.Hour) // returns with the failure, long before
	if err != nil || pending != 1 {
		t.Errorf("Ready: %d pending, %v", pending, err)
	}
	if err := ix.Trouble(); !errors.Is(err, broken) {
		t.Errorf("Trouble: %v", err)
	}
	calls := len(e.asked())
	if calls == 0 {
		t.Fatal("the embedder was not asked")
	}
	ix.Wake()
	if _, err := ix.Ready(t.Context(), time.Hour); err != nil {
		t.Fatal(err)
	}
	if again := e.asked(); len(again) > 0 {
		t.Errorf("asked again at once: %q", again)
	}
}

func TestEmbed(t *testing.T) {
	t.Parallel()
	if v, err := Embed(t.Context(), &lengths{}, "words", []string{"a", "bb"}); err != nil || len(v) != 2 {
		t.Errorf("%v, %v", v, err)
	}
	for want, e := range map[string]*lengths{
		"embed words: 1 vectors for 2 texts":        {short: true},
		"embed words: " + embed.ErrNoAssets.Error(): {err: embed.ErrNoAssets},
	} {
		v, err := Embed(t.Context(), e, "words", []string{"a", "bb"})
		if err == nil || err.Error() != want || v != nil {
			t.Errorf("%v, %v; want %s", v, err, want)
		}
		if e.err != nil && !errors.Is(err, e.err) {
			t.Errorf("%v does not wrap %v", err, e.err)
		}
	}
}

// One goroutine of one process at a time has the lock.
func TestLock(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	held := NewLock(path)
	for name, l := range map[string]*Lock{"a goroutine": held, "another process": NewLock(path)} {
		err := held.Do(t.Context(), func() error {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			err := l.Do(ctx, func() error { t.Errorf("%s got the lock", name); return nil })
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s waited until %v", name, err)
			}
			return l.Try(func() error { t.Errorf("%s got the lock by Try", name); return nil })
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		called := errors.New("called")
		if err := l.Try(func() error { return called }); !errors.Is(err, called) {
			t.Errorf("%s does not get the free lock: %v", name, err)
		}
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	var r Report
	r.Count(0, "rows are wrong")
	r.Count(2, "rows are wrong")
	r.Count(2, "rows are wrong")
	if diff := cmp.Diff([]string{"2 rows are wrong"}, r.Problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	for name, test := range map[string]struct {
		r    Report
		want bool
	}{
		"nothing":    {Report{}, false},
		"all":        {Report{Memories: 2, Vectors: 2, Rows: 2, Blocks: 3, BlockRows: 3, Skills: 1, SkillRows: 1}, false},
		"no vectors": {Report{Memories: 2, Vectors: 1, Rows: 2}, true},
		"no rows":    {Report{Memories: 2, Vectors: 2, Rows: 1}, true},
		"no blocks":  {Report{Blocks: 3, BlockRows: 2}, true},
		"no skills":  {Report{Skills: 1}, true},
	} {
		if got := test.r.Behind(); got != test.want {
			t.Errorf("%s: behind %v, want %v", name, got, test.want)
		}
	}
}
