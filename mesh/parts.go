package mesh

import (
	"context"
	"fmt"
	"slices"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub"
)

// The model sees the first 256 tokens of a text. A memory that is longer stays one memory, and has vectors of its parts
// beside its own: RFC-0011 §6.1's chunks, small enough for the model to see the whole of each.
const (
	seenTokens = 250 // by scrub.EstimateTokens; a longer text has parts
	partTokens = 160 // of a part at most, where the text can be cut well
	partLeast  = 40  // a shorter one joins its neighbour
)

// long reports whether a text has parts.
func long(text string) bool { return len(text) > seenTokens && scrub.EstimateTokens(text) > seenTokens }

// partsOf are the parts of a long text but for the first, which its own vector is about.
func partsOf(text string) []string {
	chunks := scrub.Split(text, scrub.ChunkOptions{Min: partLeast, Max: partTokens, HardMax: seenTokens})
	if len(chunks) < 2 {
		return []string{text} // it cannot be cut
	}
	parts := make([]string, len(chunks)-1)
	for i, c := range chunks[1:] {
		parts[i] = c.Text
	}
	return parts
}

// embedParts makes the vectors of the parts of the first long memory that lacks some, and returns of how many memories.
// The caller holds the index lock.
func (ix *index) embedParts(ctx context.Context, c *compartment) (int, error) {
	docs, _ := ix.vectors.MissingParts(1)
	if len(docs) == 0 {
		return 0, nil
	}
	c.mu.RLock()
	r := c.docs[docs[0]].record
	c.mu.RUnlock()
	if r == nil {
		return 0, nil // deleted meanwhile
	}
	var vectors [][]float32
	for texts := range slices.Chunk(partsOf(r.Content), embedBatch) {
		made, err := ix.embedder.Embed(ctx, texts)
		if err != nil {
			return 0, fmt.Errorf("embed the parts of a memory: %w", err)
		}
		if len(made) != len(texts) {
			return 0, fmt.Errorf("embed the parts of a memory: %d vectors for %d texts", len(made), len(texts))
		}
		vectors = append(vectors, made...)
	}
	if err := ix.vectors.AppendParts(r.ID, vectors); err != nil {
		return 0, err
	}
	ix.mu.Lock()
	ix.announce()
	ix.mu.Unlock()
	return 1, nil
}

// lacking is how many memories have no vector yet, or not those of all their parts.
func (ix *index) lacking() int {
	_, whole := ix.vectors.Missing(0)
	_, parts := ix.vectors.MissingParts(0)
	return whole + parts
}
