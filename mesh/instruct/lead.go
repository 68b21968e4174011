package instruct

import "slices"

// lead is what comes before the verb of an instruction.
type lead struct {
	habit   bool // it holds again and again: "by default", "when you write SQL", "always"
	lasts   bool // "from now on"
	once    bool // it is for one occasion: "in this report"
	negated bool // "don't", "never"
	fronted bool // an occasion that comes up again and again is named first
	told    bool // "I want you to"
	only    bool // "only"
	always  bool // "always" or "never"
	ever    bool // "ever"
}

var (
	// lasting phrases make an instruction hold from now on, wherever they are in it.
	lastingPhrases = phrasesOf("from now on|from here on|going forward|in future|in the future")
	// habits make it hold again and again.
	habits = phrasesOf(`by default|in general|at all times|as a rule|in doubt|when in doubt|unless i ask|unless i say|
		unless asked|unless told|unless i tell|unless requested|unless otherwise|when i ask|every time|each time|if unsure|
		when unsure|on weekends|on weekdays|without asking|without my|as default|at night|everywhere|
		in everything|for everything|for anything|anything to do with`)
	// leads are words before the verb that change nothing, or its sense if they have "not" or "no".
	leads = phrasesOf(`please|also|and|so|but|just|simply|kindly|then|,|remember to|be sure to|be careful to|
		be careful not to|make sure to|make sure that you|make sure you|make sure that|make sure|make sure not to|
		do not forget to|try to|try not to|only|generally|usually|ideally|instead|in short|feel free to|no need to|
		there is no need to|can you please|could you please|would you please|can you|could you|will you|would you|
		do not|not|ever|it would be great if you could|it would be nice if you could|it would help if you could|
		i would love it if you|i would appreciate it if you|i would be glad if you|could|would`)
	agents = phrasesOf("you|agents|assistants|the assistant|the agent|me|us|the ai")
	// duties come before what must be, permissions only before what somebody else is told.
	duties = phrasesOf(`must|should|shall|need to|needs to|have to|has to|ought to|are to|is to|must not|
		should not|shall not|may not|can not|do not need to|do not have to|does not need to|need not|
		are not to|are never to|never`)
	permissions  = phrasesOf("may|can|could|will|will not|could not")
	conjunctions = phrasesOf("when|whenever|if|while|unless|once|until")
)

// takeLead returns what comes before the verb, and the rest, which begins with the verb.
func takeLead(s []token) (lead, []token) {
	l := lead{habit: habits.in(s) || habitual(s), lasts: lastingPhrases.in(s)}
	l.habit = l.habit || l.lasts
	for len(s) > 1 {
		n := leads.at(s, 0)
		switch {
		case n > 0 && !(n == 1 && low(s, 0) == "make"):
			l.only, l.ever = l.only || low(s, 0) == "only", l.ever || low(s, 0) == "ever"
			l.negated = l.negated || low(s, 0) != "," && hasNot(s[:n])
		case low(s, 0) == "always" || low(s, 0) == "never":
			n, l.always, l.habit, l.negated = 1, true, true, l.negated || low(s, 0) == "never"
		default:
			if n = toldTo(s); n > 0 {
				l.told, l.negated = true, l.negated || hasNot(s[:n])
			} else if end, habit, ok := fronted(s); ok {
				l.habit, l.once = l.habit || habit, l.once || !habit && (once(s[:end]) || anyOf(s[:end], definites))
				l.fronted, n = l.fronted || habit, end
			} else {
				return l, s
			}
		}
		s = s[n:]
	}
	return l, s
}

// hasNot reports whether a lead turns the sense of what follows: "do not", but not "do not forget to".
func hasNot(s []token) bool {
	return find(s, "forget") < 0 && (find(s, "not") >= 0 || find(s, "no") >= 0 || find(s, "never") >= 0)
}

// toldTo returns the number of words that tell an assistant to do what follows: "you must", "I want you to", "the user
// asked me not to".
func toldTo(s []token) int {
	if n := agents.at(s, 0); n > 0 && low(s, 0) != "me" && low(s, 0) != "us" {
		if m := max(duties.at(s, n), permissions.at(s, n)); m > 0 {
			return n + m
		}
		return 0
	}
	v := subject(s, 0)
	if v < 0 || private(s, v+1) {
		return 0
	}
	v = hedges.skip(s, v)
	if !at(s, v, wants) && low(s, v) != "asked" && low(s, v) != "told" && low(s, v) != "prefer" {
		return 0
	}
	v++
	n := agents.at(s, v)
	if has(s, v+n, "not", "to") {
		return v + n + 2
	}
	if has(s, v+n, "to") && (n > 0 || low(s, v-1) == "asked") {
		return v + n + 1
	}
	return 0
}

// fronted returns where an adverbial at the beginning ends: "in all reports,", "when you write SQL,", "by default".
func fronted(s []token) (end int, habit, ok bool) {
	if n := max(habits.at(s, 0), lastingPhrases.at(s, 0)); n > 0 && (conjunctions.at(s, 0) == 0 || has(s, n, ",")) {
		return n, true, true
	}
	if comma := find(s, ","); comma > 0 && recurring(s[:min(comma, 3)]) {
		return comma + 1, true, true
	}
	when := conjunctions.at(s, 0) > 0
	if !when && !at(s, 0, places) {
		return 0, false, false
	}
	comma := find(s[:min(len(s), 14)], ",")
	if when || comma > 0 && low(s, 1) != "all" && low(s, 1) != "every" {
		if comma < 0 || comma+1 >= len(s) {
			return 0, false, false
		}
		return comma + 1, occasion(s[:comma]), true
	}
	o := objectAt(s, 1)
	if o.kind != quantified || o.head == "" && comma < 0 {
		return 0, false, false
	}
	if comma > 0 {
		return comma + 1, !limited(s, o.end), true
	}
	return o.end, true, true
}

// asking are words between "I" or "you" and what is done again and again: "when you are not sure", "if I ever ask".
var asking = phrasesOf("are|am|do|not|want|to|ever|need|have")

// occasion reports whether an adverbial is for something that comes up again and again: "when I ask about wine", "if a
// test fails", "for code reviews", "after 8 pm".
func occasion(s []token) bool {
	switch o := objectAt(s, 1); {
	case once(s) || anyOf(s, gone):
		return false
	case one(s, 0, "whenever") && one(s, 1, "i", "you", "we"):
		return true
	case gerund(low(s, 1), sayVerbs, workVerbs, askVerbs), at(s, 1, weekdays), clockAt(s, 0):
		return true
	case one(s, 1, "i", "you", "we"):
		i := asking.skip(s, 2)
		return at(s, i, sayVerbs, workVerbs, states) || gerund(low(s, i), sayVerbs, workVerbs, otherVerbs) ||
			has(s, i-1, "not") && has(s, i, "know")
	case o.kind == bare && meetings[singular(low(s, 1))], one(s, 1, "something", "anything"):
		return true
	case o.kind == single:
		return one(s, 1, "a", "an") && (o.head != "" || conjunctions.at(s, 0) > 0)
	default:
		return o.general() && !limited(s, o.end)
	}
}

// habitual reports whether an adverbial in a sentence makes it hold again and again: "on Fridays", "after 8 pm".
func habitual(s []token) bool {
	for i := range s {
		if one(s, i, "before", "after") && has(s, i+1, "you") && at(s, i+2, sayVerbs, workVerbs) {
			return objectAt(s, i+3).kind != definite
		}
		if has(s, i, "on") && (at(s, i+1, weekdays) || at(s, i+1, times) && at(s, i+2, weekdays)) ||
			one(s, i, "when", "whenever", "if") && occasion(s[i:]) || clockAt(s, i) {
			return true
		}
	}
	return false
}

// clockAt reports whether a limit on the time of the day is at place i: "after 8 pm", "before noon".
func clockAt(s []token, i int) bool {
	if !has(s, i, "before") && !has(s, i, "after") {
		return false
	}
	hour := low(s, i+1)
	if hour == "noon" || hour == "midnight" {
		return true
	}
	ends := i+2 >= len(s) || slices.Contains([]string{",", "pm", "am", "o'clock", "please"}, low(s, i+2))
	return isNumber(hour) && hour != "a" && ends
}
