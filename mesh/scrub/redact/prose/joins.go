package prose

import (
	"slices"
	"strings"
)

// joinBefore returns the points for what is between a candidate and what is before it.
func (p *passage) joinBefore(c *candidate) int {
	part := p.sentences[c.sentence]
	alone := c.first == part.first && c.last == part.last
	if c.start > p.words[c.first].start { // admin/x
		return strongJoin
	}
	for i, skipped := c.first-1, 0; ; i-- {
		if i < part.first {
			return p.joinOfFirst(c, alone)
		}
		w := p.words[i]
		switch {
		case w.after == colon:
			counts := w.clue.Other && !w.clue.Adverb && !(w.clue.Speech && i == part.first) // "room: 4471"
			if i == c.first-1 && (c.as == asNumber && counts || w.clue.Label && !w.clue.Plain) {
				return otherwise
			}
			if i == c.first-1 && c.as == asNumber && w.clue.Thing > 0 && w.clue.Number > 2 { // "safe: 27-41-08"
				return strongJoin + 1
			}
			return strongJoin
		case w.after == comma && p.isAppended(c, i):
			return max(fairJoin, p.accountBefore(i, part.first))
		case w.after == slash && (w.clue.User || p.text[max(0, w.start-1)] == '('):
			return strongJoin
		case w.after == slash:
			return fairJoin
		case i == c.first-1 && w.clue.Other && w.clue.Adverb && c.as == asWord && c.looks < 6: // "it is in Dashlane"
			return notJoined
		case i == c.first-1 && w.clue.Other && w.clue.Adverb && c.looks > 4:
			return weakJoin // "the lock is on 2-5-8-0"
		case i == c.first-1 && w.clue.Other && w.clue.Join == 0 && (c.as == asNumber || len(w.low) > 3):
			return otherwise
		case w.clue.Join > 0 && w.after == blank:
			return p.joinOf(i, part.first, c.as)
		case w.clue.Adverb && w.after == blank && skipped < 4:
			if skipped++; w.clue.Other && (c.as == asPhrase || c.as == asWord && c.looks < 2) { // "keys are in the little box"
				return notJoined
			}
		case w.clue.Named() && w.clue.Thing == 0 && w.after <= comma:
			return fairJoin
		case w.clue.Speech:
			if skipped++; i == part.first {
				return p.joinOfFirst(c, true)
			}
		case w.clue.Thing > 0 && i == c.first-1 && c.as == asNumber && c.looks > 5: // "keypad 9-0-2-6"
			return fairJoin
		case w.after == comma, w.clue.Thing > 0 && i == c.first-1 && p.nameBefore(i, part.first):
			return weakJoin
		case w.clue.Act > 0:
			return max(w.clue.Join, weakJoin)
		default:
			return notJoined
		}
	}
}

// nameBefore reports whether the four words before i name a password: "mot de passe du wifi x".
func (p *passage) nameBefore(i, first int) bool {
	const reach = 4
	for k := max(first, i-reach); k < i; k++ {
		if p.words[k].clue.Word >= mostOfNames {
			return true
		}
	}
	return false
}

// joinOf returns the points of the joining word at i.
func (p *passage) joinOf(i, first int, as aspect) int {
	points := p.words[i].clue.Join
	if p.isAsked(i, first, as) {
		return strongJoin + 1
	}
	for k := i - 1; k >= max(first, i-2); k-- {
		c := p.words[k].clue
		switch {
		case c.Adverb:
			continue
		case c.User, strings.Contains(p.words[k].low, "@"), p.words[k].low == "redacted:email": // "admin and x"
			return max(points, strongJoin)
		case c.Label && p.words[k].after == blank && !strings.HasPrefix(p.words[i].low, "it"): // "the user name is x"
			return otherwise
		}
		break
	}
	return points
}

// joinOfFirst returns the points of a candidate that begins its sentence.
func (p *passage) joinOfFirst(c *candidate, alone bool) int {
	part := p.sentences[c.sentence]
	switch {
	case alone || part.turn:
		return strongJoin
	case c.sentence > 0 && p.sentences[c.sentence-1].asks:
		return strongJoin
	}
	return weakJoin
}

// afterwards are words after a secret, between which and the secret's name there can be some more.
var afterwards = []string{
	"is", "was", "as", "are", "were", "for", "works", "opens", "unlocks", "into", "at", "on", "in", "one", "ist", "als",
	"est", "es", "é", "è", "como", "comme", "come", "that's", "that", "stopped", "worked", "gets", "does", "should",
	"lets", "will",
}

// works are those that need no name after them.
var works = []string{"works", "opens", "unlocks", "gets", "stopped", "worked", "is", "does", "lets"}

// joinsAfter reports whether a candidate is joined to what follows it: "x is my password", "x is the right one".
func (p *passage) joinsAfter(c *candidate) bool {
	const reach = 9
	last := p.sentences[c.sentence].last
	if c.as == asWord && c.looks < 3 && !slices.Contains(afterwards[:3], p.words[min(c.last, last-1)].low) {
		return false
	}
	if c.last >= last || p.words[c.last-1].after >= stop || !slices.Contains(afterwards, p.words[c.last].low) {
		return false
	}
	if c.as == asWord && c.looks >= 4 && slices.Contains(works, p.words[c.last].low) {
		return true
	}
	for i := c.last; i < min(last, c.last+reach); i++ {
		if c.as.of(p.words[i].clue) >= 4 {
			return true
		}
	}
	return false
}
