package passage

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
)

// shortest is the length in characters from which it means something that one text contains another.
const shortest = 12

// Says reports whether body contains text in the same words, regardless of white space, letter case, bullets and
// invisible characters. A text of fewer than 12 characters must be a line of its own.
func Says(body, text string) bool {
	wanted := folded(text)
	if utf8.RuneCountInString(wanted) >= shortest {
		return strings.Contains(folded(body), wanted)
	}
	return wanted != "" && slices.ContainsFunc(strings.Split(body, "\n"), func(line string) bool {
		return folded(line) == wanted
	})
}

func folded(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Variation_Selector) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
	s = strings.TrimLeft(text.OneLine(s), "-*+#> ")
	return strings.TrimRight(s, ".!,;: ")
}
