// Package similar decides whether two texts are one memory, say the same, or may contradict each other.
package similar

import (
	"slices"
	"strings"
	"unicode"

	"github.com/yamo-protocol/yamo-mcp/mesh/keyword"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// What a text has to do with an earlier one.
const (
	Same          = "same"           // the same text, of another session, type or agent
	NearDuplicate = "near_duplicate" // the same in nearly the same words
	Differs       = "differs"        // about the same subject but different, possibly a contradiction
)

// Thresholds of the relations: round numbers, chosen on the even half of ../testdata/corrections.json.
const (
	duplicateCosine = .97 // from which on texts with the same skeleton are one memory
	nearCosine      = .9  // from which on texts with the same facts say the same
	againCosine     = .92 // from which on texts with the same facts repeat each other
	subjectShare    = .4  // from which on texts that share so many words may contradict each other; without vectors
)

// RepeatCosine is the least cosine of texts that repeat each other: of one with the words of the other.
const RepeatCosine = .8

// SubjectCosine is the cosine from which on texts that share a subject may contradict each other.
const SubjectCosine = .5

// Aspects are what distinguishes texts that are similar as a whole.
type Aspects struct {
	content  string
	skeleton string          // its words without those that may be left out
	facts    []string        // names, numbers, comparisons and negations, in order
	stems    map[string]bool // of its content words
}

// Of returns the aspects of a text.
func Of(content string) Aspects {
	a := Aspects{content: content, stems: map[string]bool{}}
	var kept []string
	for i, word := range strings.Fields(content) {
		bare := record.TrimWord(word)
		low := strings.ToLower(bare)
		if low != "" && !removable[low] {
			kept = append(kept, low)
		}
		if isFact(bare, low, i == 0) {
			a.facts = append(a.facts, low)
		}
	}
	a.skeleton = strings.Join(kept, " ")
	for _, stem := range keyword.Stems(content) {
		a.stems[stem] = true
	}
	return a
}

// removable are words that may be missing from a text that says the same. Prepositions that change who does what
// (from, to, by, for, with), tenses and quantities are not among them.
var removable = map[string]bool{
	"a": true, "an": true, "the": true, "that": true, "is": true, "are": true, "on": true, "at": true, "in": true,
	"of":     true,
	"please": true, "also": true,
}

// polar are words that turn a statement into its opposite.
var polar = map[string]bool{
	"no": true, "not": true, "never": true, "none": true, "nobody": true, "nothing": true, "without": true, "except": true,
	"before": true, "after": true, "off": true, "out": true, "less": true, "more": true, "only": true, "until": true,
}

// isFact reports whether a word is a name, also of an account or in code, a number, a comparison or a negation.
func isFact(bare, low string, first bool) bool {
	return polar[low] || strings.HasSuffix(low, "n't") || strings.HasSuffix(low, "n’t") ||
		strings.ContainsFunc(bare, unicode.IsDigit) || strings.ContainsAny(bare, "<>=≤≥≠±_") ||
		!first && bare != "I" && strings.ContainsFunc(bare, unicode.IsUpper)
}

// Relation returns what a has to do with an earlier text b, "" for nothing, and how strongly. one reports that both are
// one memory.
func (a Aspects) Relation(b Aspects, cosine, share float64) (relation string, score float64, one bool) {
	score = max(cosine, share)
	sameFacts := slices.Equal(a.facts, b.facts)
	switch {
	case a.content == b.content:
		return Same, 2, false
	case record.SameWords(a.content, b.content):
		return NearDuplicate, 2, false
	case a.skeleton == b.skeleton && sameFacts:
		return NearDuplicate, 1 + score, cosine >= duplicateCosine
	case sameFacts && cosine >= nearCosine && a.sharedStems(b) >= .8:
		return NearDuplicate, score, false
	case cosine >= SubjectCosine && a.sharedStems(b) > 0, share >= subjectShare:
		return Differs, score, false
	}
	return "", 0, false
}

// Repeats reports whether a says in other words what b says: each has the names, numbers and negations of the other,
// and their vectors are near, or less near if one has all content words of the other.
func (a Aspects) Repeats(b Aspects, cosine float64) bool {
	return cosine >= RepeatCosine && a.hasFactsOf(b) && b.hasFactsOf(a) &&
		(cosine >= againCosine || a.wordsAmong(b) || b.wordsAmong(a))
}

// hasFactsOf reports whether all facts of b are among the words of a.
func (a Aspects) hasFactsOf(b Aspects) bool {
	words := strings.Fields(a.skeleton)
	return !slices.ContainsFunc(b.facts, func(fact string) bool { return !slices.Contains(words, fact) })
}

// wordsAmong reports whether all content words of a are among those of b.
func (a Aspects) wordsAmong(b Aspects) bool {
	for stem := range a.stems {
		if !b.stems[stem] {
			return false
		}
	}
	return true
}

// sharedStems returns the share of the content words of both that both have.
func (a Aspects) sharedStems(b Aspects) float64 {
	shared, total := 0, len(b.stems)
	for stem := range a.stems {
		if b.stems[stem] {
			shared++
		} else {
			total++
		}
	}
	if total == 0 {
		return 0
	}
	return float64(shared) / float64(total)
}
