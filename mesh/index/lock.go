package index

import (
	"context"
	"fmt"

	"github.com/yamo-protocol/yamo-mcp/internal/lockfile"
)

// Lock lets one goroutine of one process at a time work on an index. Processes exclude each other by a lock on the
// file; that does not exclude goroutines of one process, which pass a token.
type Lock struct {
	path string
	turn chan struct{} // one token, for this process's goroutines
}

// NewLock returns the lock whose file is path.
func NewLock(path string) *Lock {
	l := &Lock{path: path, turn: make(chan struct{}, 1)}
	l.turn <- struct{}{}
	return l
}

// Do waits for the lock, until ctx ends, and calls f with it held.
func (l *Lock) Do(ctx context.Context, f func() error) error {
	select {
	case <-l.turn:
		defer func() { l.turn <- struct{}{} }()
	case <-ctx.Done():
		return ctx.Err()
	}
	release, err := lockfile.Exclusive(ctx, l.path)
	if err != nil {
		return fmt.Errorf("lock the memory index: %w", err)
	}
	defer func() { _ = release() }() // closing the descriptor releases it
	return f()
}

// Try calls f with the lock held, or returns nil if the lock is not free.
func (l *Lock) Try(f func() error) error {
	select {
	case <-l.turn:
		defer func() { l.turn <- struct{}{} }()
	default:
		return nil
	}
	release, ok, err := lockfile.TryExclusive(l.path)
	if !ok || err != nil {
		return err
	}
	defer func() { _ = release() }() // closing the descriptor releases it
	return f()
}
