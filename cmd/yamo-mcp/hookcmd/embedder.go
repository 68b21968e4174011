package hookcmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub"
)

// errLate means that the model was not loaded in time.
var errLate = errors.New("the embedding model is not loaded yet")

// prefetched computes the vector of one text from the moment it is made. Its Embed never waits for long.
type prefetched struct {
	embed.Embedder

	text     string
	done     chan struct{} // closed when vectors and err are set
	vectors  [][]float32
	err      error
	deadline time.Time
}

// prefetch begins to compute the vector of a query, as the memory will ask for it: redacted.
func (r *run) prefetch(query string) (embed.Embedder, error) {
	embedder, _, err := r.Config.Embedder.Connect(r.Getenv, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	text, _ := scrub.New(scrub.Options{List: r.list}).Redact(strings.TrimSpace(query))
	p := &prefetched{
		Embedder: embedder, text: text, done: make(chan struct{}), deadline: r.start.Add(r.wait),
	}
	// SECURITY: a provider that the operator named gets the redacted prompt, as it gets queries.
	go func() {
		defer close(p.done)
		defer func() {
			if panicked := recover(); panicked != nil {
				p.err = fmt.Errorf("panic: %v", panicked)
			}
		}()
		p.vectors, p.err = embed.Queries(context.Background(), embedder, []string{text})
	}()
	return p, nil
}

// Embed implements embed.Embedder. Texts other than the query are the background's, which a hook does not wait for.
func (p *prefetched) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if len(texts) != 1 || texts[0] != p.text {
		return nil, errLate
	}
	late := time.NewTimer(time.Until(p.deadline))
	defer late.Stop()
	select {
	case <-p.done:
		return p.vectors, p.err
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-late.C:
		return nil, errLate
	}
}

// Tokens implements embed.Tokenwise: what compares the words of the best memories with the query's. It needs the model
// as well, and has the same time.
func (p *prefetched) Tokens(ctx context.Context, texts []string) ([]embed.Tokens, error) {
	embedder, ok := p.Embedder.(embed.Tokenwise)
	if !ok {
		return nil, embed.ErrNoTokens
	}
	select {
	case <-p.done:
		return embedder.Tokens(ctx, texts)
	default:
		return nil, embed.ErrNoTokens
	}
}

// idle is the embedder of hooks that need no vectors.
type idle struct{ embed.Embedder }

// Embed implements embed.Embedder.
func (idle) Embed(context.Context, []string) ([][]float32, error) { return nil, errLate }

// idle returns an embedder with the model of the settings that computes nothing.
func (r *run) idle() (embed.Embedder, error) {
	embedder, _, err := r.Config.Embedder.Connect(r.Getenv, slog.New(slog.DiscardHandler))
	return idle{embedder}, err
}
