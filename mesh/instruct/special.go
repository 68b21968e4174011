package instruct

// stops reports whether "stop" is followed by what an assistant does: "stop apologizing".
func stops(s []token) bool {
	if !gerund(low(s, 1), sayVerbs, workVerbs, askVerbs) {
		return false
	}
	return objectAt(s, 2).kind != definite || has(s, 2, "me") || certainly(s, 2)
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
	if !has(s, 0, "call", "me") || len(s) == 2 || !isName(s, 2) || at(s, 2, times, units) {
		return false
	}
	i := 2
	for i < len(s) && s[i].name {
		i++
	}
	return i == len(s) || nameEnds.at(s, i) > 0
}

// degrees come before a tone: "so formal".
var degrees = phrasesOf("so|more|less|very|too|overly|always|a|bit|little|no")

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

// guarded reports whether something is to be done before or after some other work: "ask before deleting anything",
// "run the tests after each change".
func guarded(s []token, o object) bool {
	asks := askVerbs[low(s, 0)] && (o.kind != definite || one(s, 1, "the", "me"))
	if !asks && !(workVerbs[low(s, 0)] && o.kind <= owned) {
		return false
	}
	for i := 1; i < len(s); i++ {
		n := guards.at(s, i)
		if n == 0 {
			continue
		}
		i += n
		if one(s, i, "you", "we") {
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
		if one(s, i, "every", "each") && (at(s, i+1, units, times) || weekdays[low(s, i+1)+"s"]) {
			return true
		}
	}
	return false
}
