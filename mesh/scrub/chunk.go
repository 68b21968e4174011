package scrub

import (
	"strings"
	"time"
	"unicode"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/chars"
)

// Chunk is a part of a scrubbed text that is embedded by itself.
type Chunk struct {
	Index      int    // position among the chunks, from 0
	Start, End int    // bytes of the text: Text == text[Start:End]
	Text       string // never empty, no white space around it
	// Headings are the titles of the sections the chunk lies in, outermost
	// first, without their number signs.
	Headings []string
	Tokens   int // by the counter that was used

	// Set by Annotate.
	Source string
	Hash   string // SHA-256 of Text, hexadecimal
	Time   time.Time
}

// ChunkOptions are the limits of Split, in tokens. Zero values mean the
// defaults of RFC-0011 §6.1.
type ChunkOptions struct {
	Min     int // smaller chunks are merged with their neighbour; default 10
	Max     int // default 500
	HardMax int // what cannot be cut well (code, a table) may have so many; default 2000, at least Max
	// Count counts the tokens of a text as the embedding model does. A text
	// must not count more than its parts together, and Count must be safe for
	// concurrent use. Nil means EstimateTokens.
	Count func(string) int
}

// withDefaults returns the options with RFC-0011 §6.1's defaults for what is not set, and with Min ≤ Max ≤ HardMax.
func (o ChunkOptions) withDefaults() ChunkOptions {
	if o.Min <= 0 {
		o.Min = 10
	}
	if o.Max <= 0 {
		o.Max = 500
	}
	if o.HardMax <= 0 {
		o.HardMax = 2000
	}
	o.HardMax = max(o.HardMax, o.Max)
	o.Min = min(o.Min, o.Max)
	if o.Count == nil {
		o.Count = EstimateTokens
	}
	return o
}

// EstimateTokens estimates what a WordPiece tokenizer makes of s without
// loading one: a token for every six letters or digits of a word, begun, and
// one for every other character that is not white space, every Chinese or
// Japanese one included.
func EstimateTokens(s string) int {
	const wordPart = 6
	tokens, run := 0, 0
	for _, r := range s {
		switch {
		case chars.IsUnspaced(r):
			tokens++
			run = 0
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			if run == 0 {
				tokens++
			}
			if run++; run == wordPart {
				run = 0
			}
		case unicode.IsSpace(r):
			run = 0
		default:
			tokens++
			run = 0
		}
	}
	return tokens
}

// Split is stage 4, chunking (RFC-0011 §6.1): it cuts scrubbed text into
// chunks of at most o.Max tokens, at headings where there are any, else
// between blocks, sentences, words. Code blocks and tables stay whole up to
// o.HardMax. The chunks are in order, do not overlap, and leave out nothing
// but white space. A text that fits is one chunk.
func Split(text string, o ChunkOptions) []Chunk {
	o = o.withDefaults()
	text = strings.TrimRightFunc(text, unicode.IsSpace)
	if strings.TrimSpace(text) == "" {
		return nil
	}
	s := splitter{text: text, o: o}
	first := len(text) - len(strings.TrimLeftFunc(text, unicode.IsSpace))
	if n := o.Count(text[first:]); n <= o.Max {
		s.add(first, len(text), nil)
	} else {
		s.sections()
		s.joinSmall()
	}
	for i := range s.out {
		s.out[i].Index = i
	}
	return s.out
}
