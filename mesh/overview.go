package mesh

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

// Stats is the size and state of the audience's memory (RFC-0011 §4.1 stats).
type Stats struct {
	Memories  int    // in every compartment the audience may see
	Skills    int    // likewise
	Path      string // of the folder with the LanceDB tables of the audience's own compartment
	Connected bool   // those tables can be read and hold vectors of the configured model
}

// Stats counts what the audience may see. Tables that do not exist yet can be read: they are empty.
func (v *View) Stats(ctx context.Context) (Stats, error) {
	stores, _, err := v.compartments(ctx)
	if err != nil {
		return Stats{}, err
	}
	dir, _ := v.folder(v.home())
	s := Stats{Path: filepath.Join(dir, "lance"), Connected: true}
	for _, c := range stores {
		snapshot := c.Snapshot()
		s.Memories += snapshot.Live
		s.Skills += snapshot.Skills.Len()
		snapshot.Release()
		if c.Visibility != v.home() {
			continue
		}
		s.Path = c.index.Tables.Path()
		if _, err := c.index.Tables.Count(ctx); err != nil {
			v.Logger.Warn("read the memory index", "error", err)
			s.Connected = false
		}
	}
	return s, nil
}

// Holding is the size of one compartment.
type Holding struct {
	Visibility record.Visibility
	Memories   int // those that are past as well
	Skills     int
	Newest     time.Time // when the newest of them was stored, zero without memories
	Damaged    bool      // its ledger is read up to a damaged line
}

// Holdings returns the compartments that the audience may read, its own first, empty ones too.
func (v *View) Holdings(ctx context.Context) ([]Holding, error) {
	stores, damaged, err := v.compartments(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]Holding, len(stores))
	for i, c := range stores {
		s := c.Snapshot()
		list[i] = Holding{
			Visibility: s.Visibility, Memories: s.Live, Skills: s.Skills.Len(),
			Damaged: slices.Contains(damaged, s.Visibility),
		}
		for _, r := range s.Scan() {
			if r.CreatedAt.After(list[i].Newest) {
				list[i].Newest = r.CreatedAt
			}
		}
		s.Release()
	}
	return list, nil
}

// All is every memory the audience may see, oldest first (RFC-0011 §4.1 getAll); limit bounds it to the newest that
// many, 0 is no bound. Scores are 0, and there are no signals.
func (v *View) All(ctx context.Context, limit int) ([]record.Hit, error) {
	stores, _, err := v.compartments(ctx)
	if err != nil {
		return nil, err
	}
	hits := []record.Hit{}
	list, release := snapshots(stores)
	defer release()
	for _, s := range list {
		for r := range s.Memories() {
			hits = append(hits, s.Hit(r))
		}
	}
	slices.SortFunc(hits, record.CompareStored)
	if limit > 0 && len(hits) > limit {
		hits = hits[len(hits)-limit:]
	}
	return hits, nil
}

// Activity is what happened in the audience's memory since some time (seed 002, my_stats).
type Activity struct {
	Recalls int        // searches that left a block in the audience's own ledger
	Tags    []TagCount // of the memories stored since, in every compartment the audience may see: the most used first
}

// TagCount is a tag with the number of memories that carry it.
type TagCount struct {
	Tag   string `json:"tag"`
	Count int    `json:"count"`
}

// Activity counts since a time. It reads the audience's own ledger again.
func (v *View) Activity(ctx context.Context, since time.Time) (Activity, error) {
	stores, _, err := v.compartments(ctx)
	if err != nil {
		return Activity{}, err
	}
	var a Activity
	// A second reader of the same file: the compartment's own has gone past the recalls, of which it keeps few.
	err = ledger.New(v.ledgerOptions(v.home())).Sync(ctx, func(e ledger.Entry) error {
		if e.Op == store.OpRecall && !e.Erased && !e.Time.Before(since) {
			a.Recalls++
		}
		return nil
	})
	if err != nil {
		return Activity{}, err
	}
	counts := map[string]int{}
	list, release := snapshots(stores)
	defer release()
	for _, s := range list {
		for _, r := range s.Scan() {
			if r.CreatedAt.Before(since) {
				continue
			}
			for _, tag := range r.Tags {
				counts[tag]++
			}
		}
	}
	a.Tags = make([]TagCount, 0, len(counts))
	for tag, n := range counts {
		a.Tags = append(a.Tags, TagCount{tag, n})
	}
	slices.SortFunc(a.Tags, func(a, b TagCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Tag, b.Tag))
	})
	return a, nil
}

// Values of Health.Status.
const (
	Healthy   = "healthy"
	Degraded  = "degraded"  // it can be written and read, but not all of it works; see Health.Problems
	Unhealthy = "unhealthy" // the audience's own memory cannot be read or written
)

// Health reports which parts of the memory work (RFC-0011 §4.3 healthCheck).
type Health struct {
	Status   string   // Healthy, Degraded or Unhealthy
	Memories int      // that the audience may see
	Skills   int      // likewise
	Pending  int      // memories that are found by keywords only, having no vector
	Semantic bool     // the embedding model answered
	Model    string   // its name
	Problems []string // what does not work and what to do about it; empty if healthy
}

// Health tries the parts of the memory: the ledgers, the embedding model, the vectors, LanceDB. What does not work
// is in the answer; the error is for a check that could not be made. It writes nothing.
func (m Maintenance) Health(ctx context.Context) (Health, error) {
	h := Health{Model: m.view.Embedder.Model().Name}
	stores, damaged, err := m.view.compartments(ctx)
	// A damaged ledger of the audience itself is an answer to the question, not a failure to answer it.
	if f, ok := fault.As(err); ok {
		h.Status, h.Problems = Unhealthy, []string{f.Error()}
		return h, nil
	}
	if err != nil {
		return h, err
	}
	worse := func(format string, args ...any) { h.Problems = append(h.Problems, fmt.Sprintf(format, args...)) }
	for _, name := range damaged {
		worse("the ledger of the %s memory is damaged (`yamo-mcp ledger verify`)", name)
	}
	_, err = m.view.Embedder.Embed(ctx, []string{"ready"})
	switch {
	case ctx.Err() != nil:
		return h, ctx.Err()
	case errors.Is(err, embed.ErrNoAssets):
		worse("semantic search is off: the local embedding model is not installed (`yamo-mcp setup`)")
	case err != nil:
		worse("semantic search is off: the embedding model does not answer")
		m.view.Logger.Warn("check the embedding model", "error", err)
	default:
		h.Semantic = true
	}
	for _, c := range stores {
		s := c.Snapshot()
		h.Memories += s.Live
		h.Skills += s.Skills.Len()
		s.Release()
		if err := c.Vectors.Refresh(); err != nil {
			worse("the vectors of the %s memory cannot be used: %v", c.Visibility, withoutPath(err))
		}
		h.Pending += c.index.Pending()
		o := m.view.ledgerOptions(c.Visibility)
		if missing, err := ledger.CheckHead(o.Head, o.Path); err != nil {
			return h, err
		} else if missing != nil {
			worse("the ledger of the %s memory is not complete: %v (`yamo-mcp ledger verify`)", c.Visibility, missing)
		}
		if _, err := c.index.Tables.Count(ctx); err != nil {
			worse("the index of the %s memory cannot be read (`yamo-mcp index rebuild`)", c.Visibility)
			m.view.Logger.Warn("check the memory index", "compartment", c.Visibility, "error", err)
		}
	}
	if h.Pending > 0 {
		worse("%d memories have no vector yet", h.Pending)
	}
	h.Status = Healthy
	if len(h.Problems) > 0 {
		h.Status = Degraded
	}
	// Last, because it outweighs all others.
	if err := m.writable(); err != nil {
		worse("the %s memory cannot be written: %v", m.view.home(), err)
		h.Status = Unhealthy
	}
	return h, nil
}

// writable tries to open the audience's own ledger for writing, if it exists. Nothing is written: a check may be made
// often.
func (m Maintenance) writable() error {
	f, err := os.OpenFile(m.view.ledgerOptions(m.view.home()).Path, os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return withoutPath(err)
	}
	return f.Close()
}

// withoutPath returns the system's error without the path, which the answer must not contain.
func withoutPath(err error) error {
	if p, ok := errors.AsType[*os.PathError](err); ok {
		return p.Err
	}
	return err
}
