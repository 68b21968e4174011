// Package cite is what an item of evidence quotes (seed 004 §5): it finds the passage of a workspace file and the turn
// of a session log that a token leads to, and checks that a quote occurs in its source.
//
// Its invariant: a token of a passage or a turn contains a keyed hash, never the text, so that who reads the token
// cannot confirm a guess at a text that was deleted. It writes nothing, and is for direct conversations only.
package cite

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// Occurs reports whether a source contains a quote, white space and letter case aside. The quote may leave out the
// punctuation around it, but begins and ends with whole words.
func Occurs(source, quote string) bool {
	source, quote = plain(source), strings.Trim(plain(quote), " .,;:!?…")
	if quote == "" {
		return false
	}
	for at := 0; ; {
		i := strings.Index(source[at:], quote)
		if i < 0 {
			return false
		}
		i += at
		before, _ := utf8.DecodeLastRuneInString(source[:i])
		first, size := utf8.DecodeRuneInString(quote)
		last, _ := utf8.DecodeLastRuneInString(quote)
		after, _ := utf8.DecodeRuneInString(source[i+len(quote):])
		if !joined(before, first) && !joined(last, after) {
			return true
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

// Item returns an item of evidence as a file has it, given the texts that it cites: as it is if each of its quotes
// occurs in one of them, between quotation marks if it has none and occurs as a whole, and else as a paraphrase.
// faithful is false for a paraphrase.
func Item(item string, sources []string) (written string, faithful bool) {
	in := func(quote string) bool {
		return slices.ContainsFunc(sources, func(source string) bool { return Occurs(source, quote) })
	}
	said := strings.TrimSpace(tokens.ReplaceAllString(item, ""))
	quotes := grammar.Quotes(said)
	switch {
	case grammar.IsParaphrase(item):
		return item, false
	case len(quotes) == 0 && in(said):
		refs := strings.Trim(strings.Join(tokens.FindAllString(item, -1), ", "), " ()")
		return `"` + said + `" (` + refs + ")", true
	case len(quotes) == 0 || slices.ContainsFunc(quotes, func(quote string) bool { return !in(quote) }):
		return grammar.Paraphrase(item), false
	}
	return item, true
}
