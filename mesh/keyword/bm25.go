package keyword

import (
	"maps"
	"math"
	"slices"
)

// BM25's usual parameters; RFC-0011 §5.1 names none.
const (
	plainK1 = 1.2
	plainB  = .75
)

// BM25 is the inverted index of RFC-0011 §5.1 step 2, over Terms. It is not safe for concurrent use.
type BM25 struct {
	postings map[string][]posting25
	lengths  []int // by document, in terms
	live     int   // documents that were not removed
	total    int   // length of the live documents together, in terms
}

// posting25 is a document that has a term, and how often.
type posting25 struct{ doc, count int }

// BM25Statistics holds the document frequencies of terms, added over the indexes that were counted. It is kept apart
// from them, so that an audience with several compartments scores all with the frequencies of what it may see.
type BM25Statistics struct {
	documents, length int
	containing        map[string]int
}

// NewBM25 returns an empty index.
func NewBM25() *BM25 { return &BM25{postings: map[string][]posting25{}} }

// Add adds text as the next document. Documents are numbered from 0.
func (x *BM25) Add(text string) {
	doc, terms := len(x.lengths), Terms(text)
	for term, n := range counts(terms) {
		x.postings[term] = append(x.postings[term], posting25{doc, n})
	}
	x.lengths = append(x.lengths, len(terms))
	x.live++
	x.total += len(terms)
}

// Remove removes a document. text must be what was added, and a document must be removed only once. The
// numbers of the other documents do not change.
func (x *BM25) Remove(doc int, text string) {
	for term := range counts(Terms(text)) {
		rest := slices.DeleteFunc(x.postings[term], func(p posting25) bool { return p.doc == doc })
		if len(rest) == 0 {
			delete(x.postings, term)
		} else {
			x.postings[term] = rest
		}
	}
	x.live--
	x.total -= x.lengths[doc]
}

// Count adds x's statistics for the terms to s.
func (x *BM25) Count(terms []string, s *BM25Statistics) {
	s.documents += x.live
	s.length += x.total
	if s.containing == nil {
		s.containing = map[string]int{}
	}
	for term := range counts(terms) {
		s.containing[term] += len(x.postings[term])
	}
}

// Match returns the BM25 score of each document that contains at least one of the terms, by document.
func (x *BM25) Match(terms []string, s BM25Statistics) map[int]float64 {
	scores := map[int]float64{}
	if s.documents == 0 {
		return scores
	}
	average := max(1, float64(s.length)/float64(s.documents))
	// In a fixed order, because the order of additions changes the last bits of a sum.
	for _, term := range slices.Sorted(maps.Keys(counts(terms))) {
		n := float64(s.containing[term])
		rarity := math.Log(1 + (float64(s.documents)-n+.5)/(n+.5))
		for _, p := range x.postings[term] {
			tf := float64(p.count)
			scores[p.doc] += rarity * tf * (plainK1 + 1) / (tf + plainK1*(1-plainB+plainB*float64(x.lengths[p.doc])/average))
		}
	}
	return scores
}

// counts returns how often each term occurs.
func counts(terms []string) map[string]int {
	m := make(map[string]int, len(terms))
	for _, t := range terms {
		m[t]++
	}
	return m
}
