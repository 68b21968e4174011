package embed

import (
	"context"
	"log/slog"
)

// Provider is one member of a Chain.
type Provider struct {
	Name     string // as it is configured: "local", "openai", "ollama", "cohere"
	Embedder Embedder
}

// Chain tries providers in order: the fallback chain of seed 001 §7.1.
type Chain struct {
	log       *slog.Logger
	providers []Provider
}

// NewChain returns the chain of primary and its fallbacks in their order.
func NewChain(log *slog.Logger, primary Provider, fallbacks ...Provider) *Chain {
	return &Chain{log, append([]Provider{primary}, fallbacks...)}
}

// Model returns the primary provider's.
func (c *Chain) Model() Model { return c.providers[0].Embedder.Model() }

// Embed implements Embedder with the providers that have the primary's model. A provider of another
// model is passed over, with a warning: its vectors among the primary's would make distances
// meaningless without anybody noticing. When none succeeds the error is an *Error.
func (c *Chain) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, _, err := c.try(ctx, texts, true)
	return vectors, err
}

// EmbedAny is seed 001 §7.1 to the letter: the first provider that succeeds, whatever its model, which it
// returns. It is for a caller that keeps an index for each model, or has none yet.
func (c *Chain) EmbedAny(ctx context.Context, texts []string) ([][]float32, Model, error) {
	return c.try(ctx, texts, false)
}

func (c *Chain) try(ctx context.Context, texts []string, sameModel bool) ([][]float32, Model, error) {
	var failed Error
	for i, p := range c.providers {
		model := p.Embedder.Model()
		if sameModel && model != c.Model() {
			c.log.Warn("embedding fallback passed over: it has another model",
				"provider", p.Name, "model", model.Name, "want", c.Model().Name)
			continue
		}
		vectors, err := p.Embedder.Embed(ctx, texts)
		if err == nil {
			if i > 0 {
				c.log.Warn("embedding provider failed: a fallback was used",
					"failed", c.providers[0].Name, "used", p.Name, "error", failed.Failures[0].Err)
			}
			return vectors, model, nil
		}
		if ctx.Err() != nil { // the caller gave up, no provider is to blame
			return nil, Model{}, ctx.Err()
		}
		failed.Failures = append(failed.Failures, Failure{p.Name, err})
	}
	return nil, Model{}, &failed
}
