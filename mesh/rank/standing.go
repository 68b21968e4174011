package rank

import (
	"slices"

	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// Standing instructions and preferences apply to a query although they do not answer it, so they are found by
// themselves. Round numbers, see docs/ranking.md.
const (
	triggerCosine = .15 // minimum cosine of one that a task brings up
	triggerWords  = .3  // minimum share of the task's words, weighed by rarity, that one has which it brings up
	otherTrigger  = .5  // the same for other queries, of both
	triggerShare  = .6  // minimum of the cosine and half of the words, as a share of the largest
)

// Standing returns up to limit standing instructions and preferences that the query brings up and f admits: those that
// are nearest to it and about as near, the newest first, because of two that contradict each other the later one
// holds. A request for a summary, which is near everything about its subject, brings up those for summaries.
func (r *Candidates) Standing(limit int, f Filter) []record.Hit {
	if r.fused {
		return nil
	}
	leastCosine, leastWords := float32(otherTrigger), float32(otherTrigger)
	if r.question.task {
		leastCosine, leastWords = triggerCosine, triggerWords
	}
	best := newLeaders(limit)
	for i, p := range r.parts {
		// SECURITY: another group's instruction is what strangers said. It is an ordinary result.
		if p.source.Foreign {
			continue
		}
		for _, number := range p.Standing {
			doc := int(number)
			if p.foreign(doc) || !p.admits(doc, f) {
				continue
			}
			words := float32(0)
			if r.rarity > 0 {
				words = min(1, p.Own[doc]/float32(r.rarity))
			}
			applies := p.raw[doc] >= leastCosine || words >= leastWords
			if r.question.summary {
				applies = asksSummary.MatchString(p.Record(doc).Content)
			}
			if applies {
				best.add(leader{p.raw[doc] + words/2, i, doc})
			}
		}
	}
	var hits []record.Hit
	list := best.sorted()
	for _, l := range list {
		if l.score < triggerShare*list[0].score {
			break
		}
		p := r.parts[l.part]
		hits = append(hits, p.Hit(p.Record(l.doc)))
	}
	slices.SortStableFunc(hits, func(a, b record.Hit) int { return b.Stored().Compare(a.Stored()) })
	return hits
}
