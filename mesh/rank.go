package mesh

import (
	"math"
	"slices"
	"sync"

	"github.com/yamo-protocol/yamo-mcp/mesh/keyword"
	"github.com/yamo-protocol/yamo-mcp/mesh/lance"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/vector"
)

// Ranking names a way of ordering what was found.
type Ranking string

// Context is the ranking of this package, the default. A memory's score is
//
//	p     = cosine + .7 own + .4 context + .3 pairs - long
//	score = p + .5 x the best p of its session
//
// where each signal is divided by its maximum over all memories, so that none drowns the others:
// cosine is that of the query with the memory, averaged with the memories beside it (weights .2, 1,
// .2); own, context and pairs are keyword.Index's; long is .1 for each doubling of the text's length
// beyond 60 words, at most .3. The cosine of a text that is longer than what the model sees is that of
// its beginning, or by how much its best part exceeds the mean of its parts if that is more. Memories of
// one session stand beside each other, and what stands beside a memory says what it is about; a long
// text says what it is about at its beginning, though a word behind its first 60 counts a tenth in own.
// docs/ranking.md has the measurements.
const Context Ranking = "context"

// The weights of the signals: round numbers, chosen on two unlike development sets together and not
// fitted to either.
const (
	cosineWeight  = 1.
	ownWeight     = .7
	contextWeight = .4
	pairsWeight   = .3
	sessionWeight = .5

	sideWeight  = .2  // of a neighbour in the mean of cosines
	longWeight  = .1  // for each doubling of the length
	longWords   = 60  // up to which a text is not long
	longest     = 3.  // doublings that count
	pairsAmong  = 200 // pairs are looked up in the best so many by the other signals
	leastCosine = .1  // a memory without a word of the query is found from this cosine on
)

// ranking is one query's signals, computed once for all questions asked of them. It holds the
// compartments' read locks from newRanking to release.
type ranking struct {
	query  keyword.Query
	text   string        // the query
	vector []float32     // the query's, or nil
	plain  bool          // RFC0011
	pushed *lance.Filter // for RFC0011: what the next top admits, as LanceDB can tell; nil if it cannot
	stats  keyword.Statistics
	rarity float64
	parts  []*part

	// The largest values of the raw signals, over all memories.
	cosine, own, context float32
}

// part is a ranking's share of one compartment. Its slices are by document.
type part struct {
	*compartment
	keyword.Scores
	raw   []float32 // the cosine; 0 where it is negative or not known
	alone []float32 // what a memory is worth without its session; notRanked if it is not wanted
	best  []float32 // the largest of alone, by session number

	standing []vector.PartScore // long memories, not by document
}

// notRanked is below every score.
var notRanked = float32(math.Inf(-1))

// parts spares every search the allocation of some large slices.
var parts = sync.Pool{New: func() any { return new(part) }}

// newRanking computes the signals. A nil meaning, the query's vector, leaves the cosine out.
func newRanking(stores []*compartment, query string, meaning []float32) *ranking {
	r := &ranking{query: keyword.Parse(query), text: query, vector: meaning}
	for _, c := range stores {
		c.mu.RLock()
		c.keywords.Count(r.query, &r.stats)
	}
	r.rarity = r.stats.Rarity(r.query)
	var wait sync.WaitGroup
	for _, c := range stores {
		r.plain = r.plain || c.ranking == RFC0011
		p := parts.Get().(*part)
		p.compartment = c
		r.parts = append(r.parts, p)
		if !r.plain { // it has its own
			wait.Go(func() { p.signals(r.query, r.stats, meaning) })
		}
	}
	wait.Wait()
	if r.plain {
		return r
	}
	for _, p := range r.parts {
		r.cosine, r.own, r.context = largest(p.raw, r.cosine), largest(p.Own, r.own), largest(p.Context, r.context)
	}
	return r
}

// release unlocks the compartments. The ranking cannot be used any more.
func (r *ranking) release() {
	for _, p := range r.parts {
		p.mu.RUnlock()
		p.compartment = nil
		parts.Put(p)
	}
	r.parts = nil
}

// signals computes the raw signals, those of the words and of the parts beside those of the vectors.
func (p *part) signals(q keyword.Query, stats keyword.Statistics, meaning []float32) {
	var wait sync.WaitGroup
	defer wait.Wait()
	wait.Go(func() { p.keywords.Match(q, stats, &p.Scores) })
	if meaning == nil {
		p.raw = slices.Grow(p.raw[:0], len(p.docs))[:len(p.docs)]
		clear(p.raw)
		return
	}
	wait.Go(func() { p.standing = p.index.vectors.PartScores(meaning, p.standing) })
	p.raw = p.index.vectors.Cosines(meaning, p.raw)
	for doc, x := range p.raw {
		if !(x > 0) { // NaN too: a memory without a vector is found by its words
			p.raw[doc] = 0
		}
	}
	wait.Wait()
	for _, s := range p.standing {
		p.raw[s.Doc] = max(p.raw[s.Doc], s.Score)
	}
}

// smooth is the mean of a memory's cosine with those of its neighbours.
func (p *part) smooth(doc int) float32 {
	sum, weight := p.raw[doc], float32(1)
	before, after := p.keywords.Neighbours(doc)
	if before >= 0 {
		sum, weight = sum+sideWeight*p.raw[before], weight+sideWeight
	}
	if after >= 0 {
		sum, weight = sum+sideWeight*p.raw[after], weight+sideWeight
	}
	return sum / weight
}

// top returns the best limit of the memories that admit lets through, best first; of equals the one
// stored first.
func (r *ranking) top(limit int, admit func(c *compartment, doc int) bool) []record.Hit {
	if r.plain {
		return r.fuse(limit, admit)
	}
	first := newLeaders(pairsAmong)
	for i, p := range r.parts {
		p.alone = slices.Grow(p.alone[:0], len(p.docs))[:len(p.docs)]
		p.best = slices.Grow(p.best[:0], len(p.sessions))[:len(p.sessions)]
		for s := range p.best {
			p.best[s] = notRanked
		}
		for doc := range p.docs {
			p.alone[doc] = notRanked
			if p.docs[doc].record == nil || p.Context[doc] == 0 && p.raw[doc] < leastCosine || !admit(p.compartment, doc) {
				continue // a word in the head stands in the context too
			}
			alone := cosineWeight*share(p.smooth(doc), r.cosine) + ownWeight*share(p.Own[doc], r.own) +
				contextWeight*share(p.Context[doc], r.context) - p.docs[doc].long
			p.value(doc, alone)
			first.add(leader{alone, i, doc})
		}
	}
	pairs := r.addPairs(first.list)
	all := newLeaders(limit)
	for i, p := range r.parts {
		for doc, alone := range p.alone {
			if alone > notRanked {
				all.add(leader{alone + p.session(doc), i, doc})
			}
		}
	}
	return r.hits(all.sorted(), pairs)
}

// addPairs adds to each leader what the pairs of neighbouring words are worth that it shares with the
// query, and returns that.
func (r *ranking) addPairs(first []leader) map[place]float32 {
	pairs := make([]keyword.Pairs, len(r.parts))
	for i, p := range r.parts {
		pairs[i] = p.keywords.Pairs(r.query, r.stats)
	}
	worth := make(map[place]float32, len(first))
	largest := float32(0)
	for _, l := range first {
		w := float32(pairs[l.part].In(l.doc))
		worth[place{l.part, l.doc}] = w
		largest = max(largest, w)
	}
	for at, w := range worth {
		w = pairsWeight * share(w, largest)
		worth[at] = w
		p := r.parts[at.part]
		p.value(at.doc, p.alone[at.doc]+w)
	}
	return worth
}

type place struct{ part, doc int }

// value sets what a memory is worth without its session, which becomes no less by a second call.
func (p *part) value(doc int, alone float32) {
	p.alone[doc] = alone
	if s := p.docs[doc].session; s >= 0 && alone > p.best[s] {
		p.best[s] = alone
	}
}

// session is a memory's share of its session. One without a session is a session of its own.
func (p *part) session(doc int) float32 {
	if s := p.docs[doc].session; s >= 0 {
		return sessionWeight * p.best[s]
	}
	return sessionWeight * p.alone[doc]
}

// hits presents the ranked. The scores are in proportion to the best one's strength.
func (r *ranking) hits(ranked []leader, pairs map[place]float32) []record.Hit {
	hits := make([]record.Hit, len(ranked))
	for i, l := range ranked {
		p, doc := r.parts[l.part], l.doc
		hits[i] = record.Hit{
			Record:     p.docs[doc].record,
			Visibility: p.visibility,
			Signals: []record.Signal{
				{Name: "cosine", Value: round2(p.raw[doc])},
				{Name: "meaning", Value: round2(cosineWeight * share(p.smooth(doc), r.cosine))},
				{Name: "own_words", Value: round2(ownWeight * share(p.Own[doc], r.own))},
				{Name: "context_words", Value: round2(contextWeight * share(p.Context[doc], r.context))},
				{Name: "word_pairs", Value: round2(pairs[place{l.part, doc}])},
				{Name: "length", Value: 0 - round2(p.docs[doc].long)},
				{Name: "session", Value: round2(p.session(doc))},
			},
		}
		if best := ranked[0].score; best > 0 {
			hits[i].Score = round2(min(1, max(0, r.strength(ranked[0])*l.score/best)))
		}
	}
	return hits
}

// strength says how well the best memory answers the query: the order comes from signals relative to
// the best of each, which does not tell. It is its own cosine, or the share of the query's words that it
// has, each weighed by its rarity.
func (r *ranking) strength(l leader) float32 {
	p := r.parts[l.part]
	if r.rarity > 0 {
		return max(p.raw[l.doc], min(1, p.Own[l.doc]/float32(r.rarity)))
	}
	return p.raw[l.doc]
}

func largest(list []float32, most float32) float32 {
	for _, x := range list {
		if x > most { // none is NaN, which max would look for
			most = x
		}
	}
	return most
}

func share(x, largest float32) float32 {
	if largest == 0 {
		return 0
	}
	return x / largest
}
