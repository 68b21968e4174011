package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
)

// ErrBusy means that another process held the ledger's lock for longer than Options.Wait.
var ErrBusy = errors.New("the ledger is locked by another process")

// lock takes a lock between processes (and between Ledgers of one process) with one of the functions of lockfile.
func (l *Ledger) lock(
	ctx context.Context, take func(context.Context, string) (func() error, error),
) (release func() error, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, l.opt.Wait, ErrBusy)
	defer cancel()
	release, err = take(ctx, l.opt.Lock)
	if errors.Is(err, ErrBusy) {
		err = fmt.Errorf("%w (waited %s)", err, l.opt.Wait)
	}
	if folder := filepath.Dir(l.opt.Lock); refused(err) == folder {
		return release, fault.Unusable(folder, "a plain folder", err)
	}
	return release, fault.Unusable(l.opt.Lock, plainFile, err)
}

// refused returns the path that an error of the system is about, "" without one.
func refused(err error) string {
	if system, ok := errors.AsType[*fs.PathError](err); ok {
		return system.Path
	}
	return ""
}
