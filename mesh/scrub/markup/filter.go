package markup

import (
	"strings"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/chars"
)

// boilerplate are paragraphs that say nothing, in lower case.
var boilerplate = map[string]bool{
	"skip to content": true, "skip to main content": true, "skip to navigation": true, "back to top": true,
	"accept all cookies": true, "accept cookies": true, "cookie settings": true, "manage cookies": true,
	"we use cookies":      true,
	"all rights reserved": true, "all rights reserved.": true, "advertisement": true, "share this": true,
	"share this article":  true,
	"sent from my iphone": true, "sent from my ipad": true, "sent from my android device": true,
	"get outlook for ios": true, "get outlook for android": true,
	"subscribe to our newsletter": true, "click here to unsubscribe": true, "unsubscribe": true,
}

// duplicateWords is how long a paragraph must be for its repetition to be
// noise: short ones are repeated on purpose.
const duplicateWords = 8

// Filter is stage 2, semantic filtering (RFC-0011 §6.1): it removes
// paragraphs that add nothing.
//
//   - The repetition of an earlier paragraph of at least eight words.
//   - Boilerplate: a paragraph that is nothing but a known phrase.
//   - Paragraphs without signal: lines of "====" or "* * *".
//
// Code, tables and lists stay. A text that would be empty stays whole.
func Filter(src string) string {
	blocks := Blocks(src)
	if len(blocks) < 2 {
		return src
	}
	seen := make(map[string]bool)
	var b strings.Builder
	kept, cutAny := 0, false
	for i, bl := range blocks {
		s := src[bl.Start:bl.End]
		if bl.Kind == Prose && (noise(s) || seen[s] && len(strings.Fields(s)) >= duplicateWords) {
			cutAny = true
			continue
		}
		seen[s] = true
		if kept > 0 {
			// The white space before this block.
			b.WriteString(src[blocks[i-1].End:bl.Start])
		}
		b.WriteString(s)
		kept++
	}
	if !cutAny || kept == 0 {
		return src
	}
	return b.String()
}

// noise reports whether a paragraph is boilerplate or has no signal.
func noise(s string) bool {
	t := strings.TrimSpace(s)
	return boilerplate[chars.Lower(t)] || len(t) >= 4 && strings.Trim(t, "-=_*~#.·•─━═+| \t") == ""
}
