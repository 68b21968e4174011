package index

import (
	"context"
	"slices"

	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

// embedParts makes the vectors of the parts of the first long memory that lacks some, and returns the number of
// memories it did: 0 or 1. It does one at a time, so that a memory stored meanwhile gets its vector soon. The caller
// holds the index lock.
func (ix *Index) embedParts(ctx context.Context) (int, error) {
	docs, _ := ix.c.Vectors.MissingParts(1)
	if len(docs) == 0 {
		return 0, nil
	}
	s := ix.c.Snapshot()
	r := s.Docs[docs[0]].Record
	s.Release()
	if r == nil {
		return 0, nil // deleted meanwhile
	}
	var vectors [][]float32
	for texts := range slices.Chunk(store.Parts(r.Content), EmbedBatch) {
		made, err := Embed(ctx, ix.embedder, "the parts of a memory", texts)
		if err != nil {
			return 0, err
		}
		vectors = append(vectors, made...)
	}
	if err := ix.c.Vectors.AppendParts(r.ID, vectors); err != nil {
		return 0, err
	}
	ix.mu.Lock()
	ix.announce()
	ix.mu.Unlock()
	return 1, nil
}

// lacking returns the number of memories without a vector, plus that of memories without those of their parts.
func (ix *Index) lacking() int {
	_, whole := ix.c.Vectors.Missing(0)
	_, parts := ix.c.Vectors.MissingParts(0)
	return whole + parts
}
