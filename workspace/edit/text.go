package edit

import (
	"strings"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
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

// oneLine is a text in one line, as the file's Change Log has it: without what a terminal would obey instead of
// showing it.
func oneLine(s string) string { return text.OneLine(text.Plain(s)) }
