package named

import (
	"slices"
	"strings"

	"github.com/kljensen/snowball/english"
)

// person reports whether what is around the word, whose capital letter says nothing, is about a person: who owns
// something, has a surname, is somebody's sister, or does what people do.
func (s sight) person() bool {
	w := s.words[s.at]
	rest := s.rest(s.at)
	next := s.word(s.at + 1)
	begun := begins(s.line[:w.start])
	switch {
	case w.tail == "s":
		return s.owner()
	case w.tail != "":
		return true
	case rest == "" && strings.Trim(s.line, " \t\r\n*_`") == w.Text:
		return s.is(people)
	case !s.beside(s.at):
		return begun && s.apart(rest)
	case next.low == "and", next.low == "or":
		return s.coupled(s.at + 2)
	case next.low == "who", next.low == "whose":
		return true
	case next.Capital && next.low != "i":
		return s.surnamed()
	case prepositions[next.low]:
		return s.attribute()
	}
	return s.predicate(s.at + 1)
}

// owner reports whether a person is who owns what follows "'s". The year has months and seasons, but no sisters.
func (s sight) owner() bool {
	if !s.is(times) || s.copula(s.skipAdverbs(s.at+1)) {
		return true
	}
	for i := s.at; i < s.at+3 && s.beside(i); i++ {
		if next := s.word(i + 1); isPerson(next.low) || holdings[next.low] {
			return true
		}
	}
	return false
}

// apart judges a word that begins a sentence and has a comma, a colon or the end after it.
func (s sight) apart(rest string) bool {
	if s.is(people) && (rest == "" || strings.ContainsAny(rest[:1], ",.:;|&/()]")) {
		return true
	}
	prefix := strings.TrimRight(s.line[:s.words[s.at].start], " \t*_`\"“")
	if label := s.word(s.at - 1); strings.HasSuffix(prefix, ":") && isPerson(label.low) {
		return true
	}
	return s.at+1 < len(s.words) && strings.ContainsAny(rest[:min(1, len(rest))], ",(:") &&
		(s.complement(s.at+1) || strings.HasPrefix(rest, ":") && s.predicate(s.at+1))
}

// coupled reports whether the word at an index, after "and", is of a person: "Art and Rui", "Art and his wife".
func (s sight) coupled(i int) bool {
	w := s.word(i)
	switch {
	case w.Capital:
		return w.low == "i" || surname(w.low) || times[w.low]
	case possessors[w.low]:
		return isPerson(s.word(i + 1).low)
	}
	return false
}

// surnamed reports whether the words after the name are a surname. Of a verb such as "Bill" they may be its object,
// and of a month a day, unless the sentence goes on as with a person.
func (s sight) surnamed() bool {
	next := s.word(s.at + 1)
	if !surname(next.low) {
		return false
	}
	if !s.is(commands) && !s.is(times) {
		return true
	}
	last := s.at + 1
	for last < s.at+3 && s.beside(last) && s.word(last+1).Capital {
		last++
	}
	return s.word(last).tail == "s" && !s.is(commands) || s.beside(last) && s.predicate(last+1)
}

// attribute reports whether a phrase such as "from HR" after the name is of a person, by the verb after it.
func (s sight) attribute() bool {
	if s.word(s.at+1).low == "from" && s.is(people) && s.word(s.at+2).Text != strings.ToLower(s.word(s.at+2).Text) {
		return true
	}
	for i := s.at + 3; i < s.at+7 && i < len(s.words) && s.beside(i-1); i++ {
		switch does(s.word(i), false) {
		case humanly:
			return true
		case act:
			return s.is(people) || s.object(i+1)
		case event:
			return s.is(people)
		}
	}
	return false
}

// predicate reports whether the words from an index on are what a sentence says of a person.
func (s sight) predicate(i int) bool {
	i = s.skipAdverbs(i)
	w := s.word(i)
	next := s.skipAdverbs(i + 1)
	switch {
	case copulas[w.low]:
		return s.copula(next)
	case having[w.low]:
		return s.has(next)
	case auxiliaries[w.low]:
		if s.word(next).low == "to" {
			next++ // "used to"
		}
		if beings[s.word(next).low] {
			return s.copula(s.skipAdverbs(next + 1))
		}
		return s.is(people) && s.beside(next-1) || does(s.word(next), true) == humanly
	}
	if unchanged[w.low] && s.is(commands) || s.dated(i) {
		return false
	}
	if s.travels(i) {
		return true
	}
	if follow := s.word(i + 1); strings.HasSuffix(w.low, "s") && s.beside(i) && verbs[follow.low] {
		return false // "Mark reports are late": more than one of them
	}
	switch does(w, false) {
	case humanly:
		return true
	case act:
		return s.is(people) || s.object(i+1)
	case event:
		return s.is(people) || s.beside(i) && personal[s.word(i+1).low]
	}
	return s.is(people) && !s.is(commands) && strings.HasSuffix(w.low, "s") && !strings.HasSuffix(w.low, "ss") &&
		s.object(i+1)
}

// skipAdverbs returns the index of the first word from i on that is not an adverb or "not".
func (s sight) skipAdverbs(i int) int {
	for ; i+1 < len(s.words) && s.beside(i); i++ {
		if w := s.word(i); !adverbs[w.low] && (len(w.low) < 5 || !strings.HasSuffix(w.low, "ly")) {
			break
		}
	}
	return i
}

// copula judges what comes after "is": somebody's sister, allergic, born in May, coming to dinner.
func (s sight) copula(i int) bool {
	w := s.word(i)
	if beings[w.low] {
		return s.copula(s.skipAdverbs(i + 1))
	}
	if s.travels(i) {
		return true
	}
	if strings.HasSuffix(w.low, "ing") {
		if kind := does(w, true); kind != nothing || w.low == "going" {
			return kind == humanly || s.is(people)
		}
	}
	place := s.word(i + 1)
	if states[w.low] || s.beside(i) && states[place.low] || s.complement(i) || w.low == "in" && confines[place.low] {
		return true
	}
	return s.is(people) && (whereabouts[w.low] || prepositions[w.low] && place.Capital && !calendar[place.low] ||
		digital(w) && strings.HasPrefix(place.low, "year"))
}

// has judges what comes after "has": a sister, a key, told us.
func (s sight) has(i int) bool {
	if s.is(people) {
		return true
	}
	w := s.word(i)
	if beings[w.low] {
		return s.copula(s.skipAdverbs(i + 1))
	}
	if does(w, false) == humanly {
		return true
	}
	return s.complement(i) || s.among(i, holdings)
}

// complement reports whether a noun phrase that begins at an index is of a person.
func (s sight) complement(i int) bool { return s.among(i, nil) }

// among reports whether the noun of the phrase that begins at an index is in a set, or of a person without one.
func (s sight) among(i int, set map[string]bool) bool {
	for n := range 5 {
		w := s.word(i + n)
		switch {
		case w.Text == "", n > 0 && !s.beside(i+n-1), prepositions[w.low], pronouns[w.low] && !possessors[w.low],
			n > 0 && (determiners[w.low] || verbs[w.low]):
			return false
		case w.tail == "" && (set == nil && isPerson(w.low) || set[w.low]):
			return true
		}
	}
	return false
}

// object reports whether the word at an index begins an object, so that the verb before it is no participle: "Bill
// paid the rent", but "Bill paid by card".
func (s sight) object(i int) bool {
	w := s.word(i)
	if w.Text == "" || !s.beside(i-1) {
		return false
	}
	timely := slices.Contains([]string{"this", "last", "next", "every", "each", "the", "a", "one"}, w.low) &&
		(periods[s.word(i+1).low] || calendar[s.word(i+1).low])
	return !timely && !calendar[w.low] && (determiners[w.low] || pronouns[w.low] || w.Capital || digital(w))
}

// dated reports whether the verb at an index moves something in the calendar: "Bill moves to Friday".
func (s sight) dated(i int) bool {
	after := s.word(i + 2)
	return s.word(i+1).low == "to" && (calendar[after.low] || periods[after.low] || digital(after))
}

// travels reports whether the words from an index on are of a journey to a town: "moved to Coimbra".
func (s sight) travels(i int) bool {
	town := s.word(i + 2)
	return journeys[s.word(i).low] && s.word(i+1).low == "to" && s.beside(i+1) && town.Capital && surname(town.low)
}

// deed is what a verb says of who does it.
type deed int

const (
	nothing deed = iota // it is no verb that is known
	event               // things do it too
	act                 // it is done to things too
	humanly             // people do it
)

// does returns what a word is as a verb: in the third person or the past, or with base also as it is in a dictionary.
func does(w Word, base bool) deed {
	low := w.low
	past := strings.HasSuffix(low, "ed") && !strings.HasSuffix(low, "eed") && !notPast[low]
	switch root := english.Stem(low, true); {
	case low == "" || w.tail != "":
		return nothing
	case irregularHuman[low]:
		return humanly
	case irregularActs[low]:
		return act
	case irregularEvents[low]:
		return event
	case !base && !past && (!strings.HasSuffix(low, "s") || strings.HasSuffix(low, "ss")):
		return nothing
	case human[root]:
		return humanly
	case acts[root]:
		return act
	case past, events[root]:
		return event
	default:
		return nothing
	}
}
