package mesh

import (
	"context"
	"path/filepath"
	"time"
)

// Stats says how much the audience's memory holds (RFC-0011 §4.1 stats).
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
	dir, _ := v.folder(v.own())
	s := Stats{Path: filepath.Join(dir, "lance"), Connected: true}
	for _, c := range stores {
		snapshot := c.Snapshot()
		s.Memories += snapshot.Live
		s.Skills += snapshot.Skills.Len()
		snapshot.Release()
		if c.Visibility != v.own() {
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
