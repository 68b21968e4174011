package fileindex

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/index"
	"github.com/yamo-protocol/yamo-mcp/mesh/vector"
)

// ready waits until every passage has its vector, for at most patience, and returns the number of those without one.
// Where more than one batch is missing it waits for at most index.Brief.
func (x *Index) ready(ctx context.Context, patience time.Duration) (pending int) {
	working, vectors := x.wake()
	if _, missing := vectors.Missing(0); missing > index.EmbedBatch {
		patience = min(patience, index.Brief)
	}
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	if working != nil {
		select {
		case <-working:
		case <-timeout.C:
		case <-ctx.Done():
		}
	}
	_, pending = vectors.Missing(0)
	return pending
}

// wake starts the work on the vectors if there is any to do and it has not just failed. working is closed when the work
// ends, and nil if none is in progress.
func (x *Index) wake() (working <-chan struct{}, vectors *vector.Set) {
	x.mu.Lock()
	defer x.mu.Unlock()
	vectors = x.store.Vectors
	if x.working != nil {
		return x.working, vectors
	}
	_ = vectors.Refresh() // the work reports what is wrong with the file
	_, missing := vectors.Missing(0)
	s := x.store.Snapshot()
	empty := len(s.Docs) == 0 && !x.onDisk() // then no file is created either
	s.Release()
	// Installing the model ends the rest at once: looking for it costs nothing.
	resting := x.failed != nil && !errors.Is(x.failed, embed.ErrNoAssets) && time.Since(x.failedAt) < index.RetryAfter
	if missing == 0 && !x.stale || empty || resting || x.ctx.Err() != nil {
		return nil, vectors
	}
	done := make(chan struct{})
	x.working = done
	x.done.Go(func() {
		err := x.work(x.ctx)
		x.mu.Lock()
		defer x.mu.Unlock()
		if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, embed.ErrNoAssets) {
			x.Logger.Warn("index workspace files", "error", err)
		}
		x.failed, x.failedAt, x.working = err, time.Now(), nil
		close(done)
	})
	return done, vectors
}

// work removes the vectors of removed passages from the disk and makes the missing ones.
func (x *Index) work(ctx context.Context) error {
	if err := x.Prepare(); err != nil {
		return err
	}
	return x.lock.Do(ctx, func() error {
		// Under the lock: another process may have embedded passages of a file that this one has not read yet, and Prune
		// would delete their vectors.
		if err := x.sync(ctx); err != nil {
			return err
		}
		x.mu.Lock()
		passages := x.store
		x.mu.Unlock()
		vectors := passages.Vectors
		if err := errors.Join(vectors.Refresh(), vectors.Prune()); err != nil {
			return err
		}
		x.mu.Lock()
		x.stale = false
		x.mu.Unlock()
		for {
			ids, texts := index.Missing(passages, index.EmbedBatch)
			if len(ids) == 0 {
				return nil
			}
			made, err := index.Embed(ctx, x.Embedder, "workspace files", texts)
			if err != nil {
				return err
			}
			if err := vectors.Append(ids, made); err != nil {
				return err
			}
		}
	})
}

// Refresh updates the index to the files, and starts to remove and embed in the background. Searches do the same;
// Refresh is for callers that know that a file has changed. Before the first search it does nothing.
func (x *Index) Refresh(ctx context.Context) error {
	if x == nil {
		return nil
	}
	x.mu.Lock()
	unused := len(x.files) == 0
	x.mu.Unlock()
	if unused {
		return nil
	}
	err := x.sync(ctx)
	x.wake()
	return err
}

// Rebuild deletes the vectors of all passages and makes them again.
func (x *Index) Rebuild(ctx context.Context, report func(done, total int)) error {
	if x == nil {
		return nil
	}
	if err := x.sync(ctx); err != nil {
		return err
	}
	x.mu.Lock()
	vectors, total := x.store.Vectors, x.count()
	x.mu.Unlock()
	if total == 0 && !x.onDisk() {
		return nil
	}
	report(0, total)
	if err := x.lock.Do(ctx, vectors.Clear); err != nil {
		return err
	}
	if err := x.work(ctx); err != nil {
		return err
	}
	report(total, total)
	return nil
}

// Check notes what is wrong with the vectors on disk. What they lack, and what they have of no passage any more, the
// next search puts right.
func (x *Index) Check(ctx context.Context, r *index.Report) error {
	if x == nil || !x.onDisk() {
		return nil
	}
	x.mu.Lock()
	vectors := x.store.Vectors
	x.mu.Unlock()
	return x.lock.Do(ctx, func() error {
		a, err := vectors.Audit()
		if err != nil {
			r.Problem("workspace files: %v", err)
		}
		r.Count(a.Damaged, "vectors of workspace files are damaged")
		return nil
	})
}

// Close ends the work and waits for it, until ctx ends.
func (x *Index) Close(ctx context.Context) error {
	if x == nil {
		return nil
	}
	if err := index.End(ctx, &x.mu, x.stop, &x.done); err != nil {
		return fmt.Errorf("close the index of files: %w", err)
	}
	return nil
}

// count returns the number of passages. x.mu is held.
func (x *Index) count() int {
	s := x.store.Snapshot()
	defer s.Release()
	return s.Live
}

// onDisk reports whether there is a file of vectors.
func (x *Index) onDisk() bool {
	_, err := os.Lstat(x.Path)
	return !errors.Is(err, fs.ErrNotExist)
}
