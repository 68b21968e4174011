package keyword

import (
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/yamo-protocol/yamo-mcp/mesh/named"
)

// Subject is a name or a few words that texts may mention.
type Subject struct {
	Text  string
	stems []string
	names []string        // of its words, in lower case, those that are written as names and are ordinary words too
	full  map[string]bool // all its words, in lower case
	name  named.Full      // if it is written as one
	named bool            // it has name
}

// ParseSubject parses a subject. ok is false if it has no words but function words.
func ParseSubject(text string) (s Subject, ok bool) {
	s.Text = strings.TrimSpace(text)
	s.full = map[string]bool{}
	s.name, s.named = named.ParseFull(s.Text)
	words := named.Words(s.Text)
	// No one wants every "will" and "may" forgotten, so those are names without a capital letter too.
	small := !slices.ContainsFunc(words, func(w named.Word) bool { return !named.MayBe(strings.ToLower(w.Text)) })
	for _, w := range words {
		low := strings.ToLower(w.Text)
		s.full[low] = true
		if (w.Capital && named.Ordinary(low) || small && named.Modal(low)) && !slices.Contains(s.names, low) {
			s.names = append(s.names, low)
		}
	}
	eachWord(s.Text, func(w string) {
		skipped := (function[w] || firstPerson[w]) && !slices.Contains(s.names, w)
		if x, _ := forms(w); !skipped && !slices.Contains(s.stems, x) {
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
	return stem(norm.NFC.String(word)), stem(named.Unaccented(word))
}

// firstPerson are words of a subject such as "my divorce" that texts about it do not need to have.
var firstPerson = map[string]bool{"i": true, "me": true, "my": true, "mine": true, "our": true, "us": true, "we": true}

// In reports whether a line of text may mention the subject. A subject that is a name is judged by named.Full. Of any
// other a line has every word but for function words, in any form and order. A word without accents also means the one
// with them: Falcao is Falcão, but José is not Jose. A name that is an ordinary word too is not found in its verb:
// "marked" is not Mark. Will and May are in a line where they begin with a capital letter.
func (s Subject) In(text string) bool {
	for line := range strings.Lines(text) {
		if s.named && s.name.In(line, named.Words(line)) > named.Absent || !s.name.Person() && s.inLine(line) {
			return true
		}
	}
	return false
}

func (s Subject) inLine(line string) bool {
	missing := len(s.stems)
	seen := make([]bool, len(s.stems))
	eachWritten(line, func(w string) {
		if missing == 0 {
			return
		}
		exact, plain := forms(strings.ToLower(w))
		i := slices.IndexFunc(s.stems, func(x string) bool { return x == exact || x == plain })
		if i >= 0 && !seen[i] && s.mayBe(s.stems[i], w) {
			seen[i] = true
			missing--
		}
	})
	return missing == 0
}

// mayBe reports whether a word, which has a stem of the subject, may be meant by it: where that is of a name, whether
// the word may be the name.
func (s Subject) mayBe(stem, word string) bool {
	is := false
	for _, name := range s.names {
		if x, _ := forms(name); x == stem {
			if mayBe(name, word) {
				return true
			}
			is = true
		}
	}
	return !is
}
