package mesh

import (
	"context"
	"slices"

	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// All is every memory the audience may see, oldest first (RFC-0011 §4.1 getAll); limit bounds it to the newest that many, 0 is
// no bound. Scores are 0, and there are no signals.
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
