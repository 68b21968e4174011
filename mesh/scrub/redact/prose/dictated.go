package prose

import (
	"regexp"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/chars"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/sensitive"
)

// Codes that are dictated have forms that hardly anything else has: digit by digit, in numbers of two digits, as the
// turns of a dial, with the keys of a keypad. No name or word needs to join them to what they open; it is enough that
// it is named nearby.

// opened are what has a code, in the singular, beside what a clue has a number for.
var opened = text.Set(`lock locker lockbox padlock safe vault keypad alarm intercom gate garage door cabinet drawer
	cupboard toolbox cashbox luggage suitcase trolley shed cellar strongbox keysafe tresor schloss schrank
	koffer tor tür spind coffre cadenas portail valise armoire candado maleta armario cajón cofre cadeado mala
	portão armário gaveta lucchetto cassaforte valigia cancello armadio kluis kast koffers`)

// keys are on a keypad, next to digits.
var keys = text.Set(`star hash pound asterisk sternchen raute étoile dièse asterisco almohadilla cancelletto cardinal`)

// dictated returns the codes of a passage that are dictated near what they open, and what is said to what asks.
func (p *passage) dictated() (found []sensitive.Finding) {
	for s, part := range p.sentences {
		if part.code {
			continue
		}
		opens := p.opensNear(s)
		for i := part.first; i < part.last; i++ {
			last := i
			if opens {
				last = p.dictatedAt(i, s)
			}
			if last <= i && (p.isReply(i, s) || p.isSentence(i, s) && p.isKeyed(i, s)) {
				last = i + 1
			}
			if last > i {
				found = append(found, sensitive.Password.At(p.words[i].start, p.words[last-1].end))
				i = last - 1
			}
		}
	}
	return found
}

// isSentence reports whether the word at i is all that somebody answers.
func (p *passage) isSentence(i, s int) bool {
	part := p.sentences[s]
	return part.turn && part.last-part.first == 1 && i == part.first && s > 0 && p.sentences[s-1].asks
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
	last := i
	for _, form := range []func(i, s int) int{p.spelledAt, p.combinedAt, p.spokenAt, p.turnedAt, p.keyedAt} {
		if last = form(i, s); last > i {
			break
		}
	}
	if last < part.last && last > i && p.words[last-1].after == blank {
		next := p.words[last]
		then := next.low == "then" || next.low == "and" && last+1 < part.last && p.words[last+1].low == "then"
		goesOn := slices.Contains(afterwards, next.low) || then || keys[next.low] || i > part.first && next.clue.Plain
		if next.clue.Unit || !goesOn { // "one two three four testing"
			return i
		}
	}
	return last
}

// opensNear reports whether sentence s, or the one that it answers, names what has a code or what is done with one, and
// nothing speaks against it.
func (p *passage) opensNear(s int) bool {
	part := p.sentences[s]
	if part.against > 0 && slices.ContainsFunc(p.words[part.first:part.last], func(w term) bool {
		return w.clue.Against > 0 && !keys[w.low]
	}) {
		return false
	}
	return slices.ContainsFunc(p.answering(s), func(w term) bool {
		c := w.clue
		typed := c.Act > 1 && (c.Number > 0 || c.Join > 2 && part.thing > 0) || entering[w.low] && w.low != "enter"
		return isOneOf(opened, w.low) || c.Thing > 0 && c.Number > 2 || typed || isLockCode(w.low)
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
func (p *passage) spelledAt(i, s int) int {
	last := p.sentences[s].last
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
	if end-i < least || end-i > most || p.counts(i, end) {
		return i
	}
	return end
}

// turnedAt returns where the turns of a dial end whose numbers are first: 22 right, 7 left, 31 right.
func (p *passage) turnedAt(i, s int) int {
	last := p.sentences[s].last
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

// digitWords are the digits, in order.
var digitWords = strings.Fields("zero one two three four five six seven eight nine")

// counts reports whether words that are digits count up or down.
func (p *passage) counts(i, last int) bool {
	value := func(k int) int {
		if n := slices.Index(digitWords, p.words[k].low); n >= 0 {
			return n
		}
		return int(p.words[k].low[0] - '0')
	}
	step := value(i+1) - value(i)
	for k := i + 1; k < last; k++ {
		if value(k)-value(k-1) != step {
			return false
		}
	}
	return step == 1 || step == -1
}

// dialCode is the combination of a lock whose numbers have up to two digits.
var dialCode = regexp.MustCompile(`^\d{1,2}(?:-\d{1,2}){2,3}$`)

// combinedAt returns where the combination of a lock ends that begins at word i: "opens at 27-3-40". It is no date,
// because something turns or opens.
func (p *passage) combinedAt(i, s int) int {
	opens := func(w term) bool { return opening[w.low] || w.clue.Number > 3 && w.clue.Thing == 0 }
	locks := func(w term) bool { return isOneOf(opened, w.low) && !isOneOf(shut, w.low) }
	part := p.sentences[s]
	list := p.words[part.first:part.last]
	if i+1 < part.last && months[p.words[i+1].low[:min(3, len(p.words[i+1].low))]] ||
		!dialCode.MatchString(p.words[i].low) || !slices.ContainsFunc(list, opens) || !slices.ContainsFunc(list, locks) {
		return i
	}
	return i + 1
}

// months are how the names of months begin.
var months = text.Set(`jan feb mar apr may mai jun jul aug sep oct okt nov dec dez`)

// opening is what a lock does and what is done with it.
var opening = text.Set(`open opens opened spin dial turn unlocks combo combination öffnet dreh drehen ouvre abre apre`)

// shortTurn is a turn of a dial in short: R12.
var shortTurn = regexp.MustCompile(`^[lr]\d{1,2}$`)

// turnAt returns how many words from i on are one turn of a dial: 22 right, 12 à gauche, R12.
func (p *passage) turnAt(i, last int) int {
	switch {
	case shortTurn.MatchString(p.words[i].low):
		return 1
	case i+1 < last && p.isDialed(i) && turns[p.words[i+1].low],
		i+1 < last && (p.words[i].low == "r" || p.words[i].low == "l") && p.isDialed(i+1): // R 12
		return 2
	case i+2 < last && p.isDialed(i) && p.words[i+1].clue.Plain && turns[p.words[i+2].low]:
		return 3 //nolint:mnd // the words of it
	}
	return 0
}

// keyedAt returns where a number beside a key of a keypad ends that is at word i.
func (p *passage) keyedAt(i, s int) int {
	if p.isKeyed(i, s) {
		return i + 1
	}
	return i
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
	if after := chars.At(p.text, w.end); after == '#' && chars.At(p.text, w.end+1) <= ' ' {
		return true
	}
	k := i + 1
	for k < part.last && (p.words[k].low == "then" || p.words[k].low == "and" || p.words[k].low == "the") {
		k++
	}
	return k < part.last && keys[p.words[k].low]
}
