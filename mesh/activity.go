package mesh

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

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

// Activity counts since a time. It reads the audience's own ledger anew.
func (v *View) Activity(ctx context.Context, since time.Time) (Activity, error) {
	stores, _, err := v.compartments(ctx)
	if err != nil {
		return Activity{}, err
	}
	var a Activity
	// A second reader of the same file: the compartment's own has gone past the recalls, which it does not keep.
	err = ledger.New(v.ledgerOptions(v.own())).Sync(ctx, func(e ledger.Entry) error {
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
