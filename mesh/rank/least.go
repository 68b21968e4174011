package rank

import (
	"slices"
	"sync"

	"github.com/yamo-protocol/yamo-mcp/internal/parallel"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// A search knows cosine and words of every memory, but the rest of the formula takes a look at the memory itself, which
// takes longer than all else where there are many. Without it a bound is known, because apart from labels and standing
// instructions the rest only lowers a score. What cannot be among the best by its bound is left out.

// portion is the number of documents that a goroutine takes at a time.
const portion = 1 << 14

// rounding is more than what two ways of adding up a score can differ by.
const rounding = 1e-4

// bounds sets the base of the documents in [from, to) to no less than what Candidates.base returns. Nothing but the
// signals is read: neighbours are taken to be as near as the nearest memory.
func (r *Candidates) bounds(p *part, from, to int) {
	const alone = 1 / (1 + 2*sideWeight) // the weight of the memory itself
	cosine, own, context := inverse(r.cosine), inverse(r.own), inverse(r.context)
	out, raw := p.base[from:to], p.raw[from:to]
	inHead, inContext := p.Own[from:to], p.Context[from:to]
	for i := range out {
		words := own * inHead[i]
		near := max(alone*cosine*raw[i]+(1-alone), words) // the latter if it has no vector, see nearness
		out[i] = cosineWeight*near + ownWeight*words + contextWeight*context*inContext[i]
	}
	if len(p.Named) > 0 {
		for i, named := range p.Named[from:to] {
			out[i] += labelWeight * named
		}
	}
	if r.question.help {
		at, _ := slices.BinarySearch(p.Standing, int32(from)) //nolint:gosec // fewer than 2^31 memories
		for _, doc := range p.Standing[at:] {
			if int(doc) >= to {
				break
			}
			out[int(doc)-from] += standingWeight * raw[int(doc)-from]
		}
	}
}

// inverse returns a number by which share divides, as a factor.
func inverse(largest float32) float32 { return share(1, largest) }

// unrelated reports whether a memory has nothing of the query. Own is 0 where Context is.
func (p *part) unrelated(doc int) bool { return p.Context[doc] == 0 && p.raw[doc] < MinCosine }

// base returns the score of a memory without its session and pairs of words, notRanked if f does not admit it or it
// has nothing of the query.
func (r *Candidates) base(p *part, doc int, f Filter) float32 {
	unrelated := p.unrelated(doc)
	if unrelated && f.Prefer == nil || !p.admits(doc, f) {
		return notRanked
	}
	if f.Prefer != nil {
		r := records.Get().(*record.Record)
		p.Read(doc, r)
		p.timely[doc] = timeWeight * f.Prefer(r)
		records.Put(r)
	}
	if unrelated && p.time(doc) == 0 {
		return notRanked
	}
	base := cosineWeight*r.nearness(p, doc) + ownWeight*share(p.Own[doc], r.own) +
		contextWeight*share(p.Context[doc], r.context) - p.Docs[doc].Long
	speaker, standing := r.adjust(p, doc)
	base += speaker + standing
	where, named := r.placed(p, doc, f.Project)
	return base + (where + named)
}

// least returns a number so that memories of the audience itself whose base is below it matter neither for the best n
// nor for the pairs of words, and sets base to their bounds; or notRanked, if any may matter: where the time decides,
// and where fewer are found than are compared.
func (r *Candidates) least(n int, f Filter) float32 {
	if f.Prefer != nil {
		return notRanked
	}
	enough := max(n, pairsAmong)
	best := newLeaders(enough)
	var mu sync.Mutex
	for _, p := range r.parts {
		if p.hasForeign() { // what is alike is left out of these, so more are needed
			continue
		}
		p.base = slices.Grow(p.base[:0], len(p.Docs))[:len(p.Docs)]
		parallel.Ranges(len(p.Docs), portion, func(from, to int) {
			some := newLeaders(enough)
			mu.Lock()
			some.threshold = best.threshold
			mu.Unlock()
			r.bounds(p, from, to)
			for i, bound := range p.base[from:to] {
				if bound < some.threshold {
					continue
				}
				if base := r.base(p, from+i, f); base > notRanked {
					some.add(leader{score: base})
				}
			}
			mu.Lock()
			defer mu.Unlock()
			for _, l := range some.list {
				best.add(l)
			}
		})
	}
	list := best.sorted()
	if len(list) < enough {
		return notRanked
	}
	// The n-th best gains at least half of its own score by its session, any other one at most half of the best score,
	// pairs included.
	first, last := list[0].score, list[n-1].score
	return min(list[pairsAmong-1].score, last+sessionWeight*(last-first-pairsWeight)) - rounding
}

// lists keeps the memory of the documents that were found in a portion.
var lists = sync.Pool{New: func() any { return new([]int32) }}

// score finds the memories of p that f admits, sets their base and the best of each session. If least is not notRanked,
// base has the bounds, and what is below least is left out.
func (r *Candidates) score(p *part, f Filter, least float32) {
	p.base = slices.Grow(p.base[:0], len(p.Docs))[:len(p.Docs)]
	p.best = slices.Grow(p.best[:0], p.Sessions)[:p.Sessions]
	p.found, p.timely = p.found[:0], p.timely[:0]
	if f.Prefer != nil {
		p.timely = slices.Grow(p.timely, len(p.Docs))[:len(p.Docs)]
	}
	var mu sync.Mutex
	parallel.Ranges(len(p.Docs), portion, func(from, to int) {
		found := lists.Get().(*[]int32)
		defer lists.Put(found)
		*found = (*found)[:0]
		for doc := from; doc < to; doc++ {
			if least > notRanked && p.base[doc] < least {
				p.base[doc] = notRanked
			} else if p.base[doc] = r.base(p, doc, f); p.base[doc] > notRanked {
				*found = append(*found, int32(doc)) //nolint:gosec // fewer than 2^31 memories
			}
		}
		mu.Lock()
		defer mu.Unlock()
		p.found = append(p.found, *found...)
	})
	for s := range p.best {
		p.best[s] = notRanked
	}
	for _, doc := range p.found {
		p.setBase(int(doc), p.base[doc])
	}
}

// largest returns the largest of list, 0 if none is positive.
func largest(list []float32) (most float32) {
	var mu sync.Mutex
	parallel.Ranges(len(list), portion, func(from, to int) {
		here := float32(0)
		for _, x := range list[from:to] {
			if x > here { // none is NaN, which max would look for
				here = x
			}
		}
		mu.Lock()
		defer mu.Unlock()
		most = max(most, here)
	})
	return most
}
