package similar

import (
	"regexp"
	"strings"
)

// Spoken is a text, whole and in its clauses, to find what was said before in other company.
type Spoken struct {
	whole   Aspects
	clauses []Aspects
}

const (
	// echoShare is the minimum share of a clause's content words in a text that repeats it.
	echoShare = .7
	// minEcho is the minimum number of content words of a clause that is looked for in another text, and minSaid that of
	// a clause that was said and is looked for within a longer text. Fewer words are in many texts.
	minEcho = 3
	minSaid = 4
)

// clauseEnds separate clauses: punctuation, and conjunctions that begin a clause.
var clauseEnds = regexp.MustCompile(`[.,;:!?()\n]+|\s[-–—]+\s|\b(?i:and|but|while|whereas|because|since|und|y|et|e)\b`)

// Spoke returns a text with its clauses.
func Spoke(text string) Spoken {
	s := Spoken{whole: Of(text)}
	for _, clause := range clauseEnds.Split(text, -1) {
		if clause = strings.TrimSpace(clause); clause != "" && clause != text {
			s.clauses = append(s.clauses, Of(clause))
		}
	}
	return s
}

// EchoedBy reports whether said may be where the text is from: said has nearly all content words of the text or of one
// of its clauses, or the text has nearly all of said or of a clause of it, whatever else it adds.
func (s Spoken) EchoedBy(said Spoken) bool {
	if s.whole.within(said.whole, 1) || said.whole.within(s.whole, minSaid) {
		return true
	}
	for _, clause := range s.clauses {
		if clause.within(said.whole, minEcho) {
			return true
		}
	}
	for _, clause := range said.clauses {
		if clause.within(s.whole, minSaid) {
			return true
		}
	}
	return false
}

// within reports whether b has nearly all of a's content words, of which there must be a number.
func (a Aspects) within(b Aspects, least int) bool {
	shared, _ := a.common(b)
	return len(a.stems) >= least && float64(shared) >= echoShare*float64(len(a.stems))
}
