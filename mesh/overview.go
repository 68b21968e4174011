package mesh

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

// Stats is the size and state of the audience's memory (RFC-0011 §4.1 stats).
type Stats struct {
	Memories  int    // in every compartment the audience may see
	Skills    int    // likewise
	Path      string // of the LanceDB tables of the audience's own compartment
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
		if _, err := c.index.Tables.Count(ctx); err != nil {
			v.Logger.Warn("read the memory index", "error", err)
			s.Connected = false
		}
	}
	return s, nil
}

// settlePoll is how long Settle waits between two reports.
const settlePoll = 100 * time.Millisecond

// Settle waits until every memory that the audience may see has its vector. report, which may be nil, is
// called with how many have none yet. Without a working embedder it returns the embedder's error; what
// is stored meanwhile may prolong it.
func (v *View) Settle(ctx context.Context, report func(pending int)) error {
	if report == nil {
		report = func(int) {}
	}
	if _, err := v.Embedder.Embed(ctx, []string{"ready"}); err != nil {
		return err
	}
	stores, _, err := v.compartments(ctx)
	if err != nil {
		return err
	}
	for {
		pending := 0
		for _, c := range stores {
			n, err := c.index.Ready(ctx, settlePoll)
			if err != nil {
				return err
			}
			if n > 0 {
				if err := c.index.Trouble(); err != nil {
					return err
				}
			}
			pending += n
		}
		report(pending)
		if pending == 0 {
			return nil
		}
	}
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
	Tag   string
	Count int
}

// Activity counts since a time. It reads the audience's own ledger again.
func (v *View) Activity(ctx context.Context, since time.Time) (Activity, error) {
	stores, _, err := v.compartments(ctx)
	if err != nil {
		return Activity{}, err
	}
	var a Activity
	// A second reader of the same file: the compartment's own has gone past the recalls, which it does not keep.
	err = ledger.New(v.ledgerOptions(v.home())).Sync(ctx, func(e ledger.Entry) error {
		if e.Op == store.OpRecall && !e.Time.Before(since) {
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
		for r := range s.Memories() {
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
