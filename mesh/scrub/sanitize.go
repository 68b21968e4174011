package scrub

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
)

// Sanitize makes content safe to store, show and search, without a change that a
// reader could see:
//
//   - the rule of [text.Plain] is applied: no invisible, reordering or control characters;
//   - canonically equivalent forms become one (NFC);
//   - blank lines at both ends and white space at the end of the last line go,
//     and indentation of the first line, unless it is that of code.
//
// Sanitize is idempotent.
func Sanitize(content string) string {
	content = trimOuter(content)
	for {
		next := trimOuter(norm.NFC.String(text.Plain(content)))
		if next == content {
			return content
		}
		content = next
	}
}

// trimOuter removes blank lines around text, white space at its end, and the
// first line's indentation unless the text is indented code of several lines.
func trimOuter(text string) string {
	text = strings.TrimRightFunc(text, unicode.IsSpace)
	for {
		nl := strings.IndexByte(text, '\n')
		if nl < 0 || strings.TrimSpace(text[:nl]) != "" {
			break
		}
		text = text[nl+1:]
	}
	if strings.Contains(text, "\n") && (strings.HasPrefix(text, "    ") || strings.HasPrefix(text, "\t")) {
		return text
	}
	return strings.TrimLeftFunc(text, unicode.IsSpace)
}
