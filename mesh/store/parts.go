package store

import "github.com/yamo-protocol/yamo-mcp/mesh/scrub"

// The model sees the first 256 tokens of a text. A memory that is longer stays one memory, and has vectors of its parts
// beside its own: RFC-0011 §6.1's chunks, small enough for the model to see the whole of each.
const (
	seenTokens = 250 // by scrub.EstimateTokens; a longer text has parts
	partTokens = 160 // of a part at most, where the text can be cut well
	partLeast  = 40  // a shorter one joins its neighbour
)

// HasParts reports whether a text is longer than what the model sees.
func HasParts(text string) bool {
	return len(text) > seenTokens && scrub.EstimateTokens(text) > seenTokens
}

// Parts returns the parts of a long text but for the first, which its own vector is about.
func Parts(text string) []string {
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
