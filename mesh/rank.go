package mesh

import (
	"container/heap"
	"math"

	"github.com/yamo-protocol/yamo-mcp/mesh/keyword"
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
// beyond 60 words, at most .3. Memories of one session stand beside each other, and what stands beside
// a memory says what it is about; a long text says what it is about at its beginning. docs/ranking.md
// has the measurements.
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

// candidate is one memory that is being ranked.
type candidate struct {
	store  *compartment
	doc    int
	record *Record

	cosine, own, context, pairs, long, session float64 // weighted
	raw                                        float64 // its own cosine
	words                                      float64 // own, unscaled
}

func (c *candidate) alone() float64 { return c.cosine + c.own + c.context + c.pairs - c.long }
func (c *candidate) total() float64 { return c.alone() + c.session }

// signals are one compartment's share of the raw signals, by document.
type signals struct {
	cosine, smooth, own, context []float64
}

// rank returns the best limit of the memories that admit lets through, best first. A nil vector leaves
// the cosine out.
func (v *View) rank(stores []*compartment, query string, vector []float32, limit int, admit func(*Record) bool) []Hit {
	q := keyword.Parse(query)
	var stats keyword.Statistics
	for _, c := range stores {
		c.mu.RLock()
		defer c.mu.RUnlock()
		c.keywords.Count(q, &stats)
	}
	raw := make([]signals, len(stores))
	var most maxima
	for i, c := range stores {
		raw[i] = c.signals(q, stats, vector)
		most.take(raw[i])
	}
	var candidates []candidate
	for i, c := range stores {
		candidates = c.candidates(candidates, raw[i], most, admit)
	}
	addPairs(candidates, q, stats)
	addSessions(candidates)
	ranked := best(candidates, limit, (*candidate).total)
	hits := make([]Hit, len(ranked))
	for i, c := range ranked {
		hits[i] = c.hit()
		hits[i].Score = round2(min(1, max(0, ranked[0].strength(stats.Rarity(q))*c.total()/ranked[0].total())))
	}
	return hits
}

// strength says how well the best candidate answers the query: the order comes from signals relative to
// the best of each, which does not tell. It is its own cosine, or the share of the query's words that it
// has, each weighed by its rarity; the other results' scores are in proportion to it.
func (c *candidate) strength(rarity float64) float64 {
	if rarity > 0 {
		return max(c.raw, min(1, c.words/rarity))
	}
	return c.raw
}

func (c *candidate) hit() Hit {
	return Hit{
		Record:     c.record,
		Visibility: c.store.visibility,
		Signals: []Signal{
			{"cosine", round2(c.raw)},
			{"meaning", round2(c.cosine)},
			{"own_words", round2(c.own)},
			{"context_words", round2(c.context)},
			{"word_pairs", round2(c.pairs)},
			{"length", 0 - round2(c.long)},
			{"session", round2(c.session)},
		},
	}
}

// maxima are the largest values of the raw signals, over all compartments.
type maxima struct{ cosine, own, context float64 }

func (t *maxima) take(s signals) {
	for i := range s.own {
		t.cosine = max(t.cosine, s.cosine[i])
		t.own = max(t.own, s.own[i])
		t.context = max(t.context, s.context[i])
	}
}

// signals computes the raw signals of c's documents. c.mu is held.
func (c *compartment) signals(q keyword.Query, stats keyword.Statistics, vector []float32) signals {
	s := signals{cosine: make([]float64, len(c.docs))}
	s.own, s.context = c.keywords.Match(q, stats)
	if vector != nil {
		for doc, x := range c.index.vectors.Cosines(vector) {
			if x > 0 { // not NaN either: a memory without a vector is found by its words
				s.cosine[doc] = float64(x)
			}
		}
	}
	s.smooth = make([]float64, len(c.docs))
	for doc, sum := range s.cosine {
		weight := 1.
		before, after := c.keywords.Neighbours(doc)
		if before >= 0 {
			sum, weight = sum+sideWeight*s.cosine[before], weight+sideWeight
		}
		if after >= 0 {
			sum, weight = sum+sideWeight*s.cosine[after], weight+sideWeight
		}
		s.smooth[doc] = sum / weight
	}
	return s
}

// candidates appends the documents of c that admit lets through and that have anything to do with the
// query to list. c.mu is held.
func (c *compartment) candidates(list []candidate, s signals, most maxima, admit func(*Record) bool) []candidate {
	for doc, r := range c.docs {
		if s.own[doc] == 0 && s.context[doc] == 0 && s.cosine[doc] < leastCosine || !admit(r) {
			continue
		}
		k := candidate{store: c, doc: doc, record: r, raw: s.cosine[doc], words: s.own[doc]}
		k.cosine = cosineWeight * share(s.smooth[doc], most.cosine)
		k.own = ownWeight * share(s.own[doc], most.own)
		k.context = contextWeight * share(s.context[doc], most.context)
		if words := c.keywords.Words(doc); words > longWords {
			k.long = longWeight * min(longest, math.Log2(float64(words)/longWords))
		}
		list = append(list, k)
	}
	return list
}

func share(x, largest float64) float64 {
	if largest == 0 {
		return 0
	}
	return x / largest
}

// addPairs adds what pairs of neighbouring words are worth to the best candidates.
func addPairs(candidates []candidate, q keyword.Query, stats keyword.Statistics) {
	first := best(candidates, pairsAmong, (*candidate).alone)
	largest := 0.
	for _, c := range first {
		c.pairs = c.store.keywords.Pairs(q, stats, c.doc)
		largest = max(largest, c.pairs)
	}
	for _, c := range first {
		c.pairs = pairsWeight * share(c.pairs, largest)
	}
}

// addSessions adds the share of each candidate's session. A memory without a session is one of its own.
func addSessions(candidates []candidate) {
	type session struct {
		store *compartment
		id    string
	}
	most := map[session]float64{}
	for i := range candidates {
		c := &candidates[i]
		if c.record.SessionID != "" {
			s := session{c.store, c.record.SessionID}
			if p, ok := most[s]; !ok || c.alone() > p {
				most[s] = c.alone()
			}
		}
	}
	for i := range candidates {
		c := &candidates[i]
		p := c.alone()
		if c.record.SessionID != "" {
			p = most[session{c.store, c.record.SessionID}]
		}
		c.session = sessionWeight * p
	}
}

// best returns the n candidates with the highest score, best first; of equals the one stored first.
func best(candidates []candidate, n int, score func(*candidate) float64) []*candidate {
	kept := make(worstFirst, 0, n+1)
	for i := range candidates {
		s := scored{&candidates[i], score(&candidates[i]), i}
		if len(kept) == n && !kept[0].worse(s) {
			continue
		}
		heap.Push(&kept, s)
		if len(kept) > n {
			heap.Pop(&kept)
		}
	}
	list := make([]*candidate, len(kept))
	for i := len(kept) - 1; i >= 0; i-- {
		list[i] = heap.Pop(&kept).(scored).candidate
	}
	return list
}

type scored struct {
	*candidate
	score float64
	at    int
}

func (a scored) worse(b scored) bool {
	return a.score < b.score || a.score == b.score && a.at > b.at
}

// worstFirst is a heap with the worst of the kept on top.
type worstFirst []scored

func (h worstFirst) Len() int           { return len(h) }
func (h worstFirst) Less(i, j int) bool { return h[i].worse(h[j]) }
func (h worstFirst) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *worstFirst) Push(x any)        { *h = append(*h, x.(scored)) }
func (h *worstFirst) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}
