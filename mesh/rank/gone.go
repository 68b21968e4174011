package rank

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh/keyword"
)

// "Linear replaced Jira." is what answers "Which issue tracker do we use?" after "We track issues in Jira.", though it
// shares no word with the question: it says that the answer of the older statement is gone. Such a statement is found
// by that answer, and needs no likeness to the older one.

var (
	// ends are verbs that end their object, with any subject.
	ends = text.Set("replace replaces replaced replacing supersede supersedes superseded succeeds succeeded renamed")
	// leaves are verbs whose object is gone for the subject.
	leaves = text.Set("dropped drop ditched cancelled canceled left quit abandoned stopped sold retired scrapped " +
		"removed gave")
	// denials deny a name or number after them: "Deploys go out on Tuesdays, never on Fridays".
	denials = text.Set("never not")
	// moves are verbs after which "from" comes before what is gone.
	moves = text.Set("moved moves moving migrated switched ported changed converted upgraded went going came raised " +
		"lowered rose fell dropped increased decreased increases up down extended pushed postponed shifted")
	// between are words between such a verb and its object.
	between = text.Set("a an the my our your his her their its on at in to using with by out of up for mr ms mrs dr " +
		"being old previous former")
	// subjects are pronouns by which a statement speaks of what another one is about.
	subjects = text.Set("i we they he she it you everyone")
	// nowGone is what comes after something that is gone.
	nowGone = regexp.MustCompile(`^\W*(?:(?:has|have|had|is|was|are|were|got)\s+)?` +
		`(?:retired|retiring|left|quit|gone|closed|discontinued|replaced|resigned|deprecated|stepped down|passed away|` +
		`died|shut down|no longer)\b|^\s*(?:→|->)`)
)

const (
	goneReach  = 5   // words before a value among which its verb is looked for
	goneLookup = 100 // maximum number of memories with a value that is looked up
	goneAmong  = 3   // best statements whose values are looked up
)

// gone reports whether newer says that something of older which the question does not name, its answer, is not so any
// more.
func (r *Candidates) gone(newer, older *statement) bool {
	values := r.values(older)
	if len(values) == 0 {
		return false
	}
	for _, sentence := range sentences.Split(newer.record.Content, -1) {
		if endsValue(sentence, values, older.stems) {
			return true
		}
	}
	return false
}

// sentences ends a sentence, or a part of one.
var sentences = regexp.MustCompile(`[.!?;:](?:\s+|$)|\n`)

// values returns the stems of a statement that the question does not have.
func (r *Candidates) values(s *statement) []string {
	return slices.DeleteFunc(slices.Clone(s.stems), func(stem string) bool {
		return firstPerson[stem] || slices.Contains(s.asked, stem)
	})
}

// endsValue reports whether a sentence says that one of the values is gone; about are the stems of the statement that
// has them.
func endsValue(sentence string, values, about []string) bool {
	words := strings.FieldsFunc(sentence, func(c rune) bool {
		return unicode.IsSpace(c) || strings.ContainsRune(`,"“”()`, c)
	})
	isValue := func(word string) bool {
		stems := keyword.Stems(word)
		return len(stems) > 0 && !slices.ContainsFunc(stems, func(stem string) bool { return !slices.Contains(values, stem) })
	}
	low := make([]string, len(words))
	for i, word := range words {
		low[i] = strings.ToLower(strings.Trim(word, `'’.!?…`))
	}
	for i, word := range words {
		if !isValue(word) {
			continue
		}
		if _, after, _ := strings.Cut(sentence, word); nowGone.MatchString(after) {
			return true
		}
		if endedBefore(low[:i], about, isNamed(i, word), func(j int) bool { return between[low[j]] || isValue(words[j]) }) {
			return true
		}
	}
	return false
}

// endedBefore reports whether words say that what follows them, which may be a name, is gone. skip reports whether the
// word at an index says nothing about that.
func endedBefore(words, about []string, isName bool, skip func(int) bool) bool {
	for j := len(words) - 1; j >= max(0, len(words)-goneReach); j-- {
		word, before := words[j], words[:j]
		switch {
		case ends[word]:
			return true
		case word == "from":
			moved := slices.ContainsFunc(before, func(w string) bool { return moves[w] })
			return tookOver(before) || moved && same(before, about)
		case word == "instead", word == "rid", word == "place":
			return slices.Contains(words[j:], "of")
		case word == "longer":
			return j > 0 && words[j-1] == "no" && same(before, about)
		case leaves[word], denials[word] && isName:
			return same(before, about)
		case !skip(j):
			return false
		}
	}
	return false
}

// tookOver reports whether words end with "took over".
func tookOver(words []string) bool {
	n := len(words)
	return n > 1 && words[n-1] == "over" && slices.Contains([]string{"took", "takes", "taking", "taken"}, words[n-2])
}

// same reports whether the words before a verb may name the subject of a statement with the stems of about: "Rui left
// Acme" says nothing of where somebody else works.
func same(words, about []string) bool {
	known := func(stem string) bool { return slices.Contains(about, stem) }
	return len(words) == 0 || slices.ContainsFunc(words, func(w string) bool {
		return subjects[w] || slices.ContainsFunc(keyword.Stems(w), known)
	})
}

// namedValues returns the values of a statement that are names or numbers.
func (r *Candidates) namedValues(s *statement) []string {
	values := r.values(s)
	list := namedIn(s.record.Content)
	return slices.DeleteFunc(list, func(stem string) bool { return !slices.Contains(values, stem) })
}

// namedIn returns the stems of the names and numbers of a text.
func namedIn(content string) (list []string) {
	for i, word := range strings.Fields(content) {
		if isNamed(i, word) {
			list = append(list, keyword.Stems(word)...)
		}
	}
	return list
}

// keepsValues reports whether newer has all names and numbers by which older may answer and none of its own, so that
// both are true: "Nora replaced the case of her Pixel 7".
func (r *Candidates) keepsValues(newer, older *statement) bool {
	named := r.namedValues(older)
	lacks := func(of *statement) func(string) bool {
		return func(stem string) bool { return !slices.Contains(of.stems, stem) }
	}
	return len(named) > 0 && !slices.ContainsFunc(named, lacks(newer)) &&
		!slices.ContainsFunc(namedIn(newer.record.Content), lacks(older))
}

// successors returns statements that are not among near and say that the answer of older is gone. Only names and
// numbers that few statements have are looked up.
func (r *Candidates) successors(older *statement, near []*statement) (found []*statement) {
	if older.turn {
		return nil
	}
	for _, stem := range r.namedValues(older) {
		for i, p := range r.parts {
			for _, doc := range p.Keywords.Mentioning(stem, goneLookup) {
				known := func(s *statement) bool { return s.part == i && s.doc == doc }
				if slices.ContainsFunc(near, known) || slices.ContainsFunc(found, known) || !p.admits(doc, r.filter) {
					continue
				}
				if s := r.statement(leader{part: i, doc: doc}); s.comparable && !s.turn && r.gone(s, older) {
					s.successor = true
					found = append(found, s)
				}
			}
		}
	}
	return found
}
