package keyword

import (
	"math"
	"slices"
)

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
	head := slices.Collect(p.index.head(int32(doc))) //nolint:gosec // fewer than 2^31 memories
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
