package index

import (
	"context"
	"fmt"

	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
)

// Embedder turns texts into unit-length vectors of Model().Dim numbers, in the texts' order (RFC-0011 §7). Without an
// installed model the error is embed.ErrNoAssets. It is safe for concurrent use.
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	Model() embed.Model
}

// Embed returns one vector for each text. what names the texts in errors.
func Embed(ctx context.Context, e Embedder, what string, texts []string) ([][]float32, error) {
	vectors, err := e.Embed(ctx, texts)
	if err == nil && len(vectors) != len(texts) { // a vector of another text would be found for the wrong reason
		err = fmt.Errorf("%d vectors for %d texts", len(vectors), len(texts))
	}
	if err != nil {
		return nil, fmt.Errorf("embed %s: %w", what, err)
	}
	return vectors, nil
}
