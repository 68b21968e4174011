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
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
	"github.com/yamo-protocol/yamo-mcp/mesh/vector"
)

// foreignBatch is the number of other audiences' passages that are embedded at a time: few, because a query that comes
// meanwhile waits for them.
const foreignBatch = index.EmbedBatch / 8

// ready waits until every passage of the audience's own files has its vector, and those of their removed passages are
// gone from the disk, for at most patience, and returns the number of all passages without one. Where more than one
// batch is missing it waits for at most index.Brief.
//
// SECURITY: a DM does not wait for what groups have written into their logs, or one of them could slow down every
// search. Until it is embedded, its words are matched.
func (x *Index) ready(ctx context.Context, patience time.Duration) (pending int) {
	working := x.wake()
	own, _ := x.missing(x.passages())
	if len(own) > index.EmbedBatch {
		patience = min(patience, index.Brief)
	}
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	for working != nil {
		x.mu.Lock()
		// Taken before looking, so that vectors that come in between close this channel and are not missed.
		moved, stale := x.moved, x.staleOwn > 0
		x.mu.Unlock()
		if own, _ = x.missing(x.passages()); len(own) == 0 && !stale {
			break
		}
		select {
		case <-moved:
			continue
		case <-working:
		case <-timeout.C:
		case <-ctx.Done():
		}
		break
	}
	_, pending = x.passages().Vectors.Missing(0)
	return pending
}

// passages returns the current projection, which sync replaces when it has become sparse.
func (x *Index) passages() *store.Projection {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.store
}

// missing returns the documents without a vector: those of the audience's own files, and those of others.
func (x *Index) missing(passages *store.Projection) (own, foreign []int) {
	_, count := passages.Vectors.Missing(0)
	if count == 0 {
		return nil, nil
	}
	docs, _ := passages.Vectors.Missing(count)
	// In this order: the projection changes while x.mu is held.
	x.mu.Lock()
	defer x.mu.Unlock()
	s := passages.Snapshot()
	defer s.Release()
	for _, doc := range docs {
		r := s.Record(doc)
		if r == nil {
			continue // removed meanwhile
		}
		if x.isForeign(x.origin[r.ID].Info) {
			foreign = append(foreign, doc)
		} else {
			own = append(own, doc)
		}
	}
	return own, foreign
}

// next returns what is embedded next, own passages first: what their vectors are kept under, and their text.
func (x *Index) next(passages *store.Projection) (ids, texts []string) {
	own, foreign := x.missing(passages)
	docs := own[:min(index.EmbedBatch, len(own))]
	if len(own) == 0 {
		docs = foreign[:min(foreignBatch, len(foreign))]
	}
	s := passages.Snapshot()
	defer s.Release()
	for _, doc := range docs {
		if r := s.Record(doc); r != nil { // removed meanwhile
			ids, texts = append(ids, r.VectorID()), append(texts, r.Content)
		}
	}
	return ids, texts
}

// wake starts the work on the vectors if there is any to do and it has not just failed. working is closed when the work
// ends, and nil if none is in progress.
func (x *Index) wake() (working <-chan struct{}) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.working != nil {
		return x.working
	}
	vectors := x.store.Vectors
	_ = vectors.Refresh() // the work reports what is wrong with the file
	_, missing := vectors.Missing(0)
	s := x.store.Snapshot()
	empty := len(s.Docs) == 0 && !x.onDisk() // then no file is created either
	s.Release()
	// Installing the model ends the rest at once: looking for it costs nothing.
	resting := x.failed != nil && !errors.Is(x.failed, embed.ErrNoAssets) && time.Since(x.failedAt) < index.RetryAfter
	if missing == 0 && !x.stale || empty || resting || x.ctx.Err() != nil {
		return nil
	}
	done := make(chan struct{})
	x.working = done
	x.done.Go(func() {
		err := x.work(x.ctx)
		x.mu.Lock()
		defer x.mu.Unlock()
		for err == nil && x.stale { // a file has changed since the vectors were removed
			x.mu.Unlock()
			err = x.work(x.ctx)
			x.mu.Lock()
		}
		if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, embed.ErrNoAssets) {
			x.Logger.Warn("index workspace files", "error", err)
		}
		x.failed, x.failedAt, x.working = err, time.Now(), nil
		close(done)
	})
	return done
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
		vectors := x.passages().Vectors
		if err := errors.Join(vectors.Refresh(), vectors.Prune()); err != nil {
			return err
		}
		x.announce(func() { x.stale, x.staleOwn = false, 0 })
		for {
			passages := x.passages()
			if err := x.pruneOwn(passages.Vectors); err != nil {
				return err
			}
			ids, texts := x.next(passages)
			if len(ids) == 0 {
				return nil
			}
			made, err := index.Embed(ctx, x.Embedder, "workspace files", texts)
			if err != nil {
				return err
			}
			if err := x.passages().Vectors.Append(ids, made); err != nil {
				return err
			}
			x.announce(func() {})
		}
	})
}

// pruneOwn removes the vectors of passages that were removed from the audience's own files meanwhile. A search waits
// for that, and what groups have written may take long to embed.
func (x *Index) pruneOwn(vectors *vector.Set) error {
	x.mu.Lock()
	removed := x.staleOwn
	x.mu.Unlock()
	if removed == 0 {
		return nil
	}
	if err := vectors.Prune(); err != nil {
		return err
	}
	x.announce(func() { x.staleOwn -= removed })
	return nil
}

// announce calls change and wakes the searches that wait in ready.
func (x *Index) announce(change func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	change()
	close(x.moved)
	x.moved = make(chan struct{})
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
