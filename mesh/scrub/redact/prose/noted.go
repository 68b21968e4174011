package prose

import (
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/redact/word"
)

// shut are those of them that are in texts without a code just as often.
var shut = text.Set(`gate garage door cabinet drawer cupboard shed cellar tor tür portail`)

// notedAt returns where a code ends that a note has right after what it opens and where that is: "padlock 3341",
// "key safe next to the boiler 0472", "side door, 8814, then push".
func (p *passage) notedAt(i, s int) int {
	const reach, most = 8, 2
	part := p.sentences[s]
	last := p.spelledAt(i, s)
	v := p.text[p.words[i].start:p.words[i].end]
	lettered, short := false, false
	if last <= i {
		digits := strings.Trim(v, "ABCDEFGHKX#*")
		lettered = len(digits) < len(v)
		if len(digits) < 3 || len(digits) > 6 || len(v)-len(digits) > most || strings.Trim(digits, "0123456789") != "" {
			return i
		}
		last, short = i+1, len(digits) < 4
	}
	if last < part.last && p.words[last-1].after < comma || isYearNumber(v) {
		return i
	}
	for k := i - 1; k >= max(part.first, i-reach); k-- {
		w := p.words[k]
		if k < i-1 && w.after > blank {
			return i
		}
		if k == i-1 && w.after == blank && isLockCode(w.low) {
			return last
		}
		lock := isOneOf(opened, w.low) && (!short || lettered || isOneOf(threeDigits, w.low))
		if lock && (!isOneOf(shut, w.low) || lettered && p.words[i-1].after == colon || p.entersNear(s)) {
			return last
		}
		placed := k > part.first && p.words[k-1].clue.Plain && p.words[k-1].after == blank // the noun after "the"
		if w.clue.Join > 0 || w.clue.Unit || !w.clue.Plain && (w.clue.Other || !placed && !sides[w.low] && !lock) {
			return i
		}
	}
	return i
}

// isLockCode reports whether a word is one for the code of what is opened: haustür-code, tresorcode.
func isLockCode(low string) bool {
	thing, ok := strings.CutSuffix(low, "code")
	if thing = strings.TrimRight(thing, "-"); !ok || thing == "" {
		return false
	}
	clue := word.ClueOf(thing)
	return isOneOf(opened, thing) || clue.Thing > 0 && clue.Number > 0
}

// threeDigits have combinations of three digits.
var threeDigits = text.Set(`lock padlock luggage suitcase schloss koffer cadenas valise candado maleta cadeado mala
	lucchetto valigia`)

// sides tell where a lock is.
var sides = text.Set(`downstairs upstairs outside inside front back left right main side next unten oben hinten vorne
	links rechts abajo arriba`)

// entersNear reports whether sentence s, or the one that it answers, is about how one comes in.
func (p *passage) entersNear(s int) bool {
	list := p.answering(s)
	for i, w := range list {
		if entering[w.low] || w.low == "in" && i > 0 && strings.HasPrefix(list[i-1].low, "get") {
			return true
		}
	}
	return false
}

// entering are what is done to come in.
var entering = text.Set(`push press punch dial enter keypad buzz drücken drück drücke pousser poussez empurra empurrar
	empuja empujar spingi spingere`)

// Words around what is said to what asks for it.
var (
	whens   = text.Set(`when if once wenn sobald falls quand si quando se cuando als zodra`)
	asksFor = text.Set(`asks prompts wants asked fragt demande pergunta pide chiede vraagt`)
	replies = text.Set(`accept allow always approve cancel close confirm continue decline default delete dismiss everything
		ignore later never nothing refuse reject repeat retry upgrade update immer nicht jamais toujours nunca siempre
		sempre`)
)

// isReply reports whether the word at i is all that is said to what asks for it: "when Dropbox asks: swordfish!"
func (p *passage) isReply(i, s int) bool {
	const shortest, reach = 5, 6
	part, w := p.sentences[s], p.words[i]
	if i < part.first+3 || i+1 != part.last || len(w.low) < shortest || replies[w.low] || !word.IsLetters(w.low) ||
		p.words[i-1].after != colon {
		return false
	}
	asks := i - 1
	if low := p.words[asks].low; low == "it" || low == "one" || low == "me" {
		asks--
	}
	if !asksFor[p.words[asks].low] {
		return false
	}
	before := p.words[max(part.first, i-reach):asks]
	return slices.ContainsFunc(before, func(o term) bool { return whens[o.low] }) &&
		slices.ContainsFunc(before, func(o term) bool {
			return o.clue.Thing > 0 && (o.clue.Word > 0 || p.text[w.start] == w.low[0]) // "when the phone asks: English"
		})
}
