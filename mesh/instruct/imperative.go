package instruct

import "strings"

// commands reports whether a sentence begins with an instruction: a verb in its base form, and an object or a manner for
// all of something.
func commands(s []token) bool {
	s = rewrite(s)
	l, s := takeLead(s)
	if len(s) == 0 || l.once {
		return false
	}
	verb := s[0].low
	switch {
	case verb == "no":
		return bans(s, l)
	case verb == "stop" && len(s) > 1 && !l.negated:
		return stops(s)
	case names(s):
		return !l.negated
	case verb == "be":
		return tone(s) && !once(s)
	case l.always:
		return acts(s, l)
	case l.lasts && (sayVerbs[verb] || workVerbs[verb] || askVerbs[verb] || otherVerbs[verb]):
		return !noun(s)
	case once(s):
		return false
	case l.negated:
		return forbids(s, l)
	case !sayVerbs[verb] && !askVerbs[verb] && !workVerbs[verb] || !l.habit && noun(s):
		return false
	}
	return lasting(s, l)
}

// rewrite replaces "let me know" by "alert me".
func rewrite(s []token) []token {
	if i := find(s, "let", "me", "know"); i >= 0 {
		out := append([]token{}, s[:i]...)
		return append(append(out, token{low: "alert"}, token{low: "me"}), s[i+3:]...)
	}
	return s
}

// acts reports whether a verb follows "always" or "never", and not what is left of a fact: "always late", "never saw".
func acts(s []token, l lead) bool {
	verb := s[0].low
	if len(s) == 1 || pasts[verb] || tones[verb] || strings.HasSuffix(verb, "ing") {
		return false
	}
	if verb == "give" && has(s, 1, "up") {
		return false
	}
	if sayVerbs[verb] || workVerbs[verb] || askVerbs[verb] || otherVerbs[verb] {
		return !noun(s)
	}
	if strings.HasSuffix(verb, "ed") || strings.HasSuffix(verb, "s") {
		return false
	}
	// An adjective is followed by a preposition or nothing.
	return l.negated && !strings.HasSuffix(verb, "y") || at(s, 1, definites, owners, quantifiers, singles) ||
		has(s, 1, "me")
}

// forbids reports whether "don't" is followed by what holds again and again.
func forbids(s []token, l lead) bool {
	verb := s[0].low
	if has(s, 1, "up") || dropped[verb] || len(s) == 1 && !sayVerbs[verb] {
		return false
	}
	o := objectAt(s, 1)
	if !sayVerbs[verb] && !workVerbs[verb] {
		return l.habit && o.kind != definite || o.kind == quantified && has(s, 1, "any") && o.head != ""
	}
	if told[verb] && o.kind == definite && !has(s, 1, "me") && !l.habit {
		return false
	}
	switch {
	case o.kind == definite && !certainly(s[1:]) && !has(s, 1, "me") && !s[1].name:
		return l.habit && !anyOf(s[1:min(len(s), 3)], persons)
	case limited(s, o.end) || at(s, o.end, places) && certain(s, o.end+1):
		return l.habit
	case o.kind == bare && o.head == "" && workVerbs[verb] && verb != "use" && o.end > 1:
		return l.habit || o.plural || s[1].name
	case o.kind == absent || o.kind == bare && o.head == "":
		return len(s) > 1 || sayVerbs[verb] && verb != "stop" && verb != "leave" && verb != "call"
	}
	return true
}

// certain reports whether one thing that everybody knows of is at place i: "the lawn".
func certain(s []token, i int) bool {
	return objectAt(s, i).kind == definite && !certainly(s[i:]) && !s[i].name
}

// stops reports whether "stop" is followed by what an assistant does: "stop apologizing".
func stops(s []token) bool {
	if !gerund(s[1].low, sayVerbs, workVerbs, askVerbs) || once(s) {
		return false
	}
	o := objectAt(s, 2)
	return o.kind != definite || has(s, 2, "me") || certainly(s[2:])
}

// bans reports whether "no" is followed by what an assistant is to leave out: "no emoji".
func bans(s []token, l lead) bool {
	o := objectAt(s, 0+1)
	if once(s) || anyOf(s, finites) || o.head == "" && !l.habit || has(s, o.end, "from") || find(s, "so", "far") >= 0 {
		return false
	}
	if l.habit {
		return o.head != "" && o.plural || meetings[singular(low(s, 1))]
	}
	if styles[o.head] && (o.plural || o.end == len(s)) && !outputs[o.head] {
		return true
	}
	return (at(s, o.end, places) && (objectAt(s, o.end+1).general()) || has(s, o.end, "without")) && !limited(s, o.end)
}

// names reports whether an instruction tells what somebody is to be called.
func names(s []token) bool {
	i := 0
	switch {
	case has(s, 0, "call", "me"):
		i = 2
	case has(s, 0, "address", "me", "as"), has(s, 0, "address", "me", "by"), has(s, 0, "refer", "to", "me"),
		has(s, 0, "call", "me", "by"), has(s, 0, "address", "me", "with"):
		return true
	default:
		return false
	}
	if has(s, i, "by") && at(s, i+1, owners) {
		return true
	}
	if i >= len(s) || !s[i].name || at(s, i, times, units) {
		return false
	}
	for i < len(s) && s[i].name {
		i++
	}
	return i == len(s) || has(s, i, ",") || has(s, i, "not") || has(s, i, "instead") || has(s, i, "and") || has(s, i, "in") ||
		has(s, i, "from") || has(s, i, "or")
}

// tone reports whether "be" is followed by a tone: "be concise".
func tone(s []token) bool {
	i := 1
	for has(s, i, "so") || has(s, i, "more") || has(s, i, "as") || has(s, i, "less") || has(s, i, "very") ||
		has(s, i, "too") || has(s, i, "overly") || has(s, i, "always") {
		i++
	}
	return at(s, i, tones) && !certain(s, i+2)
}

// noun reports whether the first word is no verb, because another one follows: "Format changes annoyed Vera".
func noun(s []token) bool {
	if has(s, 1, "of") || len(s) > 1 && has(s, 1, "with") && !speech[s[0].low] && !askVerbs[s[0].low] {
		return true
	}
	for i := 1; i < len(s); i++ {
		word := s[i].low
		if word == "," || relatives[word] && i > 1 {
			return false
		}
		before := low(s, i-1)
		if finites[word] && before != "to" && before != "i" && before != "you" && before != "we" && !owners[before] {
			return true
		}
		if i > 1 && strings.HasSuffix(word, "ed") && len(word) > 4 && s[0].low != "keep" && !at(s, i-1, quantifiers, definites,
			singles, owners, places) && before != "and" && !adjective(s, i) {
			return true
		}
	}
	return false
}

// adjective reports whether the word at place i, which has the ending of a past, belongs to a noun after it.
func adjective(s []token, i int) bool {
	o := objectAt(s, i+1)
	return o.kind == bare && o.head != "" && o.end == i+2
}

// lasting reports whether a request in the base form holds again and again.
func lasting(s []token, l lead) bool {
	verb := s[0].low
	o := objectAt(s, 1)
	if has(s, 1, "me") || has(s, 1, "up") || has(s, 1, "out") || has(s, 1, "us") { // "give me dates in UTC"
		o = objectAt(s, 2)
	}
	rest := s[o.end:]
	switch {
	case anyOf(s, others), verb == "keep" && strings.HasSuffix(low(s, 1), "ing"):
		return false
	case guarded(s, o):
		return true
	case has(s, 1, "me") && recurring(s):
		return true
	case !sayVerbs[verb] && !(workVerbs[verb] && l.habit):
		return false
	case o.kind == definite && !certainly(s[1:]) && !has(s, 1, "me"):
		if l.habit && (has(s, 1, "it") || has(s, 1, "them")) {
			return true
		}
		return placed(s, l) && !at(s, 1, definites) || l.habit && !l.once && !has(s, 1, "this") && verb != "call" &&
			find(s, "first") > 0 && len(s) > 3
	case limited(s, o.end) && !instead(rest):
		return false
	case speech[verb] && spoken(s):
		return true
	case placed(s, l):
		return true
	case l.habit && verb != "call":
		return o.kind != single || o.head != ""
	case o.kind <= single && at(rest, 0, places) && !has(rest, 0, "from") && objectAt(rest, 1).general() &&
		objectAt(rest, 1).kind == bare && verb != "ask" && verb != "call":
		return true
	case o.general() && verb != "call" && (manner(s, o.end) || at(rest, 0, places) && plain(rest) || limits[low(s, o.end)] && isNumber(low(s, o.end+1))):
		return true
	case (verb == "address" || verb == "round") && o.kind == quantified && len(rest) > 1:
		return !byTime(s, o.end)
	case plainVerbs[verb] && (o.general() || certainly(s[1:]) && styled(s)) && o.kind != quantified:
		return len(rest) == 0 || at(rest, 0, places) || has(rest, 0, ",") || has(rest, 0, "and") || instead(rest) ||
			has(rest, 0, "the", "first", "time")
	case verb == "use" && o.kind == single && styles[o.head] && o.plural:
		return true
	case (verb == "use" || verb == "prefer" || verb == "favor" || verb == "favour") && (o.kind == bare || o.kind == definite &&
		s[1].name):
		return instead(rest) || find(s, ",", "not") > 0 || find(s, "over") > 0 || verb != "use" ||
			has(rest, 0, "for") && objectAt(rest, 1).general()
	case verb == "avoid" && o.kind == bare && len(rest) == 0:
		return true
	case verb == "convert":
		return o.kind == bare && has(rest, 0, "to")
	case verb == "say" && (has(s, 1, "so") || has(s, 1, "i", "don't", "know")):
		return true
	case (verb == "write" || verb == "add" || verb == "include" || verb == "test") && has(rest, 0, "for"):
		p := objectAt(rest, 1)
		return p.kind == quantified && p.head != "" && !limited(rest, p.end)
	}
	return false
}

// styled reports whether an object with "the" is a style: "the passive voice", "the Oxford comma".
func styled(s []token) bool {
	o := objectAt(s, 1)
	return styles[o.head] || o.head == "introduction"
}

// instead reports whether something is chosen over something else.
func instead(s []token) bool {
	return has(s, 0, "instead", "of") || has(s, 0, "rather", "than") || has(s, 0, "over") || has(s, 0, "not") ||
		has(s, 0, ",", "not") || has(s, 0, "and", "not") || has(s, 0, ",", "never")
}

// guarded reports whether something is to be done before or after some other work: "ask before deleting anything", "run
// the tests after each change".
func guarded(s []token, o object) bool {
	if !askVerbs[s[0].low] || o.kind == definite && !has(s, 1, "the") && !has(s, 1, "me") && !has(s, 1, "all") {
		return false
	}
	for i := 1; i < len(s); i++ {
		if !has(s, i, "before") && !has(s, i, "after") && !has(s, i, "when") && !has(s, i, "whenever") && !has(s, i, "prior", "to") {
			continue
		}
		i++
		if has(s, i, "you") || has(s, i, "we") || has(s, i, "making") || has(s, i, "doing") {
			return at(s, i+1, workVerbs, sayVerbs, askVerbs) || gerund(low(s, i), workVerbs, sayVerbs) || has(s, i, "doing")
		}
		return gerund(low(s, i), workVerbs, sayVerbs) || at(s, i, quantifiers) && !at(s, i+1, idioms) &&
			!limited(s, objectAt(s, i).end)
	}
	return false
}

// recurring reports whether a sentence ends with how often: "every Friday".
func recurring(s []token) bool {
	for i := range s {
		if (has(s, i, "every") || has(s, i, "each")) && (at(s, i+1, units, times) || weekdays[low(s, i+1)+"s"]) {
			return true
		}
	}
	return false
}

// plain reports whether people or things in general follow, and how: "to customers polite".
func plain(rest []token) bool {
	o := objectAt(rest, 1)
	return o.kind == bare && o.plural && manner(rest, o.end)
}

// spoken reports whether a language or a manner follows a verb of speech: "reply in French", "speak to me in Spanish".
func spoken(s []token) bool {
	for i := 1; i < len(s); i++ {
		if has(s, i, "to") || has(s, i, "with") {
			if !has(s, i+1, "me") && !has(s, i+1, "us") && !objectAt(s, i+1).general() && !formats[low(s, i+1)] {
				return false
			}
		}
		if has(s, i, "in") && formatAt(s, i+1) || at(s, i, tones) || has(s, i, "like") || (has(s, i, "with") || has(s, i, "to")) && formats[low(s, i+1)] {
			return !certain(s, i+3) || !at(s, i+2, places)
		}
	}
	return false
}

// placed reports whether what is asked for is everywhere, or in all of something that is made again and again.
func placed(s []token, l lead) bool {
	if find(s, "everywhere") > 0 || find(s, "anywhere") > 0 {
		return true
	}
	for i := 1; i+1 < len(s); i++ {
		if !at(s, i, places) || !at(s, i+1, quantifiers) {
			continue
		}
		o := objectAt(s, i+1)
		if o.head != "" && o.kind == quantified && !limited(s, o.end) {
			return true
		}
	}
	return false
}
