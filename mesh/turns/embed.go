package turns

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/yamo-protocol/yamo-mcp/mesh/index"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

// embed makes the vectors of turns that have none, the newest first, unless another process does.
func (x *Index) embed(ctx context.Context) error {
	x.mu.Lock()
	turns, resting := x.store, time.Since(x.failedAt) < index.RetryAfter
	stale := x.stale && x.behind == 0
	empty := x.count == 0
	x.mu.Unlock()
	if err := turns.Vectors.Refresh(); err != nil {
		return err
	}
	_, missing := turns.Vectors.Missing(0)
	if resting || empty || missing == 0 && !stale {
		return nil
	}
	return x.vectors.Try(func() error {
		if stale {
			if err := turns.Vectors.Prune(); err != nil {
				return err
			}
			x.mu.Lock()
			x.stale = x.store != turns
			x.mu.Unlock()
		}
		for ctx.Err() == nil {
			x.mu.Lock()
			turns = x.store
			x.mu.Unlock()
			ids, texts := newest(turns, index.EmbedBatch)
			if len(ids) == 0 {
				return nil
			}
			made, err := index.Embed(ctx, x.Embedder, "conversations", texts)
			if err != nil {
				x.mu.Lock()
				x.failedAt = time.Now()
				x.mu.Unlock()
				return err
			}
			if err := turns.Vectors.Append(ids, made); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
}

// newest returns the ids and texts of the newest n records of p that have no vector.
func newest(p *store.Projection, n int) (ids, texts []string) {
	docs, _ := p.Vectors.Missing(math.MaxInt)
	s := p.Snapshot()
	defer s.Release()
	var list []*record.Record
	for _, doc := range docs {
		if doc < len(s.Docs) && !s.Docs[doc].Deleted {
			list = append(list, s.Record(doc))
		}
	}
	// Turns have no place in a ledger: of equal times, those come first that were read first.
	slices.SortStableFunc(list, func(a, b *record.Record) int { return b.CreatedAt.Compare(a.CreatedAt) })
	for _, r := range list[:min(n, len(list))] {
		ids, texts = append(ids, r.ID), append(texts, r.Content)
	}
	return ids, texts
}
