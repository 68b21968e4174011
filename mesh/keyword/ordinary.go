package keyword

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/mesh/named"
)

// "Prices rose" does not mention Rose, but "rose called" may. Where a subject is written as a name and is an ordinary
// word too, Surely tells the two apart, and what is left is in doubt: a person decides.

// Person reports whether the subject is the full name of a person.
func (s Subject) Person() bool { return s.name.Person() }

// MayDoubt reports whether In may find what Surely does not.
func (s Subject) MayDoubt() bool { return s.named || len(s.names) > 0 }

// Unsure returns the subject as one that means every form of its words, "" where nearly every text has one of them, and
// for the name of a person.
func (s Subject) Unsure() string {
	if s.name.Person() || slices.ContainsFunc(s.names, named.Modal) {
		return ""
	}
	return strings.ToLower(s.Text)
}

// Surely reports whether a line of text mentions the subject and each word of it that is an ordinary one too is surely
// the name somewhere in that line.
func (s Subject) Surely(text string) bool {
	if !s.MayDoubt() {
		return s.In(text)
	}
	for line := range strings.Lines(text) {
		switch {
		case s.named:
			if s.name.In(line, named.Words(line)) == named.Sure {
				return true
			}
		case s.inLine(line):
			words := named.Words(line)
			if !slices.ContainsFunc(s.names, func(name string) bool { return !named.In(line, words, name, s.full) }) {
				return true
			}
		}
	}
	return false
}

// mayBe reports whether a word with the stem of a name, which is in lower case, may be that name. A modal name must
// begin with a capital letter for that.
func mayBe(name, word string) bool {
	first, _ := utf8.DecodeRuneInString(word)
	if named.Modal(name) && !unicode.IsUpper(first) {
		return false
	}
	low := named.Unaccented(strings.ToLower(word))
	return low == name || !strings.HasSuffix(low, "ed") && !strings.HasSuffix(low, "ing")
}
