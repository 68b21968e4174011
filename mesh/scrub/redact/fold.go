package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// folded is a text as the detectors read it: compatibility forms are the characters that they mean (NFKC), and digits
// of all scripts are ASCII's, so that "４１１１" and "٤١١١" are digits of a card.
type folded struct {
	text   string
	source []int // for each byte of text, the offset in the original of the character that it is of; nil if both are equal
}

// fold returns text folded.
func fold(text string) folded {
	if norm.NFKC.IsNormalString(text) && !strings.ContainsFunc(text, isForeignDigit) {
		return folded{text: text}
	}
	var b strings.Builder
	b.Grow(len(text))
	source := make([]int, 0, len(text))
	for i, r := range text {
		switch {
		case r < utf8.RuneSelf:
			b.WriteByte(text[i])
		case isForeignDigit(r):
			b.WriteByte('0' + digitOf(r))
		case r == utf8.RuneError: // as it is, if it is a broken byte
			_, n := utf8.DecodeRuneInString(text[i:])
			b.WriteString(text[i : i+n])
		default:
			b.WriteString(norm.NFKC.String(string(r)))
		}
		for len(source) < b.Len() {
			source = append(source, i)
		}
	}
	return folded{b.String(), source}
}

// original returns where in original, the text before folding, a finding in the folded text is.
func (f folded) original(original string, found Finding) Finding {
	if f.source == nil || found.Start >= found.End {
		return found
	}
	last := f.source[found.End-1]
	_, n := utf8.DecodeRuneInString(original[last:])
	return found.Kind.At(f.source[found.Start], last+n)
}

// isForeignDigit reports whether r is a decimal digit of another script than Latin.
func isForeignDigit(r rune) bool { return r >= utf8.RuneSelf && unicode.Is(unicode.Nd, r) }

// digitOf returns the value of a decimal digit. Unicode encodes the ten of a script in order, so each range of digits
// begins with a zero.
func digitOf(r rune) byte {
	first := r
	for unicode.Is(unicode.Nd, first-1) {
		first--
	}
	return byte((r - first) % 10) //nolint:gosec // below 10
}
