package index

import (
	"context"

	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
)

// Embedder turns texts into unit-length vectors of Model().Dim numbers, in the texts' order (RFC-0011 §7). Without an
// installed model the error is embed.ErrNoAssets. It is safe for concurrent use.
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	Model() embed.Model
}
