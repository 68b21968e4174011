package edit

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxExcerpt is how much of a section is shown, in characters.
const maxExcerpt = 4000

// Excerpt is the beginning of a text, without blank lines around it.
func Excerpt(text string) string {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	if utf8.RuneCountInString(text) <= maxExcerpt {
		return text
	}
	runes := []rune(text)
	return string(runes[:maxExcerpt]) + "\n[truncated]"
}

// oneLine is a text in one line, without what a terminal would obey instead of showing it.
func oneLine(text string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return ' '
		}
		return r
	}, text)), " ")
}
