package vector

import (
	"math"

	"github.com/yamo-protocol/yamo-mcp/internal/parallel"
)

// compactFrom is the number of rows from which on a matrix is compact: below it a search over exact numbers takes a few
// milliseconds, and they take less than 101 MB with the local model.
const compactFrom = 1 << 16

// matrix is rows of numbers, all of one length: exact ones, or, from limit rows on, four bits for each. A vector v of
// n numbers is then codes c from 0 to 15 and a step, with v[i] about step*(c[i]-middle).
type matrix struct {
	dim, limit int
	rows       int
	numbers    []float32 // dim a row, nil if it is compact
	codes      []byte    // stride bytes a row, see pack
	steps      []float32 // by row
}

// middle is the code of zero, which no number has.
const middle = 7.5

// block is the number of components in 32 bytes of codes: the first half in the lower four bits of each byte, the
// second half in the upper four. Missing components at the end are zero in a probe.
const block = 64

func newMatrix(dim int) matrix { return matrix{dim: dim, limit: compactFrom} }

// compact reports whether the numbers are estimates.
func (m *matrix) compact() bool { return m.codes != nil }

// blocks is the number of blocks in a row.
func (m *matrix) blocks() int { return (m.dim + block - 1) / block }

// stride is the number of bytes of a row's codes.
func (m *matrix) stride() int { return m.blocks() * block / 2 }

// extend adds n rows, whose content is not defined until set, and returns the number of the first.
func (m *matrix) extend(n int) (first int) {
	first = m.rows
	m.rows += n
	if !m.compact() && m.rows >= m.limit {
		m.shrink(first)
	}
	if m.compact() {
		m.codes = sized(m.codes, m.rows*m.stride())
		m.steps = sized(m.steps, m.rows)
	} else {
		m.numbers = sized(m.numbers, m.rows*m.dim)
	}
	return first
}

// sized returns list with n elements. Where it must grow by little, it grows by a quarter.
func sized[E any](list []E, n int) []E {
	if n > cap(list) {
		grown := make([]E, n, max(n, min(len(list)+len(list)/4, 2*n)))
		copy(grown, list)
		return grown
	}
	return list[:n]
}

// shrink replaces the numbers of the first n rows by codes.
func (m *matrix) shrink(n int) {
	numbers := m.numbers
	m.numbers, m.codes, m.steps = nil, make([]byte, n*m.stride(), m.rows*m.stride()), make([]float32, n, m.rows)
	parallel.Ranges(n, chunk, func(from, to int) {
		for at := from; at < to; at++ {
			m.set(at, numbers[at*m.dim:(at+1)*m.dim])
		}
	})
}

// truncate drops all rows from number n on.
func (m *matrix) truncate(n int) {
	m.rows = n
	if m.compact() {
		clear(m.codes[n*m.stride():])
		m.codes, m.steps = m.codes[:n*m.stride()], m.steps[:n]
	} else {
		clear(m.numbers[min(n*m.dim, len(m.numbers)):])
		m.numbers = m.numbers[:n*m.dim]
	}
}

// move makes row to what row from is.
func (m *matrix) move(to, from int) {
	if m.compact() {
		copy(m.codes[to*m.stride():(to+1)*m.stride()], m.codes[from*m.stride():])
		m.steps[to] = m.steps[from]
	} else {
		copy(m.exact(to), m.exact(from))
	}
}

// exact returns a row of a matrix that is not compact.
func (m *matrix) exact(at int) []float32 { return m.numbers[at*m.dim : (at+1)*m.dim] }

// set sets a row. Different rows may be set at the same time.
func (m *matrix) set(at int, v []float32) {
	if !m.compact() {
		copy(m.exact(at), v)
		return
	}
	m.steps[at] = pack(v, m.codes[at*m.stride():(at+1)*m.stride()])
}

// pack writes the codes of v and returns their step.
func pack(v []float32, codes []byte) (step float32) {
	most := largestNumber(v)
	if most == 0 || math.IsInf(float64(most), 0) {
		most = 1
	}
	step = most / middle
	packCodes(v, codes, 1/step)
	return step
}

// largestNumberGo returns the largest absolute value.
func largestNumberGo(v []float32) (most float32) {
	for _, x := range v {
		if x < 0 {
			x = -x
		}
		if x > most {
			most = x
		}
	}
	return most
}

// packCodesGo writes the codes of v, given the reciprocal of their step.
func packCodesGo(v []float32, codes []byte, scale float32) {
	const half = block / 2
	code := func(x float32) byte { return byte(min(max(int32(x*scale+(middle+.5)), 0), 15)) }
	for len(v) > 0 {
		part := v[:min(block, len(v))]
		clear(codes[:half])
		for j, x := range part {
			codes[j%half] |= code(x) << (j / half * 4)
		}
		v, codes = v[len(part):], codes[half:]
	}
}

// probe is a query in the form that is compared with codes: numbers from -127 to 127.
type probe struct {
	query  []float32
	codes  []int8
	scale  float32 // of a number
	offset float32 // subtracted from the sum of products, for middle
}

func (m *matrix) probe(query []float32) probe {
	p := probe{query: query}
	if !m.compact() {
		return p
	}
	most := float32(0)
	for _, x := range query {
		most = max(most, x, -x)
	}
	if most == 0 {
		most = 1
	}
	p.scale = most / 127
	p.codes = make([]int8, m.blocks()*block)
	sum := 0
	for i, x := range query {
		p.codes[i] = int8(math.Round(float64(x / p.scale)))
		sum += int(p.codes[i])
	}
	p.offset = middle * float32(sum)
	return p
}

// score returns the cosine of a probe with row at.
func (m *matrix) score(p probe, at int32) float32 {
	var out [1]float32
	m.scores(p, []int32{at}, out[:])
	return out[0]
}

// scores sets out to the cosines of a probe with the rows, NaN for a negative number.
func (m *matrix) scores(p probe, rows []int32, out []float32) {
	if !m.compact() {
		for i, at := range rows {
			if out[i] = float32(math.NaN()); at >= 0 {
				out[i] = dot(p.query, m.exact(int(at)))
			}
		}
		return
	}
	var sums [256]int32
	for i := 0; i < len(rows); {
		at := rows[i]
		if at < 0 {
			out[i] = float32(math.NaN())
			i++
			continue
		}
		n := 1 // rows in a sequence
		for n < len(sums) && i+n < len(rows) && rows[i+n] == at+int32(n) {
			n++
		}
		from := int(at) * m.stride()
		products(m.codes[from:from+n*m.stride()], p.codes, sums[:n])
		for j, sum := range sums[:n] {
			out[i+j] = m.steps[int(at)+j] * p.scale * (float32(sum) - p.offset)
		}
		i += n
	}
}

// productsGo sets each sum to the product of a row of codes with query.
func productsGo(codes []byte, query []int8, sums []int32) {
	stride := len(query) / 2
	for i := range sums {
		sum, row := int32(0), codes[i*stride:(i+1)*stride]
		for q := query; len(q) >= block; q, row = q[block:], row[block/2:] {
			low, high := q[:block/2], q[block/2:block]
			for j, c := range row[:block/2] {
				sum += int32(c&15)*int32(low[j]) + int32(c>>4)*int32(high[j])
			}
		}
		sums[i] = sum
	}
}
