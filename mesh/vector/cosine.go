package vector

import (
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/yamo-protocol/yamo-mcp/internal/parallel"
)

// chunk is the number of rows that a goroutine takes at a time.
const chunk = 2048

// Cosines returns the cosine similarity, -1 to 1, of query with each document, in Track's order; NaN for
// documents without a vector. query must have unit length and the set's dimension. From compactFrom vectors on only
// the largest cosines are exact, those of at least refined documents; the others are estimates, usually within .01. The
// result uses out's memory if it is large enough.
func (s *Set) Cosines(query, out []float32) []float32 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out = slices.Grow(out[:0], len(s.rowOf))[:len(s.rowOf)]
	p := s.matrix.probe(query)
	parallel.Ranges(len(out), chunk, func(from, to int) { s.matrix.scores(p, s.rowOf[from:to], out[from:to]) })
	if s.matrix.compact() {
		s.refine(query, out)
	}
	return out
}

// refined is the number of documents whose cosines are exact, at least, when the matrix is compact: those that are
// nearest to the query.
const refined = 512

// refine replaces the largest cosines by exact ones. What cannot be read keeps the estimate.
func (s *Set) refine(query, cosines []float32) {
	near := largest(cosines, refined)
	f := s.reader()
	defer f.close()
	parallel.Ranges(len(near), 64, func(from, to int) {
		v, row := make([]float32, s.dim), make([]byte, s.rowSize())
		for _, doc := range near[from:to] {
			if f.read(int(s.rowOf[doc]), row, v) {
				cosines[doc] = dot(query, v)
			}
		}
	})
}

// largest returns the indices of the n largest values, -1 to 1, and of those that are about as large as the least of
// them, in ascending order. NaN is not counted.
func largest(values []float32, n int) []int {
	const steps, share = 1 << 11, 1 << 16
	step := func(x float32) int { return min(max(int((x+1)*(steps/2)), 0), steps-1) }
	var mu sync.Mutex
	var counts [steps]int
	parallel.Ranges(len(values), share, func(from, to int) {
		var some [steps]int
		for _, x := range values[from:to] {
			if !math.IsNaN(float64(x)) {
				some[step(x)]++
			}
		}
		mu.Lock()
		defer mu.Unlock()
		for i, n := range some {
			counts[i] += n
		}
	})
	least, count := steps-1, 0
	for ; least > 0; least-- {
		if count += counts[least]; count >= n {
			break
		}
	}
	// Most are far below it. A little is allowed for rounding.
	bound := float32(least)*2/steps - 1 - 1e-3
	list := make([]int, 0, count)
	for i, x := range values {
		if x >= bound && step(x) >= least { // NaN is not
			list = append(list, i)
		}
	}
	return list
}

// dot returns the product of two vectors. All have unit length, so it is their cosine. Gonum computes it with SIMD
// instructions, which the compiler does not generate for a loop in Go.
func dot(a, b []float32) float32 {
	return blas32.Dot(blas32.Vector{N: len(a), Inc: 1, Data: a}, blas32.Vector{N: len(b), Inc: 1, Data: b})
}

// PartScore is the score of a document with parts. See PartScores.
type PartScore struct {
	Doc   int
	Score float32
}

// PartScores returns a score for each document with parts: the largest cosine of query with one of the parts, less
// the mean over all of them (negative cosines count as 0). It is high where one part answers the query and the text
// as a whole does not. With a single part the score is its cosine. Of a document that is still being embedded the parts
// that are known count. The result uses out's memory if it is large enough.
func (s *Set) PartScores(query []float32, out []PartScore) []PartScore {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out = slices.Grow(out[:0], len(s.texts))[:len(s.texts)]
	p := s.matrix.probe(query)
	parallel.Ranges(len(out), chunk/32, func(from, to int) {
		for i, t := range s.texts[from:to] {
			doc, ok := s.docs.find(t.key)
			best, sum, known := float32(-1), float32(0), 0
			for _, at := range t.rows {
				if !ok || at == missing {
					continue
				}
				known++
				x := s.matrix.score(p, at)
				sum, best = sum+max(x, 0), max(best, x)
			}
			if known == 0 {
				out[from+i].Doc = missing
				continue
			}
			if len(t.rows) > 1 {
				best -= sum / float32(known)
			}
			out[from+i] = PartScore{doc, best}
		}
	})
	return slices.DeleteFunc(out, func(x PartScore) bool { return x.Doc == missing })
}

// PartCosines returns the cosine of query with a document called id and with each of its n parts, NaN for those that
// are not known.
func (s *Set) PartCosines(query []float32, doc int, id string, n int) []float32 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	rows := slices.Repeat([]int32{missing}, n+1)
	rows[0] = s.rowOf[doc]
	if t, ok := s.parts[keyOf(id)]; ok && len(t.rows) == n {
		copy(rows[1:], t.rows)
	}
	list := make([]float32, len(rows))
	s.matrix.scores(s.matrix.probe(query), rows, list)
	if s.matrix.compact() {
		f := s.reader()
		defer f.close()
		v, row := make([]float32, s.dim), make([]byte, s.rowSize())
		for i, at := range rows {
			if at >= 0 && f.read(int(at), row, v) {
				list[i] = dot(query, v)
			}
		}
	}
	return list
}
