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
)

const (
	flushRows = 2_000           // rows that are written to LanceDB at once while more are coming
	flushIdle = 3 * time.Second // quiet time after which fewer are written
	lockPoll  = 20 * time.Millisecond
	peerPoll  = 100 * time.Millisecond // how often a search looks for vectors that another process made
	hopeless  = 8 * EmbedBatch         // memories without a vector from which on a search does not wait: it takes too long
)

// Limits that the index of workspace files has, too.
const (
	EmbedBatch = 32               // texts in one call of an Embedder
	RetryAfter = 10 * time.Second // delay before failed work is retried
	// Brief is the maximum time a search waits for vectors if more than one batch is missing: they will not all come
	// while it waits, but a process that ends after the search has made some.
	Brief = 250 * time.Millisecond
)

// Index is what makes a compartment's memories findable by meaning: their vectors in memory and in a
// flat file, and LanceDB's tables. All of it can be deleted and made again from the ledger.
//
// One process at a time, the holder of the index lock, embeds and writes. It works in the background and in batches,
// so that storing waits for no model and LanceDB gets few, large fragments. The lock is not held while waiting for
// more, so that no process waits for another one to become idle.
type Index struct {
	*Lock // held to embed and write, by one process

	c          *store.Compartment
	skills     *skillVectors
	Tables     *lance.DB // for reading
	blocks     *blocks
	embedder   Embedder
	rebuilding string // a file that is there from the beginning of a rebuild to its end
	log        *slog.Logger

	// The holder of the index lock owns the fields below.
	present   *present // the rows of memory_entries, nil if they are not known
	unflushed int      // vectors made since the last flush
	restored  int      // the vectors' epoch for which LanceDB was asked, -1 for none
	skillsAt  int      // the state of the skills that synthesized_skills has, -1 for none; see skillSet

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

// Options describe the compartment of an Index, and how it is embedded.
type Options struct {
	Compartment *store.Compartment
	Dir         string // of the compartment: the tables are in it
	LockPath    string // of the cross-process lock
	Ledger      ledger.Options
	Embedder    Embedder
	Logger      *slog.Logger
}

// New returns the index of a compartment. It does nothing until it is woken or asked. It takes over the compartment's
// Changed; the caller calls Close or Discard.
func New(o Options) *Index {
	m := o.Embedder.Model()
	tables := lance.Open(filepath.Join(o.Dir, "lance"), lance.ModelInfo{Name: m.Name, Dimension: m.Dim},
		lance.Options{Logger: o.Logger})
	// The work outlives the call that wakes it, so it has a context of its own.
	ctx, stop := context.WithCancel(context.Background())
	ix := &Index{
		Lock:       NewLock(o.LockPath),
		c:          o.Compartment,
		Tables:     tables,
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

// Wake starts the background work, or tells it that there is more to do. It does not block.
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

// failing reports whether the last work failed less than RetryAfter ago. A missing model does not count: looking for it
// costs nothing, and once it is installed it should be used at once. ix.mu is held.
func (ix *Index) failing() bool {
	return ix.failure != nil && !errors.Is(ix.failure, embed.ErrNoAssets) && time.Since(ix.failedAt) < RetryAfter
}

// Ready waits until every memory has its own vector, for at most patience, and returns how many lack it or those of
// parts, for which it does not wait. Where more than one batch is missing it waits for at most Brief. It wakes the
// background work if there is any to do, and does not wait for work that has just failed or will take longer, as when
// the model was changed. Another process may be doing it, so the file is looked at now and then.
func (ix *Index) Ready(ctx context.Context, patience time.Duration) (pending int, err error) {
	if err := ix.c.Vectors.Refresh(); err != nil {
		return 0, err
	}
	if _, whole := ix.c.Vectors.Missing(0); whole > EmbedBatch {
		patience = min(patience, Brief)
	}
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	for {
		ix.mu.Lock()
		// Taken before looking, so that vectors that come in between close this channel and are not missed.
		moved, busy := ix.moved, ix.running
		ix.mu.Unlock()
		if err := ix.c.Vectors.Refresh(); err != nil {
			return 0, err
		}
		// Before the count: vectors that come in between must not be counted as lacking and then not be waited for.
		_, whole := ix.c.Vectors.Missing(0)
		pending = ix.lacking()
		ix.mu.Lock()
		idle, failing := !busy && (pending > 0 || ix.dirty), ix.failing()
		ix.mu.Unlock()
		if idle && !ix.untouched() {
			ix.Wake()
		}
		// Waiting for work that has just failed would only add the patience to every search.
		if whole == 0 || failing || whole > hopeless {
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

// run is the background work: it ends when there is nothing left to do, or with an error, of which only a new one is
// logged.
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

// announce wakes the callers that wait in Ready. ix.mu is held.
func (ix *Index) announce() {
	close(ix.moved)
	ix.moved = make(chan struct{})
}

// work embeds what has no vector and brings LanceDB up to date once nothing was stored for flushIdle.
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
		err := ix.Update(ctx)
		ix.c.SaveImage(ctx)
		return err
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

// embed makes the vectors of up to EmbedBatch memories that have none, or else of the parts of one memory that lacks
// some, and returns of how many. Whole memories come first: a memory without any vector is found by its words only.
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
	vectors, err := Embed(ctx, ix.embedder, "memories", texts)
	if err != nil {
		return 0, err
	}
	return len(ids), ix.keep(ids, vectors)
}

// Missing returns what the vectors are kept under, and the contents, of up to n records of p that have no vector, in
// the order of documents.
func Missing(p *store.Projection, n int) (ids, texts []string) {
	docs, _ := p.Vectors.Missing(n)
	s := p.Snapshot()
	defer s.Release()
	for _, doc := range docs {
		if r := s.Record(doc); r != nil { // deleted meanwhile
			ids, texts = append(ids, r.VectorID()), append(texts, r.Content)
		}
	}
	return ids, texts
}

// keep appends vectors to the file and wakes the callers of Ready.
func (ix *Index) keep(ids []string, vectors [][]float32) error {
	if err := ix.c.Vectors.Append(ids, vectors); err != nil {
		return err
	}
	ix.mu.Lock()
	ix.announce()
	ix.mu.Unlock()
	return nil
}

// Discard ends the background work and closes the tables without writing anything: their ledger was replaced.
func (ix *Index) Discard(ctx context.Context) {
	if err := End(ctx, &ix.mu, ix.stop, &ix.done); err != nil {
		return // it ends by itself; the tables stay open until then
	}
	if err := ix.Tables.Close(); err != nil {
		ix.log.Warn("close the memory index", "error", err)
	}
}

// Close ends the background work and, if the index lock is free, writes what is embedded to LanceDB. If ctx ends first,
// the work ends by itself soon after. What is not written the next process writes.
func (ix *Index) Close(ctx context.Context) error {
	if err := End(ctx, &ix.mu, ix.stop, &ix.done); err != nil {
		return fmt.Errorf("close the %s index: %w", ix.c.Visibility, err)
	}
	err := ix.flushNow(ctx)
	var corrupt *ledger.CorruptError
	switch {
	case errors.As(err, &corrupt):
		err = nil // it is reported by every use, and closing loses nothing
	case errors.Is(err, ledger.ErrReplaced):
		// A session that only stored has not been told by an error before, hence the log.
		ix.log.Warn("the memory index is not up to date", "error", err)
		err = nil
	}
	return errors.Join(err, ix.Tables.Close())
}

// End calls stop, which ends an index's background work, while mu is held, and waits for the work. The owner starts
// none once stop was called, which it looks up with mu held. If ctx ends first, its cause is returned.
func End(ctx context.Context, mu sync.Locker, stop context.CancelFunc, work *sync.WaitGroup) error {
	mu.Lock()
	stop()
	mu.Unlock()
	ended := make(chan struct{})
	go func() {
		work.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// flushNow calls flush, unless there is nothing to write or another process holds the index lock, which then does it.
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

// Trouble returns the error that currently stops the background work, nil if it runs.
func (ix *Index) Trouble() error {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if ix.failing() {
		return ix.failure
	}
	return nil
}

// Pending returns the number of memories that have no vector yet; parts do not count.
func (ix *Index) Pending() int {
	_, pending := ix.c.Vectors.Missing(0)
	return pending
}

// Nearest asks LanceDB for the n nearest vectors that f admits. ok is false if the table is not known to hold exactly
// the compartment's memories, of which there are live, or cannot be read: the caller then compares the vectors in
// memory. It takes no snapshot, because its caller holds one.
func (ix *Index) Nearest(meaning []float32, n, live int, f lance.Filter) (hits []lance.Hit, ok bool) {
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
