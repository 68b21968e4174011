package index

import (
	"context"
)

// partsBatch is the number of parts that are embedded at a time.
const partsBatch = EmbedBatch / 4

// embedParts makes the vectors of the next parts of the first long memory that lacks some, and returns whether there
// was one, as 0 or 1. It makes few at a time, so that a memory stored meanwhile gets its vector soon, and the parts of
// a very long one are found before the last is embedded. The caller holds the index lock.
func (ix *Index) embedParts(ctx context.Context) (int, error) {
	docs, _ := ix.c.Vectors.MissingParts(1)
	if len(docs) == 0 {
		return 0, nil
	}
	s := ix.c.Snapshot()
	r := s.Record(docs[0])
	if r == nil {
		s.Release()
		return 0, nil // deleted meanwhile
	}
	parts := s.Passages(docs[0]).Embedded()
	s.Release()
	from := ix.c.Vectors.NextPart(r.VectorID(), len(parts))
	vectors, err := Embed(ctx, ix.embedder, "the parts of a memory", parts[from:min(from+partsBatch, len(parts))])
	if err != nil {
		return 0, err
	}
	if err := ix.c.Vectors.AppendParts(r.VectorID(), from, len(parts), vectors); err != nil {
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
