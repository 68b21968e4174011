package mesh

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/internal/lockfile"
	"github.com/yamo-protocol/yamo-mcp/mesh/lance"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// fillWith stores n memories of two words and settles.
func fillWith(t testing.TB, v *View, n int) {
	t.Helper()
	for i := range n {
		keep(t, v, record.Memory{Content: fmt.Sprintf("subject%d predicate%d", i%17, i), SessionID: fmt.Sprint("s", i/10)})
	}
	settle(t, v)
}

var probes = []string{"subject3", "predicate7", "subject5 predicate5", "predicate1 subject0"}

func answers(t testing.TB, v *View) (all []Found) {
	t.Helper()
	for _, query := range probes {
		all = append(all, search(t, v, SearchRequest{Query: query}))
	}
	return all
}

// Derived data that is lost is rebuilt, with the same answers.
func TestLostIndexesComeBack(t *testing.T) {
	t.Parallel()
	const n = 120
	dir := t.TempDir()
	private := filepath.Join(dir, ".yamo", "private")
	v := open(t, dir, audience.DM(), new(words))
	fillWith(t, v, n)
	want := answers(t, v)
	if err := v.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name    string
		lose    func() error
		embeds  int64 // memories embedded again
		rebuild bool
	}{
		{"nothing", func() error { return nil }, 0, false},
		{"vectors", func() error { return os.Remove(filepath.Join(private, "vectors.f32")) }, 0, false},
		{"tables", func() error { return os.RemoveAll(filepath.Join(private, "lance")) }, 0, false},
		{"half of the vectors", func() error {
			return os.Truncate(filepath.Join(private, "vectors.f32"), 64+
				60*(24+4*wordsDim)+13)
		}, 0, false},
		{"a table's newest version", func() error { return emptyNewest(filepath.Join(private, "lance")) }, 0, false},
		{"the tables' record", func() error {
			return os.WriteFile(filepath.Join(private, "lance", "index.json"), []byte("{"),
				0o600)
		}, 0, false},
		{"the audit's mark", func() error { return os.Remove(filepath.Join(private, "blocks.json")) }, 0, false},
		{"vectors and tables", func() error {
			return errors.Join(os.Remove(filepath.Join(private, "vectors.f32")), os.RemoveAll(filepath.Join(private, "lance")))
		}, n, false},
		{"nothing, but rebuilt", func() error { return nil }, n, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := test.lose(); err != nil {
				t.Fatal(err)
			}
			w := new(words)
			v := open(t, dir, audience.DM(), w)
			queries := int64(len(probes))
			if test.rebuild {
				var last [2]int
				err := v.Maintenance().Rebuild(t.Context(), func(_ string, done, total int) { last = [2]int{done, total} })
				if err != nil || last != [2]int{n, n} {
					t.Fatalf("rebuild: %v, last report %v", err, last)
				}
				queries++ // its probe
			}
			settle(t, v) // or a search would answer before all vectors are there
			if diff := cmp.Diff(want, answers(t, v)); diff != "" {
				t.Errorf("other answers than before (-before +after):\n%s", diff)
			}
			if got := w.texts.Load() - queries; got != test.embeds {
				t.Errorf("%d memories were embedded again, want %d", got, test.embeds)
			}
			c := v.stores[record.Private]
			if rows, err := c.index.Tables.Count(t.Context()); err != nil || rows != n {
				t.Errorf("%d rows in LanceDB (%v), want %d", rows, err, n)
			}
			checkBlocks(t, v)
			if err := v.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// emptyNewest does to every table what a power loss may: the newest manifest is there and empty.
func emptyNewest(dir string) error {
	manifests, err := filepath.Glob(filepath.Join(dir, "g*", "*.lance", "_versions", "*.manifest"))
	if err != nil || len(manifests) == 0 {
		return fmt.Errorf("no manifests in %s: %w", dir, err)
	}
	newest := map[string]string{}
	for _, m := range manifests {
		if old := newest[filepath.Dir(m)]; old == "" || modified(m).After(modified(old)) {
			newest[filepath.Dir(m)] = m
		}
	}
	var errs []error
	for _, m := range newest {
		errs = append(errs, os.Truncate(m, 0))
	}
	return errors.Join(errs...)
}

func modified(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// checkBlocks compares yamo_blocks with the private ledger.
func checkBlocks(t *testing.T, v *View) {
	t.Helper()
	settle(t, v)
	rows := map[string]lance.Block{}
	for b, err := range v.stores[record.Private].index.Tables.Blocks(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		rows[b.ID] = b
	}
	n, last := 0, ""
	byEntry := map[string]lance.Block{}
	for _, b := range rows {
		var about struct {
			Hash string `json:"entry_hash"`
		}
		if err := json.Unmarshal([]byte(b.Metadata), &about); err != nil {
			t.Fatal(err)
		}
		byEntry[about.Hash] = b
	}
	err := ledger.New(v.ledgerOptions(record.Private)).Sync(t.Context(), func(e ledger.Entry) error {
		if e.Erased {
			return nil
		}
		n++
		b := byEntry[e.Hash]
		want := lance.Block{
			ID: b.ID, AgentID: "tester", Operation: e.Op, Text: e.Block, Timestamp: e.Time, Hash: e.BlockHash(),
			PrevHash: last,
		}
		last = e.BlockHash()
		meta := map[string]any{"entry_hash": e.Hash, "seq": float64(e.Seq)}
		if e.ID != "" {
			meta["record_id"] = e.ID
		}
		if e.Op == ledger.OpDelete {
			want.Operation, meta["status"] = "retain", "deleted"
		}
		if id := fmt.Sprintf(`^yamo_%s_%d_[0-9a-f]{6}$`, want.Operation,
			e.Time.UnixMilli()); !regexp.MustCompile(id).MatchString(b.ID) {
			return fmt.Errorf("the block of entry %d is called %q, want %s", e.Seq, b.ID, id)
		}
		var got map[string]any
		if err := json.Unmarshal([]byte(b.Metadata), &got); err != nil {
			return err
		}
		if diff := cmp.Diff(meta, got); diff != "" {
			return fmt.Errorf("metadata of entry %d (-want +got):\n%s", e.Seq, diff)
		}
		b.Metadata = ""
		if diff := cmp.Diff(want, b); diff != "" {
			return fmt.Errorf("block of entry %d (-want +got):\n%s", e.Seq, diff)
		}
		return nil
	})
	switch {
	case err != nil:
		t.Fatal(err)
	case n != len(rows):
		t.Errorf("n = %v, want %v", n, len(rows))
	case n == 0:
		t.Errorf("n = %v, must not be 0", n)
	}
}

func TestBlocksFollowTheLedger(t *testing.T) {
	t.Parallel()
	v := open(t, t.TempDir(), audience.DM(), new(words))
	fillWith(t, v, 5)
	id := keep(t, v, record.Memory{Content: "to be deleted"}).ID
	if _, err := v.Distill(t.Context(), sampleLesson()); err != nil {
		t.Fatal(err)
	}
	answers(t, v)
	checkBlocks(t, v)
	if err := v.Delete(t.Context(), id, ""); err != nil {
		t.Fatal(err)
	}
	checkBlocks(t, v)
	if err := v.Maintenance().Rebuild(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	checkBlocks(t, v)
	// Rows that an earlier version wrote differently are written again.
	c := v.stores[record.Private]
	err := c.index.Do(t.Context(), func() error {
		m := readMark(t, v)
		m["format"] = 0
		row := lance.Block{ID: "block_1_000001", Operation: "recall", Text: "old", Timestamp: time.UnixMilli(1)}
		return errors.Join(writeMark(v, m), c.index.Tables.AddBlocks(t.Context(), []lance.Block{row}))
	})
	if err != nil {
		t.Fatal(err)
	}
	keep(t, v, record.Memory{Content: "one more"})
	checkBlocks(t, v)
}

func TestRebuildWithoutAModelDeletesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := new(words)
	v := open(t, dir, audience.DM(), w)
	fillWith(t, v, 3)
	broken := errors.New("no model today")
	w.fail.Store(&broken)
	if err := v.Maintenance().Rebuild(t.Context(), nil); !errors.Is(err, broken) {
		t.Errorf("rebuild: %v, want the embedder's error", err)
	}
	w.fail.Store(nil)
	if found := search(t, v, SearchRequest{Query: "subject1"}); found.Pending != 0 {
		t.Errorf("%d vectors are gone", found.Pending)
	}
}

// Storing waits neither for the model nor for the index lock.
func TestStoreDoesNotWait(t *testing.T) {
	t.Parallel()
	for name, delay := range map[string]time.Duration{"model": 2 * giveUp, "lock": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if name == "lock" {
				locks := filepath.Join(dir, ".yamo", "locks")
				if err := os.MkdirAll(locks, 0o700); err != nil {
					t.Fatal(err)
				}
				release, err := lockfile.Exclusive(t.Context(), filepath.Join(locks, "private.index.lock"))
				if err != nil {
					t.Fatal(err)
				}
				defer release() //nolint:errcheck // a test
			}
			v := open(t, dir, audience.DM(), &words{delay: delay})
			start := time.Now()
			first := keep(t, v, record.Memory{Content: "the first memory"})
			for i := range 20 {
				keep(t, v, record.Memory{Content: fmt.Sprintf("memory %d", i)})
			}
			if took := time.Since(start); took > giveUp {
				t.Errorf("21 memories took %v", took)
			}
			if _, err := v.Get(t.Context(), first.ID); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestReplacedLedgerIsReadAnew(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, ".yamo", "private", "ledger.ndjson")
	v := open(t, dir, audience.DM(), new(words))
	keep(t, v, record.Memory{Content: "kept in the backup"})
	settle(t, v)
	backup, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	gone := keep(t, v, record.Memory{Content: "newer than the backup"}).ID
	settle(t, v)
	if err := os.WriteFile(path, backup, 0o600); err != nil {
		t.Fatal(err)
	}
	if again := keep(t, v, record.Memory{Content: "newer than the backup"}); !again.Created || again.ID == gone {
		t.Errorf("stored %+v: what the backup does not have was still known", again)
	}
	found := search(t, v, SearchRequest{Query: "backup"})
	if diff := cmp.Diff(map[string]bool{"kept in the backup": true, "newer than the backup": true},
		set(contents(found.Hits))); diff != "" {
		t.Errorf("after the restoration (-want +got):\n%s", diff)
	}
	settle(t, v)
	c := v.stores[record.Private]
	if rows, err := c.index.Tables.Memories(t.Context(), []string{gone}, false); err != nil || len(rows) != 0 {
		t.Errorf("LanceDB still has a memory that the ledger does not know: %v, %v", rows, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if found := search(t, v, SearchRequest{Query: "backup"}); len(found.Hits) != 0 {
		t.Errorf("without a ledger: %q", contents(found.Hits))
	}
}

func set(list []string) map[string]bool {
	m := map[string]bool{}
	for _, s := range list {
		m[s] = true
	}
	return m
}

// A damaged ledger is a clear error for those whose own it is, and no other compartment's problem.
func TestDamagedLedger(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	dm, red := open(t, dir, audience.DM(), new(words)), open(t, dir, group(t, "red"), new(words))
	keep(t, dm, record.Memory{Content: "a garden in private"})
	for i := range 3 {
		keep(t, red, record.Memory{Content: fmt.Sprintf("garden plot %d", i)})
	}
	path := filepath.Join(dir, ".yamo", "groups", "red", "ledger.ndjson")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	broken := strings.Replace(string(raw), "garden plot 1", "garden plot 7", 2)
	if err := os.WriteFile(path, []byte(broken), 0o600); err != nil {
		t.Fatal(err)
	}
	again, victim := open(t, dir, audience.DM(), new(words)), open(t, dir, group(t, "red"), new(words))
	found := search(t, again, SearchRequest{Query: "garden"})
	if diff := cmp.Diff([]record.Visibility{"group:red"}, found.Damaged); diff != "" {
		t.Errorf("damaged (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]bool{"a garden in private": true, "garden plot 0": true},
		set(contents(found.Hits))); diff != "" {
		t.Errorf("a DM with a damaged group finds (-want +got):\n%s", diff)
	}
	keep(t, again, record.Memory{Content: "private goes on"})
	_, searchErr := victim.Search(t.Context(), SearchRequest{Query: "garden"})
	_, storeErr := victim.Store(t.Context(), record.Memory{Content: "garden plot 9"}, "")
	for _, err := range []error{searchErr, storeErr} {
		wantFault(t, err, "group:red", "damaged at line 2", "yamo-mcp ledger verify")
		if _, ok := errors.AsType[*ledger.CorruptError](err); !ok {
			t.Errorf("%v does not tell the log", err)
		}
	}
	if now, err := os.ReadFile(path); err != nil || string(now) != broken {
		t.Error("a damaged ledger was changed")
	}
	reports, err := again.Maintenance().Verify(t.Context())
	switch {
	case err != nil:
		t.Fatal(err)
	case len(reports) != 3:
		t.Errorf("len(reports) = %v, want 3", len(reports))
	case !reports[0].Intact():
		t.Error("reports[0].Intact() is false")
	case reports[2].Intact():
		t.Error("reports[2].Intact() is true")
	case reports[2].Bad.Line != 2:
		t.Errorf("reports[2].Bad.Line = %v, want 2", reports[2].Bad.Line)
	}
}

func TestLinkedFoldersAreRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keep(t, open(t, dir, audience.DM(), new(words)), record.Memory{Content: "a private matter"})
	yamo := filepath.Join(dir, ".yamo")
	if err := errors.Join(os.Mkdir(filepath.Join(yamo, "groups"), 0o700),
		os.Symlink(filepath.Join(yamo, "private"), filepath.Join(yamo, "groups", "red"))); err != nil {
		t.Fatal(err)
	}
	v := open(t, dir, group(t, "red"), new(words))
	if found, err := v.Search(t.Context(), SearchRequest{Query: "matter"}); err == nil {
		t.Errorf("a group found %q through a link", contents(found.Hits))
	}
	if _, err := v.Store(t.Context(), record.Memory{Content: "x"}, ""); err == nil {
		t.Error("a group stored through a link")
	}
	reports, err := v.Maintenance().Verify(t.Context())
	if err == nil {
		t.Errorf("a group verified through a link: %+v", reports)
	}
}

// Many callers at once, then Close: nothing hangs, leaks or is lost.
func TestConcurrentUseAndClose(t *testing.T) {
	before := runtime.NumGoroutine()
	dir := t.TempDir()
	v := Open(Options{Dir: filepath.Join(dir, ".yamo"), Audience: audience.DM(), AgentID: "tester", Embedder: new(words)})
	var wait sync.WaitGroup
	var mu sync.Mutex
	var acked []string
	stored := make(chan struct{}, 4*15)
	for worker := range 4 {
		wait.Go(func() {
			for i := range 15 {
				text := fmt.Sprintf("worker%d item%d", worker, i)
				s, err := v.Store(context.Background(), record.Memory{Content: text, SessionID: fmt.Sprint(worker)}, "")
				if errors.Is(err, ErrClosed) {
					return
				}
				if err != nil {
					t.Errorf("store: %v", err)
				}
				mu.Lock()
				acked = append(acked, text)
				mu.Unlock()
				stored <- struct{}{}
				if i%4 == 3 {
					mu.Lock()
					acked = slices.DeleteFunc(acked, func(s string) bool { return s == text })
					mu.Unlock()
					err := v.Delete(context.Background(), s.ID, "")
					if err != nil && !errors.Is(err, ErrClosed) && !errors.Is(err, lance.ErrClosed) {
						t.Errorf("delete: %v", err)
					}
				}
				if _, err := v.Search(context.Background(), SearchRequest{Query: text, IncludeLessons: true}); err != nil &&
					!errors.Is(err, ErrClosed) {
					t.Errorf("search: %v", err)
				}
			}
		})
	}
	for range 4 * 15 / 2 {
		select {
		case <-stored:
		case <-time.After(giveUp):
			t.Fatal("the memories are not stored")
		}
	}
	if err := v.Close(context.Background()); err != nil {
		t.Errorf("close: %v", err)
	}
	wait.Wait()
	for end := time.Now().Add(giveUp); runtime.NumGoroutine() > before && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
	if now := runtime.NumGoroutine(); now > before {
		stacks := make([]byte, 1<<16)
		t.Errorf("%d goroutines before, %d after:\n%s", before, now, stacks[:runtime.Stack(stacks, true)])
	}
	again := open(t, dir, audience.DM(), new(words))
	search(t, again, SearchRequest{Query: "worker0"})
	c := again.stores[record.Private]
	known := map[string]bool{}
	snapshot := c.Snapshot()
	for r := range snapshot.Memories() {
		known[r.Content] = true
	}
	snapshot.Release()
	for _, text := range acked {
		if !known[text] {
			t.Errorf("%q was acknowledged and is lost", text)
		}
	}
}
