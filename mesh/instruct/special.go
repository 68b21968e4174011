package instruct

import "strings"

// stops reports whether "stop" is followed by what an assistant does: "stop apologizing".
func stops(s []token) bool {
	if !gerund(s[1].low, sayVerbs, workVerbs, askVerbs) {
		return false
	}
	return objectAt(s, 2).kind != definite || has(s, 2, "me") || certainly(s[2:])
}

// bans reports whether "no" is followed by what an assistant is to leave out: "no emoji".
func bans(s []token, l lead) bool {
	o := objectAt(s, 1)
	switch {
	case anyOf(s, finites), has(s, o.end, "from"), has(s, o.end, "so", "far"):
		return false
	case has(s, 1, "more", "than"):
		return isNumber(low(s, 3)) && objectAt(s, 3).head != ""
	case l.habit:
		return o.head != "" && o.plural || meetings[singular(low(s, 1))]
	case o.head == "", limited(s, o.end):
		return false
	case styles[o.head] && !outputs[o.head] && (o.plural || o.end == len(s)):
		return true
	}
	return at(s, o.end, places) && objectAt(s, o.end+1).general() || has(s, o.end, "without")
}

// naming comes before what somebody is to be called.
var naming = phrasesOf("address me as|address me by|address me with|refer to me|call me by my")

// nameEnds come after it.
var nameEnds = phrasesOf(",|not|instead|and|in|from|or")

// names reports whether an instruction tells what somebody is to be called.
func names(s []token) bool {
	if naming.at(s, 0) > 0 {
		return true
	}
	if !has(s, 0, "call", "me") || len(s) == 2 || !s[2].name || at(s, 2, times, units) {
		return false
	}
	i := 2
	for i < len(s) && s[i].name {
		i++
	}
	return i == len(s) || nameEnds.at(s, i) > 0
}

// degrees come before a tone: "so formal".
var degrees = phrasesOf("so|more|less|very|too|overly|always|a|bit|little|no|free")

// tone reports whether "be" is followed by a tone: "be concise".
func tone(s []token) bool {
	i := degrees.skip(s, 1)
	if has(s, i, "as") {
		i++
	}
	return at(s, i, tones) && !certain(s, i+2)
}

// guards come before some other work.
var guards = phrasesOf("before|after|when|whenever|prior to")

// guarded reports whether something is to be done before or after some other work: "ask before deleting anything", "run
// the tests after each change".
func guarded(s []token, o object) bool {
	asks := askVerbs[s[0].low] && (o.kind != definite || has(s, 1, "the") || has(s, 1, "me"))
	if !asks && !(workVerbs[s[0].low] && o.kind <= owned) {
		return false
	}
	for i := 1; i < len(s); i++ {
		n := guards.at(s, i)
		if n == 0 {
			continue
		}
		i += n
		if has(s, i, "you") || has(s, i, "we") {
			return at(s, i+1, workVerbs, sayVerbs, askVerbs)
		}
		return gerund(low(s, i), workVerbs, sayVerbs, states) ||
			at(s, i, quantifiers) && !at(s, i+1, idioms) && !limited(s, objectAt(s, i).end)
	}
	return has(s, 1, "for", "confirmation") || has(s, 1, "for", "permission")
}

// recurring reports whether a sentence tells how often: "every Friday".
func recurring(s []token) bool {
	for i := range s {
		if (has(s, i, "every") || has(s, i, "each")) && (at(s, i+1, units, times) || weekdays[low(s, i+1)+"s"]) {
			return true
		}
	}
	return false
}

// spoken reports whether a language or a manner follows a verb of speech: "reply in French", "speak to me in Spanish".
func spoken(s []token) bool {
	if has(s, 1, "first") {
		return true
	}
	for i := 1; i < len(s); i++ {
		o := objectAt(s, i+1)
		to := has(s, i, "to") || has(s, i, "with")
		switch {
		case to && (formats[low(s, i+1)] || has(s, i, "with") && o.kind == bare && o.general()), at(s, i, tones),
			has(s, i, "like"):
			return !at(s, i+2, places) || !certain(s, i+3)
		case to && o.kind >= single && !has(s, i+1, "me") && !has(s, i+1, "us"):
			return false
		case has(s, i, "in"):
			if end := formatAt(s, i+1); end > 0 {
				return closes(s, end) && (!at(s, end, places) || !certain(s, end+1) && !nameAt(s, end+1))
			}
		}
	}
	return false
}

// nameAt reports whether the name of a person may be at place i.
func nameAt(s []token, i int) bool { return i < len(s) && s[i].name && !formats[s[i].low] }

// manner reports whether what begins at place i says how something is made: "short", "in English", "under five lines".
func manner(s []token, i int) bool {
	for has(s, i, "and") || has(s, i, "or") { // "answers and summaries short"
		i = objectAt(s, i+1).end
	}
	i = degrees.skip(s, i)
	for adverb(low(s, i)) {
		i++
	}
	switch {
	case i >= len(s) || limited(s, i):
		return false
	case at(s, i, tones), at(s, i, formats) && closes(s, i+1), strings.HasSuffix(s[i].low, "-friendly"), set.at(s, i) > 0:
		return true
	case has(s, i, "in") || has(s, i, "into"):
		end := formatAt(s, i+1)
		return end > 0 && closes(s, end)
	case at(s, i, limits):
		for at(s, i+1, limits) || has(s, i+1, "a", "maximum") || has(s, i+1, "of") || has(s, i+1, "maximum") {
			i++
		}
		if number := low(s, i+1); isNumber(number) {
			return !strings.Contains(number, ":")
		}
		return manners[s[i].low] && !byTime(s, i)
	}
	return at(s, i, manners) && !byTime(s, i)
}

// set are manners of more than one word.
var set = phrasesOf("step by step|up to date|to the nearest|at the end|at the top|at the bottom|day first|month first")

// byTime reports whether a deadline follows: "by noon", "before 5".
func byTime(s []token, i int) bool {
	if !has(s, i, "by") && !has(s, i, "before") && !has(s, i, "after") && !has(s, i, "within") {
		return false
	}
	return at(s, i+1, units, times) || isNumber(low(s, i+1)) && !has(s, i, "within") || has(s, i+1, "the")
}

// formatAt returns where a language, a unit or a form within the next few words ends, 0 if there is none.
func formatAt(s []token, i int) int {
	if at(s, i, definites) && !certainly(s[i:]) {
		return 0
	}
	for k := i; k < min(len(s), i+5) && s[k].low != ","; k++ {
		if k > i && at(s, k, places, relatives) {
			return 0
		}
		if formats[s[k].low] || formats[singular(s[k].low)] {
			for k+1 < len(s) && (formats[singular(s[k+1].low)] || styles[singular(s[k+1].low)] || outputs[singular(s[k+1].low)]) {
				k++
			}
			return k + 1
		}
	}
	return 0
}
