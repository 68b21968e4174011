package rank

import "slices"

// A broad question is not answered by ten neighbours of the best memory: its results are spread over sessions and over
// the course of each. See docs/ranking.md.
const (
	spreadAmong  = 100 // best memories that results are chosen from
	spreadWeight = .2  // subtracted from what is next to a chosen result in its session, less for what is farther away
	spreadWidth  = 5   // memories from which on that is nothing
	spreadShare  = .3  // subtracted in proportion to the share of results that are chosen from the session already
)

// spread moves up to n results of a broad question to the beginning of a list, one after the other, each the best of
// what is left after what the chosen ones have in common with it. The scores keep their places.
func (r *Candidates) spread(list []leader, n int) {
	n = min(n, len(list))
	scores := make([]float32, len(list))
	for i, l := range list {
		scores[i] = l.score
	}
	type session struct {
		part int
		of   int32
	}
	sessionOf := func(l leader) session { return session{l.part, r.parts[l.part].Docs[l.doc].Session} }
	chosen := map[session]int{}
	lost := make([]float32, len(list))
	for at := range n {
		best, most := at, notRanked
		for i := at; i < len(list); i++ {
			if s := list[i].score - lost[i] - spreadShare*float32(chosen[sessionOf(list[i])])/float32(n); s > most {
				best, most = i, s
			}
		}
		l := list[best]
		list = slices.Insert(slices.Delete(list, best, best+1), at, l)
		lost = slices.Insert(slices.Delete(lost, best, best+1), at, 0)
		if sessionOf(l).of < 0 { // it is in no session
			continue
		}
		chosen[sessionOf(l)]++
		for i := at + 1; i < len(list); i++ {
			if sessionOf(list[i]) == sessionOf(l) {
				distance := float32(l.doc-list[i].doc) / spreadWidth
				lost[i] = max(lost[i], spreadWeight*(1-distance*distance))
			}
		}
	}
	for i := range list {
		list[i].score = scores[i]
	}
}

// closeShare is how near to a broad question a memory is, compared with the nearest, that is counted by More.
const closeShare = .75

// More returns how many memories the last call of Top admitted that are about as close to a broad question as its
// results, apart from n results; 0 for any other question. Their cosine, or the words of the query in their context,
// are at least closeShare of the largest.
func (r *Candidates) More(n int) int {
	if !r.question.broad || r.fused {
		return 0
	}
	count := -n
	for _, p := range r.parts {
		for doc, raw := range p.raw {
			near := raw >= closeShare*r.cosine || p.Context[doc] >= closeShare*r.context
			if near && r.base(p, doc, r.filter) > notRanked {
				count++
			}
		}
	}
	return max(0, count)
}
