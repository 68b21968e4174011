package rank

import (
	"math"

	"github.com/yamo-protocol/yamo-mcp/mesh/keyword"
	"github.com/yamo-protocol/yamo-mcp/mesh/lance"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// RFC0011 is the ranking of RFC-0011 §5.1: the 2N nearest vectors and the 2N best by BM25 over keyword.Terms, for a
// limit of N, fused by their ranks with k = 60. The best has the score 1. Both lists have only memories that the
// filter admits.
const RFC0011 Ranking = "rfc0011"

// Rankings are the names of all rankings, the default first.
var Rankings = []Ranking{Context, RFC0011}

// fusionK is RFC-0011 §5.1's k.
const fusionK = 60

// fuse is Top for RFC0011: the score of a memory is the sum of 1/(k+rank) over the lists it is in, ranks from 1.
func (r *Candidates) fuse(limit int, f Filter) []record.Hit {
	fused := map[place]float64{}
	signals := map[place][]record.Signal{}
	for name, list := range map[string][]leader{
		"vector_rank": r.nearest(2*limit, f), "keyword_rank": r.matching(2*limit, f),
	} {
		for rank, l := range list {
			at := place{l.part, l.doc}
			fused[at] += 1 / float64(fusionK+rank+1)
			signals[at] = append(signals[at], record.Signal{Name: name, Value: float64(rank + 1)})
		}
	}
	best := newLeaders(limit)
	for at, score := range fused {
		best.add(leader{float32(score), at.part, at.doc})
	}
	ranked := best.sorted()
	hits := make([]record.Hit, len(ranked))
	for i, l := range ranked {
		at, p := place{l.part, l.doc}, r.parts[l.part]
		if s := signals[at]; len(s) == 2 && s[0].Name > s[1].Name { // they come in the order of a map
			s[0], s[1] = s[1], s[0]
		}
		hits[i] = p.Hit(p.Record(l.doc))
		hits[i].Score, hits[i].Signals = Round(l.score/ranked[0].score), signals[at]
	}
	return hits
}

// nearest returns the n nearest memories by their vectors: LanceDB's answer, or that of the vectors in memory where
// LanceDB does not have all of them yet or cannot express the filter.
func (r *Candidates) nearest(n int, f Filter) []leader {
	if r.vector == nil {
		return nil
	}
	best := newLeaders(n)
	for i, p := range r.parts {
		if hits, ok := r.askLance(p, n, f); ok {
			for _, h := range hits {
				if doc, ok := p.Doc(h.ID); ok && p.admits(doc, f) {
					best.add(leader{float32(h.Similarity), i, doc})
				}
			}
			continue
		}
		for doc, cosine := range p.source.Vectors.Cosines(r.vector, nil) {
			if doc < len(p.Docs) && !math.IsNaN(float64(cosine)) && p.admits(doc, f) {
				best.add(leader{cosine, i, doc})
			}
		}
	}
	return best.sorted()
}

// askLance asks LanceDB for the n nearest memories of p, if it can apply the filter before it searches.
func (r *Candidates) askLance(p *part, n int, f Filter) ([]lance.Hit, bool) {
	if f.Lance == nil || p.source.Nearest == nil {
		return nil, false
	}
	return p.source.Nearest(r.vector, n, p.Live, *f.Lance)
}

// matching returns the n best memories by BM25. The statistics are those of all sources together, which is why every
// index is locked before the first one is searched.
func (r *Candidates) matching(n int, f Filter) []leader {
	terms := keyword.Terms(r.text)
	var stats keyword.BM25Statistics
	indexes := make([]*keyword.BM25, len(r.parts))
	for i, p := range r.parts {
		index, release := p.BM25()
		defer release()
		indexes[i] = index
		index.Count(terms, &stats)
	}
	best := newLeaders(n)
	for i, p := range r.parts {
		for doc, score := range indexes[i].Match(terms, stats) {
			if p.admits(doc, f) {
				best.add(leader{float32(score), i, doc})
			}
		}
	}
	return best.sorted()
}
