package similar

import (
	"regexp"
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
	if d.alternatives(a, b) || a.exchanges(b) || a.ceases(b) || b.ceases(a) {
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

// ceased ends before what someone does no more; without a verb only "gave up" and "quit" say what.
var ceased = regexp.MustCompile(`(?i)\b(?:(stopped|no longer)|quit|gave up|has given up)\b`)

// reason begins since when, or why, something ceased.
var reason = regexp.MustCompile(`(?i)\b(since|because|as of)\b`)

// passing are stems of words for when something ceased.
var passing = stemsOf("january february march april may june july august september october november december year " +
	"month week ago last yesterday today spring summer autumn winter")

// ceases reports whether a tells that what b tells is over: it names the same verb and object after "stopped", "no
// longer", "quit" or "gave up". Two texts with an object of their own each after that are about different things: the
// bus to work, the bus to the gym.
func (a Aspects) ceases(b Aspects) bool {
	m := ceased.FindStringSubmatchIndex(a.content)
	if m == nil || ceased.MatchString(b.content) || b.turned() {
		return false
	}
	rest := a.content[m[1]:]
	if why := reason.FindStringIndex(rest); why != nil {
		rest = rest[:why[0]]
	}
	told := keyword.Stems(rest)
	least := 1
	if m[2] >= 0 {
		least = 2 // a verb, and what it is done to
	}
	what := told[:min(2, len(told))]
	if len(what) < least {
		return false
	}
	more := false
	for i, stem := range told {
		isDigits := strings.ContainsFunc(stem, unicode.IsDigit)
		switch {
		case b.stems[stem], i >= least && (passing[stem] || isDigits):
		case i < least:
			return false
		default:
			more = true
		}
	}
	if !more {
		return true
	}
	for stem := range b.stems {
		if stem != b.subject() && !slices.Contains(told, stem) {
			return false
		}
	}
	return true
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
