package keyword

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Name is a person's name.
type Name struct{ words []string }

// ParseName parses a name. ok is false if it has no letters or digits.
func ParseName(text string) (n Name, ok bool) {
	n.words = nameWords(text)
	return n, len(n.words) > 0
}

// In reports whether a text has the words of the name one after another, in any letter case, with or without accents.
// Of a name in a script without spaces, or of a Korean one, to which particles are attached, the characters are enough.
func (n Name) In(text string) bool {
	first, _ := utf8.DecodeRuneInString(n.words[0])
	if unicode.In(first, unspaced...) || unicode.Is(unicode.Hangul, first) {
		return strings.Contains(norm.NFKC.String(text), strings.Join(n.words, ""))
	}
	if isASCII(text) && !strings.Contains(strings.ToLower(text), n.words[0]) {
		return false
	}
	list := nameWords(text)
	for i := range list {
		if len(list)-i >= len(n.words) && slices.Equal(list[i:i+len(n.words)], n.words) {
			return true
		}
	}
	return false
}

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf })
}

// unaccented are the letters whose accents are no marks of their own.
var unaccented = strings.NewReplacer("ø", "o", "ł", "l", "đ", "d", "ð", "d", "ı", "i", "ß", "ss", "æ", "ae", "œ", "oe")

// nameWords returns the words of a text without accents, in lower case, and without the 's of "Jon's".
func nameWords(text string) []string {
	text = strings.ToLower(strings.ReplaceAll(text, "’", "'"))
	if !isASCII(text) {
		text = strings.Map(func(r rune) rune {
			if r >= '\u0300' && r <= '\u036f' {
				return -1
			}
			return r
		}, norm.NFKD.String(unaccented.Replace(text)))
		text = norm.NFKC.String(text)
	}
	list := strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) && r != '\''
	})
	words := list[:0]
	for _, w := range list {
		if w = strings.TrimSuffix(strings.Trim(w, "'"), "'s"); w != "" {
			words = append(words, w)
		}
	}
	return words
}
