package confidence

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxSentences is the maximum number of sentences of a query that are judged. Of a longer one, a prompt with logs for
// example, these are the first and the last: what is wanted is said at the beginning or at the end.
const maxSentences = 4

// Sentence is a sentence of a query. Each is judged by itself, and the query has the probability of its best one: a
// prompt may say many things, of which a memory answers one.
type Sentence struct {
	Text   string
	kind   kind
	people []string // whom it names of those that say a result, in lower case; see Hear
}

// kind is the kind of thing that a question asks for. Only English is recognized; other questions have none.
type kind int

const (
	anything kind = iota
	number
	moment
	name
	place
	reason
)

var ends = regexp.MustCompile(`[.?!]+\s+|[\n\r]+`)

// Sentences splits a query.
func Sentences(query string) []Sentence {
	var list []Sentence
	start := 0
	add := func(end int) {
		if text := strings.TrimSpace(query[start:end]); text != "" {
			list = append(list, Sentence{Text: text, kind: kindOf(text)})
		}
	}
	for _, at := range ends.FindAllStringIndex(query, -1) {
		add(at[1])
		start = at[1]
	}
	add(len(query))
	if len(list) > maxSentences {
		list = slices.Delete(list, maxSentences/2, len(list)-maxSentences/2)
	}
	return list
}

var kinds = []struct {
	kind kind
	asks *regexp.Regexp
}{
	{number, regexp.MustCompile(`(?i)\bhow (much|many|old|long|large|big|tall|heavy|far|often|fast|high|deep|wide|soon|` +
		`quickly|late|early|expensive)\b`)},
	{number, regexp.MustCompile(`(?i)\b(what|which)\b.*\b(number|price|costs?|amount|age|size|temperature|rate|code|` +
		`salary|` +
		`rent|fee|percentage|budget|version|pin|weight|height|speed|limit|distance|profit|grade|pressure|level|pulse)\b`)},
	{moment, regexp.MustCompile(`(?i)\bwhen\b|\b(what|which) (time|day|date|month|year|week|season)\b`)},
	{name, regexp.MustCompile(`(?i)\b(who|whom|whose)\b|\bnames? of\b|'s names?\b|\bnames?\?|\bcalled\?`)},
	{place, regexp.MustCompile(`(?i)\bwhere\b`)},
	{reason, regexp.MustCompile(`(?i)\bwhy\b`)},
}

// clause finds a "when" that introduces a clause instead of asking.
var clause = regexp.MustCompile(`(?i)\bwhen (I|we|you|he|she|they)\b`)

// kindOf returns the kind of thing that a question asks for. A "when"
// that introduces a clause asks for no time.
func kindOf(text string) kind {
	for _, k := range kinds {
		if k.asks.MatchString(text) && !(k.kind == moment && clause.MatchString(text)) {
			return k.kind
		}
	}
	return anything
}

// Expects returns the features Exact and Loose of a memory's text: whether it lacks what the sentence asks for. What
// the sentence contains itself does not count.
func (s Sentence) Expects(text string) (f Features) {
	if s.kind == anything {
		return f
	}
	said := map[string]bool{}
	for _, w := range words(s.Text) {
		said[strings.ToLower(w)] = true
	}
	for i, w := range words(text) {
		if lower := strings.ToLower(w); !said[lower] && s.kind.fits(w, lower, i) {
			return f
		}
	}
	if s.kind == number || s.kind == moment {
		f.Exact = -1
	} else {
		f.Loose = -1
	}
	return f
}

// fits reports whether a word, the one at index at of its text, is of kind k.
func (k kind) fits(word, lower string, at int) bool {
	first, _ := utf8.DecodeRuneInString(word)
	named := unicode.IsUpper(first) && !moments[lower]
	switch k {
	case number:
		return strings.IndexFunc(word, unicode.IsDigit) >= 0 || numerals[lower]
	case moment:
		return strings.IndexFunc(word, unicode.IsDigit) >= 0 || moments[lower]
	case name:
		return named && !function[lower] || relations[lower]
	case place:
		return named && at > 0 && lower != "i" || prepositions[lower]
	case reason:
		return reasons[lower]
	default:
		return true
	}
}

// content returns the indexes of the words that say what a sentence is about: all but function words. If it has no
// others, these count. A verb that asks what was said says nothing of what that was about.
func (s Sentence) content(names []string) []int {
	var content, all []int
	for i, word := range names {
		if strings.IndexFunc(word, isWord) < 0 {
			continue
		}
		all = append(all, i)
		if !function[word] && !light[word] && !asksToTell(names, i) {
			content = append(content, i)
		}
	}
	if len(content) == 0 {
		return all
	}
	return content
}

// asksToTell reports whether the word at index i is a verb with which a question asks what was said, or "remind me".
func asksToTell(names []string, i int) bool {
	if names[i] == "remind" {
		return i+1 < len(names) && names[i+1] == "me"
	}
	if !telling[names[i]] {
		return false
	}
	for k := i - 1; k >= max(0, i-2); k-- {
		if tellers[names[k]] {
			return true
		}
	}
	return false
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// words are the words and numbers of a text.
func words(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !isWord(r) })
}
