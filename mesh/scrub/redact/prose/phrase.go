package prose

import (
	"strings"
	"unicode"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/word"
)

// phraseAt returns the words from i on that a name of several words announces, and whether there are any.
func (p *passage) phraseAt(i, s int) (candidate, bool) {
	part := p.sentences[s]
	c := candidate{first: i, start: p.words[i].start, sentence: s, as: asPhrase}
	name := p.bestName(&c)
	if name < 4 {
		return c, false
	}
	seed := name >= 6 && p.hasSeed(s)
	if q := p.words[i].quote; q != 0 && q != '`' && !p.words[i].closed && p.phraseWord(i, i, false) {
		for k := i + 1; k < min(part.last, i+8); k++ {
			if p.words[k].clue.Named() || p.words[k].clue.Plain && !p.quotesPhrase(i, c.surest) {
				break
			}
			if p.words[k].closed {
				c.last, c.end, c.looks = k+1, p.words[k].end, 3
				c.told = k > i+1 && p.quotesPhrase(i, c.surest)
				join := p.joinBefore(&c)
				return c, c.told || join > notJoined && c.surest >= mostOfNames || join >= fairJoin && k > i+1
			}
		}
	}
	last := i
	for last < part.last && p.phraseWord(last, i, seed) {
		last++
		if after := p.words[last-1].after; after != blank && (!seed || after > comma) {
			break
		}
	}
	c.last = last
	n := last - i
	if n == 0 || n == 1 && i > part.first && p.words[i-1].low == "for" { // "it asks for confirmation"
		return c, false
	}
	c.end = p.words[last-1].end
	if p.words[last-1].signs > c.end && p.words[last-1].after != stop {
		c.end = p.words[last-1].signs
	}
	ends := p.words[last-1].after > blank || last == part.last || p.words[last].clue.Plain ||
		strings.HasPrefix(p.text[min(len(p.text)-1, p.words[last-1].signs):], " (")
	join := p.joinBefore(&c)
	whole := i == part.first && last == part.last && !part.turn && s+1 < len(p.sentences) &&
		p.reach(s, s+1) == nextSentence && n > 1 ||
		!seed && i == part.first && n > 2 && last < part.last && p.words[last].clue.Join == strongJoin && name > 5
	if !ends || join < fairJoin && !whole || !seed && join < strongJoin && !whole && (n < 3 || c.surest < mostOfNames) {
		return c, false
	}
	c.looks = p.phraseLooks(i, last, seed)
	short := n == 1 || n == 2 && c.surest < mostOfNames // a passphrase has more, unless its name is that of a word
	if short && !p.namesWords(s) || c.surest > mostOfNames && n < shortestSeed {
		c.looks = 0
	}
	return c, c.looks > 0
}

// quotesPhrase reports whether the quote before the word at i opens a passphrase that can have any words, because a
// sure name is joined to it: "the passphrase is 'seven geese borrowed my trombone'".
func (p *passage) quotesPhrase(i, surest int) bool {
	return surest >= mostOfNames && i > 0 && (p.words[i-1].low == "is" || p.words[i-1].low == "sentence" ||
		p.words[i-1].low == "phrase" || p.words[i-1].low == "words" || p.words[i-1].after == colon)
}

// shortestSeed is how many words a recovery phrase has at least.
const shortestSeed = 6

// hasSeed reports whether the sentence or the one before it names the recovery phrase of a wallet.
func (p *passage) hasSeed(s int) bool {
	for k := max(0, s-1); k <= s; k++ {
		for _, i := range p.sentences[k].names {
			if p.words[i].clue.Phrase > 6 {
				return true
			}
		}
	}
	return false
}

// namesWords reports whether the sentence or the one before it names a word that is spoken, such as a safe word.
func (p *passage) namesWords(s int) bool {
	for k := max(0, s-1); k <= s; k++ {
		for _, i := range p.sentences[k].names {
			if c := p.words[i].clue; c.Phrase >= 4 && c.Word >= 4 && c.Number == 0 {
				return true
			}
		}
	}
	return false
}

// phraseWord reports whether the word at i can be in a phrase that begins at first.
func (p *passage) phraseWord(i, first int, seed bool) bool {
	w := p.words[i]
	if w.signs-w.start > 20 || len(w.low) < 1 || w.quote != 0 && i > first {
		return false
	}
	if strings.Trim(w.low, "0123456789") == "" {
		return i > first && len(w.low) < 5
	}
	letters := !strings.ContainsFunc(w.low, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' })
	if seed {
		return letters && len(w.low) >= 3 && !word.IsSentenceWord(w.low)
	}
	return letters && !w.clue.Plain && w.clue.Join == 0 && !w.clue.Speech && !w.clue.Named() && w.clue.Against == 0
}

// phraseLooks returns the points of the words [first,last) as a phrase.
func (p *passage) phraseLooks(first, last int, seed bool) int {
	n := last - first
	upper, foreign, groups, common := 0, 0, 0, 0
	for _, w := range p.words[first:last] {
		if p.text[w.start] != w.low[0] {
			upper++
		}
		if !word.IsEnglish(w.low) {
			foreign++
			if len(w.low) == 4 {
				groups++
			}
		}
		if word.IsCommon(w.low) && w.low != "correct" { // as in "correct horse battery staple"
			common++
		}
	}
	switch {
	case seed:
		if n >= shortestSeed {
			return 3
		}
		return 0
	case n == 4 && groups >= 3: // qzkd wvbn ltrm phye
		return 6
	case n > 8 || common > 0 && n < 4 || common > 1, upper > 0 && upper < n:
		return 0
	case n >= 3:
		return 3
	}
	return n
}
