// Package lockfile takes advisory locks between processes, with flock(2) on a file that exists for nothing else.
//
// Its invariant: of two processes that lock the same path exclusively, one has the lock at a time, even if another
// process removes the file meanwhile. The kernel releases a lock when its process dies, so that no lock is ever stale.
package lockfile

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Waiting for a lock is polling: flock(2) cannot wait for a context. The pauses are short at first, because most locks
// are held for a short time, and then grow.
const (
	firstPause = 50 * time.Microsecond
	maxPause   = 4 * time.Millisecond
)

// Exclusive waits for the exclusive lock on the file at path, and returns the function that releases it. It creates the
// file with mode 0600 and missing folders with 0700. If ctx ends first, the error wraps [context.Cause] of ctx. A
// symbolic link at path, or as its folder, is an error that wraps ELOOP; see [Resolved]. The lock is not reentrant: a
// second call in the same process waits for the first.
func Exclusive(ctx context.Context, path string) (release func() error, err error) {
	return lock(ctx, path, syscall.LOCK_EX)
}

// Shared is [Exclusive] for a lock that any number of processes may have while none has the exclusive one.
func Shared(ctx context.Context, path string) (release func() error, err error) {
	return lock(ctx, path, syscall.LOCK_SH)
}

// Resolved returns path with the links of its folder followed, for a lock in a folder that a user may link to another
// place, as with the folders of settings and caches. A folder that cannot be followed stays as it is.
func Resolved(path string) string {
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return path
}

// TryExclusive is [Exclusive] without waiting: ok is false if another process has a lock on the file.
func TryExclusive(path string) (release func() error, ok bool, err error) {
	return try(path, syscall.LOCK_EX)
}

// File waits for the exclusive lock on an open file. Closing the file releases it. If ctx ends first, the error wraps
// [context.Cause] of ctx. Unlike [Exclusive] it does not check that the file still has its name: the caller does.
func File(ctx context.Context, file *os.File) error {
	return wait(ctx, file.Name(), func() (bool, error) { return flock(file, syscall.LOCK_EX) })
}

// lock waits for the lock on path until ctx is done.
func lock(ctx context.Context, path string, mode int) (release func() error, err error) {
	err = wait(ctx, path, func() (ok bool, err error) {
		release, ok, err = try(path, mode)
		return ok, err
	})
	return release, err
}

// wait calls attempt until it succeeds or fails, or ctx ends.
func wait(ctx context.Context, path string, attempt func() (bool, error)) error {
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		if ok, err := attempt(); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for lock %s: %w", path, context.Cause(ctx))
		case <-time.After(pause/2 + rand.N(pause)): //nolint:gosec // keeps waiting processes out of step, no secret
		}
	}
}

// try takes the lock on path if no other process has it. The file may have been replaced while the lock was taken; then
// ok is false and the caller tries again.
func try(path string, mode int) (release func() error, ok bool, err error) {
	file, err := open(path, mode)
	if err != nil {
		return nil, false, err
	}
	if file == nil {
		return func() error { return nil }, true, nil
	}
	ok, err = flock(file, mode)
	if ok && err == nil {
		ok, err = isAt(path, file)
	}
	if !ok || err != nil {
		return nil, false, errors.Join(err, file.Close())
	}
	return file.Close, true, nil
}

// open opens the lock file at path, which is created if it is missing. On a read-only file system a shared lock is
// taken on the file as it is; there file is nil if it is missing, because nobody can have locked it.
func open(path string, mode int) (file *os.File, err error) {
	dir := filepath.Dir(path)
	// SECURITY: nor locks in a folder elsewhere. Two workspaces would share them, and others could hold them.
	if info, err := os.Lstat(dir); err == nil && info.Mode()&os.ModeSymlink != 0 {
		return nil, &os.PathError{Op: "open the lock's folder", Path: dir, Err: syscall.ELOOP}
	}
	if err = os.MkdirAll(dir, 0o700); err != nil {
		err = fmt.Errorf("create the lock's folder: %w", err)
	} else {
		// SECURITY: no lock through a symbolic link: it would create or block a file elsewhere.
		if file, err = os.OpenFile(path, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600); err == nil {
			return file, nil
		}
		err = fmt.Errorf("open lock: %w", err)
	}
	if mode != syscall.LOCK_SH || !errors.Is(err, syscall.EROFS) {
		return nil, err
	}
	file, readErr := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	switch {
	case errors.Is(readErr, os.ErrNotExist):
		return nil, nil
	case readErr != nil:
		return nil, fmt.Errorf("open lock: %w", readErr)
	}
	return file, nil
}

// flock reports whether it got the lock on file; false means that another process has it.
func flock(file *os.File, mode int) (bool, error) {
	switch err := syscall.Flock(int(file.Fd()), mode|syscall.LOCK_NB); {
	case err == nil:
		return true, nil
	case errors.Is(err, syscall.EWOULDBLOCK), errors.Is(err, syscall.EINTR):
		return false, nil
	default:
		return false, fmt.Errorf("lock %s: %w", file.Name(), err)
	}
}

// isAt reports whether path still names file. Otherwise the lock file was removed after it was opened, and another
// process may have locked the one that replaced it.
func isAt(path string, file *os.File) (bool, error) {
	held, err := file.Stat()
	if err != nil {
		return false, err
	}
	named, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(held, named), err
}
