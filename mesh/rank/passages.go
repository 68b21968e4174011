package rank

import (
	"fmt"
	"math"
)

// The parts of a long memory compete with short memories as units: one that has the query's words makes the memory as
// good as if it were a memory by itself, less a little, because of many parts one has some words by chance. See
// docs/ranking.md.
const (
	passageAmong = 30 // long memories, those with the most of the query's words, whose parts are compared with it
	passageShare = .7 // of the words of a part, and what those of a head count
	passagePairs = .3 // the same for pairs of neighbouring words

	// A part that has most pairs of a longer query is quoted by it, which is no chance: it counts in full.
	quotedPairs = 4
	quotedShare = .8

	// guessedCosine is the cosine of a part with all words of the query while its vector is being made: about what it is
	// for a sentence in a part of that length.
	guessedCosine = .6
)

// matchPassages lets the best part of each long memory count for it, where that is more than its beginning.
func (r *Candidates) matchPassages(p *part) {
	long := newLeaders(passageAmong)
	for _, doc := range p.Long {
		if p.Context[doc] > 0 {
			long.add(leader{score: p.Context[doc], doc: int(doc)})
		}
	}
	matcher := p.Keywords.Matcher(r.query, r.stats)
	for _, l := range long.list {
		best, bestPairs, passages := 0., 0., p.Passages(l.doc)
		for _, words := range passages.Words {
			if own, pairs := matcher.Score(words); own+pairs > best+bestPairs {
				best, bestPairs = own, pairs
			}
		}
		ownShare, pairsShare := passageShare, passagePairs
		if count, all := matcher.Pairs(); count >= quotedPairs && bestPairs >= quotedShare*all {
			ownShare, pairsShare = 1, 1
		}
		n := len(passages.Embedded())
		if r.vector != nil && r.rarity > 0 && p.source.Vectors.NextPart(p.ID(l.doc), n) < n {
			p.raw[l.doc] = max(p.raw[l.doc], guessedCosine*min(1, float32(best/r.rarity)))
		}
		p.Own[l.doc] = max(p.Own[l.doc], float32(ownShare*best))
		p.pairs[l.doc] = pairsShare * bestPairs
	}
}

// passage returns the part of a long memory that fits the query best by meaning and words, and where it is; "" for the
// part that is its beginning.
func (r *Candidates) passage(p *part, doc int) (text, place string) {
	if !p.Docs[doc].Parts {
		return "", ""
	}
	passages := p.Passages(doc)
	cosines := make([]float32, len(passages.Chunks)+1)
	if r.vector != nil {
		// The first part has the cosine of the whole text, of which the model sees the beginning.
		cosines = p.source.Vectors.PartCosines(r.vector, doc, p.ID(doc), len(passages.Embedded()))
	}
	matcher := p.Keywords.Matcher(r.query, r.stats)
	at, most := 0, float32(math.Inf(-1))
	for i, words := range passages.Words {
		own, pairs := matcher.Score(words)
		fits := ownWeight * share(float32(own+pairs), r.own)
		if cosines[i] > 0 { // NaN too: a part without a vector is found by its words
			fits += cosineWeight * share(cosines[i], r.cosine)
		}
		if fits > most {
			at, most = i, fits
		}
	}
	if at == 0 {
		return "", ""
	}
	chunk := passages.Chunks[at]
	return chunk.Text, fmt.Sprintf("part %d of %d, offset %d", at+1, len(passages.Chunks), chunk.Start)
}
