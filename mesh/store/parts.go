package store

import (
	"github.com/yamo-protocol/yamo-mcp/mesh/keyword"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub"
)

// The model sees the first 256 tokens of a text. A longer memory stays one memory, and has vectors of its parts in
// addition to its own: RFC-0011 §6.1's chunks, small enough for the model to see the whole of each. Long passages of
// files are cut in the same way.
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

// Chunks cuts a text into parts, in order. The white space between them is in none.
func Chunks(text string) []scrub.Chunk {
	return scrub.Split(text, scrub.ChunkOptions{Min: minPart, Max: partTokens, HardMax: seenTokens})
}

// Cut returns the parts of a text that is no memory: Chunks of a long one, else the whole.
func Cut(text string) []scrub.Chunk {
	if !HasParts(text) {
		return []scrub.Chunk{{End: len(text), Text: text}}
	}
	return Chunks(text)
}

// Passages are the parts of a long memory, the first one too, with their words.
type Passages struct {
	Chunks []scrub.Chunk
	Words  []keyword.Words
	text   string
}

// Embedded returns the parts that have vectors of their own: all but the first, which the vector of the whole text
// covers, as the model sees the beginning. Index i of it is index i+1 of Chunks.
func (p *Passages) Embedded() []string {
	if len(p.Chunks) < 2 {
		return []string{p.text} // it cannot be cut
	}
	parts := make([]string, len(p.Chunks)-1)
	for i, c := range p.Chunks[1:] {
		parts[i] = c.Text
	}
	return parts
}

// Passages returns the parts of a document of which Parts is set. They are kept until it is removed, because cutting
// a text takes longer than comparing its words.
func (s *Snapshot) Passages(doc int) *Passages {
	id, text := s.p.held[doc].id, s.p.held[doc].content
	if known, ok := s.p.passages.Load(id); ok {
		if known := known.(*Passages); known.text == text {
			return known
		}
	}
	made := &Passages{Chunks: Chunks(text), text: text}
	for _, c := range made.Chunks {
		made.Words = append(made.Words, s.Keywords.WordsOf(c.Text))
	}
	s.p.passages.Store(id, made)
	return made
}
