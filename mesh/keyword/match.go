package keyword

import "math"

// Query is a question, taken apart once for all indexes.
type Query struct {
	terms []string    // distinct stems, without function words
	pairs [][2]string // distinct stems that stand side by side, function words too
}

// Parse takes a question apart. One of function words alone keeps them.
func Parse(text string) Query {
	var q Query
	var all []string
	content := map[string]bool{}
	eachWord(text, func(w string) {
		s := stem(w)
		all = append(all, s)
		if !function[w] && !content[s] {
			content[s] = true
			q.terms = append(q.terms, s)
		}
	})
	if len(q.terms) == 0 {
		for _, s := range all {
			if !content[s] {
				content[s] = true
				q.terms = append(q.terms, s)
			}
		}
	}
	seen := map[[2]string]bool{}
	for i := 0; i+1 < len(all); i++ {
		pair := [2]string{all[i], all[i+1]}
		if !seen[pair] {
			seen[pair] = true
			q.pairs = append(q.pairs, pair)
		}
	}
	return q
}

// Statistics says how rare the words of a query are. The zero value knows no document.
type Statistics struct {
	documents int
	with      map[string]int // stem -> documents that have it
}

// Count adds x's documents to s.
func (x *Index) Count(q Query, s *Statistics) {
	if s.with == nil {
		s.with = map[string]int{}
	}
	s.documents += x.live
	counted := map[string]bool{}
	count := func(stem string) {
		if t, ok := x.terms[stem]; ok && !counted[stem] {
			counted[stem] = true
			s.with[stem] += len(x.postings[t])
		}
	}
	for _, stem := range q.terms {
		count(stem)
	}
	for _, pair := range q.pairs {
		count(pair[0])
		count(pair[1])
	}
}

// rarity is BM25's inverse document frequency of a stem.
func (s Statistics) rarity(stem string) float64 {
	df := float64(s.with[stem])
	return math.Log(1 + (float64(s.documents)-df+.5)/(df+.5))
}

// Rarity is the sum of the rarities of q's terms: what a document that has all of them could get from
// single mentions.
func (s Statistics) Rarity(q Query) float64 {
	sum := 0.
	for _, t := range q.terms {
		sum += s.rarity(t)
	}
	return sum
}

// saturated holds what the first few mentions of a term count together.
var saturated = func() (table [64]float64) {
	for n := range table {
		table[n] = float64(n) * (saturation + 1) / (float64(n) + saturation)
	}
	return table
}()

func saturate(n uint32) float64 {
	if n < uint32(len(saturated)) {
		return saturated[n]
	}
	return float64(n) * (saturation + 1) / (float64(n) + saturation)
}

// Scores is what Match found, by document. It may be used again, which spares allocations.
type Scores struct {
	Own     []float32 // what the query's terms in the document's head are worth, and a little for those behind it
	Context []float32 // what those in its whole text and in the heads of its two predecessors are worth, together

	// Zero between the terms, and between the searches.
	near    []uint32 // mentions of the term in the document's context
	inHead  []bool   // whether it stands in the document's head
	touched []int32  // the documents whose near is not 0
}

func (m *Scores) reset(n int) {
	m.Own, m.Context = cleared(m.Own, n), cleared(m.Context, n)
	if len(m.near) < n {
		m.near, m.inHead = make([]uint32, n+n/8), make([]bool, n+n/8)
	}
}

func cleared[E any](list []E, n int) []E {
	if cap(list) < n {
		return make([]E, n, n+n/8)
	}
	list = list[:n]
	clear(list)
	return list
}

// Match scores all documents. A term that stands in the head of the predecessor too counts half in Own:
// the memory that brings something up is meant rather than the answers to it. One behind the head counts a tenth: of
// memories that have the words in their heads it hardly changes the order, but where none has, each signal being a share
// of its largest, the memory that has the word anywhere is found.
func (x *Index) Match(q Query, s Statistics, m *Scores) {
	m.reset(len(x.docs))
	for _, stem := range q.terms {
		if t, ok := x.terms[stem]; ok {
			x.match(x.postings[t], s.rarity(stem), m)
		}
	}
}

// match adds what one term is worth. The postings are in the documents' order, so a document's predecessor has been
// looked at before it.
func (x *Index) match(list []posting, rarity float64, m *Scores) {
	links, own, context, near, inHead, touched := x.links, m.Own, m.Context, m.near, m.inHead, m.touched[:0]
	for _, p := range list {
		if near[p.doc] == 0 {
			touched = append(touched, p.doc)
		}
		near[p.doc] += uint32(p.all)
		if p.head == 0 {
			own[p.doc] += float32(beyond * rarity * saturate(uint32(p.all)))
			continue
		}
		inHead[p.doc] = true
		beside := links[p.doc]
		worth := rarity * saturate(uint32(p.head))
		if beside.predecessor >= 0 && inHead[beside.predecessor] {
			worth *= echo
		}
		own[p.doc] += float32(worth)
		after := beside.successor
		for i := 0; i < back && after >= 0; i++ {
			if near[after] == 0 {
				touched = append(touched, after)
			}
			near[after] += uint32(p.head)
			after = links[after].successor
		}
	}
	for _, doc := range touched {
		context[doc] += float32(rarity * saturate(near[doc]))
		near[doc], inHead[doc] = 0, false
	}
	m.touched = touched
}

// Pairs are the pairs of neighbouring words of a query that an index knows.
type Pairs struct {
	of   *Index
	list []pair
}

type pair struct {
	first, second int32 // the stems' numbers
	worth         float64
}

// Pairs looks up the pairs of q.
func (x *Index) Pairs(q Query, s Statistics) Pairs {
	known := Pairs{of: x}
	for _, p := range q.pairs {
		first, ok1 := x.terms[p[0]]
		second, ok2 := x.terms[p[1]]
		if ok1 && ok2 {
			known.list = append(known.list, pair{first, second, (s.rarity(p[0]) + s.rarity(p[1])) / 2})
		}
	}
	return known
}

// In is what those pairs are worth that stand in the head of doc.
func (p Pairs) In(doc int) float64 {
	sum := 0.
	head := p.of.docs[doc].head
	for _, pair := range p.list {
		for i := 1; i < len(head); i++ {
			if head[i-1] == pair.first && head[i] == pair.second {
				sum += pair.worth
				break
			}
		}
	}
	return sum
}
