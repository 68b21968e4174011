package instruct

import "strings"

// An instruction may also be a statement: of what somebody prefers ("I prefer tea", "I want summaries as lists", "the
// user wants …"), or of how what an assistant makes must be ("All commit messages must be in English").

var (
	// hedges come between the subject and the verb: "I would really like".
	hedges = phrasesOf(`would|do|does|not|can|never|always|really|usually|generally|strongly|much|also|now|still|only|
		just|mostly|definitely|normally|typically|often|will`)
	// preferences are what is said of the user: "my preferred language".
	preferences = phrasesOf(`my preferred|user's preferred|my preference|user preference|user's preference|
		my name is spelled|my name is pronounced|my name is written|my pronouns are`)
	calledAs = phrasesOf(`asked to be called|asked to be addressed|wants to be called|want to be called|
		like to be called|prefer to be called|like to be addressed|want to be addressed|prefer to be addressed|
		go by|goes by|asks to be called`)
	askedFirst = phrasesOf("to be asked|to be told|to be warned|to be notified|to be consulted|to approve|to confirm")
	passives   = phrasesOf("to have|to be|to include|to start|to end|to use|to contain")
	// rulesOf are verbs with which a fact about all that an assistant says is a rule: "branch names use kebab-case".
	rulesOf  = phrasesOf("use|start with|begin with|end with|follow|need a|need an|go in")
	compared = phrasesOf("better than|more than")
)

// subject returns where the verb of a sentence about the user begins, -1 if it is about nobody or somebody else.
func subject(s []token, i int) int {
	switch {
	case one(s, i, "i", "user"):
		return i + 1
	case has(s, i, "the", "user"):
		return i + 2
	}
	return -1
}

// prefers reports whether a sentence tells what the user prefers, anywhere in it.
func prefers(s []token) bool {
	if preferences.in(s) {
		return true
	}
	for i := range s {
		v := subject(s, i)
		if v < 0 || at(s, i-1, relatives, gone, interrogatives) && !has(s, i-1, "so") {
			continue
		}
		if v = hedges.skip(s, v); at(s, v, likings) && !private(s, v+1) {
			return true
		}
	}
	return false
}

// privateActs come after "I prefer not to" where it is about what the user does: "I prefer not to think about it".
var privateActs = phrasesOf("not to think|not to talk|not to say|not to know|not to go|not to remember|not to comment")

// private reports whether a preference at place i is about what the user says or thinks.
func private(s []token, i int) bool { return privateActs.at(s, i) > 0 }

// wishes reports whether a sentence tells how the user wants what an assistant makes: "I want summaries as lists".
func wishes(s []token) bool {
	v := subject(s, 0)
	if v < 0 {
		return false
	}
	start := v
	v = hedges.skip(s, v)
	negated := hasNot(s[start:v])
	if n := calledAs.at(s, v); n > 0 {
		return len(s) > v+n
	}
	if !at(s, v, wants) || once(s) {
		return false
	}
	v++
	if has(s, v, "to", "see") {
		v += 2
	}
	o := objectAt(s, v)
	switch {
	case has(s, v, "it", "when"), has(s, v, "when"):
		when := find(s, "when") + 1
		return has(s, when, "you") || objectAt(s, when).general()
	case has(s, v, "my") && len(s) > o.end: // "I like my coffee black"
		return one(s, o.end, "without", "with") || manner(s, o.end) || len(s) == o.end+1 && quality(s, o.end)
	case askedFirst.at(s, v) > 0:
		return find(s, "before") > 0 || find(s, "when") > 0
	case compared.at(s, o.end) > 0:
		return o.kind == bare
	case !o.general() || limited(s, o.end):
		return false
	case negated || passives.at(s, o.end) > 0 || at(s, o.end, participles) || manner(s, o.end) || mannered(s, v, o.end):
		return true
	case at(s, o.end, places) && objectAt(s, o.end+1).general():
		return true
	}
	return habits.in(s) || habitual(s)
}

// mannered reports whether an adjective that says how is before the noun: "short answers".
func mannered(s []token, from, end int) bool {
	for i := from; i < end; i++ {
		if at(s, i, tones, formats) || formats[singular(low(s, i))] && i < end-1 {
			return true
		}
	}
	return false
}

// requires reports whether a sentence tells how what an assistant makes must be.
func requires(s []token) bool {
	s = s[leads.skip(s, 0):]
	lasts := lastingPhrases.in(s)
	if from, habit, ok := fronted(s); ok && habit {
		s = s[leads.skip(s, from):]
	}
	o := objectAt(s, 0)
	if !o.general() || once(s) {
		return false
	}
	i := o.end
	if one(s, i, "to", "for") || has(s, i, "in") && !limited(s, i) { // "emails to clients must …"
		i = objectAt(s, i+1).end
	}
	verb := duties.skip(s, i)
	switch {
	case verb > i:
	case has(s, i, "always"), has(s, i, "are", "always"), has(s, i, "is", "always"):
		verb = hedges.skip(s, i+1)
		return at(s, verb, sayVerbs, otherVerbs, present) || has(s, i+1, "always") && manner(s, i+2)
	case o.kind == quantified && (own[o.head] && at(s, i, present) || one(s, i, "needs", "need")):
		return true
	case o.kind == bare && own[o.head] && rulesOf.at(s, i) > 0:
		return true
	default:
		return lasts && o.kind == bare && (at(s, i, present) || has(s, i, "are"))
	}
	negated := hasNot(s[i:verb])
	verb = hedges.skip(s, verb)
	negated = negated || hasNot(s[i:verb])
	switch {
	case has(s, verb, "have", "been") || verb >= len(s):
		return false
	case has(s, verb, "be"):
		return manner(s, verb+1) || at(s, verb+1, participles) || has(s, verb+1, "no") || quality(s, verb+1)
	}
	return negated || at(s, verb, sayVerbs, otherVerbs, present)
}

// terse reports whether a sentence has no verb, and chooses: "short answers only", "tabs, not spaces".
func terse(s []token) bool {
	o := objectAt(s, 0)
	rest := s[o.end:]
	n := choices.at(rest, 0)
	switch {
	case !o.general() || o.kind != bare:
		return false
	case n > 0:
		return objectAt(rest, n).end == len(rest) && len(rest) > n
	}
	if has(rest, 0, "please") {
		rest = rest[1:]
	}
	if has(rest, 0, ",") && (one(rest, 1, "always") || habits.at(rest, 1) > 0) {
		return true
	}
	if has(rest, 0, "only") {
		rest = rest[1:]
	} else if len(rest) == 0 {
		return false
	}
	return len(rest) == 0 || len(rest) == 2 && has(rest, 0, ",", "please")
}

// quality reports whether an adjective follows "must be", rather than a participle or a place: "complete", not "paid".
func quality(s []token, i int) bool {
	return i < len(s) && !at(s, i, places, finites, notQualities) && !strings.HasSuffix(s[i].low, "ed")
}
