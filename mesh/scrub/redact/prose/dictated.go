package prose

import (
	"regexp"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/sensitive"
)

// Codes that are dictated have forms that hardly anything else has: digit by digit, in numbers of two digits, as the
// turns of a dial, with the keys of a keypad. No name or word needs to join them to what they open; it is enough that
// it is named nearby.

// opened are what has a code, in the singular, beside what a clue has a number for.
var opened = text.Set(`lock locker lockbox padlock safe vault keypad alarm intercom gate garage door cabinet drawer
	cupboard cashbox luggage suitcase trolley shed cellar strongbox keysafe tresor schloss schrank koffer tor tür spind
	coffre cadenas portail valise armoire candado maleta armario cajón cofre cadeado mala portão armário gaveta lucchetto
	cassaforte valigia cancello armadio kluis kast koffers`)

// keys are on a keypad, next to digits.
var keys = text.Set(`star hash pound asterisk sternchen raute étoile dièse asterisco almohadilla cancelletto cardinal`)

// dictated returns the codes of a passage that are dictated near what they open.
func (p *passage) dictated() (found []sensitive.Finding) {
	for s, part := range p.sentences {
		against := func(w term) bool { return w.clue.Against > 0 && !keys[w.low] }
		if part.code || slices.ContainsFunc(p.words[part.first:part.last], against) {
			continue
		}
		for i := part.first; i < part.last; i++ {
			last := p.dictatedAt(i, s)
			if last <= i {
				continue
			}
			found = append(found, sensitive.Password.At(p.words[i].start, p.words[last-1].end))
			i = last - 1
		}
	}
	return found
}

// dictatedAt returns where a code that is dictated from word i on ends, at most i for none.
func (p *passage) dictatedAt(i, s int) int {
	part := p.sentences[s]
	if i > part.first && p.words[i-1].clue.Other && p.words[i-1].after == blank && !p.words[i-1].clue.Adverb {
		return i
	}
	if last := p.notedAt(i, s); last > i {
		return last
	}
	last := p.spelledAt(i, part.last)
	if last <= i {
		last = p.spokenAt(i, s)
	}
	if last <= i {
		last = p.turnedAt(i, part.last)
	}
	if last <= i && p.isKeyed(i, s) {
		last = i + 1
	}
	if last <= i && p.isReply(i, s) {
		return i + 1
	}
	if last <= i || !p.opensNear(s) {
		return i
	}
	if last < part.last && p.words[last-1].after == blank {
		next := p.words[last]
		goesOn := slices.Contains(afterwards, next.low) || next.low == "then" || keys[next.low] ||
			i > part.first && next.clue.Plain
		if next.clue.Unit || !goesOn { // "one two three four testing"
			return i
		}
	}
	return last
}

// opensNear reports whether sentence s, or the one that it answers, names what has a code or what is done with one.
func (p *passage) opensNear(s int) bool {
	return slices.ContainsFunc(p.answering(s), func(w term) bool {
		c := w.clue
		return isOneOf(opened, w.low) || c.Thing > 0 && c.Number > 2 || c.Act > 1 && (c.Number > 0 || c.Join > 2)
	})
}

// answering returns the words of sentence s and of the one that it answers.
func (p *passage) answering(s int) []term {
	first, last := p.sentences[s].first, p.sentences[s].last
	if s > 0 && (p.sentences[s].turn || p.sentences[s-1].asks || last-first == 1) {
		first = p.sentences[s-1].first
	}
	return p.words[first:last]
}

// isOneOf reports whether a word, or what it is several of, is in a set.
func isOneOf(set map[string]bool, low string) bool {
	return set[low] || set[strings.TrimSuffix(low, "s")]
}

// spelledAt returns where digits end that begin at word i and are apart: 5-5-8-0, "3, 1, 4, 1", "0 4 7 2".
func (p *passage) spelledAt(i, last int) int {
	const least, most = 4, 10
	digit := func(v string) bool { return len(v) == 1 && v[0] >= '0' && v[0] <= '9' }
	if groups := strings.Split(p.words[i].low, "-"); len(groups) >= least-1 {
		if len(groups) <= most && !slices.ContainsFunc(groups, func(g string) bool { return !digit(g) }) {
			return i + 1
		}
		return i
	}
	end := i
	for end < last && digit(p.words[end].low) && p.words[end].quote == 0 {
		end++
		if p.words[end-1].after > comma {
			break
		}
	}
	if end-i < least || end-i > most || p.words[i].low == "1" && p.words[i+1].low == "2" && p.words[i+2].low == "3" {
		return i // too few, too many, or somebody counts
	}
	return end
}

// turnedAt returns where the turns of a dial end whose numbers are first: 22 right, 7 left, 31 right.
func (p *passage) turnedAt(i, last int) int {
	const least = 3
	end, found := i, 0
	for end < last {
		n := p.turnAt(end, last)
		if n == 0 {
			break
		}
		found++
		end += n
		if end < last && (p.words[end].low == "then" || p.words[end].low == "and") {
			end++
		}
	}
	if found < least {
		return i
	}
	return end
}

// shortTurn is a turn of a dial in short: R12.
var shortTurn = regexp.MustCompile(`^[lr]\d{1,2}$`)

// turnAt returns how many words from i on are one turn of a dial: 22 right, 12 à gauche, R12.
func (p *passage) turnAt(i, last int) int {
	switch {
	case shortTurn.MatchString(p.words[i].low):
		return 1
	case i+1 < last && p.isDialed(i) && turns[p.words[i+1].low]:
		return 2
	case i+2 < last && p.isDialed(i) && p.words[i+1].clue.Plain && turns[p.words[i+2].low]:
		return 3 //nolint:mnd // the words of it
	}
	return 0
}

// isKeyed reports whether the word at i is a number beside a key of a keypad: star 4471, 4471 then hash.
func (p *passage) isKeyed(i, s int) bool {
	part, w := p.sentences[s], p.words[i]
	if len(w.low) < 3 || len(w.low) > 8 || strings.Trim(w.low, "0123456789") != "" {
		return false
	}
	if i > part.first && keys[p.words[i-1].low] && p.words[i-1].after == blank {
		return true
	}
	k := i + 1
	for k < part.last && (p.words[k].low == "then" || p.words[k].low == "and" || p.words[k].low == "the") {
		k++
	}
	return k < part.last && keys[p.words[k].low]
}
