package mesh

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/lance"
	"github.com/yamo-protocol/yamo-mcp/mesh/vector"
)

const (
	embedBatch = 32              // texts a call of the embedder
	flushRows  = 2_000           // rows that are written to LanceDB at once while more are coming
	flushIdle  = 3 * time.Second // quiet time after which fewer are written
	lockPoll   = 100 * time.Millisecond
)

// index is what makes a compartment's memories findable by meaning: their vectors in memory and in a
// flat file, and LanceDB's table. All of it can be deleted and made again from the ledger.
//
// One process at a time, the holder of the index lock, embeds and writes; it works in the background,
// in batches, so that storing waits for no model and LanceDB gets few, large fragments.
type index struct {
	vectors  *vector.Set
	tables   *lance.DB
	embedder Embedder
	lockPath string
	log      *slog.Logger

	mu      sync.Mutex
	running bool          // the background work, see run
	moved   chan struct{} // closed, and replaced, when vectors have come
	more    chan struct{} // tells run that there is something to do
	flushed bool          // LanceDB is known to hold every vector
	ctx     context.Context
	stop    context.CancelFunc
	done    sync.WaitGroup
}

func newIndex(dir, lockPath string, e Embedder, log *slog.Logger) *index {
	m := e.Model()
	ctx, stop := context.WithCancel(context.Background())
	return &index{
		vectors:  vector.Open(filepath.Join(dir, "vectors.f32"), m.Name, m.Dim),
		tables:   lance.Open(filepath.Join(dir, "lance"), lance.ModelInfo{Name: m.Name, Dimension: m.Dim}, lance.Options{Logger: log}),
		embedder: e,
		lockPath: lockPath,
		log:      log,
		moved:    make(chan struct{}),
		more:     make(chan struct{}, 1),
		ctx:      ctx,
		stop:     stop,
	}
}

// wake starts the background work, or tells it that there is more to do.
func (ix *index) wake(c *compartment) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.flushed = false
	select {
	case ix.more <- struct{}{}:
	default:
	}
	if !ix.running && ix.ctx.Err() == nil {
		ix.running = true
		ix.done.Go(func() { ix.run(c) })
	}
}

// ready waits until every memory of c has its vector, for at most patience, and returns how many have
// none yet. It returns embed.ErrNoAssets if there is no model.
func (ix *index) ready(ctx context.Context, c *compartment, patience time.Duration) (pending int, err error) {
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	for {
		ix.mu.Lock()
		moved, settled := ix.moved, ix.flushed
		ix.mu.Unlock()
		if err := ix.vectors.Refresh(); err != nil {
			return 0, err
		}
		pending = len(ix.vectors.Missing())
		if pending > 0 || !settled && c.count() > 0 {
			ix.wakeUnlessRunning(c)
		}
		if pending == 0 {
			return 0, nil
		}
		select {
		case <-moved:
		case <-time.After(lockPoll): // another process may be the one that embeds
		case <-timeout.C:
			return pending, nil
		case <-ctx.Done():
			return pending, ctx.Err()
		}
	}
}

func (ix *index) wakeUnlessRunning(c *compartment) {
	ix.mu.Lock()
	running := ix.running
	ix.mu.Unlock()
	if !running {
		ix.wake(c)
	}
}

// run embeds what has no vector and brings LanceDB up to date, until there is nothing more to do.
func (ix *index) run(c *compartment) {
	err := ix.locked(ix.ctx, func() error { return ix.work(ix.ctx, c) })
	if err == nil {
		return // work has settled
	}
	ix.mu.Lock()
	ix.running = false
	ix.mu.Unlock()
	switch {
	case errors.Is(err, context.Canceled):
	case errors.Is(err, embed.ErrNoAssets):
		ix.log.Debug("semantic search is off: no embedding model")
	default:
		ix.log.Error("index memories", "err", err)
	}
}

// locked calls f with the cross-process index lock held, after waiting for it.
func (ix *index) locked(ctx context.Context, f func() error) error {
	if err := os.MkdirAll(filepath.Dir(ix.lockPath), 0o700); err != nil {
		return fmt.Errorf("create lock folder: %w", err)
	}
	lock := flock.New(ix.lockPath, flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, lockPoll); err != nil {
		return fmt.Errorf("lock the memory index: %w", err)
	}
	defer func() { _ = lock.Close() }() // closing the descriptor releases it
	return f()
}

// work is run with the index lock held.
func (ix *index) work(ctx context.Context, c *compartment) error {
	unflushed := 0
	for {
		if err := c.sync(ctx); err != nil {
			return err
		}
		n, err := ix.embed(ctx, c)
		unflushed += n
		if err != nil {
			return err
		}
		if n == embedBatch && unflushed < flushRows {
			continue
		}
		if unflushed < flushRows {
			select {
			case <-ix.more:
				continue
			case <-time.After(flushIdle):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if err := ix.flush(ctx, c); err != nil {
			return err
		}
		unflushed = 0
		if ix.settle() {
			return nil
		}
	}
}

// settle ends the background work, unless something came in meanwhile.
func (ix *index) settle() bool {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	select {
	case <-ix.more:
		return false
	default:
	}
	ix.flushed = len(ix.vectors.Missing()) == 0
	ix.running = !ix.flushed
	return ix.flushed
}

// embed makes the vectors of the first few memories that have none and returns how many.
func (ix *index) embed(ctx context.Context, c *compartment) (int, error) {
	if err := ix.vectors.Refresh(); err != nil {
		return 0, err
	}
	missing := ix.vectors.Missing()
	if len(missing) > embedBatch {
		missing = missing[:embedBatch]
	}
	if len(missing) == 0 {
		return 0, nil
	}
	ids, texts := make([]string, len(missing)), make([]string, len(missing))
	c.mu.RLock()
	for i, doc := range missing {
		ids[i], texts[i] = c.docs[doc].ID, c.docs[doc].Content
	}
	c.mu.RUnlock()
	vectors, err := ix.embedder.Embed(ctx, texts)
	if err != nil {
		return 0, err
	}
	if err := ix.vectors.Append(ids, vectors); err != nil {
		return 0, err
	}
	ix.mu.Lock()
	close(ix.moved)
	ix.moved = make(chan struct{})
	ix.mu.Unlock()
	return len(missing), nil
}

// flush writes every memory that has a vector and is not in LanceDB yet, and compacts the table when
// small fragments have piled up.
func (ix *index) flush(ctx context.Context, c *compartment) error {
	present, err := ix.tables.IDs(ctx)
	if errors.Is(err, lance.ErrDamaged) {
		ix.log.Warn("the memory index is damaged; making it again from the ledger")
		if err := ix.tables.Drop(ctx); err != nil {
			return err
		}
		present, err = nil, nil
	}
	if err != nil {
		return err
	}
	var rows []lance.Memory
	c.mu.RLock()
	docs := c.docs
	c.mu.RUnlock()
	for doc, r := range docs {
		if _, ok := present[r.ID]; ok {
			continue
		}
		if v := ix.vectors.Vector(doc); v != nil {
			row, err := r.row(v)
			if err != nil {
				return err
			}
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	if err := ix.tables.AddMemories(ctx, rows); err != nil {
		return err
	}
	stats, err := ix.tables.Stats(ctx)
	if err != nil || !stats.Fragmented() {
		return err
	}
	return ix.tables.Compact(ctx)
}

// row is the record as a row of memory_entries (RFC-0011 §2.2).
func (r *Record) row(v []float32) (lance.Memory, error) {
	meta := map[string]any{}
	for key, value := range r.Metadata {
		meta[key] = value
	}
	for key, value := range map[string]string{
		"type": r.Type, "source": r.Source, "rationale": r.Rationale, "hypothesis": r.Hypothesis,
		"skill_name": r.Skill, "session_id": r.SessionID,
	} {
		if value != "" {
			meta[key] = value
		}
	}
	if len(r.Tags) > 0 {
		meta["tags"] = r.Tags
	}
	if r.Lesson != nil {
		meta["lesson"] = r.Lesson
	}
	raw, err := json.Marshal(meta)
	if err != nil {
		return lance.Memory{}, fmt.Errorf("metadata of %s: %w", r.ID, err)
	}
	row := lance.Memory{
		ID: r.ID, Vector: v, Content: r.Content, Metadata: string(raw), CreatedAt: r.CreatedAt,
		SessionID: r.SessionID, AgentID: r.AgentID, MemoryType: r.Type, ImportanceScore: r.Importance,
	}
	if r.Lesson != nil {
		row.LessonPatternID = r.Lesson.PatternID
	}
	return row, nil
}

// rebuild deletes the vectors and tables and makes them again from the ledger. report is called with the
// number of memories done, after each batch.
func (ix *index) rebuild(ctx context.Context, c *compartment, report func(done, total int)) error {
	return ix.locked(ctx, func() error {
		if err := errors.Join(ix.vectors.Clear(), ix.tables.Drop(ctx)); err != nil {
			return fmt.Errorf("clear the %s index: %w", c.visibility, err)
		}
		for total := c.count(); ; {
			report(total-len(ix.vectors.Missing()), total)
			n, err := ix.embed(ctx, c)
			if err != nil {
				return fmt.Errorf("embed %s memories: %w", c.visibility, err)
			}
			if n == 0 {
				return ix.flush(ctx, c)
			}
		}
	})
}

// close stops the background work and, if the index lock is free, writes what is embedded to LanceDB.
func (ix *index) close(ctx context.Context, c *compartment) error {
	ix.stop()
	ix.done.Wait()
	ix.mu.Lock()
	flushed := ix.flushed
	ix.mu.Unlock()
	var err error
	if !flushed && c.count() > 0 {
		lock := flock.New(ix.lockPath, flock.SetPermissions(0o600))
		if ok, tryErr := lock.TryLock(); tryErr == nil && ok {
			err = ix.flush(ctx, c)
			_ = lock.Close()
		}
	}
	return errors.Join(err, ix.tables.Close())
}
