package when

import "github.com/yamo-protocol/yamo-mcp/internal/text"

// A sentence in the past tense may tell of a plan: "the review was moved to 3 March", "we agreed to meet on Friday".
// The date in it is one to come.

// reach is the maximum number of words between a date and the verb that makes it one of a plan.
const reach = 12

var (
	// moving are verbs of changing when something takes place, with "to", "until" or "for" before the date.
	moving = text.Set("moved postponed rescheduled pushed slipped shifted delayed deferred extended changed " +
		"brought put set")
	// arranging are verbs of what is made for a time, with "for" before the date.
	arranging = text.Set("bought reserved arranged fixed confirmed got ordered signed invited asked rented hired")
	// agreeing are verbs with an infinitive that tells what will be done: "agreed to meet", "told me to come back".
	agreeing = text.Set("agreed decided promised told asked invited offered arranged committed reminded wanted " +
		"hoped expected")
	// noInfinitive are words after "to" that are no verbs.
	noInfinitive = text.Set("a an the my our his her their your its it him me us them you this that these those")
)

// plans reports whether a verb before token i, at which a date begins, makes that a date to come.
func (p *parser) plans(i int) bool {
	from, k := p.clause(i)
	for j := from; j < k; j++ {
		w := p.word(j)
		if (moving[w] || arranging[w]) && p.word(k) == "for" || agreeing[w] && p.infinitive(j+1, k) {
			return true
		}
	}
	return p.moved(i)
}

// moved reports whether something was moved to the date that begins at token i.
func (p *parser) moved(i int) bool {
	from, k := p.clause(i)
	if w := p.word(k); w != "to" && w != "until" && w != "till" {
		return false
	}
	for j := from; j < k; j++ {
		if moving[p.word(j)] {
			return true
		}
	}
	return false
}

// clause returns the tokens that may have the verb of the date at token i, and the one before that date: its
// preposition.
func (p *parser) clause(i int) (from, preposition int) {
	from = i
	for from > max(0, i-reach) && !p.ends(from-1) {
		from--
	}
	k := i - 1
	for k >= from && (p.word(k) == "the" || p.word(k) == ",") {
		k--
	}
	if _, ok := weekdays[p.word(k)]; ok { // "moved to Friday, 3 March"
		k--
	}
	return from, k
}

// infinitive reports whether "to" and a verb come among the first words from token i on, before token end.
func (p *parser) infinitive(i, end int) bool {
	for j := i; j < min(i+4, end-1); j++ {
		if next := p.word(j + 1); p.word(j) == "to" && !noInfinitive[next] && isLetter(next[0]) && !p.tokens[j+1].capital {
			return true
		}
	}
	return false
}
