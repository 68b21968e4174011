package rank

import (
	"slices"

	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/similar"
)

const (
	spareHits   = 10    // ranked in addition to the limit, to fill the places of what is left out
	maxCompared = 2_000 // bytes; longer texts are not compared word for word
)

// withoutCopies removes repetitions from ranked hits, so that one statement takes one place: a text with
// the words of a better result, and an extract with a source among the results or with one that is not current any
// more, so that it quotes what was deleted or corrected. A reflection by a model comes after the best of its sources.
//
// SECURITY: of a text that another group has, too, the audience's own memory is kept, and has the better place.
func (r *Candidates) withoutCopies(hits []record.Hit) []record.Hit {
	hits = r.ownFirst(hits)
	place := make(map[string]int, len(hits))
	for i, hit := range hits {
		place[hit.ID] = i
	}
	seen := map[event]bool{}
	kept := make([]record.Hit, 0, len(hits))
	behind := map[int][]record.Hit{} // reflections, by the place of their best source
	for i, hit := range hits {
		best := len(hits)
		if hit.Reflection != nil {
			for _, source := range hit.Reflection.Sources {
				if at, ok := place[source.ID]; ok {
					best = min(best, at)
				}
			}
		}
		switch extract := hit.Reflection != nil && hit.Reflection.Method == record.ByExtract; {
		case extract && (best < len(hits) || r.stale(hit.Reflection)), r.repeats(hit, seen):
		case best > i && best < len(hits):
			behind[best] = append(behind[best], hit)
		default:
			kept = append(kept, hit)
		}
		kept = append(kept, behind[i]...)
	}
	// The scores keep their places, so that they still descend.
	scores := make([]float64, len(kept))
	for i, hit := range kept {
		scores[i] = hit.Score
	}
	slices.SortFunc(scores, func(a, b float64) int {
		switch {
		case a > b:
			return -1
		case a < b:
			return 1
		}
		return 0
	})
	for i := range kept {
		kept[i].Score = scores[i]
	}
	return kept
}

// repetitionsLast returns the ranked memories, those that say in other words what maxAlike better ones of the same
// compartment say after all others, so that one statement does not fill an answer. The scores keep their places.
func (r *Candidates) repetitionsLast(ranked []leader) []leader {
	aspects := make(map[int]*similar.Aspects, len(ranked)) // of those that are near another one; nil if not comparable
	of := func(i int) *similar.Aspects {
		if _, known := aspects[i]; !known {
			aspects[i] = nil
			if rec := r.parts[ranked[i].part].Record(ranked[i].doc); len(rec.Content) <= maxCompared && rec.IsMemory() {
				a := similar.Of(rec.Content)
				aspects[i] = &a
			}
		}
		return aspects[i]
	}
	repeats := func(i, k int) bool {
		if ranked[i].part != ranked[k].part {
			return false
		}
		near := float64(r.cosine2(ranked[k], ranked[i]))
		return near >= similar.RepeatCosine && of(i) != nil && of(k) != nil && of(i).Repeats(*of(k), near)
	}
	order, last := make([]leader, 0, len(ranked)), []leader(nil)
	var kept []int
	for i, l := range ranked {
		alike := 0
		for _, k := range kept {
			if repeats(i, k) {
				alike++
			}
		}
		if alike >= maxAlike {
			last = append(last, l)
			continue
		}
		kept, order = append(kept, i), append(order, l)
	}
	order = append(order, last...)
	for i := range order {
		order[i].score = ranked[i].score
	}
	return order
}

// ownFirst puts a memory of the audience's in the place of a better one of another group with the same words.
func (r *Candidates) ownFirst(hits []record.Hit) []record.Hit {
	better := map[event]int{} // places of the groups'
	for i, hit := range hits {
		if !hit.IsMemory() || len(hit.Content) > maxCompared {
			continue
		}
		key := eventOf(hit)
		at, ok := better[key]
		switch foreign := r.isForeign(hit); {
		case foreign && !ok:
			better[key] = i
		case !foreign && ok:
			hits[at], hits[i] = hits[i], hits[at]
			hits[at].Score, hits[i].Score = hits[i].Score, hits[at].Score
			delete(better, key)
		}
	}
	return hits
}

// isForeign reports whether a hit is what another group than the audience said.
func (r *Candidates) isForeign(hit record.Hit) bool {
	return slices.ContainsFunc(r.parts, func(p *part) bool { return p.source.Foreign && p.Visibility == hit.Visibility })
}

// event is what a hit tells: the same words of another time are another event.
type event struct {
	words    record.WordsKey
	occurred string
}

func eventOf(hit record.Hit) event { return event{hit.Words(), hit.OccurredAt} }

// repeats reports whether a better hit has the same words and time, and notes them otherwise.
func (r *Candidates) repeats(hit record.Hit, seen map[event]bool) bool {
	if len(hit.Content) > maxCompared || !hit.IsMemory() ||
		slices.ContainsFunc(r.parts, func(p *part) bool { return p.Visibility == hit.Visibility && p.Separated(hit.ID) }) {
		return false
	}
	key := eventOf(hit)
	repeated := seen[key]
	seen[key] = true
	return repeated
}

// stale reports whether a source of a reflection was deleted or is not current any more.
func (r *Candidates) stale(reflection *record.Reflection) bool {
	return slices.ContainsFunc(reflection.Sources, func(source record.Source) bool {
		return !slices.ContainsFunc(r.parts, func(p *part) bool {
			doc, ok := p.Doc(source.ID)
			return ok && !p.Docs[doc].Past
		})
	})
}
