// Package index makes a compartment's memories findable by meaning: it embeds them and brings LanceDB's tables in line
// with the ledger.
//
// Nothing in it is the truth: vectors and tables can be deleted at any time, and are made again from the ledger.
package index

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/lance"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
	"github.com/yamo-protocol/yamo-mcp/mesh/vector"
)

const (
	flushRows = 2_000           // rows that are written to LanceDB at once while more are coming
	flushIdle = 3 * time.Second // quiet time after which fewer are written
	lockPoll  = 20 * time.Millisecond
	peerPoll  = 100 * time.Millisecond // how often a search looks for vectors that another process made
)

// What other indexes do alike.
const (
	EmbedBatch = 32               // texts in one call of an Embedder
	RetryAfter = 10 * time.Second // how long work that failed is not tried again
)

// Index is what makes a compartment's memories findable by meaning: their vectors in memory and in a
// flat file, and LanceDB's tables. All of it can be deleted and made again from the ledger.
//
// One process at a time, the holder of the index lock, embeds and writes; it works in the background,
// in batches, so that storing waits for no model and LanceDB gets few, large fragments. The lock is not
// held while waiting for more, so that no process waits for another's quiet.
type Index struct {
	*Lock // held by who embeds and writes, in any process

	c          *store.Compartment
	skills     *skillVectors
	Tables     *lance.DB // for reading
	blocks     *blocks
	embedder   Embedder
	rebuilding string // a file that is there from the beginning of a rebuild to its end
	log        *slog.Logger

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

// Options say what an Index is of.
type Options struct {
	Compartment *store.Compartment
	Dir         string // of the compartment: the tables are in it
	LockPath    string // of the cross-process lock
	Ledger      ledger.Options
	Embedder    Embedder
	Logger      *slog.Logger
}

// New returns the index of a compartment. It does nothing until it is woken or asked.
func New(o Options) *Index {
	m := o.Embedder.Model()
	ctx, stop := context.WithCancel(context.Background())
	ix := &Index{
		Lock:       NewLock(o.LockPath),
		c:          o.Compartment,
		Tables:     lance.Open(filepath.Join(o.Dir, "lance"), lance.ModelInfo{Name: m.Name, Dimension: m.Dim}, lance.Options{Logger: o.Logger}),
		blocks:     newBlocks(o.Dir, o.Ledger),
		embedder:   o.Embedder,
		rebuilding: filepath.Join(o.Dir, "rebuilding"),
		log:        o.Logger,
		skills:     newSkillVectors(),
		restored:   -1,
		skillsAt:   -1,
		ctx:        ctx,
		stop:       stop,
		more:       make(chan struct{}, 1),
		dirty:      true,
		moved:      make(chan struct{}),
	}
	o.Compartment.Changed = ix.stale
	return ix
}

// stale notes that the tables are behind the ledger.
func (ix *Index) stale() {
	ix.mu.Lock()
	ix.dirty = true
	ix.mu.Unlock()
}

// Wake starts the background work, or tells it that there is more to do. It waits for nothing.
func (ix *Index) Wake() {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	select {
	case ix.more <- struct{}{}:
	default:
	}
	if !ix.running && !ix.failing() && ix.ctx.Err() == nil {
		ix.running = true
		ix.done.Go(ix.run)
	}
}

// failing reports whether the last work failed a moment ago. ix.mu is held. A missing model does not
// count: noticing it costs nothing, and its installation should show at once.
func (ix *Index) failing() bool {
	return ix.failure != nil && !errors.Is(ix.failure, embed.ErrNoAssets) && time.Since(ix.failedAt) < RetryAfter
}

// Ready waits until every memory has its vector, for at most patience, and returns how many have
// none yet. It does not wait for work that has just failed.
func (ix *Index) Ready(ctx context.Context, patience time.Duration) (pending int, err error) {
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	for {
		ix.mu.Lock()
		moved, busy := ix.moved, ix.running
		ix.mu.Unlock()
		if err := ix.c.Vectors.Refresh(); err != nil {
			return 0, err
		}
		pending = ix.lacking()
		ix.mu.Lock()
		idle, failing := !busy && (pending > 0 || ix.dirty), ix.failing()
		ix.mu.Unlock()
		if idle && !ix.untouched() {
			ix.Wake()
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
func (ix *Index) run() {
	for {
		err := ix.work(ix.ctx)
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
func (ix *Index) announce() {
	close(ix.moved)
	ix.moved = make(chan struct{})
}

// work embeds what has no vector and, after a quiet moment, brings LanceDB up to date.
func (ix *Index) work(ctx context.Context) error {
	for {
		select {
		case <-ix.more:
		default:
		}
		if err := ix.Do(ctx, func() error { return ix.fill(ctx) }); err != nil {
			return err
		}
		select {
		case <-ix.more:
			continue
		case <-time.After(flushIdle):
		case <-ctx.Done():
			return ctx.Err()
		}
		return ix.Update(ctx)
	}
}

// Update embeds what has no vector and brings the tables up to date.
func (ix *Index) Update(ctx context.Context) error {
	return ix.Do(ctx, func() error {
		if err := ix.fill(ctx); err != nil {
			return err
		}
		return ix.flush(ctx)
	})
}

// fill gives every memory and every skill its vector. The caller holds the index lock.
func (ix *Index) fill(ctx context.Context) error {
	for {
		if err := ix.c.Sync(ctx); err != nil {
			return err
		}
		n, err := ix.embed(ctx)
		if err != nil {
			return err
		}
		if n == 0 {
			return ix.EmbedSkills(ctx)
		}
		if ix.unflushed += n; ix.unflushed >= flushRows {
			if err := ix.flush(ctx); err != nil {
				return err
			}
		}
	}
}

// embed makes the vectors of the first few memories that have none, or else of the parts of one that lacks some, and
// returns of how many.
func (ix *Index) embed(ctx context.Context) (int, error) {
	if err := ix.c.Vectors.Refresh(); err != nil {
		return 0, err
	}
	if err := ix.restore(ctx); err != nil {
		return 0, err
	}
	ids, texts := Missing(ix.c.Projection, EmbedBatch)
	if len(ids) == 0 {
		return ix.embedParts(ctx)
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

// Missing returns the ids and texts of up to n records of p without a vector.
func Missing(p *store.Projection, n int) (ids, texts []string) {
	docs, _ := p.Vectors.Missing(n)
	s := p.Snapshot()
	defer s.Release()
	for _, doc := range docs {
		if r := s.Docs[doc].Record; r != nil { // deleted meanwhile
			ids, texts = append(ids, r.ID), append(texts, r.Content)
		}
	}
	return ids, texts
}

func (ix *Index) keep(ids []string, vectors [][]float32) error {
	if err := ix.c.Vectors.Append(ids, vectors); err != nil {
		return err
	}
	ix.mu.Lock()
	ix.announce()
	ix.mu.Unlock()
	return nil
}

// Discard ends the background work and releases the tables without writing anything.
func (ix *Index) Discard(ctx context.Context) {
	if err := ix.end(ctx); err != nil {
		return // it ends by itself; the tables stay open until then
	}
	if err := ix.Tables.Close(); err != nil {
		ix.log.Warn("close the memory index", "error", err)
	}
}

// Close ends the background work and, if the index lock is free, writes what is embedded to LanceDB. If
// ctx ends first, the work ends by itself soon after.
func (ix *Index) Close(ctx context.Context) error {
	if err := ix.end(ctx); err != nil {
		return fmt.Errorf("close the %s index: %w", ix.c.Visibility, err)
	}
	err := ix.flushNow(ctx)
	var corrupt *ledger.CorruptError
	var model *lance.ModelError
	switch {
	case errors.As(err, &corrupt):
		err = nil // it is reported by every use, and closing loses nothing
	case errors.As(err, &model), errors.Is(err, vector.ErrModel), errors.Is(err, ledger.ErrReplaced):
		ix.log.Warn("the memory index is not up to date", "error", err) // a use that only stores has not noticed
		err = nil
	}
	return errors.Join(err, ix.Tables.Close())
}

// end stops the background work and waits for it.
func (ix *Index) end(ctx context.Context) error {
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
func (ix *Index) flushNow(ctx context.Context) error {
	ix.mu.Lock()
	dirty := ix.dirty
	ix.mu.Unlock()
	if !dirty || ix.untouched() {
		return nil
	}
	return ix.Lock.Try(func() error {
		if err := ix.c.Sync(ctx); err != nil {
			return err
		}
		return ix.flush(ctx)
	})
}

// untouched reports whether nothing was ever written to the ledger.
func (ix *Index) untouched() bool {
	s := ix.c.Snapshot()
	defer s.Release()
	return s.Untouched()
}

// Trouble returns what keeps the background work from going on for now, nil if nothing does.
func (ix *Index) Trouble() error {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if ix.failing() {
		return ix.failure
	}
	return nil
}

// Pending returns how many memories have no vector yet.
func (ix *Index) Pending() int {
	_, pending := ix.c.Vectors.Missing(0)
	return pending
}

// Nearest asks LanceDB for the n nearest vectors that f admits, if its table is known to hold exactly the compartment's
// live memories. Tables that cannot be read are no reason not to answer: every vector is in memory, too.
func (ix *Index) Nearest(meaning []float32, n, live int, f lance.Filter) ([]lance.Hit, bool) {
	ix.mu.Lock()
	behind := ix.dirty // as far as this process knows
	ix.mu.Unlock()
	if behind {
		return nil, false
	}
	if rows, err := ix.Tables.Count(ix.ctx); err != nil || rows != live {
		return nil, false
	}
	hits, err := ix.Tables.Nearest(ix.ctx, meaning, n, f)
	if err != nil && !errors.Is(err, lance.ErrInvalid) { // what LanceDB cannot express is compared in memory
		ix.log.Warn("search the memory index", "error", err)
	}
	return hits, err == nil
}
