package rank

import "github.com/yamo-protocol/yamo-mcp/mesh/keyword"

// What a group says again in other words takes few places of an answer, and all that groups say not all of them. See
// docs/ranking.md for the measurements.
const (
	floodFactor = 4   // memories of other groups that are looked at for each place of an answer
	maxAlike    = 2   // near-duplicates of a better memory that are ranked
	alikeWords  = .6  // minimum share of common words, of all words of both
	alikeMeans  = .92 // minimum cosine

	maxInARow    = 3  // memories of other groups that follow each other, in an answer of four or more
	fittingShare = .4 // minimum of how well a DM's memory answers, as a share of the group's that it is placed before
)

// withoutFlood returns the first most of the ranked memories of other groups, without the near-duplicates of a better
// one of the same group, except for the first maxAlike of them.
//
// SECURITY: without it, a group could push a DM's own memories out of every answer by repeating itself.
func (r *Candidates) withoutFlood(ranked []leader, most int) []leader {
	kept, words, alike := ranked[:0:0], []map[string]bool{}, []int{}
	for _, l := range ranked {
		if len(kept) == most {
			break
		}
		own := r.words(l)
		like := -1
		for i, k := range kept {
			if alike[i] >= 0 && k.part == l.part &&
				(shareOfWords(own, words[i]) >= alikeWords || r.cosine2(k, l) >= alikeMeans) {
				like = i
				break
			}
		}
		count := 0
		if like >= 0 {
			if alike[like] == maxAlike {
				continue
			}
			alike[like]++
			count = -1 // what is like it is like the better one, or different
		}
		kept, words, alike = append(kept, l), append(words, own), append(alike, count)
	}
	return kept
}

// words returns the stems of a memory's first words.
func (r *Candidates) words(l leader) map[string]bool {
	content := r.parts[l.part].Content(l.doc)
	set := map[string]bool{}
	for _, stem := range keyword.Stems(content[:min(len(content), maxCompared)]) {
		set[stem] = true
	}
	return set
}

// cosine2 returns the cosine of two memories of one part, 0 if one has no vector.
func (r *Candidates) cosine2(a, b leader) float32 {
	vectors := r.parts[a.part].source.Projection.Vectors
	x, y := vectors.Vector(a.doc), vectors.Vector(b.doc)
	if x == nil || y == nil {
		return 0
	}
	return cosine(x, y)
}

// shareOfWords returns the number of common elements of a and b divided by that of all.
func shareOfWords(a, b map[string]bool) float64 {
	common := 0
	for word := range a {
		if b[word] {
			common++
		}
	}
	if total := len(a) + len(b) - common; total > 0 {
		return float64(common) / float64(total)
	}
	return 0
}

// merged returns the first n of two ranked lists, of which foreign has the memories of other groups. No more than
// r.inARow of these follow each other as long as a memory of own fits.
//
// SECURITY: a group can say one thing in more ways than can be recognized as repetitions.
func (r *Candidates) merged(own, foreign []leader, n int) []leader {
	list := make([]leader, 0, min(n, len(own)+len(foreign)))
	inARow := 0 // memories of foreign
	for len(list) < n && (len(own) > 0 || len(foreign) > 0) {
		if len(foreign) == 0 || len(own) > 0 &&
			(own[0].before(foreign[0]) || inARow >= r.inARow && r.fits(own[0], foreign[0])) {
			list, own = append(list, own[0]), own[1:]
			inARow = 0
			continue
		}
		list, foreign = append(list, foreign[0]), foreign[1:]
		inARow++
	}
	return list
}

// fits reports whether a memory of the DM answers so well that it has a place before a better one of a group.
func (r *Candidates) fits(own, foreign leader) bool {
	return own.score >= fittingShare*foreign.score || r.answers(own) >= fittingShare*r.answers(foreign)
}

// balanced returns a ranked list that was reordered, merged once more.
func (r *Candidates) balanced(list []leader) []leader {
	var own, foreign []leader
	for _, l := range list {
		if r.parts[l.part].foreign(l.doc) {
			foreign = append(foreign, l)
		} else {
			own = append(own, l)
		}
	}
	if len(foreign) == 0 {
		return list
	}
	return r.merged(own, foreign, len(list))
}
