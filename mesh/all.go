package mesh

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// All is every memory the audience may see, oldest first (RFC-0011 §4.1 getAll); limit bounds it to the newest that many, 0 is
// no bound. Scores are 0, and there are no signals.
func (v *View) All(ctx context.Context, limit int) ([]Hit, error) {
	stores, _, err := v.compartments(ctx)
	if err != nil {
		return nil, err
	}
	hits := []Hit{}
	for _, c := range stores {
		c.mu.RLock()
		for _, d := range c.docs {
			if d.record != nil {
				hits = append(hits, Hit{Record: d.record, Visibility: c.visibility})
			}
		}
		c.mu.RUnlock()
	}
	slices.SortStableFunc(hits, func(a, b Hit) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	if limit > 0 && len(hits) > limit {
		hits = hits[len(hits)-limit:]
	}
	return hits, nil
}
