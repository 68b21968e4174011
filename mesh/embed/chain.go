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

// Chain tries providers in order: the fallback chain of RFC-0011 §7.1.
type Chain struct {
	log       *slog.Logger
	providers []Provider
}

// NewChain returns a chain that tries primary, then fallbacks in the given order.
func NewChain(log *slog.Logger, primary Provider, fallbacks ...Provider) *Chain {
	return &Chain{log, append([]Provider{primary}, fallbacks...)}
}

// Model returns the model of the primary provider.
func (c *Chain) Model() Model { return c.providers[0].Embedder.Model() }

// Embed implements Embedder with the first provider of the primary's model that succeeds (RFC-0011 §7.1).
// A provider of another model is skipped with a warning: its vectors cannot be compared with the primary's,
// and distances to them would be meaningless. When every provider fails the error is an *Error.
func (c *Chain) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	var failed Error
	for i, p := range c.providers {
		if model := p.Embedder.Model(); model != c.Model() {
			c.log.Warn("embedding fallback skipped: it has another model",
				"provider", p.Name, "model", model.Name, "want", c.Model().Name)
			continue
		}
		vectors, err := p.Embedder.Embed(ctx, texts)
		if err == nil {
			if i > 0 {
				c.log.Warn("embedding provider failed: a fallback was used",
					"failed", c.providers[0].Name, "used", p.Name, "error", failed.Failures[0].Err)
			}
			return vectors, nil
		}
		if ctx.Err() != nil { // the caller cancelled, no provider is to blame
			return nil, ctx.Err()
		}
		failed.Failures = append(failed.Failures, Failure{p.Name, err})
	}
	return nil, &failed
}
