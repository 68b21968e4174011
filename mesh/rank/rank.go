// Package rank orders memories by how well they answer a query: by their meaning and words in context, or by RFC-0011's
// fusion of ranks.
//
// The order depends only on the query and the compartments that it is given: no signal of another compartment comes in.
package rank

import (
	"math"
	"slices"
	"sync"

	"github.com/yamo-protocol/yamo-mcp/mesh/keyword"
	"github.com/yamo-protocol/yamo-mcp/mesh/lance"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
	"github.com/yamo-protocol/yamo-mcp/mesh/vector"
)

// Ranking names a way of ordering what was found.
type Ranking string

// Context is the ranking of this package, the default. A memory's score is
//
//	p     = cosine + .7 own + .4 context + .3 pairs - long + speaker + standing
//	score = p + .5 x the best p of its session
//
// where each of the first four is divided by its maximum over all memories, so that none drowns the others:
// cosine is that of the query with the memory, averaged with the memories beside it (weights .2, 1,
// .2); own, context and pairs are keyword.Index's; long is .1 for each doubling of the text's length
// beyond 60 words, at most .3. The cosine of a text that is longer than what the model sees is that of
// its beginning, or by how much its best part exceeds the mean of its parts if that is more. Memories of
// one session stand beside each other, and what stands beside a memory says what it is about; a long
// text says what it is about at its beginning, though a word behind its first 60 counts a tenth in own.
// What an assistant said loses .4, unless the query asks for it. A standing instruction gains twice its cosine where the
// query asks for help with something. docs/ranking.md has the measurements.
const Context Ranking = "context"

// The weights of the signals: round numbers, chosen on two unlike development sets together and not
// fitted to either.
const (
	cosineWeight  = 1.
	ownWeight     = .7
	contextWeight = .4
	pairsWeight   = .3
	sessionWeight = .5

	sideWeight = .2  // of a neighbour in the mean of cosines
	pairsAmong = 200 // pairs are looked up in the best so many by the other signals
)

// Source is a compartment, or what is searched like one.
type Source struct {
	*store.Projection
	Foreign bool // what another group than the audience said
	// Nearest asks LanceDB for the n nearest vectors that f admits, of the live memories of the snapshot. ok is false if it
	// cannot answer for all of them. It is called with the snapshot held; nil never answers.
	Nearest func(meaning []float32, n, live int, f lance.Filter) (hits []lance.Hit, ok bool)
}

// Filter says which memories are wanted.
type Filter struct {
	Admit func(*record.Record) bool
	Lance *lance.Filter // the same as LanceDB can apply it before it searches, nil if it cannot
}

// Candidates are the memories of some sources with their signals for one query, computed once for every Top. They hold a
// snapshot of each source from New to Release.
type Candidates struct {
	query    keyword.Query
	text     string    // the query
	vector   []float32 // the query's, or nil
	fused    bool      // RFC0011
	question question
	stats    keyword.Statistics
	rarity   float64
	parts    []*part

	// The largest values of the raw signals, over all memories.
	cosine, own, context float32
}

// part is the candidates of one source. Its slices are by document.
type part struct {
	*store.Snapshot
	keyword.Scores
	source Source
	raw    []float32 // the cosine; 0 where it is negative or not known
	alone  []float32 // what a memory is worth without its session; notRanked if it is not wanted
	best   []float32 // the largest of alone, by session number

	scores []vector.PartScore // of the parts of long memories, not by document
}

// MinCosine is the cosine from which on a memory without a word of the query is found.
const MinCosine = .1

// notRanked is below every score.
var notRanked = float32(math.Inf(-1))

// parts spares every search the allocation of some large slices.
var parts = sync.Pool{New: func() any { return new(part) }}

// New computes the signals of every memory in sources. A nil meaning, the query's vector, leaves the cosine out. The
// caller calls Release.
func New(kind Ranking, sources []Source, query string, meaning []float32) *Candidates {
	r := &Candidates{query: keyword.Parse(query), text: query, vector: meaning, fused: kind == RFC0011, question: ask(query)}
	for _, source := range sources {
		p := parts.Get().(*part)
		p.source, p.Snapshot = source, source.Snapshot()
		p.Keywords.Count(r.query, &r.stats)
		r.parts = append(r.parts, p)
	}
	if r.fused { // it has signals of its own
		return r
	}
	r.rarity = r.stats.Rarity(r.query)
	var wait sync.WaitGroup
	for _, p := range r.parts {
		wait.Go(func() { p.signals(r.query, r.stats, meaning) })
	}
	wait.Wait()
	for _, p := range r.parts {
		r.cosine, r.own, r.context = largest(p.raw, r.cosine), largest(p.Own, r.own), largest(p.Context, r.context)
	}
	return r
}

// Release releases the snapshots. The candidates cannot be used any more.
func (r *Candidates) Release() {
	for _, p := range r.parts {
		p.Snapshot.Release()
		p.Snapshot, p.source = nil, Source{}
		parts.Put(p)
	}
	r.parts = nil
}

// signals computes the raw signals, those of the words and of the parts beside those of the vectors.
func (p *part) signals(q keyword.Query, stats keyword.Statistics, meaning []float32) {
	var wait sync.WaitGroup
	defer wait.Wait()
	wait.Go(func() { p.Keywords.Match(q, stats, &p.Scores) })
	if meaning == nil {
		p.raw = slices.Grow(p.raw[:0], len(p.Docs))[:len(p.Docs)]
		clear(p.raw)
		return
	}
	wait.Go(func() { p.scores = p.source.Vectors.PartScores(meaning, p.scores) })
	p.raw = p.source.Vectors.Cosines(meaning, p.raw)
	for doc, x := range p.raw {
		if !(x > 0) { // NaN too: a memory without a vector is found by its words
			p.raw[doc] = 0
		}
	}
	wait.Wait()
	for _, s := range p.scores {
		p.raw[s.Doc] = max(p.raw[s.Doc], s.Score)
	}
}

// smooth is the mean of a memory's cosine with those of its neighbours.
func (p *part) smooth(doc int) float32 {
	sum, weight := p.raw[doc], float32(1)
	before, after := p.Keywords.Neighbours(doc)
	if before >= 0 {
		sum, weight = sum+sideWeight*p.raw[before], weight+sideWeight
	}
	if after >= 0 {
		sum, weight = sum+sideWeight*p.raw[after], weight+sideWeight
	}
	return sum / weight
}

// Top returns the best of the memories that f admits, at most limit, best first; of equals the one stored first.
func (r *Candidates) Top(limit int, f Filter) []record.Hit {
	if r.fused {
		return r.fuse(limit, f)
	}
	first := newLeaders(pairsAmong)
	for i, p := range r.parts {
		p.alone = slices.Grow(p.alone[:0], len(p.Docs))[:len(p.Docs)]
		p.best = slices.Grow(p.best[:0], p.Sessions)[:p.Sessions]
		for s := range p.best {
			p.best[s] = notRanked
		}
		for doc := range p.Docs {
			p.alone[doc] = notRanked
			if p.Docs[doc].Record == nil || p.Context[doc] == 0 && p.raw[doc] < MinCosine || !f.Admit(p.Docs[doc].Record) {
				continue // a word in the head stands in the context too
			}
			alone := cosineWeight*share(p.smooth(doc), r.cosine) + ownWeight*share(p.Own[doc], r.own) +
				contextWeight*share(p.Context[doc], r.context) - p.Docs[doc].Long
			speaker, standing := r.adjust(p, doc)
			alone += speaker + standing
			p.value(doc, alone)
			first.add(leader{alone, i, doc})
		}
	}
	pairs := r.addPairs(first.list)
	all := newLeaders(limit)
	for i, p := range r.parts {
		for doc, alone := range p.alone {
			if alone > notRanked {
				all.add(leader{alone + p.ofSession(doc), i, doc})
			}
		}
	}
	return r.hits(all.sorted(), pairs)
}

// addPairs adds to each leader what the pairs of neighbouring words are worth that it shares with the
// query, and returns that.
func (r *Candidates) addPairs(first []leader) map[place]float32 {
	pairs := make([]keyword.Pairs, len(r.parts))
	for i, p := range r.parts {
		pairs[i] = p.Keywords.Pairs(r.query, r.stats)
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
	if s := p.Docs[doc].Session; s >= 0 && alone > p.best[s] {
		p.best[s] = alone
	}
}

// ofSession is a memory's share of its session. One without a session is a session of its own.
func (p *part) ofSession(doc int) float32 {
	if s := p.Docs[doc].Session; s >= 0 {
		return sessionWeight * p.best[s]
	}
	return sessionWeight * p.alone[doc]
}

// hits presents the ranked. The scores are in proportion to the best one's strength.
func (r *Candidates) hits(ranked []leader, pairs map[place]float32) []record.Hit {
	hits := make([]record.Hit, len(ranked))
	for i, l := range ranked {
		p, doc := r.parts[l.part], l.doc
		speaker, standing := r.adjust(p, doc)
		hits[i] = record.Hit{
			Record:     p.Docs[doc].Record,
			Visibility: p.Visibility,
			Signals: []record.Signal{
				{Name: "cosine", Value: Round(p.raw[doc])},
				{Name: "meaning", Value: Round(cosineWeight * share(p.smooth(doc), r.cosine))},
				{Name: "own_words", Value: Round(ownWeight * share(p.Own[doc], r.own))},
				{Name: "context_words", Value: Round(contextWeight * share(p.Context[doc], r.context))},
				{Name: "word_pairs", Value: Round(pairs[place{l.part, doc}])},
				{Name: "length", Value: 0 - Round(p.Docs[doc].Long)},
				{Name: "session", Value: Round(p.ofSession(doc))},
			},
		}
		for _, s := range []record.Signal{{Name: "speaker", Value: Round(speaker)}, {Name: "standing", Value: Round(standing)}} {
			if s.Value != 0 {
				hits[i].Signals = append(hits[i].Signals, s)
			}
		}
		if best := ranked[0].score; best > 0 {
			hits[i].Score = Round(min(1, max(0, r.strength(ranked[0])*l.score/best)))
		}
	}
	return hits
}

// strength says how well the best memory answers the query: the order comes from signals relative to
// the best of each, which does not tell. It is its own cosine, or the share of the query's words that it
// has, each weighed by its rarity.
func (r *Candidates) strength(l leader) float32 {
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

// Round is RFC-0011 §5.2's rounding, to two decimals.
func Round(score float32) float64 { return math.Round(float64(score)*100) / 100 }
