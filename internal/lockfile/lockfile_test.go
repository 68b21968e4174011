package lockfile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

func take(t *testing.T, lock func(context.Context, string) (func() error, error), path string) (release func()) {
	t.Helper()
	unlock, err := lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		if err := unlock(); err != nil {
			t.Error(err)
		}
	}
}

func TestExclusiveKeepsOthersOut(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "locks", "a.lock")
	var group sync.WaitGroup
	var inside, entered atomic.Int32 // flock(2) orders nothing for the race detector
	for range 8 {
		group.Go(func() {
			for range 20 {
				unlock, err := Exclusive(t.Context(), path)
				if err != nil {
					t.Error(err)
					return
				}
				if n := inside.Add(1); n != 1 {
					t.Errorf("%d holders of the exclusive lock", n)
				}
				entered.Add(1)
				inside.Add(-1)
				if err := unlock(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if n := entered.Load(); n != 8*20 {
		t.Errorf("the lock was taken %d times, want %d", n, 8*20)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the lock file has mode %v, want 0600", info.Mode())
	}
	if folder, err := os.Stat(filepath.Dir(path)); err != nil || folder.Mode().Perm() != 0o700 {
		t.Errorf("the lock's folder has mode %v (%v), want 0700", folder.Mode(), err)
	}
}

func TestSharedLocks(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.lock")
	one, two := take(t, Shared, path), take(t, Shared, path)
	if _, ok, err := TryExclusive(path); ok || err != nil {
		t.Errorf("TryExclusive beside shared locks: %t, %v", ok, err)
	}
	one()
	two()
	unlock, ok, err := TryExclusive(path)
	if !ok || err != nil {
		t.Fatalf("TryExclusive of a free lock: %t, %v", ok, err)
	}
	if err := unlock(); err != nil {
		t.Error(err)
	}
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.lock")
	defer take(t, Exclusive, path)()
	busy := errors.New("busy")
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Millisecond, busy)
	defer cancel()
	if _, err := Exclusive(ctx, path); !errors.Is(err, busy) {
		t.Errorf("Exclusive: %v, want the context's cause", err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // opened for reading
	if err := File(ctx, file); !errors.Is(err, busy) {
		t.Errorf("File: %v, want the context's cause", err)
	}
}

func TestFileLocksWhatIsOpen(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.md")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := File(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := TryExclusive(path); ok || err != nil {
		t.Errorf("the lock could be taken twice: %t, %v", ok, err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	take(t, Exclusive, path)()
}

// A process that waits must not end up with the lock on a file that is no longer the lock file.
func TestRemovedFileIsNotLocked(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.lock")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // opened for its descriptor
	if ok, err := isAt(path, file); !ok || err != nil {
		t.Errorf("isAt of the file itself: %t, %v", ok, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if ok, err := isAt(path, file); ok || err != nil {
		t.Errorf("isAt of a removed file: %t, %v", ok, err)
	}
	defer take(t, Exclusive, path)()
	if ok, err := isAt(path, file); ok || err != nil {
		t.Errorf("isAt of a replaced file: %t, %v", ok, err)
	}
}

func TestSymbolicLinksAreRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, target := filepath.Join(dir, "a.lock"), filepath.Join(dir, "elsewhere")
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
	if _, err := Exclusive(t.Context(), path); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("Exclusive: %v, want ELOOP", err)
	}
	if _, err := os.Lstat(target); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the link's target exists: %v", err)
	}
}

// A linked folder is refused, whichever the lock: what it leads to gets no file. Resolved follows it.
func TestLinkedFolderIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, elsewhere := filepath.Join(dir, "locks", "a.lock"), filepath.Join(dir, "elsewhere")
	if err := os.Mkdir(elsewhere, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, filepath.Join(dir, "locks")); err != nil {
		t.Fatal(err)
	}
	for name, lock := range map[string]func(context.Context, string) (func() error, error){
		"Exclusive": Exclusive, "Shared": Shared,
		"TryExclusive": func(_ context.Context, path string) (func() error, error) {
			release, _, err := TryExclusive(path)
			return release, err
		},
	} {
		if _, err := lock(t.Context(), path); !errors.Is(err, syscall.ELOOP) {
			t.Errorf("%s: %v, want ELOOP", name, err)
		}
	}
	if entries, err := os.ReadDir(elsewhere); err != nil || len(entries) > 0 {
		t.Errorf("the linked folder has %v, %v", entries, err)
	}
	take(t, Exclusive, Resolved(path))()
	if _, err := os.Lstat(filepath.Join(elsewhere, "a.lock")); err != nil {
		t.Errorf("the lock of the resolved path: %v", err)
	}
	if missing := filepath.Join(dir, "missing", "a.lock"); Resolved(missing) != missing {
		t.Errorf("Resolved(%q) = %q", missing, Resolved(missing))
	}
}
