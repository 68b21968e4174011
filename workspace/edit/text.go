package edit

import (
	"strings"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
)

// maxExcerpt is the maximum length of an excerpt in characters, without its mark.
const maxExcerpt = 4000

// Excerpt returns the first 4,000 characters of a text without blank lines around it, and a mark if that is not all.
func Excerpt(text string) string {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	if utf8.RuneCountInString(text) <= maxExcerpt {
		return text
	}
	runes := []rune(text)
	return string(runes[:maxExcerpt]) + "\n[truncated]"
}

// oneLine returns s in one line, as in the file's Change Log, without characters that a terminal would obey.
func oneLine(s string) string { return text.OneLine(text.Plain(s)) }

// maxReason is the maximum number of characters of a person's reason, as of those that the tools take.
const maxReason = 500

// checkReason returns a fault that names field for a reason that is too long or has a credential: the record keeps it.
func (e *Editor) checkReason(field, reason string) error {
	if n := utf8.RuneCountInString(reason); n > maxReason {
		return fault.New("%s: a reason has at most %d characters, and this has %d; nothing was changed", field, maxReason, n)
	}
	if err := e.opt.View.CheckText(reason); err != nil {
		return fault.New("%s: %v", field, err)
	}
	return nil
}
