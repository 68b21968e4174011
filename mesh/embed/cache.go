package embed

import (
	"context"
	"fmt"
	"slices"

	lru "github.com/hashicorp/golang-lru/v2"
)

// DefaultCacheSize is the number of texts a cache keeps (seed 001 §7.1).
const DefaultCacheSize = 1000

// tokenCacheSize is the number of texts whose tokens a cache keeps: some 20 MB for notes of 30 words.
const tokenCacheSize = 400

// Cache is an Embedder that remembers the vectors of the texts used last.
type Cache struct {
	next    Embedder
	vectors *lru.Cache[string, []float32]
	tokens  *lru.Cache[string, Tokens]
}

// Cached puts a cache of n texts before e; n <= 0 means DefaultCacheSize. The key is the exact text, and
// nothing expires (seed 001 §7.1). It lives in memory only.
func Cached(e Embedder, n int) *Cache {
	if n <= 0 {
		n = DefaultCacheSize
	}
	c, err := lru.New[string, []float32](n)
	if err != nil {
		panic("embed: " + err.Error()) // only for a size below 1
	}
	tokens, err := lru.New[string, Tokens](tokenCacheSize)
	if err != nil {
		panic("embed: " + err.Error())
	}
	return &Cache{e, c, tokens}
}

// Model returns the wrapped embedder's.
func (c *Cache) Model() Model { return c.next.Model() }

// Embed implements Embedder: the texts that are not remembered go on in one call, each of them once.
func (c *Cache) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	return c.embed(ctx, "", c.next.Embed, texts)
}

// EmbedQuery implements Querier, with vectors of their own for questions if the wrapped embedder has.
func (c *Cache) EmbedQuery(ctx context.Context, texts []string) ([][]float32, error) {
	if q, ok := c.next.(Querier); ok {
		return c.embed(ctx, "query\x00", q.EmbedQuery, texts)
	}
	return c.Embed(ctx, texts)
}

// embed is Embed with the embedder's function next. prefix distinguishes its vectors from others of the same text.
func (c *Cache) embed(ctx context.Context, prefix string,
	next func(context.Context, []string) ([][]float32, error), texts []string,
) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	var missing []string
	places := map[string][]int{} // missing text -> its indexes
	for i, text := range texts {
		if v, ok := c.vectors.Get(prefix + text); ok {
			vectors[i] = slices.Clone(v)
			continue
		}
		if _, seen := places[text]; !seen {
			missing = append(missing, text)
		}
		places[text] = append(places[text], i)
	}
	if len(missing) == 0 {
		return vectors, nil
	}
	fresh, err := next(ctx, missing)
	if err != nil {
		return nil, err
	}
	if len(fresh) != len(missing) {
		return nil, fmt.Errorf("%s gave %d vectors for %d texts", c.next.Model().Name, len(fresh), len(missing))
	}
	for i, text := range missing {
		c.vectors.Add(prefix+text, fresh[i])
		for _, at := range places[text] {
			vectors[at] = slices.Clone(fresh[i]) // the caller's own
		}
	}
	return vectors, nil
}
