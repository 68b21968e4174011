package mesh

import (
	"cmp"
	"math"
	"slices"

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
}

func (c *candidate) alone() float64 { return c.cosine + c.own + c.context + c.pairs - c.long }
func (c *candidate) total() float64 { return c.alone() + c.session }

// signals are one compartment's share of the raw signals, by document.
type signals struct {
	cosine, smooth, own, context []float64
}

// rank orders the memories that admit lets through, best first. A nil vector leaves the cosine out.
func (v *View) rank(stores []*compartment, query string, vector []float32, admit func(*Record) bool) []Hit {
	q := keyword.Parse(query)
	var stats keyword.Statistics
	for _, c := range stores {
		c.mu.RLock()
		defer c.mu.RUnlock()
		c.keywords.Count(q, &stats)
	}
	raw := make([]signals, len(stores))
	var top maxima
	for i, c := range stores {
		raw[i] = c.signals(q, stats, vector)
		top.take(raw[i])
	}
	var candidates []*candidate
	for i, c := range stores {
		candidates = append(candidates, c.candidates(raw[i], top, admit)...)
	}
	addPairs(candidates, q, stats)
	addSessions(candidates)
	slices.SortStableFunc(candidates, func(a, b *candidate) int { return cmp.Compare(b.total(), a.total()) })

	// The order comes from signals relative to the best; the score also says how good the best is: as
	// near as its cosine, or as the share of the query's words that it has.
	possible := (1 + sessionWeight) * (ownWeight + contextWeight + pairsWeight)
	if vector != nil {
		possible += (1 + sessionWeight) * cosineWeight
	}
	strength := math.Max(top.cosine, 0)
	if rarity := stats.Rarity(q); rarity > 0 {
		strength = math.Max(strength, math.Min(1, top.own/rarity))
	}
	hits := make([]Hit, len(candidates))
	for i, c := range candidates {
		hits[i] = Hit{
			Record:     c.record,
			Visibility: c.store.visibility,
			Score:      round2(min(1, max(0, c.total()/possible*strength))),
			Signals: []Signal{
				{"cosine", round2(c.raw)},
				{"meaning", round2(c.cosine)},
				{"own_words", round2(c.own)},
				{"context_words", round2(c.context)},
				{"word_pairs", round2(c.pairs)},
				{"length", round2(-c.long)},
				{"session", round2(c.session)},
			},
		}
	}
	return hits
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

// candidates are the documents of c that admit lets through and that have anything to do with the
// query. c.mu is held.
func (c *compartment) candidates(s signals, top maxima, admit func(*Record) bool) []*candidate {
	var list []*candidate
	for doc, r := range c.docs {
		if s.own[doc] == 0 && s.context[doc] == 0 && s.cosine[doc] < leastCosine || !admit(r) {
			continue
		}
		k := &candidate{store: c, doc: doc, record: r, raw: s.cosine[doc]}
		k.cosine = cosineWeight * share(s.smooth[doc], top.cosine)
		k.own = ownWeight * share(s.own[doc], top.own)
		k.context = contextWeight * share(s.context[doc], top.context)
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
func addPairs(candidates []*candidate, q keyword.Query, stats keyword.Statistics) {
	best := slices.Clone(candidates)
	slices.SortStableFunc(best, func(a, b *candidate) int { return cmp.Compare(b.alone(), a.alone()) })
	best = best[:min(len(best), pairsAmong)]
	largest := 0.
	for _, c := range best {
		c.pairs = c.store.keywords.Pairs(q, stats, c.doc)
		largest = max(largest, c.pairs)
	}
	for _, c := range best {
		c.pairs = pairsWeight * share(c.pairs, largest)
	}
}

// addSessions adds the share of each candidate's session. A memory without a session is one of its own.
func addSessions(candidates []*candidate) {
	type session struct {
		store *compartment
		id    string
	}
	best := map[session]float64{}
	for _, c := range candidates {
		if c.record.SessionID != "" {
			s := session{c.store, c.record.SessionID}
			if p, ok := best[s]; !ok || c.alone() > p {
				best[s] = c.alone()
			}
		}
	}
	for _, c := range candidates {
		p := c.alone()
		if c.record.SessionID != "" {
			p = best[session{c.store, c.record.SessionID}]
		}
		c.session = sessionWeight * p
	}
}
