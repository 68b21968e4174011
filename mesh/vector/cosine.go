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

// share calls f with the ranges of n things, at most size each, from as many goroutines as can run.
func share(n, size int, f func(from, to int)) {
	var taken atomic.Int64
	work := func() {
		for {
			to := int(taken.Add(int64(size)))
			if to-size >= n {
				return
			}
			f(to-size, min(to, n))
		}
	}
	var wait sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (n+size-1)/size) - 1 {
		wait.Go(work)
	}
	work()
	wait.Wait()
}

// Cosines appends the cosine of query, of unit length, with each document to out[:0], in Track's order,
// and returns it; NaN where the vector is not known.
func (s *Set) Cosines(query, out []float32) []float32 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out = slices.Grow(out[:0], len(s.rowOf))[:len(s.rowOf)]
	share(len(out), chunk, func(from, to int) {
		for doc := from; doc < to; doc++ {
			if at := s.rowOf[doc]; at < 0 {
				out[doc] = float32(math.NaN())
			} else {
				out[doc] = s.cosine(query, at)
			}
		}
	})
	return out
}

// cosine is that of query with a row of the matrix.
func (s *Set) cosine(query []float32, at int) float32 {
	return blas32.Dot(blas32.Vector{N: s.dim, Inc: 1, Data: query}, blas32.Vector{N: s.dim, Inc: 1, Data: s.vector(at)})
}

// Standing is a document with parts, and by how much the best of them stands out from the others.
type Standing struct {
	Doc int
	By  float32
}

// Outstanding appends, to out[:0], each document that has parts with by how much the largest cosine of query with one of
// them exceeds their mean: what one part says of the query that the text as a whole does not. A single part stands for
// itself.
func (s *Set) Outstanding(query []float32, out []Standing) []Standing {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out = slices.Grow(out[:0], len(s.texts))[:len(s.texts)]
	share(len(out), chunk/32, func(from, to int) {
		for i, t := range s.texts[from:to] {
			doc, ok := s.docs[t.key]
			if !ok || !t.whole() {
				out[from+i].Doc = missing
				continue
			}
			best, sum := float32(-1), float32(0)
			for _, at := range t.rows {
				x := s.cosine(query, at)
				best, sum = max(best, x), sum+max(x, 0)
			}
			if len(t.rows) > 1 {
				best -= sum / float32(len(t.rows))
			}
			out[from+i] = Standing{doc, best}
		}
	})
	return slices.DeleteFunc(out, func(x Standing) bool { return x.Doc == missing })
}
