package vector

import (
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/blas/blas32"
)

// chunk is how many rows a goroutine takes at a time. Several share the work as they find a processor: what else the
// search computes meanwhile keeps one busy.
const chunk = 2048

// Cosines appends the cosine of query, of unit length, with each document to out[:0], in Track's order,
// and returns it; NaN where the vector is not known.
func (s *Set) Cosines(query, out []float32) []float32 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out = slices.Grow(out[:0], len(s.rowOf))[:len(s.rowOf)]
	var taken atomic.Int64
	work := func() {
		for {
			to := int(taken.Add(chunk))
			from := to - chunk
			if from >= len(out) {
				return
			}
			to = min(to, len(out))
			s.cosines(query, s.rowOf[from:to], out[from:to])
		}
	}
	var wait sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (len(out)+chunk-1)/chunk) - 1 {
		wait.Go(work)
	}
	work()
	wait.Wait()
	return out
}

// cosines fills out for the documents whose rows are given. s.mu is held.
func (s *Set) cosines(query []float32, rows []int, out []float32) {
	q := blas32.Vector{N: s.dim, Inc: 1, Data: query}
	for i, at := range rows {
		if at < 0 {
			out[i] = float32(math.NaN())
			continue
		}
		out[i] = blas32.Dot(q, blas32.Vector{N: s.dim, Inc: 1, Data: s.vector(at)})
	}
}

// Standing is a document with parts, and by how much the best of them stands out from the others.
type Standing struct {
	Doc int
	By  float32
}

// Outstanding appends, to out[:0] and in no order, each document that has parts with by how much the largest cosine of
// query with one of them exceeds their mean: what one part says of the query that the text as a whole does not. A single
// part stands for itself.
func (s *Set) Outstanding(query []float32, out []Standing) []Standing {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out = out[:0]
	q := blas32.Vector{N: s.dim, Inc: 1, Data: query}
	for k, rows := range s.parts {
		doc, ok := s.docs[k]
		if !ok || slices.Contains(rows, missing) {
			continue
		}
		best, sum := float32(-1), float32(0)
		for _, at := range rows {
			x := blas32.Dot(q, blas32.Vector{N: s.dim, Inc: 1, Data: s.vector(at)})
			best, sum = max(best, x), sum+max(x, 0)
		}
		if len(rows) > 1 {
			best -= sum / float32(len(rows))
		}
		out = append(out, Standing{doc, best})
	}
	return out
}
