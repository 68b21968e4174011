package store

import "github.com/yamo-protocol/yamo-mcp/mesh/scrub"

// The model sees the first 256 tokens of a text. A longer memory stays one memory, and has vectors of its parts in
// addition to its own: RFC-0011 §6.1's chunks, small enough for the model to see the whole of each.
const (
	seenTokens = 250 // by scrub.EstimateTokens; a longer text has parts
	partTokens = 160 // maximum length of a part, where the text can be cut well
	minPart    = 40  // shorter parts are merged with their neighbour
)

// HasParts reports whether text is longer than what the model sees, so that it has vectors of its parts.
func HasParts(text string) bool {
	// A token has at least one byte, so the estimate is not needed for a short text.
	return len(text) > seenTokens && scrub.EstimateTokens(text) > seenTokens
}

// Parts returns the parts of a long text, in order and without the first: the vector of the whole text, of which the
// model sees the beginning, covers that.
func Parts(text string) []string {
	chunks := scrub.Split(text, scrub.ChunkOptions{Min: minPart, Max: partTokens, HardMax: seenTokens})
	if len(chunks) < 2 {
		return []string{text} // it cannot be cut
	}
	parts := make([]string, len(chunks)-1)
	for i, c := range chunks[1:] {
		parts[i] = c.Text
	}
	return parts
}
