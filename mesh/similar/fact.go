package similar

import (
	"slices"
	"strings"
	"unicode"

	"github.com/yamo-protocol/yamo-mcp/mesh/keyword"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// What a text has to do with an earlier one about the same fact, see [Aspects.Fact].
const (
	Restates = "restates" // it says the same, perhaps in other words
	Changes  = "changes"  // it says something else about the same thing: the later one holds
)

// Thresholds of Fact. They may be lower than those of Relation: it decides which of several memories is shown, and
// none is lost.
const (
	restateCosine = .85
	restateShare  = .75 // of the stems, where no cosine is known
	changeCosine  = .75
	changeShare   = .5 // of the stems of the shorter text
)

// turns are words that tell that something is not as it was. They are compared as stems.
var turns = stemsOf("stopped quit longer anymore instead switched changed moved cancelled canceled postponed " +
	"now former formerly ex gave up ended rescheduled")

func stemsOf(words string) map[string]bool {
	set := map[string]bool{}
	for _, stem := range keyword.Stems(words) {
		set[stem] = true
	}
	return set
}

// Fact returns whether a tells the same fact as b, or another state of it: "Luis drinks coffee" and "Luis stopped
// drinking coffee" are about one thing, of which only the later is true. cosine is 0 if it is not known. "" is for
// texts that are about different things, or of which that is not certain.
//
// It decides less than [Aspects.Relation] about what is one memory, and more about what a reader needs once.
func (a Aspects) Fact(b Aspects, cosine float64) string {
	if a.content == b.content || record.SameWords(a.content, b.content) || a.skeleton == b.skeleton {
		return Restates
	}
	if !a.subjects(b) {
		return ""
	}
	d := a.differ(b)
	if d.alternatives(a, b) || a.exchanges(b) {
		return Changes
	}
	if !slices.Equal(a.names(), b.names()) {
		return ""
	}
	sameNumbers := slices.Equal(a.figures(), b.figures())
	turned := a.turned() != b.turned()
	shared, shorter := a.common(b)
	switch {
	// One word that differs may be what the text tells, however near the vectors are: nuts and penicillin.
	case sameNumbers && !turned && !d.word() && (cosine >= restateCosine || a.sharedStems(b) >= restateShare):
		return Restates
	case (!sameNumbers && !a.diverge(b) || turned) && shorter > 0 && float64(shared) >= changeShare*float64(shorter) &&
		(cosine == 0 || cosine >= changeCosine):
		return Changes
	}
	return ""
}

// names are the words with capitals that do not begin the text, and the numbers that name something, such as a room's,
// sorted, each once.
func (a Aspects) names() (names []string) {
	words := strings.Fields(a.content)
	for i, word := range words {
		bare := record.TrimWord(word)
		isName := i > 0 && bare != "I" && strings.ContainsFunc(bare, unicode.IsUpper)
		if isName || strings.ContainsFunc(bare, unicode.IsDigit) && !isQuantity(words, i) {
			names = append(names, strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(bare), "'s"), "’s"))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// beforeQuantity are words after which a number is what the text tells. After others it names something: "pump 2".
var beforeQuantity = map[string]bool{
	"is": true, "are": true, "was": true, "were": true, "at": true, "on": true, "for": true, "to": true, "from": true,
	"until": true, "costs": true, "weighs": true, "about": true, "has": true, "have": true, "with": true, "of": true,
	"in": true, "by": true, "after": true, "before": true, "now": true, "turned": true, "the": true, "a": true,
}

func isQuantity(words []string, i int) bool {
	return i > 0 && beforeQuantity[strings.ToLower(record.TrimWord(words[i-1]))]
}

// subject is the first word that is not a function word: what the text is about, mostly.
func (a Aspects) subject() string {
	stems := keyword.Stems(a.content)
	if len(stems) == 0 {
		return ""
	}
	return stems[0]
}

// figures are the quantities and times, sorted.
func (a Aspects) figures() (figures []string) {
	words := strings.Fields(a.content)
	for i, word := range words {
		bare := record.TrimWord(word)
		if strings.ContainsFunc(bare, unicode.IsDigit) && isQuantity(words, i) {
			figures = append(figures, strings.ToLower(bare))
		}
	}
	slices.Sort(figures)
	return figures
}

// turned reports whether the text negates something, or tells that it changed.
func (a Aspects) turned() bool {
	for stem := range a.stems {
		if turns[stem] {
			return true
		}
	}
	return slices.ContainsFunc(strings.Fields(strings.ToLower(a.content)), func(word string) bool {
		word = record.TrimWord(word)
		return word == "not" || word == "never" || word == "no" || strings.HasSuffix(word, "n't") ||
			strings.HasSuffix(word, "n’t")
	})
}

// common returns the number of stems that both have, and how many the shorter has.
func (a Aspects) common(b Aspects) (shared, shorter int) {
	for stem := range a.stems {
		if b.stems[stem] {
			shared++
		}
	}
	return shared, min(len(a.stems), len(b.stems))
}
