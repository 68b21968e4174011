package ledger

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

// ErrBusy says that another process held the ledger's lock for longer than Options.Wait.
var ErrBusy = errors.New("the ledger is locked by another process")

type lockMode bool

const (
	shared    lockMode = false
	exclusive lockMode = true
)

// lock takes the lock between processes (and between Ledgers of one process) and returns its release.
// The kernel releases it when the process dies.
func (l *Ledger) lock(ctx context.Context, mode lockMode) (release func() error, err error) {
	if err := os.MkdirAll(filepath.Dir(l.opt.Lock), 0o700); err != nil {
		return nil, fmt.Errorf("create the lock's folder: %w", err)
	}
	deadline := time.NewTimer(l.opt.Wait)
	defer deadline.Stop()
	// flock(2) cannot wait for a context, so ask again and again: soon at first, since most writes are
	// short, then less often. The jitter keeps several processes out of step.
	for pause := 50 * time.Microsecond; ; pause = min(2*pause, 4*time.Millisecond) {
		fl := flock.New(l.opt.Lock, flock.SetFlag(os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW), flock.SetPermissions(0o600))
		ok, err := tryLock(fl, l.opt.Lock, mode)
		if ok {
			return fl.Unlock, nil
		}
		if cerr := fl.Close(); err != nil || cerr != nil {
			return nil, fmt.Errorf("lock %s: %w", l.opt.Lock, errors.Join(err, cerr))
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for lock %s: %w", l.opt.Lock, ctx.Err())
		case <-deadline.C:
			return nil, fmt.Errorf("lock %s: %w (waited %s)", l.opt.Lock, ErrBusy, l.opt.Wait)
		case <-time.After(pause/2 + rand.N(pause)): //nolint:gosec // spreads waiting processes, no secret
		}
	}
}

// tryLock reports whether it got the lock of the file that has the name now: whoever removes the lock
// file must not leave two processes with a lock each.
func tryLock(fl *flock.Flock, path string, mode lockMode) (bool, error) {
	try := fl.TryRLock
	if mode == exclusive {
		try = fl.TryLock
	}
	if ok, err := try(); !ok || err != nil {
		return false, err
	}
	held, err := fl.Stat()
	if err != nil {
		return false, err
	}
	named, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(held, named), err
}
