// Package cite is what an item of evidence quotes (seed 004 §5): it finds the passage of a workspace file and the turn
// of a session log that a token leads to, and checks that a quote occurs in its source.
//
// Its invariant: a token of a passage or a turn contains a keyed hash, never the text, so that who reads the token
// cannot confirm a guess at a text that was deleted. It writes nothing, and is for direct conversations only.
package cite

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// Occurs reports whether a source contains a quote, white space and letter case aside. The quote may leave out the
// punctuation around it, but begins and ends with whole words.
func Occurs(source, quote string) bool { return len(occurrences(plain(source), trimmed(quote))) > 0 }

// trimmed returns a quote as plain returns it, without the punctuation around it.
func trimmed(quote string) string { return strings.Trim(plain(quote), " .,;:!?…") }

// occurrences returns where in source a quote is in whole words; both are plain.
func occurrences(source, quote string) (list []int) {
	if quote == "" {
		return nil
	}
	first, size := utf8.DecodeRuneInString(quote)
	last, _ := utf8.DecodeLastRuneInString(quote)
	for at := 0; ; {
		i := strings.Index(source[at:], quote)
		if i < 0 {
			return list
		}
		i += at
		before, _ := utf8.DecodeLastRuneInString(source[:i])
		after, _ := utf8.DecodeRuneInString(source[i+len(quote):])
		if !joined(before, first) && !joined(last, after) {
			list = append(list, i)
		}
		at = i + size
	}
}

// joined reports whether two neighbours are of one word. Scripts without letter case may write words without spaces.
func joined(a, b rune) bool {
	inWord := func(r rune) bool { return unicode.IsLower(r) || unicode.IsDigit(r) }
	return inWord(a) && inWord(b)
}

// plain returns a text in lower case and Unicode normal form C, in one line, without invisible characters.
func plain(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Variation_Selector) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFC.String(s))
	return text.OneLine(s)
}

// tokens matches the parentheses with the references of an item.
var tokens = regexp.MustCompile(`\s*\(?\bev:[0-9A-Za-z:_-]*(,\s*ev:[0-9A-Za-z:_-]*)*\)?`)

// Item returns an item of evidence as a file has it, given the texts that it cites: as it is if one of them proves it
// (see Proves), between quotation marks if it has none and is proved as a whole, and else as a paraphrase. faithful is
// false for a paraphrase.
func Item(item string, sources []string) (written string, faithful bool) {
	said := strings.TrimSpace(tokens.ReplaceAllString(item, ""))
	switch {
	case grammar.IsParaphrase(item):
		return item, false
	case Proves(item, sources):
		return item, true
	case len(grammar.Quotes(said)) > 0:
		return grammar.Paraphrase(item), false
	}
	refs := strings.Trim(strings.Join(tokens.FindAllString(item, -1), ", "), " ()")
	if quoted := `"` + said + `" (` + refs + ")"; Proves(quoted, sources) {
		return quoted, true
	}
	return grammar.Paraphrase(item), false
}
