package scrub

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"
)

// Hash returns the content hash of a text: SHA-256, in hexadecimal.
func Hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Annotate is stage 5, metadata annotation (RFC-0011 §6.1): it sets the
// source, the hash and the time of each chunk, in place, and returns chunks.
// The section path is there from Split.
func Annotate(chunks []Chunk, source string, at time.Time) []Chunk {
	for i := range chunks {
		chunks[i].Source, chunks[i].Hash, chunks[i].Time = source, Hash(chunks[i].Text), at
	}
	return chunks
}

// ErrEmpty is the error for a text that is empty, or has nothing left when
// its markup is gone.
var ErrEmpty = errors.New("text is empty")

// ErrTooLarge is the error for a text above the size limit.
var ErrTooLarge = errors.New("text is too large")

// ErrTooShort is the error for a text below Options.MinTokens.
var ErrTooShort = errors.New("text is too short")

// Validate is stage 6 (RFC-0011 §6.1): it returns ErrEmpty for no chunks or an
// empty one, an error for a chunk above o.HardMax, and ErrTooShort, when
// enforceMin is set, for a text of fewer than o.Min tokens in all.
func Validate(chunks []Chunk, o ChunkOptions, enforceMin bool) error {
	o = o.withDefaults()
	total := 0
	for _, c := range chunks {
		if c.Text == "" {
			return ErrEmpty
		}
		if c.Tokens > o.HardMax && len(c.Text) > 4 {
			return fmt.Errorf("chunk %d has %d tokens, more than %d", c.Index, c.Tokens, o.HardMax)
		}
		total += c.Tokens
	}
	if len(chunks) == 0 {
		return ErrEmpty
	}
	if enforceMin && total < o.Min {
		return fmt.Errorf("%w: %d tokens, fewer than %d", ErrTooShort, total, o.Min)
	}
	return nil
}
