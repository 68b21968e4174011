package instruct

import "strings"

// An instruction may also be a statement: of what somebody prefers ("I prefer tea", "I want summaries as lists", "the
// user wants …"), or of how what an assistant makes must be ("All commit messages must be in English").

// subject returns where the verb of a sentence about the user begins, -1 if it is about nobody or somebody else.
func subject(s []token, i int) int {
	switch {
	case has(s, i, "i") || has(s, i, "user"):
		i++
	case has(s, i, "the", "user"):
		i += 2
	case has(s, i, "i'd"):
		return i + 1
	default:
		return -1
	}
	for at(s, i, frequency) {
		i++
	}
	return i
}

// prefers reports whether a sentence tells what the user prefers, anywhere in it.
func prefers(s []token) bool {
	for i := range s {
		v := subject(s, i)
		if has(s, i, "my", "preferred") || has(s, i, "user's", "preferred") || has(s, i, "my", "preference") ||
			has(s, i, "user", "preference") || has(s, i, "user's", "preference") {
			return true
		}
		if v < 0 || i > 0 && (at(s, i-1, relatives) && !has(s, i-1, "so") || at(s, i-1, gone) || at(s, i-1, interrogatives)) {
			continue
		}
		if has(s, v, "would") {
			v++
		}
		for at(s, v, frequency) {
			v++
		}
		if at(s, v, likings) {
			return true
		}
	}
	return false
}

// wishes reports whether a sentence tells how the user wants what an assistant makes: "I want summaries as lists".
func wishes(s []token) bool {
	v := subject(s, 0)
	if v < 0 {
		return false
	}
	negated := false
	for has(s, v, "would") || at(s, v, frequency) || has(s, v, "don't") || has(s, v, "do") || has(s, v, "does") ||
		has(s, v, "not") || has(s, v, "doesn't") || has(s, v, "can't") || has(s, v, "never") || has(s, v, "always") {
		negated = negated || strings.HasSuffix(s[v].low, "n't") || has(s, v, "not") || has(s, v, "never")
		v++
	}
	if has(s, v, "asked", "to", "be", "called") || has(s, v, "asked", "to", "be", "addressed") ||
		has(s, v, "wants", "to", "be", "called") || has(s, v, "want", "to", "be", "called") ||
		has(s, v, "like", "to", "be", "called") || has(s, v, "go", "by") || has(s, v, "goes", "by") {
		return len(s) > v+4 || has(s, v+1, "by")
	}
	if !at(s, v, wants) || once(s) {
		return false
	}
	if has(s, v+1, "to", "see") {
		v += 2
	}
	if has(s, v+1, "it", "when", "you") || has(s, v+1, "you", "to", "always") || has(s, v+1, "you", "to", "never") {
		return true
	}
	if strings.HasPrefix(low(s, v), "ask") || has(s, v, "told") {
		return false
	}
	o := objectAt(s, v+1)
	switch {
	case !o.general() || limited(s, o.end):
		return false
	case negated:
		return true
	case has(s, o.end, "to") && (at(s, o.end+1, present) || has(s, o.end+1, "be")):
		return true
	case manner(s, o.end) || mannered(s, v+1, o.end) || at(s, o.end, places) && objectAt(s, o.end+1).general():
		return true
	}
	return habitual(s[v:])
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
	if len(s) > 0 && (has(s, 0, "please") || has(s, 0, "also")) {
		s = s[1:]
	}
	lasts := fromNowOn(s)
	if from, habit, ok := fronted(s); ok && habit {
		s = s[from:]
	}
	for has(s, 0, ",") {
		s = s[1:]
	}
	o := objectAt(s, 0)
	if !o.general() || once(s) {
		return false
	}
	i := o.end
	if (at(s, i, places) || at(s, i, owners)) && !limited(s, i) { // "emails to clients must …"
		i = objectAt(s, i+1).end
	}
	modal := 0
	switch {
	case has(s, i, "must") || has(s, i, "should") || has(s, i, "shall") || has(s, i, "may", "not") || has(s, i, "can't") ||
		has(s, i, "cannot") || has(s, i, "mustn't") || has(s, i, "shouldn't"):
		modal = 1
	case has(s, i, "need", "to") || has(s, i, "have", "to") || has(s, i, "ought", "to") || has(s, i, "needs", "to") ||
		has(s, i, "has", "to"):
		modal = 2
	case has(s, i, "are", "to", "be") || has(s, i, "is", "to", "be"):
		modal = 2
	case has(s, i, "always") || has(s, i, "never"):
		return at(s, i+1, sayVerbs, otherVerbs) || at(s, i+1, present)
	case o.kind == quantified && (own[o.head] && at(s, i, present) || has(s, i, "needs") || has(s, i, "need")):
		return true
	case lasts && o.kind == bare:
		return at(s, i, present) || has(s, i, "go") || has(s, i, "are")
	default:
		return false
	}
	i += modal
	for has(s, i, "not") || has(s, i, "always") || has(s, i, "never") || has(s, i, "only") || has(s, i, "all") ||
		has(s, i, "also") {
		i++
	}
	if !has(s, i, "be") {
		return at(s, i, sayVerbs, otherVerbs, present) && !has(s, i, "have", "been")
	}
	return manner(s, i+1) || at(s, i+1, made) || has(s, i+1, "no") || quality(s, i+1)
}

// quality reports whether an adjective follows "must be", rather than a participle or a place: "complete", not "paid".
func quality(s []token, i int) bool {
	return i < len(s) && !at(s, i, places, finites, notQualities) && !strings.HasSuffix(s[i].low, "ed")
}

// fromNowOn reports whether a sentence holds from now on.
func fromNowOn(s []token) bool {
	return find(s, "from", "now", "on") >= 0 || find(s, "going", "forward") >= 0 || find(s, "from", "here", "on") >= 0
}
