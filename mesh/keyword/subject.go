package keyword

import (
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
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
		if x, _ := forms(w); !function[w] && !firstPerson[w] && !slices.Contains(s.stems, x) {
			s.stems = append(s.stems, x)
		}
	})
	return s, len(s.stems) > 0
}

// forms returns the stem of a word, and that of the word without the accents of its letters. Marks of scripts in which
// they are vowels stay.
func forms(word string) (exact, plain string) {
	if !strings.ContainsFunc(word, func(r rune) bool { return r >= utf8.RuneSelf }) {
		exact = stem(word)
		return exact, exact
	}
	unaccented := strings.Map(func(r rune) rune {
		if r >= '\u0300' && r <= '\u036f' {
			return -1
		}
		return r
	}, norm.NFD.String(word))
	return stem(norm.NFC.String(word)), stem(norm.NFC.String(unaccented))
}

// firstPerson are words of a subject such as "my divorce" that texts about it do not need to have.
var firstPerson = map[string]bool{"i": true, "me": true, "my": true, "mine": true, "our": true, "us": true, "we": true}

// In reports whether a line of text has every word of the subject but for function words, in any form and order. A word
// without accents also means the one with them: Falcao is Falcão, but José is not Jose.
func (s Subject) In(text string) bool {
	for line := range strings.Lines(text) {
		missing := len(s.stems)
		seen := make([]bool, len(s.stems))
		eachWord(line, func(w string) {
			if missing == 0 {
				return
			}
			exact, plain := forms(w)
			i := slices.IndexFunc(s.stems, func(x string) bool { return x == exact || x == plain })
			if i >= 0 && !seen[i] {
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
