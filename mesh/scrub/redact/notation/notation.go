package notation

import (
	"regexp"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/chars"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/sensitive"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/word"
)

// Find returns the secrets in a text, in any order. Some can overlap.
func Find(text string) []sensitive.Finding {
	text = word.WithoutTurns(text)
	return append(findPasswords(text), findPairs(text)...)
}

// findPairs finds secrets that the text around them names: in markup, command lines, SQL, HTTP, code and tables.
func findPairs(text string) []sensitive.Finding {
	text = withoutLineNumbers(text)
	lower := chars.Lower(text)
	var found []sensitive.Finding
	for _, p := range pairs {
		if word.HasAny(lower, p.hints) {
			found = p.find(text, span{0, len(text)}, found)
		}
	}
	for _, list := range [][]pair{commands, places} {
		for _, p := range list {
			for _, near := range partsNear(lower, p.hints) {
				found = p.find(text, near, found)
			}
		}
	}
	if word.HasAny(lower, []string{"cookie:", "curl "}) {
		found = append(found, findCookies(text)...)
	}
	found = append(found, findCodeLists(text, lower)...)
	found = append(found, findRows(text, lower)...)
	found = append(found, findListedAccounts(text)...)
	mentions := mentionsIn(text, chars.LowerUnicode(text))
	found = append(found, findFields(text, mentions)...)
	found = append(found, findNamedValues(text, lower, mentions)...)
	return append(found, findCells(text, mentions)...)
}

// lineNumber is before a line that a search found: redis.conf:790: requirepass x.
var lineNumber = regexp.MustCompile(`(?m)^(?:[\w.~-]*/[\w./~-]+|[\w.-]+\.\w{1,6}):\d{1,6}(?::\d{1,4})?[:-][ \t]`)

// withoutLineNumbers returns text with blanks in place of the files and line numbers that begin lines.
func withoutLineNumbers(text string) string {
	found := []int(nil)
	for at := 0; ; {
		n := strings.IndexByte(text[at:], ':')
		if n < 0 {
			break
		}
		at += n + 1
		if at < len(text) && chars.IsDigit(text[at]) {
			found = append(found, at)
			break
		}
	}
	if found == nil {
		return text
	}
	list := lineNumber.FindAllStringIndex(text, -1)
	if len(list) == 0 {
		return text
	}
	b := []byte(text)
	for _, m := range list {
		for i := m[0]; i < m[1]; i++ {
			b[i] = ' '
		}
	}
	return string(b)
}
