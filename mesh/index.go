package mesh

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/internal/lockfile"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/lance"
	"github.com/yamo-protocol/yamo-mcp/mesh/vector"
)

const (
	embedBatch = 32              // texts a call of the embedder
	flushRows  = 2_000           // rows that are written to LanceDB at once while more are coming
	flushIdle  = 3 * time.Second // quiet time after which fewer are written
	lockPoll   = 20 * time.Millisecond
	peerPoll   = 100 * time.Millisecond // how often a search looks for vectors that another process made
	retryAfter = 10 * time.Second       // how long failed work is left alone
)

// index is what makes a compartment's memories findable by meaning: their vectors in memory and in a
// flat file, and LanceDB's tables. All of it can be deleted and made again from the ledger.
//
// One process at a time, the holder of the index lock, embeds and writes; it works in the background,
// in batches, so that storing waits for no model and LanceDB gets few, large fragments. The lock is not
// held while waiting for more, so that no process waits for another's quiet.
type index struct {
	vectors    *vector.Set
	skills     *skillVectors
	tables     *lance.DB
	audit      *audit
	embedder   Embedder
	lockPath   string
	rebuilding string // a file that is there from the beginning of a rebuild to its end
	log        *slog.Logger
	turn       chan struct{} // one token: the index lock among this process's goroutines

	// The fields below belong to whoever holds the index lock.
	present   map[string]struct{} // the ids in memory_entries, nil if they are not known
	unflushed int                 // vectors made since the last flush
	restored  int                 // the vectors' epoch for which LanceDB was asked, -1 for none
	skillsAt  int                 // the state of the skills that synthesized_skills has, -1 for none; see skillSet

	ctx  context.Context // ends the background work
	stop context.CancelFunc
	done sync.WaitGroup
	more chan struct{} // tells run that there is something to do

	mu       sync.Mutex
	running  bool          // the background work, see run
	dirty    bool          // LanceDB may lack something, or hold what was deleted
	moved    chan struct{} // closed, and replaced, when vectors have come or the work has ended
	failure  error         // of the last background work, nil if it succeeded
	failedAt time.Time
}

func newIndex(dir, lockPath string, e Embedder, log *slog.Logger) *index {
	m := e.Model()
	ctx, stop := context.WithCancel(context.Background())
	ix := &index{
		vectors:    vector.Open(filepath.Join(dir, "vectors.f32"), m.Name, m.Dim),
		tables:     lance.Open(filepath.Join(dir, "lance"), lance.ModelInfo{Name: m.Name, Dimension: m.Dim}, lance.Options{Logger: log}),
		embedder:   e,
		lockPath:   lockPath,
		rebuilding: filepath.Join(dir, "rebuilding"),
		log:        log,
		turn:       make(chan struct{}, 1),
		skills:     newSkillVectors(),
		restored:   -1,
		skillsAt:   -1,
		ctx:        ctx,
		stop:       stop,
		more:       make(chan struct{}, 1),
		dirty:      true,
		moved:      make(chan struct{}),
	}
	ix.turn <- struct{}{}
	return ix
}

// stale notes that the tables are behind the ledger.
func (ix *index) stale() {
	ix.mu.Lock()
	ix.dirty = true
	ix.mu.Unlock()
}

// wake starts the background work, or tells it that there is more to do. It waits for nothing.
func (ix *index) wake(c *compartment) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	select {
	case ix.more <- struct{}{}:
	default:
	}
	if !ix.running && !ix.failing() && ix.ctx.Err() == nil {
		ix.running = true
		ix.done.Go(func() { ix.run(c) })
	}
}

// failing reports whether the last work failed a moment ago. ix.mu is held. A missing model does not
// count: noticing it costs nothing, and its installation should show at once.
func (ix *index) failing() bool {
	return ix.failure != nil && !errors.Is(ix.failure, embed.ErrNoAssets) && time.Since(ix.failedAt) < retryAfter
}

// ready waits until every memory of c has its vector, for at most patience, and returns how many have
// none yet. It does not wait for work that has just failed.
func (ix *index) ready(ctx context.Context, c *compartment, patience time.Duration) (pending int, err error) {
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	for {
		ix.mu.Lock()
		moved, busy := ix.moved, ix.running
		ix.mu.Unlock()
		if err := ix.vectors.Refresh(); err != nil {
			return 0, err
		}
		pending = ix.lacking()
		ix.mu.Lock()
		idle, failing := !busy && (pending > 0 || ix.dirty), ix.failing()
		ix.mu.Unlock()
		if idle && !c.untouched() {
			ix.wake(c)
		}
		if pending == 0 || failing {
			return pending, nil
		}
		select {
		case <-moved:
		case <-time.After(peerPoll):
		case <-timeout.C:
			return pending, nil
		case <-ctx.Done():
			return pending, ctx.Err()
		}
	}
}

// run is the background work.
func (ix *index) run(c *compartment) {
	for {
		err := ix.work(ix.ctx, c)
		ix.mu.Lock()
		if err == nil && len(ix.more) > 0 {
			ix.mu.Unlock()
			continue
		}
		news := err != nil && (ix.failure == nil || ix.failure.Error() != err.Error())
		ix.running, ix.failure, ix.failedAt = false, err, time.Now()
		ix.announce()
		ix.mu.Unlock()
		switch {
		case !news || errors.Is(err, context.Canceled):
		case errors.Is(err, embed.ErrNoAssets):
			ix.log.Debug("semantic search is off: no embedding model")
		default:
			ix.log.Error("index memories", "error", err)
		}
		return
	}
}

// announce wakes those who wait in ready. ix.mu is held.
func (ix *index) announce() {
	close(ix.moved)
	ix.moved = make(chan struct{})
}

// work embeds what has no vector and, after a quiet moment, brings LanceDB up to date.
func (ix *index) work(ctx context.Context, c *compartment) error {
	for {
		select {
		case <-ix.more:
		default:
		}
		if err := ix.locked(ctx, func() error { return ix.fill(ctx, c) }); err != nil {
			return err
		}
		select {
		case <-ix.more:
			continue
		case <-time.After(flushIdle):
		case <-ctx.Done():
			return ctx.Err()
		}
		return ix.locked(ctx, func() error {
			if err := ix.fill(ctx, c); err != nil {
				return err
			}
			return ix.flush(ctx, c)
		})
	}
}

// locked calls f with the cross-process index lock held, after waiting for it.
func (ix *index) locked(ctx context.Context, f func() error) error {
	select {
	case <-ix.turn:
		defer func() { ix.turn <- struct{}{} }()
	case <-ctx.Done():
		return ctx.Err()
	}
	release, err := lockfile.Exclusive(ctx, ix.lockPath)
	if err != nil {
		return fmt.Errorf("lock the memory index: %w", err)
	}
	defer func() { _ = release() }() // closing the descriptor releases it
	return f()
}

// fill gives every memory and every skill its vector. The caller holds the index lock.
func (ix *index) fill(ctx context.Context, c *compartment) error {
	for {
		if err := c.sync(ctx); err != nil {
			return err
		}
		n, err := ix.embed(ctx, c)
		if err != nil {
			return err
		}
		if n == 0 {
			return ix.embedSkills(ctx, c)
		}
		if ix.unflushed += n; ix.unflushed >= flushRows {
			if err := ix.flush(ctx, c); err != nil {
				return err
			}
		}
	}
}

// embed makes the vectors of the first few memories that have none, or else of the parts of one that lacks some, and
// returns of how many.
func (ix *index) embed(ctx context.Context, c *compartment) (int, error) {
	if err := ix.vectors.Refresh(); err != nil {
		return 0, err
	}
	if err := ix.restore(ctx, c); err != nil {
		return 0, err
	}
	ids, texts := ix.missing(c, embedBatch)
	if len(ids) == 0 {
		return ix.embedParts(ctx, c)
	}
	vectors, err := ix.embedder.Embed(ctx, texts)
	if err != nil {
		return 0, fmt.Errorf("embed memories: %w", err)
	}
	if len(vectors) != len(texts) {
		return 0, fmt.Errorf("embed memories: %d vectors for %d texts", len(vectors), len(texts))
	}
	return len(ids), ix.keep(ids, vectors)
}

// missing are the ids and texts of the first most memories without a vector.
func (ix *index) missing(c *compartment, most int) (ids, texts []string) {
	docs, _ := ix.vectors.Missing(most)
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, doc := range docs {
		if r := c.docs[doc].record; r != nil { // deleted meanwhile
			ids, texts = append(ids, r.ID), append(texts, r.Content)
		}
	}
	return ids, texts
}

func (ix *index) keep(ids []string, vectors [][]float32) error {
	if err := ix.vectors.Append(ids, vectors); err != nil {
		return err
	}
	ix.mu.Lock()
	ix.announce()
	ix.mu.Unlock()
	return nil
}

// discard ends the background work and releases the tables without writing anything.
func (ix *index) discard(ctx context.Context) {
	if err := ix.end(ctx); err != nil {
		return // it ends by itself; the tables stay open until then
	}
	if err := ix.tables.Close(); err != nil {
		ix.log.Warn("close the memory index", "error", err)
	}
}

// close ends the background work and, if the index lock is free, writes what is embedded to LanceDB. If
// ctx ends first, the work ends by itself soon after.
func (ix *index) close(ctx context.Context, c *compartment) error {
	if err := ix.end(ctx); err != nil {
		return fmt.Errorf("close the %s index: %w", c.visibility, err)
	}
	err := ix.flushNow(ctx, c)
	var corrupt *ledger.CorruptError
	var model *lance.ModelError
	switch {
	case errors.As(err, &corrupt):
		err = nil // it is reported by every use, and closing loses nothing
	case errors.As(err, &model), errors.Is(err, vector.ErrModel), errors.Is(err, ledger.ErrReplaced):
		ix.log.Warn("the memory index is not up to date", "error", err) // a use that only stores has not noticed
		err = nil
	}
	return errors.Join(err, ix.tables.Close())
}

// end stops the background work and waits for it.
func (ix *index) end(ctx context.Context) error {
	ix.mu.Lock()
	ix.stop() // no work is started from here on
	ix.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		ix.done.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// flushNow is flush, unless there is nothing to write or another process holds the index lock.
func (ix *index) flushNow(ctx context.Context, c *compartment) error {
	ix.mu.Lock()
	dirty := ix.dirty
	ix.mu.Unlock()
	if !dirty || c.untouched() {
		return nil
	}
	select {
	case <-ix.turn:
		defer func() { ix.turn <- struct{}{} }()
	default:
		return nil
	}
	release, ok, err := lockfile.TryExclusive(ix.lockPath)
	if !ok || err != nil {
		return err
	}
	defer func() { _ = release() }() // closing the descriptor releases it
	if err := c.sync(ctx); err != nil {
		return err
	}
	return ix.flush(ctx, c)
}
