package embed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Tokens are the vectors of a text before they are averaged to one.
type Tokens struct {
	// Words are the vectors of each word's tokens, of unit length, in the text's order. The model's tokenizer decides
	// what a word is: punctuation marks are words.
	Words [][][]float32
	Names []string  // the words, in lower case and without accents
	Mean  []float32 // the text's vector, as Embed returns it
}

// Tokenwise is an Embedder that can also return the vectors of a text's tokens. Local is one, with LocalModel;
// providers return only the vectors of texts.
type Tokenwise interface {
	// Tokens returns the tokens of each text, in order. They must not be changed. The errors are Embed's, and
	// ErrNoTokens.
	Tokens(ctx context.Context, texts []string) ([]Tokens, error)
}

// ErrNoTokens means that the embedder returns the vectors of texts only.
var ErrNoTokens = errors.New("the embedding model returns no vectors of tokens")

// Tokens implements Tokenwise.
func (l *Local) Tokens(ctx context.Context, texts []string) ([]Tokens, error) {
	if l.options.Folder != nil {
		return nil, ErrNoTokens // what compares them was measured with LocalModel
	}
	if len(texts) == 0 {
		return nil, nil
	}
	list := make([]Tokens, len(texts))
	err := l.each(ctx, texts, func(i int, ids []int64, rows []float32) error {
		vocabulary, err := l.tokenizer.vocabulary()
		if err != nil {
			return err
		}
		dim := LocalModel.Dim
		t := &list[i]
		if t.Mean, err = meanPooling.vector(rows, dim); err != nil {
			return err
		}
		for at := 1; at < len(ids)-1; at++ { // without the framing tokens
			vector := slices.Clone(rows[at*dim : (at+1)*dim])
			if err := normalize(vector); err != nil {
				return err
			}
			piece, inside := strings.CutPrefix(vocabulary[ids[at]], "##")
			if last := len(t.Names) - 1; inside && last >= 0 {
				t.Names[last] += piece
				t.Words[last] = append(t.Words[last], vector)
				continue
			}
			t.Names, t.Words = append(t.Names, piece), append(t.Words, [][]float32{vector})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// Tokens implements Tokenwise if the wrapped embedder does, with a cache of its own: a text has some 30 times more of
// them than of vectors.
func (c *Cache) Tokens(ctx context.Context, texts []string) ([]Tokens, error) {
	next, ok := c.next.(Tokenwise)
	if !ok {
		return nil, ErrNoTokens
	}
	list := make([]Tokens, len(texts))
	var missing []string
	for i, text := range texts {
		if list[i], ok = c.tokens.Get(text); !ok && !slices.Contains(missing, text) {
			missing = append(missing, text)
		}
	}
	if len(missing) == 0 {
		return list, nil
	}
	fresh, err := next.Tokens(ctx, missing)
	if err != nil {
		return nil, err
	}
	if len(fresh) != len(missing) {
		return nil, fmt.Errorf("%s gave the tokens of %d texts for %d", c.next.Model().Name, len(fresh), len(missing))
	}
	for i, text := range missing {
		c.tokens.Add(text, fresh[i])
	}
	for i, text := range texts {
		if list[i].Mean == nil {
			list[i] = fresh[slices.Index(missing, text)]
		}
	}
	return list, nil
}
