package ledger

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// faultyFS is the operating system's file system whose nth call of a kind fails.
type faultyFS struct {
	kind  string // "" counts every kind
	nth   int    // from 1; 0 never fails
	err   error
	short bool // a failing write writes half of its bytes
	only  bool // later calls work again

	calls map[string]int
	log   []string
}

// fails counts a call and reports whether it is to fail.
func (f *faultyFS) fails(kind string) error {
	if f.calls == nil {
		f.calls = map[string]int{}
	}
	f.calls[kind]++
	f.calls[""]++
	f.log = append(f.log, kind)
	if f.nth == 0 || f.kind != "" && f.kind != kind {
		return nil
	}
	if n := f.calls[f.kind]; n == f.nth || n > f.nth && !f.only {
		return f.err
	}
	return nil
}

func (f *faultyFS) count(kind string) int { return f.calls[kind] }

func (f *faultyFS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	if err := f.fails("open"); err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	file, err := osFS{}.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &faultyFile{file, f}, nil
}

func (f *faultyFS) Rename(from, to string) error {
	if err := f.fails("rename"); err != nil {
		return err
	}
	return os.Rename(from, to)
}

func (f *faultyFS) Remove(name string) error {
	if err := f.fails("remove"); err != nil {
		return err
	}
	return os.Remove(name)
}

type faultyFile struct {
	File
	fs *faultyFS
}

func (f *faultyFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.fs.fails("write"); err != nil {
		if f.fs.short {
			n, _ := f.File.WriteAt(p[:len(p)/2], off)
			return n, err
		}
		return 0, err
	}
	return f.File.WriteAt(p, off)
}

func (f *faultyFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.fs.fails("read"); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}

func (f *faultyFile) Sync() error {
	err := f.fs.fails("sync")
	if err == nil {
		err = f.File.Sync()
	}
	return err
}

func (f *faultyFile) Stat() (fs.FileInfo, error) {
	if err := f.fs.fails("stat"); err != nil {
		return nil, err
	}
	return f.File.Stat()
}

func (f *faultyFile) Truncate(size int64) error {
	if err := f.fs.fails("truncate"); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

// lazyFS is the operating system's file system without fsync.
type lazyFS struct{ osFS }

func (lazyFS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := osFS{}.OpenFile(name, flag, perm)
	return lazyFile{f}, err
}

type lazyFile struct{ File }

func (lazyFile) Sync() error { return nil }

// Whichever call of the file system fails, once: what was acknowledged stays, an Append that fails
// leaves nothing behind, an Erase that fails has happened wholly or not at all, and the next call works.
func TestEveryFileOperationFailsOnce(t *testing.T) {
	t.Parallel()
	for _, op := range []string{"append", "relaxed", "erase"} {
		for _, short := range []bool{false, true} {
			for nth := 1; ; nth++ {
				opt := testOptions(t.TempDir())
				setup := newReader(opt)
				setup.add(t, "mem_1", "mem_2", "mem_3")

				faults := &faultyFS{nth: nth, err: syscall.ENOSPC, short: short, only: true}
				faulty := opt
				faulty.FS = faults
				a := newReader(faulty)
				var got []Entry
				var err error
				switch op {
				case "append":
					got, err = a.tryAdd(t.Context(), "mem_4", "mem_5")
				case "relaxed":
					got, err = a.AppendRelaxed(t.Context(), a.apply,
						func(time.Time) ([]Draft, error) { return retain("mem_4", "mem_5"), nil })
				case "erase":
					got, err = a.tryErase(t.Context(), "mem_2", "mem_1")
				}
				if faults.count("") < nth {
					if nth <= 4 {
						t.Fatalf("%s makes only %d calls", op, nth-1)
					}
					break // every call has failed once
				}
				seen := newReader(opt).sync(t)
				where := strings.Join(faults.log, " ")
				switch {
				case err == nil:
					if diff := cmp.Diff(seen[len(seen)-2:], got); diff != "" {
						t.Errorf("%s: acknowledged, but others see (-seen +got) %s\nafter %s", op, diff, where)
					}
				case !errors.Is(err, syscall.ENOSPC) || got != nil:
					t.Errorf("%s: %v, %v, want the fault and nothing else, after %s", op, got, err, where)
				case op == "erase" && strings.Contains(err.Error(), "power failure"):
					var erased []int64
					for _, e := range seen {
						if e.Erased {
							erased = append(erased, e.Seq)
						}
					}
					if diff := cmp.Diff([]int64{1, 2}, erased); diff != "" || len(seen) != 5 {
						t.Errorf("erase: %v, but others see %d entries, erased (-want +got) %s\nafter %s",
							err, len(seen), diff, where)
					}
				default:
					if diff := cmp.Diff(setup.got, seen); diff != "" {
						t.Errorf("%s failed, but others see (-want +got) %s\nafter %s", op, diff, where)
					}
				}
				a.add(t, "mem_6")
				final := newReader(opt).sync(t)
				if len(final) != len(seen)+1 || final[len(final)-1].ID != "mem_6" {
					t.Errorf("%s: the next Append gives %v after %s", op, final, where)
				}
				if err == nil || op != "erase" {
					if diff := cmp.Diff(final, a.got); diff != "" {
						t.Errorf("%s: delivered (-want +got) %s\nafter %s", op, diff, where)
					}
				}
				mustIntact(t, opt.Path, int64(len(final)))
				if _, err := os.Stat(opt.Path + ".tmp"); err == nil && faults.count("remove") < 2 {
					t.Errorf("%s: the temporary file stays after %s", op, where)
				}
			}
		}
	}
}

// When the disk stays broken the error names what could not be undone.
func TestRollbackFails(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ kind, want string }{
		{"sync", "may return after a power failure"},
		{"truncate", "may appear later"},
	} {
		opt := testOptions(t.TempDir())
		newReader(opt).add(t, "mem_1")
		faults := &faultyFS{nth: 1, err: syscall.EIO, kind: tc.kind}
		opt.FS = faults
		a := newReader(opt)
		a.sync(t)
		if tc.kind == "truncate" {
			opt.FS = &twoFaults{faults, &faultyFS{nth: 1, err: syscall.EIO, kind: "sync"}}
			a = newReader(opt)
		}
		_, err := a.tryAdd(t.Context(), "mem_2")
		if !errors.Is(err, syscall.EIO) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want one that says %q", tc.kind, err, tc.want)
		}
		if a.ids() != "mem_1" {
			t.Errorf("%s: delivered %q", tc.kind, a.ids())
		}
	}
}

// twoFaults fails truncate as its first and sync as its second member does.
type twoFaults struct{ truncate, sync *faultyFS }

func (f *twoFaults) Rename(from, to string) error { return os.Rename(from, to) }
func (f *twoFaults) Remove(name string) error     { return os.Remove(name) }
func (f *twoFaults) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	inner, err := f.truncate.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &faultyFile{inner, f.sync}, nil
}

// After a failed fsync, entries that were not waited for are written again before the next promise.
func TestFailedSyncIsNotTrusted(t *testing.T) {
	t.Parallel()
	opt := testOptions(t.TempDir())
	faults := &faultyFS{kind: "sync", err: syscall.EIO, only: true}
	opt.FS = faults
	a := newReader(opt)
	a.add(t, "mem_1")
	if _, err := a.AppendRelaxed(t.Context(), a.apply,
		func(time.Time) ([]Draft, error) { return retain("mem_2"), nil }); err != nil {
		t.Fatal(err)
	}
	faults.nth = faults.count("sync") + 1
	if _, err := a.tryAdd(t.Context(), "mem_3"); !errors.Is(err, syscall.EIO) {
		t.Fatalf("error %v, want EIO", err)
	}
	writes := faults.count("write")
	a.add(t, "mem_4")
	if got := faults.count("write") - writes; got != 2 {
		t.Errorf("the next Append made %d writes, want 2: the old entries again and the new one", got)
	}
	writes = faults.count("write")
	a.add(t, "mem_5")
	if got := faults.count("write") - writes; got != 1 {
		t.Errorf("a further Append made %d writes, want 1", got)
	}
	if want := "mem_1 mem_2 mem_4 mem_5"; a.ids() != want {
		t.Errorf("delivered %q, want %q", a.ids(), want)
	}
	mustIntact(t, opt.Path, 4)
}

// The same after another process has put a shorter file in the place: what this one knew to be durable
// is not about the new one.
func TestFailedSyncInAReplacedFile(t *testing.T) {
	t.Parallel()
	opt := testOptions(t.TempDir())
	faulty, faults := opt, &faultyFS{kind: "sync", err: syscall.EIO, only: true}
	faulty.FS = faults
	a, b := newReader(opt), newReader(faulty)
	if _, err := b.Append(t.Context(), b.apply, drafts(Draft{
		Op: "retain", ID: "mem_1",
		Block: strings.Repeat("x", 9000),
	})); err != nil {
		t.Fatal(err)
	}
	if _, err := a.tryErase(t.Context(), "mem_1"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.AppendRelaxed(t.Context(), b.apply, drafts(retain("mem_2")...)); err != nil {
		t.Fatal(err)
	}
	faults.nth = faults.count("sync") + 1
	if _, err := b.tryAdd(t.Context(), "mem_3"); !errors.Is(err, syscall.EIO) {
		t.Fatalf("error %v, want EIO", err)
	}
	writes := faults.count("write")
	b.add(t, "mem_4")
	if got := faults.count("write") - writes; got != 2 {
		t.Errorf("the next Append made %d writes, want 2: the old entries again and the new one", got)
	}
}

// The new file is durable before it takes the old one's place, and its name before Erase returns.
// When the folder's fsync fails after the rename, the content is erased, and the error states that this may not last.
func TestErasureThatMayNotLast(t *testing.T) {
	t.Parallel()
	opt := testOptions(t.TempDir())
	newReader(opt).add(t, "mem_1")
	failing := opt
	failing.FS = &faultyFS{nth: 2, err: syscall.EIO, kind: "sync"} // the first is that of the new file
	a := newReader(failing)
	entries, err := a.tryErase(t.Context(), "mem_1")
	if !errors.Is(err, ErrNotDurable) || !errors.Is(err, syscall.EIO) || len(entries) != 0 {
		t.Errorf("%d entries and %v", len(entries), err)
	}
	for name, r := range map[string]*reader{"this process": a, "another process": newReader(opt)} {
		r.sync(t)
		if last := r.got[len(r.got)-1]; last.Op != OpDelete {
			t.Errorf("%s gets %q, not the deletion", name, last.Op)
		}
	}
	raw, err := os.ReadFile(opt.Path)
	if err != nil || !strings.Contains(string(raw), `"erased":true`) {
		t.Errorf("the file is %s, %v", raw, err)
	}
}

func TestEraseSyncsInOrder(t *testing.T) {
	t.Parallel()
	opt := testOptions(t.TempDir())
	faults := &faultyFS{}
	opt.FS = faults
	a := newReader(opt)
	a.add(t, "mem_1")
	faults.log = nil
	if _, err := a.tryErase(t.Context(), "mem_1"); err != nil {
		t.Fatal(err)
	}
	steps := slices.DeleteFunc(faults.log,
		func(kind string) bool { return kind != "write" && kind != "sync" && kind != "rename" })
	if got := strings.Join(steps, " "); !strings.HasPrefix(got, "write sync rename sync") {
		t.Errorf("Erase went %s", got)
	}
}
