package keyword

import (
	"slices"
	"strings"
)

// Subject is a name or a few words that texts may mention.
type Subject struct {
	Text  string
	stems []string
}

// ParseSubject parses a subject. ok is false if it has no words but function words.
func ParseSubject(text string) (s Subject, ok bool) {
	s.Text = strings.TrimSpace(text)
	eachWord(s.Text, func(w string) {
		if x := stem(w); !function[w] && !firstPerson[w] && !slices.Contains(s.stems, x) {
			s.stems = append(s.stems, x)
		}
	})
	return s, len(s.stems) > 0
}

// firstPerson are words of a subject such as "my divorce" that texts about it do not need to have.
var firstPerson = map[string]bool{"i": true, "me": true, "my": true, "mine": true, "our": true, "us": true, "we": true}

// In reports whether a line of text has every word of the subject but for function words, in any form and order.
func (s Subject) In(text string) bool {
	for line := range strings.Lines(text) {
		missing := len(s.stems)
		seen := make([]bool, len(s.stems))
		eachWord(line, func(w string) {
			if missing == 0 {
				return
			}
			if i := slices.Index(s.stems, stem(w)); i >= 0 && !seen[i] {
				seen[i] = true
				missing--
			}
		})
		if missing == 0 {
			return true
		}
	}
	return false
}
