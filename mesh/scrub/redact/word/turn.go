package word

import (
	"regexp"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/chars"
)

// The parts of what a program for chats writes before what somebody says.
const (
	clock    = `\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:[ \x{202f}]?[AaPp]\.?[Mm]\.?)?`
	day      = `\d{1,4}[./-]\d{1,2}(?:[./-]\d{1,4})?\.?,?[ T]`
	saidWhen = `[\[(]?(?:` + day + `)?` + clock + `[\])]?`
	speaker  = `\p{Lu}[\pL.'’-]{0,20}(?: \p{Lu}[\pL.'’-]{0,20}){1,2}|[\pL~@][\pL\d~@.'’_-]{0,20}`
)

// turn is the time and the name before what somebody says: "[12:04] Ana: ", "3/11/25, 18:02 - Ana: ", "12:04 <ana> ",
// "Ana [12:04]: ".
var turn = regexp.MustCompile(`^[ \t\x{200e}]*(?:` + saidWhen + `[ \t]+(?:[-–] )?(?:<[@+~]?(` + speaker + `)>:?|(` +
	speaker + `):)|(` + speaker + `),? ` + saidWhen + `:)[ \t]+`)

// levels are before the message of a log, where a chat has names.
var levels = text.Set(`info debug warn warning error err fatal trace notice critical panic`)

// TurnLength returns how many bytes at the beginning of a line tell who says the rest and when, 0 if it is no line of a
// chat with times.
func TurnLength(line string) int {
	const longest = 80
	begin := line[:min(len(line), longest)]
	if !HasDigit(begin) || !strings.ContainsAny(begin, ":>") {
		return 0
	}
	m := turn.FindStringSubmatchIndex(begin)
	if m == nil {
		return 0
	}
	for g := 2; g < len(m); g += 2 {
		if m[g] >= 0 && slices.ContainsFunc(strings.Fields(chars.LowerUnicode(line[m[g]:m[g+1]])), isTopic) {
			return 0
		}
	}
	return m[1]
}

// isTopic reports whether a word before a colon tells what the line is about, and not who says it.
func isTopic(low string) bool {
	clue := ClueOf(low)
	return levels[low] || clue.Named() || clue.Thing > 0
}

// WithoutTurns returns text with blanks in place of who says a line and when, of the same length.
func WithoutTurns(text string) string {
	var b []byte
	at := 0
	for line := range strings.SplitAfterSeq(text, "\n") {
		if n := TurnLength(line); n > 0 {
			if b == nil {
				b = []byte(text)
			}
			for i := at; i < at+n; i++ {
				b[i] = ' '
			}
		}
		at += len(line)
	}
	if b == nil {
		return text
	}
	return string(b)
}
