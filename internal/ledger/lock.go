package ledger

import (
	"context"
	"errors"
	"fmt"

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
	return release, fault.Unusable(l.opt.Lock, plainFile, err)
}
