// Package embed turns texts into vectors: layer 1 of the memory mesh (seed 001 §7).
//
// The default is Local, all-MiniLM-L6-v2 on this machine through ONNX Runtime. Remote providers exist
// for operators who configure one by name. The invariant: no text leaves the machine, and no model is
// loaded, before something calls Embed on an embedder that was built for it; and every vector an
// Embedder returns has unit length and belongs to the model that Model names.
package embed

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
)

// Model names the vector space an embedder's vectors belong to. Vectors of different models cannot be
// compared, so an index records the model it was made with.
type Model struct {
	Name string // "all-MiniLM-L6-v2"
	Dim  int    // the length of every vector
}

// Embedder turns texts into vectors. Embed returns one vector of unit length for each text, in order;
// the vectors are the caller's. An empty text has a vector too. Implementations are safe for concurrent
// use, and stop at the next batch when ctx is done.
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	Model() Model
}

// ErrNoAssets means that the local model is not installed on this machine.
var ErrNoAssets = errors.New("the local embedding model is not installed: run `yamo-mcp setup`")

// ErrClosed means that the embedder was closed.
var ErrClosed = errors.New("embedder is closed")

// Error is what a Chain returns when every provider failed: seed 001's EmbeddingError (§7.1).
type Error struct {
	Failures []Failure // in the order the providers were tried
}

// Failure is why one provider of a Chain gave no vectors.
type Failure struct {
	Provider string
	Err      error
}

func (e *Error) Error() string {
	parts := make([]string, len(e.Failures))
	for i, f := range e.Failures {
		parts[i] = f.Provider + ": " + f.Err.Error()
	}
	return "no embedding provider succeeded: " + strings.Join(parts, "; ")
}

// Unwrap gives errors.Is and errors.As every provider's error.
func (e *Error) Unwrap() []error {
	errs := make([]error, len(e.Failures))
	for i, f := range e.Failures {
		errs[i] = f.Err
	}
	return errs
}

// normalize scales v to unit length in place. A vector without a direction is an error: it would be at
// the same distance from everything.
func normalize(v []float32) error {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	norm := math.Sqrt(sum)
	if norm == 0 || math.IsNaN(norm) || math.IsInf(norm, 0) {
		return fmt.Errorf("vector has length %v", norm)
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / norm)
	}
	return nil
}
