// Package rank orders memories by how well they answer a query: by their meaning and words in context, or by RFC-0011's
// fusion of ranks.
//
// The order depends only on the query and the compartments it is given: no signal of another compartment influences it.
package rank

import (
	"math"
	"slices"
	"sync"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/parallel"
	"github.com/yamo-protocol/yamo-mcp/mesh/confidence"
	"github.com/yamo-protocol/yamo-mcp/mesh/keyword"
	"github.com/yamo-protocol/yamo-mcp/mesh/lance"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
	"github.com/yamo-protocol/yamo-mcp/mesh/vector"
)

// Ranking names a way of ordering what was found.
type Ranking string

// Context is the default ranking. A memory's score is
//
//	p     = cosine + .7 own + .4 context + .3 pairs - long + speaker + standing + label - elsewhere
//	score = p + .5 x the best p of its session + time
//
// where each of the first four is divided by its maximum over all memories, so that none drowns the others: cosine is
// that of the query with the memory, averaged with its neighbours in the session (weights .2, 1, .2); own, context
// and pairs are keyword.Index's; long is .1 for each doubling of the text's length beyond 60 words, at most .3. The
// cosine of a text that is longer than what the model sees is that of its beginning, or by how much its best part
// exceeds the mean of its parts, if that is more: the best of many parts is similar to any query by chance, and the
// mean is what chance gives.
//
// Neighbours count because a remark in a conversation often does not name its subject, which the one before it does.
// The beginning counts most because a long text names its subject there; a word after the first 60 counts a tenth in
// own. What an assistant said loses .4, unless the query asks for it. A standing instruction gains twice its cosine
// where the query asks for help with something. A memory of the time that the query names gains up to 2. A memory of
// another project than the session's loses .5, unless it is about the user or the query names the project. A label that
// the query names, such as a tag or a project, gains up to 1. Among the best, memories of the session's project, or of
// what the query names, are placed before others that hardly answer better.
// docs/ranking.md has the measurements.
const Context Ranking = "context"

// Weights of the signals: round numbers, chosen on two unlike development sets together and not fitted to either.
const (
	cosineWeight  = 1.
	ownWeight     = .7
	contextWeight = .4
	pairsWeight   = .3
	sessionWeight = .5
	timeWeight    = 2. // of the time that the query names

	sideWeight = .2  // of a neighbour in the mean of cosines
	pairsAmong = 200 // best memories by the other signals in which pairs are looked up: it takes their whole text
)

// Source is a compartment, or another projection that is searched like one.
type Source struct {
	*store.Projection
	Foreign bool // what another group than the audience said
	// IsForeign tells the same of one memory by its id, in a source that has both. Nil: all are as Foreign says.
	IsForeign func(id string) bool
	// Nearest asks LanceDB for the n nearest vectors that f admits. live is the number of memories in the snapshot; ok
	// is false if LanceDB does not have exactly these. It is called with the snapshot held, so it must not take another.
	// A nil Nearest never answers.
	Nearest func(meaning []float32, n, live int, f lance.Filter) (hits []lance.Hit, ok bool)
}

// Filter selects memories before they are ranked. Past memories are left out, unless AsOf is a time at which they were
// current. Its functions are called from several goroutines at a time.
type Filter struct {
	Admit func(*record.Record) bool
	// AllOrdinary: Admit admits every store.Document that is Ordinary, and is called for the others only. NoOrdinary: it
	// admits none of them.
	AllOrdinary, NoOrdinary bool
	AsOf                    time.Time // zero: now
	Places                  int       // how many of the results are shown, 0 for all
	// Prefer returns how well a memory fits the time that the query names, 0 to 1. Nil: the query names none.
	Prefer func(*record.Record) float32
	// Project is the identity of the session's project, "" for none: memories of others rank lower.
	Project string
	Lance   *lance.Filter // the same condition as Admit for LanceDB, nil if it cannot express it
}

// Candidates are the memories of some sources with their signals for one query, computed once for every call of Top.
// They hold a snapshot of each source from New to Release. They are not safe for concurrent use.
type Candidates struct {
	query    keyword.Query
	text     string    // the query
	vector   []float32 // the query's, or nil
	fused    bool      // RFC0011
	question question
	stats    keyword.Statistics
	rarity   float64
	parts    []*part
	filter   Filter // of the last call of Top
	inARow   int    // the maximum of memories of other groups that follow each other, in the last call of Top

	// The largest values of the raw signals, over all memories.
	cosine, own, context float32

	namedLabels sync.Map // label -> whether the query names it

	corrects map[place]string      // what the statements found by preferNewer say is not so any more
	asks     []confidence.Sentence // the sentences of the query, see querySentences
}

// part is the candidates of one source. Its slices are by document.
type part struct {
	*store.Snapshot
	keyword.Scores
	source Source
	raw    []float32 // the cosine; 0 where it is negative or not known
	base   []float32 // the score without its session; notRanked if the filter does not admit it, or see least
	found  []int32   // the documents that are ranked
	best   []float32 // the largest of base, by session number
	timely []float32 // what fitting the time that the query names adds to the score; empty if it names none

	scores []vector.PartScore // of the parts of long memories, not by document
	pairs  map[int]float64    // what the best passage of a long memory has of the query's word pairs, by document
}

// records keeps records to which memories are written that are looked at.
var records = sync.Pool{New: func() any { return new(record.Record) }}

// MinCosine is the minimum cosine of a memory that is found without having a word of the query.
const MinCosine = .1

// notRanked is below every score.
var notRanked = float32(math.Inf(-1))

// parts keeps the slices of finished searches, which have an element for each memory.
var parts = sync.Pool{New: func() any { return new(part) }}

// New computes the signals of every memory in sources. meaning is the query's vector, of unit length; without one (nil)
// keywords decide. The caller calls Release.
func New(kind Ranking, sources []Source, query string, meaning []float32) *Candidates {
	r := &Candidates{
		text: query, vector: meaning, fused: kind == RFC0011, question: parseQuestion(query),
	}
	r.query = keyword.Parse(r.question.subject(query))
	for _, source := range sources {
		p := parts.Get().(*part)
		p.source, p.Snapshot = source, source.Snapshot()
		p.pairs = map[int]float64{}
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
		r.matchPassages(p)
		p.inherit()
	}
	for _, p := range r.parts {
		r.cosine, r.own = max(r.cosine, largest(p.raw)), max(r.own, largest(p.Own))
		r.context = max(r.context, largest(p.Context))
	}
	return r
}

// Release releases the snapshots. The candidates must not be used after it.
func (r *Candidates) Release() {
	for _, p := range r.parts {
		p.Snapshot.Release()
		p.Snapshot, p.source = nil, Source{}
		parts.Put(p)
	}
	r.parts = nil
}

// signals computes the raw signals. Words, parts and whole vectors are independent of each other, so they are computed
// at the same time.
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
	parallel.Ranges(len(p.raw), portion, func(from, to int) {
		for i, x := range p.raw[from:to] {
			p.raw[from+i] = positive(x)
		}
	})
	wait.Wait()
	for _, s := range p.scores {
		if s.Score > p.raw[s.Doc] {
			p.raw[s.Doc] = s.Score
		}
	}
}

// positive returns x, 0 for a negative number and for NaN: a memory without a vector is found by its words. Half of all
// cosines may be negative, so that a processor cannot guess a comparison.
func positive(x float32) float32 {
	bits := math.Float32bits(x)
	bits &^= uint32(int32(bits) >> 31) //nolint:gosec // the sign, in each bit
	if x != x {
		return 0
	}
	return math.Float32frombits(bits)
}

// smooth returns the weighted mean of a memory's cosine with those of its neighbours in the session.
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

// nearness returns how near a memory is in meaning, as a share of the nearest. Until it has a vector, it is as near as
// its words: otherwise one that was just stored would come after all that say almost the same.
func (r *Candidates) nearness(p *part, doc int) float32 {
	near := share(p.smooth(doc), r.cosine)
	if p.raw[doc] == 0 && r.cosine > 0 {
		if own := share(p.Own[doc], r.own); own > near && !p.source.Vectors.Has(doc) {
			return own
		}
	}
	return near
}

// Top returns up to limit memories that f admits, the best first; of equals the one stored first. It may be called
// again with another filter.
func (r *Candidates) Top(limit int, f Filter) []record.Hit {
	if r.fused {
		return r.fuse(limit, f)
	}
	n := max(limit, nearAmong) + spareHits
	if r.question.broad {
		n = max(n, spreadAmong)
	}
	r.filter = f
	least, shortlist := r.least(n, f), newLeaders(pairsAmong)
	for i, p := range r.parts {
		if p.hasForeign() {
			r.score(p, f, notRanked)
		} else {
			r.score(p, f, least)
		}
		for _, doc := range p.found {
			shortlist.add(leader{p.base[doc], i, int(doc)})
		}
	}
	pairs := r.addPairs(shortlist.list)
	best, foreign := newLeaders(n), newLeaders(floodFactor*n)
	for i, p := range r.parts {
		for _, doc := range p.found {
			l := leader{part: i, doc: int(doc)}
			l.score = p.base[doc] + p.sessionShare(l.doc) + p.time(l.doc)
			if p.foreign(l.doc) {
				foreign.add(l)
			} else {
				best.add(l)
			}
		}
	}
	places := limit
	if f.Places > 0 {
		places = min(limit, f.Places)
	}
	r.inARow = min(maxInARow, max(1, places-1)) // so that not all places are theirs
	ranked := r.merged(best.sorted(), r.withoutFlood(foreign.sorted(), n), n)
	ranked = r.preferNewer(ranked)
	r.preferProject(ranked, f.Project)
	if r.question.broad {
		r.spread(ranked, limit)
	}
	ranked = r.balanced(r.repetitionsLast(ranked))
	hits := r.withoutCopies(r.hits(ranked, pairs, f.Project))
	return hits[:min(limit, len(hits))]
}

// hasForeign reports whether some memory may be what another group than the audience said.
func (p *part) hasForeign() bool { return p.source.Foreign || p.source.IsForeign != nil }

// foreign reports whether the memory of a document is what another group than the audience said.
func (p *part) foreign(doc int) bool {
	return p.source.Foreign || p.source.IsForeign != nil && p.source.IsForeign(p.ID(doc))
}

// admits reports whether f admits the memory of a document, and it is current or was at the filter's time.
func (p *part) admits(doc int, f Filter) bool {
	d := &p.Docs[doc]
	switch {
	case d.Deleted, f.NoOrdinary && d.Ordinary:
		return false
	case f.AsOf.IsZero() && d.Past, !f.AsOf.IsZero() && !p.TrueAt(doc, f.AsOf):
		return false
	}
	if f.AllOrdinary && d.Ordinary {
		return true
	}
	r := records.Get().(*record.Record)
	defer records.Put(r)
	p.Read(doc, r)
	return f.Admit(r)
}

// addPairs adds to the score of each leader the weight of the pairs of neighbouring words that it shares with the
// query, and returns these weights.
func (r *Candidates) addPairs(list []leader) map[place]float32 {
	pairs := make([]keyword.Pairs, len(r.parts))
	for i, p := range r.parts {
		pairs[i] = p.Keywords.Pairs(r.query, r.stats)
	}
	worth := make(map[place]float32, len(list))
	largest := float32(0)
	for _, l := range list {
		w := float32(max(pairs[l.part].In(l.doc), r.parts[l.part].pairs[l.doc]))
		worth[place{l.part, l.doc}] = w
		largest = max(largest, w)
	}
	for at, w := range worth {
		w = pairsWeight * share(w, largest)
		worth[at] = w
		p := r.parts[at.part]
		p.setBase(at.doc, p.base[at.doc]+w)
	}
	return worth
}

// place is a document's place among the candidates: its part and its number there.
type place struct{ part, doc int }

// setBase sets a memory's score without its session, and the session's best. A second call must not lower the score:
// best would keep the old one.
func (p *part) setBase(doc int, base float32) {
	p.base[doc] = base
	if s := p.Docs[doc].Session; s >= 0 && base > p.best[s] {
		p.best[s] = base
	}
}

// sessionShare returns what a memory gains by the best of its session. A memory without one gains by itself, so that it
// competes with sessions of one memory on equal terms.
func (p *part) sessionShare(doc int) float32 {
	if s := p.Docs[doc].Session; s >= 0 {
		return sessionWeight * p.best[s]
	}
	return sessionWeight * p.base[doc]
}

// time returns what a memory gains by fitting the time that the query names. Its session gains nothing by it.
func (p *part) time(doc int) float32 {
	if len(p.timely) == 0 {
		return 0
	}
	return p.timely[doc]
}

// hits returns the ranked memories with scores in proportion to the best one's strength, so that a caller can tell a
// poor answer from a good one.
func (r *Candidates) hits(ranked []leader, pairs map[place]float32, project string) []record.Hit {
	hits := make([]record.Hit, len(ranked))
	for i, l := range ranked {
		p, doc := r.parts[l.part], l.doc
		speaker, standing := r.adjust(p, doc)
		where, named := r.placed(p, doc, project)
		hits[i] = p.Hit(p.Record(doc))
		hits[i].Passage, hits[i].Place = r.passage(p, doc)
		hits[i].Corrects = r.corrects[place{l.part, doc}]
		hits[i].Signals = []record.Signal{
			{Name: "cosine", Value: Round(p.raw[doc])},
			{Name: "meaning", Value: Round(cosineWeight * r.nearness(p, doc))},
			{Name: "own_words", Value: Round(ownWeight * share(p.Own[doc], r.own))},
			{Name: "context_words", Value: Round(contextWeight * share(p.Context[doc], r.context))},
			{Name: "word_pairs", Value: Round(pairs[place{l.part, doc}])},
			{Name: "length", Value: 0 - Round(p.Docs[doc].Long)},
			{Name: "session", Value: Round(p.sessionShare(doc))},
		}
		for _, s := range []record.Signal{
			{Name: "speaker", Value: Round(speaker)},
			{Name: "standing", Value: Round(standing)},
			{Name: "time", Value: Round(p.time(doc))},
			{Name: "project", Value: Round(where)},
			{Name: "label", Value: Round(named)},
		} {
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

// strength measures how well the best memory answers the query, 0..1: the order comes from signals relative to
// the best of each, which does not tell. It is its own cosine, or the share of the query's words that it
// has, each weighed by its rarity.
func (r *Candidates) strength(l leader) float32 {
	p := r.parts[l.part]
	if r.rarity > 0 {
		return max(p.raw[l.doc], min(1, p.Own[l.doc]/float32(r.rarity)))
	}
	return p.raw[l.doc]
}

// share returns x as a share of the largest, 0 if all are 0.
func share(x, largest float32) float32 {
	if largest == 0 {
		return 0
	}
	return x / largest
}

// Round is RFC-0011 §5.2's rounding, to two decimals.
func Round(score float32) float64 { return math.Round(float64(score)*100) / 100 }
