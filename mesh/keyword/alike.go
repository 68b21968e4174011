package keyword

import (
	"cmp"
	"math"
	"slices"
)

// The words of a text that Alike looks up: the rarest, so that it takes a few milliseconds in a large index.
const (
	alikeTerms    = 12
	alikePostings = 50_000 // documents that are looked at, unless the rarest word alone is in more
)

// Overlap is the share, 0 to 1, of a text's words that a document's head has, each weighed by its rarity.
type Overlap struct {
	Doc   int
	Share float64
}

// Alike returns up to n documents whose heads have the most words of text's head, the highest share first. Only the
// rarest words are looked up.
func (x *Index) Alike(text string, n int) []Overlap {
	end, _ := headEnd(text)
	type term struct {
		number int32
		rarity float64
	}
	var terms []term
	seen := map[string]bool{}
	total := 0.
	eachWord(text[:end], func(w string) {
		if s := stem(w); !function[w] && !seen[s] {
			seen[s] = true
			number, ok := x.terms[s]
			if !ok {
				number = -1
			}
			df := 0.
			if ok {
				df = float64(len(x.postings[number]))
			}
			rarity := math.Log(1 + (float64(x.live)-df+.5)/(df+.5))
			total += rarity
			if df > 0 {
				terms = append(terms, term{number, rarity})
			}
		}
	})
	slices.SortFunc(terms, func(a, b term) int {
		return cmp.Or(cmp.Compare(b.rarity, a.rarity), cmp.Compare(a.number, b.number))
	})
	shares := map[int32]float64{}
	looked := 0
	for i, t := range terms[:min(alikeTerms, len(terms))] {
		list := x.postings[t.number]
		if looked += len(list); i > 0 && looked > alikePostings {
			break
		}
		for _, p := range list {
			if x.mentions(t.number, p).head > 0 {
				shares[p.doc()] += t.rarity / total
			}
		}
	}
	found := make([]Overlap, 0, len(shares))
	for doc, share := range shares {
		found = append(found, Overlap{int(doc), share})
	}
	slices.SortFunc(found, func(a, b Overlap) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(b.Doc, a.Doc)) // of equals the newest
	})
	return found[:min(n, len(found))]
}

// Mentioning returns the documents whose heads have a stem, the newest first; none if more than most documents have it.
func (x *Index) Mentioning(stem string, most int) (docs []int) {
	number, ok := x.terms[stem]
	if !ok || len(x.postings[number]) > most {
		return nil
	}
	for _, p := range x.postings[number] {
		if x.mentions(number, p).head > 0 {
			docs = append(docs, int(p.doc()))
		}
	}
	slices.SortFunc(docs, func(a, b int) int { return b - a })
	return docs
}
