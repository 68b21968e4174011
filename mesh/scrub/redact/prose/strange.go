package prose

import (
	"slices"
	"strings"
	"unicode"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/word"
)

// isStrange reports whether the word is none of English, in an English sentence, and can be a password all the same.
func (p *passage) isStrange(i, s int) bool {
	const shortest = 6
	w := p.words[i]
	letters := !strings.ContainsFunc(w.low, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' })
	if len(w.low) < shortest || !letters || isCompound(w.low) ||
		w.quote == '`' || word.IsEnglish(w.low) || word.IsCommon(w.low) || word.IsCode(w.low) {
		return false
	}
	if p.text[w.start:w.end] != w.low && p.text[w.start+1:w.end] != w.low[1:] { // a capital within
		return false
	}
	known, part := 0, p.sentences[s]
	if i+1 < part.last && w.after == blank && p.words[i+1].clue.Named() { // "the Mailchimp login"
		return false
	}
	if w.after == colon || i+1 < part.last && p.words[i+1].clue.Join > 0 && w.after == blank { // "grafana: the user is"
		return false
	}
	for _, o := range p.words[part.first:part.last] {
		if word.IsEnglish(o.low) || o.clue.Plain {
			known++
		}
	}
	return known*3 >= (part.last-part.first)*2 //nolint:mnd // two in three
}

// isCompound reports whether low is English words joined by hyphens: fire-proof.
func isCompound(low string) bool {
	return strings.Contains(low, "-") && !slices.ContainsFunc(strings.Split(low, "-"), func(w string) bool {
		return w != "" && !word.IsEnglish(w)
	})
}

// isArgument reports whether the value at text[start:end] is the last string of a call, after another one:
// flash("Wrong password", "danger").
func (p *passage) isArgument(start, end int) bool {
	if start == 0 || end+1 >= len(p.text) || p.text[end] != p.text[start-1] || p.text[end+1] != ')' {
		return false
	}
	before := strings.TrimRight(p.text[:start-1], " \t\n")
	return strings.HasSuffix(before, `",`) || strings.HasSuffix(before, "',")
}
