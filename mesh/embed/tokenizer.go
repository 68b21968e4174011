package embed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/daulet/tokenizers"

	_ "github.com/yamo-protocol/yamo-mcp/native" // links libtokenizers
)

const (
	// maxTokens is sentence-transformers' max_seq_length for LocalModel.
	maxTokens = 256
	// headBytes is how much of a long text is tokenized first: nearly always more than a model sees.
	headBytes = 16 << 10
)

// tokenizer is the model's WordPiece tokenizer, without padding and truncation. Its methods are safe
// for concurrent use.
type tokenizer struct {
	t         *tokenizers.Tokenizer
	maxTokens int // where a text is cut, the two framing tokens included
	// vocabulary returns the strings of the ids. It is read when it is first needed.
	vocabulary func() (map[int64]string, error)
}

// openTokenizer reads tokenizer.json. The file pads every text to 128 tokens and cuts it there; the
// library has no option against it, so both are switched off in memory.
func openTokenizer(path string, maxTokens int) (*tokenizer, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if data, err = unpadded(data); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	t, err := tokenizers.FromBytes(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	vocabulary := sync.OnceValues(func() (map[int64]string, error) { return readVocabulary(data) })
	return &tokenizer{t, maxTokens, vocabulary}, nil
}

// unpadded returns tokenizer.json with null for its padding and truncation. It reads no further than these two, which
// come before the vocabulary: reading all of it would take a hook longer than most of what it does.
func unpadded(data []byte) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return nil, errors.Join(errors.New("not a JSON object"), err)
	}
	var out []byte
	copied := 0
	for found := 0; found < 2 && decoder.More(); {
		key, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, err
		}
		if key == "padding" || key == "truncation" {
			end := int(decoder.InputOffset())
			out = append(append(out, data[copied:end-len(value)]...), "null"...)
			copied = end
			found++
		}
	}
	return append(out, data[copied:]...), nil
}

// readVocabulary reads the vocabulary of the model in a tokenizer.json, by id.
func readVocabulary(data []byte) (map[int64]string, error) {
	var doc struct {
		Model struct{ Vocab map[string]int64 }
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("read the tokenizer's vocabulary: %w", err)
	}
	byID := make(map[int64]string, len(doc.Model.Vocab))
	for piece, id := range doc.Model.Vocab {
		byID[id] = piece
	}
	return byID, nil
}

func (t *tokenizer) close() { _ = t.t.Close() } // it has no error to return

// sequence returns the token ids of text with the framing tokens, at most t.maxTokens. A long text is
// tokenized from its beginning only, unless that beginning has too few tokens.
func (t *tokenizer) sequence(text string) ([]int64, error) {
	ids, err := t.encode(head(text))
	if err == nil && len(ids) <= t.maxTokens && len(text) > headBytes {
		ids, err = t.encode(text)
	}
	if err != nil {
		return nil, err
	}
	if len(ids) > t.maxTokens {
		end := ids[len(ids)-1]
		ids = append(ids[:t.maxTokens-1], end)
	}
	sequence := make([]int64, len(ids))
	for i, id := range ids {
		sequence[i] = int64(id)
	}
	return sequence, nil
}

// encode returns the ids of text between the two framing tokens. The library reports a failure as an
// empty result, which the framing tokens tell from an empty text.
func (t *tokenizer) encode(text string) ([]uint32, error) {
	// The library takes a C string, which ends at the first NUL; the tokenizer ignores NULs anyway.
	ids := t.t.EncodeWithOptions(strings.ReplaceAll(text, "\x00", ""), true).IDs
	if len(ids) < 2 {
		return nil, errors.New("the tokenizer could not read a text")
	}
	return ids, nil
}

// head returns the beginning of a text longer than headBytes, cut between words if there is a space
// near the cut and between characters otherwise.
func head(text string) string {
	if len(text) <= headBytes {
		return text
	}
	cut := text[:headBytes]
	if i := strings.LastIndexAny(cut, " \n\t"); i > headBytes/2 {
		return cut[:i]
	}
	for len(cut) > 0 && !utf8.RuneStart(text[len(cut)]) {
		cut = cut[:len(cut)-1]
	}
	return cut
}
