package rank

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh/confidence"
	"github.com/yamo-protocol/yamo-mcp/mesh/keyword"
)

var (
	// others are people beside the one that a statement is about: "Ana's sister moved to Porto" says nothing of Ana.
	others = regexp.MustCompile(`(?i)\b(wife|husband|brother|sister|mother|father|mum|mom|dad|son|daughter|cousin|` +
		`neighbou?r|friend|colleague|boss|partner|uncle|aunt|niece|nephew|grandma|grandpa|grandmother|grandfather|` +
		`boyfriend|girlfriend|roommate|flatmate|in-law)\b`)
	// determiners begin what a noun ends.
	determiners = text.Set("the a an my our your his her its their s")
	// possessive begins what a statement is about with whom or what that belongs to: "Osprey's frontend".
	possessive = regexp.MustCompile(`['’]s\s`)
)

// succeeds reports whether newer is more likely than not what became of older, as an answer to the query. shared is the
// number of stems that they have in common, changes whether newer tells of a change. The coefficients are those of a
// logistic regression on pairs of statements (docs/ranking.md), rounded.
func (r *Candidates) succeeds(newer, older *statement, shared int, changes bool) bool {
	only := func(has func(string) bool) float64 {
		return number(has(newer.record.Content) && !has(older.record.Content))
	}
	odds := -4.8 + 7.5*float64(cosine(newer.vector, older.vector)) +
		5.9*float64(newer.cosine-older.cosine) +
		3.5*float64(shared)/float64(max(1, min(len(newer.stems), len(older.stems)))) +
		.3*number(changes) -
		1.9*only(others.MatchString)*number(!others.MatchString(r.text)) -
		1.1*only(possessive.MatchString) -
		2.2*only(r.lacksAnswer) +
		.7*r.hasOwnName(newer, older) - .4*r.hasOwnName(older, newer)
	return odds > 0 && !r.substitutes(newer, older)
}

// substitutes reports whether newer has something else where older has a word of the query, in the same words: "Rui's
// son is called Gil" for "Rui's daughter is called Lia", if the query asks for the daughter.
func (r *Candidates) substitutes(newer, older *statement) bool {
	said, other := framed(older.record.Content), framed(newer.record.Content)
	for i := 1; i < len(said)-1; i++ {
		stems := keyword.Stems(said[i])
		if len(stems) == 0 || !slices.Contains(older.asked, stems[0]) || slices.Contains(newer.stems, stems[0]) {
			continue
		}
		for j := range len(other) - 1 {
			noun := determiners[said[i-1]] && j > 0 && i > 1 && other[j-1] == said[i-2]
			if other[j] == said[i-1] && (noun || slices.Contains(other[j+2:min(j+4, len(other))], said[i+1])) {
				return true
			}
		}
	}
	return false
}

// framed returns the words of a text in lower case, between marks of its beginning and end.
func framed(content string) []string {
	words := strings.FieldsFunc(strings.ToLower(content), func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c)
	})
	return slices.Concat([]string{"^"}, words, []string{"$"})
}

// lacksAnswer reports whether a text has nothing of the kind that the query asks for, such as a number.
func (r *Candidates) lacksAnswer(text string) bool {
	return slices.ContainsFunc(r.querySentences(), func(s confidence.Sentence) bool {
		f := s.Expects(text)
		return f.Exact < 0 || f.Loose < 0
	})
}

// querySentences returns the sentences of the query.
func (r *Candidates) querySentences() []confidence.Sentence {
	if r.asks == nil {
		r.asks = confidence.Sentences(r.text)
	}
	return r.asks
}

// hasOwnName is 1 if a statement has a name or number that neither the other one nor the query has, otherwise 0.
func (r *Candidates) hasOwnName(s, other *statement) float64 {
	return number(slices.ContainsFunc(namedIn(s.record.Content), func(stem string) bool {
		return !slices.Contains(other.stems, stem) && !slices.Contains(s.asked, stem)
	}))
}

// number is 1 for true and 0 for false.
func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
