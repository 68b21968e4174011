package keyword

import "math"

// Query is a parsed query. It can be used with any index.
type Query struct {
	terms []string    // distinct stems, without function words
	pairs [][2]string // distinct pairs of adjacent stems, including function words
}

// Parse parses a query. Function words are dropped, unless there are no other words.
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

// Statistics holds the document frequencies of a query's words, added over the indexes that were counted. The
// zero value counts no documents.
type Statistics struct {
	documents  int
	containing map[string]int // by stem, in the text or a label
	labelled   map[string]int // by stem, in a label
}

// Count adds x's statistics for the query to s.
func (x *Index) Count(q Query, s *Statistics) {
	if s.containing == nil {
		s.containing, s.labelled = map[string]int{}, map[string]int{}
	}
	s.documents += x.live
	counted := map[string]bool{}
	count := func(stem string) {
		if counted[stem] {
			return
		}
		counted[stem] = true
		if t, ok := x.terms[stem]; ok {
			s.containing[stem] += len(x.postings[t])
		}
		if n := len(x.labels[stem]); n > 0 {
			s.labelled[stem] += n
			s.containing[stem] = min(s.containing[stem]+n, s.documents)
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

// rarity returns BM25's inverse document frequency of a stem.
func (s Statistics) rarity(stem string) float64 {
	df := float64(s.containing[stem])
	return math.Log(1 + (float64(s.documents)-df+.5)/(df+.5))
}

// Rarity returns the sum of the inverse document frequencies of q's terms: the score of a document that mentions
// each of them once.
func (s Statistics) Rarity(q Query) float64 {
	sum := 0.
	for _, t := range q.terms {
		sum += s.rarity(t)
	}
	return sum
}

// saturated is a table of saturate for the numbers of mentions that occur in practice.
var saturated = func() (table [64]float64) {
	for n := range table {
		table[n] = float64(n) * (saturation + 1) / (float64(n) + saturation)
	}
	return table
}()

// saturate returns BM25's term frequency factor for n mentions: 1 for one, less than saturation+1 for any number.
func saturate(n uint32) float64 {
	if n < uint32(len(saturated)) {
		return saturated[n]
	}
	return float64(n) * (saturation + 1) / (float64(n) + saturation)
}

// Scores is the result of Match, by document. A Scores can be passed to Match again, which saves allocations.
type Scores struct {
	Own     []float32 // for the query's terms in the document's head, and a little for those behind it
	Context []float32 // for the terms in its whole text and in the heads of its two predecessors, together
	Named   []float32 // 0 to 1, how much its most distinctive label of the query is like a name; empty without any

	// Scratch space of Match; all zero between terms.
	near    []uint32 // mentions of the term in the document and its context
	inHead  []bool   // whether the term is in the document's head
	touched []int32  // the documents whose near is not 0
}

// reset makes room for n documents. The scratch space grows by an eighth more, since an index grows by one document at
// a time.
func (m *Scores) reset(n int) {
	m.Own, m.Context, m.Named = cleared(m.Own, n), cleared(m.Context, n), m.Named[:0]
	if len(m.near) < n {
		m.near, m.inHead = make([]uint32, n+n/8), make([]bool, n+n/8)
	}
}

// cleared returns a slice of n zeros, in list's memory if it is large enough.
func cleared[E any](list []E, n int) []E {
	if cap(list) < n {
		return make([]E, n, n+n/8)
	}
	list = list[:n]
	clear(list)
	return list
}

// Match scores all documents. In Own, a term that is also in the predecessor's head counts half: the memory that
// brings something up is usually wanted, not the replies to it. A term that is only behind the head counts a tenth.
// That hardly changes the order of memories with the words in their heads. But if there are none, the caller scales
// each signal by its maximum, so the memory that has the word anywhere is found.
func (x *Index) Match(q Query, s Statistics, m *Scores) {
	m.reset(len(x.docs))
	for _, stem := range q.terms {
		if t, ok := x.terms[stem]; ok {
			x.match(x.postings[t], s.rarity(stem), m)
		}
		if s.labelled[stem] > 0 {
			x.matchLabels(stem, s, m)
		}
	}
}

// match adds the scores of one term. The postings are sorted by document, so a predecessor comes before its successor.
func (x *Index) match(list []posting, rarity float64, m *Scores) {
	links, own, context, near, inHead, touched := x.links, m.Own, m.Context, m.near, m.inHead, m.touched[:0]
	for _, p := range list {
		if near[p.doc] == 0 {
			touched = append(touched, p.doc)
		}
		near[p.doc] += uint32(p.all)
		if p.head == 0 {
			own[p.doc] += float32(tailWeight * rarity * saturate(uint32(p.all)))
			continue
		}
		inHead[p.doc] = true
		neighbours := links[p.doc]
		score := rarity * saturate(uint32(p.head))
		if neighbours.predecessor >= 0 && inHead[neighbours.predecessor] {
			score *= echoWeight
		}
		own[p.doc] += float32(score)
		successor := neighbours.successor
		for i := 0; i < contextSize && successor >= 0; i++ {
			if near[successor] == 0 {
				touched = append(touched, successor)
			}
			near[successor] += uint32(p.head)
			successor = links[successor].successor
		}
	}
	for _, doc := range touched {
		context[doc] += float32(rarity * saturate(near[doc]))
		near[doc], inHead[doc] = 0, false
	}
	m.touched = touched
}

// Pairs are the pairs of adjacent words of a query whose words are in an index.
type Pairs struct {
	index *Index
	list  []pair
}

// pair is two stems that follow each other in the query.
type pair struct {
	first, second int32 // the stems' numbers
	score         float64
}

// Pairs returns the pairs of q whose words are in x.
func (x *Index) Pairs(q Query, s Statistics) Pairs {
	known := Pairs{index: x}
	for _, p := range q.pairs {
		first, ok1 := x.terms[p[0]]
		second, ok2 := x.terms[p[1]]
		if ok1 && ok2 {
			known.list = append(known.list, pair{first, second, (s.rarity(p[0]) + s.rarity(p[1])) / 2})
		}
	}
	return known
}

// In returns the score of the pairs that are in the head of doc.
func (p Pairs) In(doc int) float64 {
	sum := 0.
	head := p.index.docs[doc].head
	for _, pair := range p.list {
		for i := 1; i < len(head); i++ {
			if head[i-1] == pair.first && head[i] == pair.second {
				sum += pair.score
				break
			}
		}
	}
	return sum
}
