package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var (
	testKey  = bytes.Repeat([]byte{7}, KeySize)
	testTime = time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)
)

// testOptions returns the options of a ledger in the folder dir, with a clock that does not advance.
func testOptions(dir string) Options {
	return Options{
		Path: filepath.Join(dir, "private", "ledger.ndjson"), Name: "private",
		Lock: filepath.Join(dir, "locks", "private.lock"),
		Key:  func(bool) ([]byte, error) { return testKey, nil },
		Now:  func() time.Time { return testTime },
	}
}

// reader collects what a Ledger delivers.
type reader struct {
	*Ledger
	got []Entry
}

func newReader(opt Options) *reader { return &reader{Ledger: New(opt)} }

func (r *reader) apply(e Entry) error {
	r.got = append(r.got, e)
	return nil
}

func (r *reader) ids() string {
	var ids []string
	for _, e := range r.got {
		ids = append(ids, e.ID)
	}
	return strings.Join(ids, " ")
}

func (r *reader) sync(t testing.TB) []Entry {
	t.Helper()
	if err := r.Sync(t.Context(), r.apply); err != nil {
		t.Fatal(err)
	}
	return r.got
}

func (r *reader) add(t testing.TB, ids ...string) []Entry {
	t.Helper()
	entries, err := r.tryAdd(t.Context(), ids...)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

func (r *reader) tryAdd(ctx context.Context, ids ...string) ([]Entry, error) {
	return r.Append(ctx, r.apply, func(time.Time) ([]Draft, error) { return retain(ids...), nil })
}

func (r *reader) tryErase(ctx context.Context, ids ...string) ([]Entry, error) {
	return r.Erase(ctx, r.apply, func(time.Time) ([]Draft, error) {
		var drafts []Draft
		for _, id := range ids {
			drafts = append(drafts, Draft{Op: OpDelete, ID: id, Block: "deleted " + id + "\n"})
		}
		return drafts, nil
	})
}

func retain(ids ...string) []Draft {
	var drafts []Draft
	for _, id := range ids {
		drafts = append(drafts, Draft{
			Op:    "retain",
			ID:    id,
			Block: "block of " + id + ";\n",
			Data:  map[string]string{"content": "content <of> " + id},
		})
	}
	return drafts
}

func mustIntact(t testing.TB, path string, entries int64) Report {
	t.Helper()
	r, err := Verify(context.Background(), path, "private", testKey)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Intact() || r.Entries != entries {
		t.Fatalf("verify: %d entries, want %d; bad: %v", r.Entries, entries, r.Bad)
	}
	return r
}

func TestAppendAndSync(t *testing.T) {
	t.Parallel()
	opt := testOptions(t.TempDir())
	a, b := newReader(opt), newReader(opt)
	if got := a.sync(t); got != nil {
		t.Errorf("an absent ledger has entries: %v", got)
	}
	first := a.add(t, "mem_1", "mem_2")
	second := b.add(t, "mem_3")
	a.sync(t)

	want := []Entry{
		{
			Seq:      1,
			Time:     testTime,
			Op:       "retain",
			ID:       "mem_1",
			Block:    "block of mem_1;\n",
			PrevHash: Genesis,
			Hash:     first[0].Hash,
			Data:     json.RawMessage(`{"content":"content <of> mem_1"}`),
		},
		{
			Seq:      2,
			Time:     testTime,
			Op:       "retain",
			ID:       "mem_2",
			Block:    "block of mem_2;\n",
			PrevHash: first[0].Hash,
			Hash:     first[1].Hash,
			Data:     json.RawMessage(`{"content":"content <of> mem_2"}`),
		},
		{
			Seq:      3,
			Time:     testTime,
			Op:       "retain",
			ID:       "mem_3",
			Block:    "block of mem_3;\n",
			PrevHash: first[1].Hash,
			Hash:     second[0].Hash,
			Data:     json.RawMessage(`{"content":"content <of> mem_3"}`),
		},
	}
	if diff := cmp.Diff(want, append(first, second...)); diff != "" {
		t.Errorf("returned (-want +got):\n%s", diff)
	}
	for name, r := range map[string]*reader{"first writer": a, "second writer": b, "new reader": newReader(opt)} {
		if diff := cmp.Diff(want, r.sync(t)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if diff := cmp.Diff(Report{Entries: 3, Bytes: fileSize(t, opt.Path), LastHash: second[0].Hash},
		mustIntact(t, opt.Path, 3)); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	if got := want[0].BlockHash(); got != "46a7c9805108cfa79f1a87ddc0816b4b19b53097816da24ba3d70ad49a9e7178" {
		t.Errorf("BlockHash = %s", got)
	}
	if got := (Entry{}).BlockHash(); got != "" {
		t.Errorf("BlockHash without a block = %s", got)
	}
}

func fileSize(t testing.TB, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

func TestNothingIsCreatedBeforeTheFirstAppend(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	opt := testOptions(dir)
	l := newReader(opt)
	l.sync(t)
	if names, err := os.ReadDir(dir); err != nil || len(names) != 0 {
		t.Errorf("New and Sync created %v, %v", names, err)
	}
	if got := l.add(t); got != nil {
		t.Errorf("Append without drafts returned %v", got)
	}
	if _, err := os.Stat(filepath.Dir(opt.Path)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Append without drafts created the folder: %v", err)
	}
	l.add(t, "mem_1")
	for path, want := range map[string]os.FileMode{
		opt.Path: 0o600, filepath.Dir(opt.Path): 0o700 | os.ModeDir, opt.Lock: 0o600,
		filepath.Dir(opt.Lock): 0o700 | os.ModeDir,
	} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != want {
			t.Errorf("%s has mode %v, want %v", path, info.Mode(), want)
		}
	}
}

// prepare sees everything ever written, so a writer can leave out what another has written meanwhile.
func TestPrepareSeesOthersEntries(t *testing.T) {
	t.Parallel()
	opt := testOptions(t.TempDir())
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			r := newReader(opt)
			for i := range 20 {
				id := fmt.Sprintf("mem_%d", i)
				_, err := r.Append(context.Background(), r.apply, func(time.Time) ([]Draft, error) {
					for _, e := range r.got {
						if e.ID == id {
							return nil, nil
						}
					}
					return retain(id), nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := len(newReader(opt).sync(t)); got != 20 {
		t.Errorf("%d entries, want 20", got)
	}
}

func TestOneLedgerFromManyGoroutines(t *testing.T) {
	t.Parallel()
	opt := testOptions(t.TempDir())
	r := newReader(opt)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 10 {
				if _, err := r.tryAdd(context.Background(), fmt.Sprintf("mem_%d_%d", g, i)); err != nil {
					t.Error(err)
				}
				if err := r.Sync(context.Background(), r.apply); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if diff := cmp.Diff(newReader(opt).sync(t), r.got); diff != "" || len(r.got) != 40 {
		t.Errorf("%d entries delivered, want 40 (-want +got):\n%s", len(r.got), diff)
	}
}

func TestRelaxed(t *testing.T) {
	t.Parallel()
	opt := testOptions(t.TempDir())
	faults := &faultyFS{}
	opt.FS = faults
	a := newReader(opt)
	if _, err := a.AppendRelaxed(t.Context(), a.apply,
		func(time.Time) ([]Draft, error) { return retain("mem_1"), nil }); err != nil {
		t.Fatal(err)
	}
	if got := faults.count("sync"); got != 0 {
		t.Errorf("AppendRelaxed waited %d times for the disk", got)
	}
	if got := newReader(opt).sync(t); len(got) != 1 {
		t.Errorf("others see %d entries, want 1", len(got))
	}
	a.add(t, "mem_2")
	// The file, its folder and at least the folder above: the first durable entry makes the names durable too.
	if got := faults.count("sync"); got < 3 {
		t.Errorf("the first Append waited %d times for the disk, want at least 3", got)
	}
	before := faults.count("sync")
	a.add(t, "mem_3")
	if got := faults.count("sync") - before; got != 1 {
		t.Errorf("a further Append waited %d times for the disk, want 1", got)
	}
}

// Who replaced the file may have died before its name was durable, so the next promise covers that too.
func TestAppendAfterAnothersErase(t *testing.T) {
	t.Parallel()
	opt := testOptions(t.TempDir())
	faulty, faults := opt, &faultyFS{}
	faulty.FS = faults
	a, b := newReader(opt), newReader(faulty)
	b.add(t, "mem_1")
	if _, err := a.tryErase(t.Context(), "mem_1"); err != nil {
		t.Fatal(err)
	}
	before := faults.count("sync")
	b.add(t, "mem_2")
	if got := faults.count("sync") - before; got < 3 {
		t.Errorf("Append to a replaced file waited %d times for the disk, want at least 3", got)
	}
}

func TestPrepareError(t *testing.T) {
	t.Parallel()
	opt := testOptions(t.TempDir())
	a := newReader(opt)
	a.add(t, "mem_1")
	want := errors.New("no")
	for name, do := range map[string]func(context.Context, func(Entry) error, func(time.Time) ([]Draft, error)) ([]Entry,
		error){
		"append": a.Append, "relaxed": a.AppendRelaxed, "erase": a.Erase,
	} {
		got, err := do(t.Context(), a.apply, func(time.Time) ([]Draft, error) { return retain("mem_2"), want })
		if !errors.Is(err, want) || got != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	mustIntact(t, opt.Path, 1)
}

func TestDraftsAreChecked(t *testing.T) {
	t.Parallel()
	opt := testOptions(t.TempDir())
	a := newReader(opt)
	for name, tc := range map[string]struct {
		draft Draft
		want  string
	}{
		"no operation":       {Draft{}, "operation"},
		"operation":          {Draft{Op: "Retain"}, "operation"},
		"operation too long": {Draft{Op: strings.Repeat("a", 33)}, "operation"},
		"quote in id":        {Draft{Op: "retain", ID: `a"b`}, "id"},
		"newline in id":      {Draft{Op: "retain", ID: "a\nb"}, "id"},
		"id too long":        {Draft{Op: "retain", ID: strings.Repeat("a", 129)}, "id"},
		"block not UTF-8":    {Draft{Op: "retain", Block: "\xff"}, "UTF-8"},
		"data not JSON":      {Draft{Op: "retain", Data: func() {}}, "json"},
		"raw data not JSON":  {Draft{Op: "retain", Data: json.RawMessage("{")}, "json"},
		"too long":           {Draft{Op: "retain", Block: strings.Repeat("x", maxLine)}, "bytes"},
	} {
		drafts := append(retain("mem_1"), tc.draft)
		_, err := a.Append(t.Context(), a.apply, func(time.Time) ([]Draft, error) { return drafts, nil })
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want one about %q", name, err, tc.want)
		}
	}
	if len(a.sync(t)) != 0 {
		t.Error("a batch with a bad draft was written in part")
	}
}

func TestContentSurvivesAsItIs(t *testing.T) {
	t.Parallel()
	opt := testOptions(t.TempDir())
	a := newReader(opt)
	drafts := []Draft{
		{Op: "retain", ID: "A-z_0.9:x", Block: "a\"b\\c\n\t\x00\u2028é日🔑</script>"},
		{Op: "recall"},
		{Op: "lesson", Data: json.RawMessage("{\n \"a\" : [1, 2.50, \"\\n\"],\n \"b\": null }")},
		{Op: "retain", Block: strings.Repeat("y", 3<<20), Data: strings.Repeat("z", 300<<10)},
	}
	got, err := a.Append(t.Context(), a.apply, func(time.Time) ([]Draft, error) { return drafts, nil })
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range drafts {
		if got[i].Op != d.Op || got[i].ID != d.ID {
			t.Errorf("draft %d came back as %s %q, want %s %q", i, got[i].Op, got[i].ID, d.Op, d.ID)
		}
		if got[i].Block != d.Block {
			t.Errorf("draft %d came back with the block %.200q", i, got[i].Block)
		}
	}
	if got[1].Data != nil {
		t.Errorf("no data came back as %s", got[1].Data)
	}
	if want := `{"a":[1,2.50,"\n"],"b":null}`; string(got[2].Data) != want {
		t.Errorf("data came back as %s, want %s", got[2].Data, want)
	}
	if n, want := len(got[3].Data), 300<<10+2; n != want {
		t.Errorf("long data came back as %d bytes, want %d", n, want)
	}
	if !reflect.DeepEqual(newReader(opt).sync(t), got) { // cmp takes long for such strings
		t.Error("others read something else")
	}
	mustIntact(t, opt.Path, 4)
}

func TestApplyErrorIsDeliveredAgain(t *testing.T) {
	t.Parallel()
	opt := testOptions(t.TempDir())
	a, b := newReader(opt), newReader(opt)
	refuse := errors.New("no")
	calls := 0
	refuseSecond := func(e Entry) error {
		if calls++; calls == 2 {
			return refuse
		}
		return a.apply(e)
	}
	got, err := a.Append(t.Context(), refuseSecond,
		func(time.Time) ([]Draft, error) { return retain("mem_1", "mem_2", "mem_3"), nil })
	if !errors.Is(err, refuse) || len(got) != 3 {
		t.Fatalf("%d entries and %v, want the 3 durable entries and the error", len(got), err)
	}
	calls = 1
	if err := b.Sync(t.Context(), refuseSecond); !errors.Is(err, refuse) {
		t.Fatal(err)
	}
	a.got, b.got = a.got[:1], nil
	a.sync(t)
	b.sync(t)
	if a.ids() != "mem_1 mem_2 mem_3" || b.ids() != "mem_1 mem_2 mem_3" {
		t.Errorf("delivered %q and %q", a.ids(), b.ids())
	}
}

func TestNilApply(t *testing.T) {
	t.Parallel()
	opt := testOptions(t.TempDir())
	l := New(opt)
	if _, err := l.Append(t.Context(), nil, func(time.Time) ([]Draft, error) { return retain("mem_1"), nil }); err != nil {
		t.Fatal(err)
	}
	newReader(opt).add(t, "mem_2")
	if err := l.Sync(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if err := l.Sync(t.Context(), func(e Entry) error { return fmt.Errorf("%s came again", e.ID) }); err != nil {
		t.Error(err)
	}
}

func TestKeyError(t *testing.T) {
	t.Parallel()
	opt := testOptions(t.TempDir())
	fail := true
	opt.Key = func(bool) ([]byte, error) {
		if fail {
			return nil, os.ErrPermission
		}
		return testKey, nil
	}
	a := newReader(opt)
	if _, err := a.tryAdd(t.Context(), "mem_1"); !errors.Is(err, os.ErrPermission) {
		t.Fatalf("error %v", err)
	}
	fail = false
	a.add(t, "mem_1")
	mustIntact(t, opt.Path, 1)
}

// The times of what was written one after the other tell so, in several ledgers too, on a disk of any speed.
func TestLaterEntriesHaveLaterTimes(t *testing.T) {
	t.Parallel()
	var ledgers []*Ledger
	for range 3 {
		opt := testOptions(t.TempDir())
		opt.Now, opt.FS = nil, noSync{}
		ledgers = append(ledgers, New(opt))
	}
	var last time.Time
	for i := range 60 {
		write := ledgers[i%3].Append
		if i%7 == 6 {
			write = ledgers[i%3].Erase
		}
		entries, err := write(t.Context(), nil, drafts(Draft{Op: OpDelete, ID: fmt.Sprint(i)}))
		if err != nil || len(entries) != 1 {
			t.Fatalf("entry %d: %v, %v", i, entries, err)
		}
		if at := entries[0].Time; !at.After(last) {
			t.Errorf("entry %d has the time %s, after one of %s", i, at, last)
		}
		last = entries[0].Time
	}
}

// noSync is a file system whose fsync takes no time.
type noSync struct{ osFS }

func (noSync) OpenFile(name string, flag int, mode os.FileMode) (File, error) {
	f, err := osFS{}.OpenFile(name, flag, mode)
	return noSyncFile{f}, err
}

type noSyncFile struct{ File }

func (noSyncFile) Sync() error { return nil }
