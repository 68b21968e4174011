package instruct

import "strings"

// commands reports whether a sentence begins with an instruction: a verb in its base form, and an object or a manner
// for all of something.
func commands(s []token) bool {
	l, s := takeLead(s)
	if has(s, 0, "let", "me", "know") {
		s = append([]token{{low: "alert"}, {low: "me"}}, s[3:]...)
	}
	if has(s, 0, "leave", "out") {
		s = append([]token{{low: "omit"}}, s[2:]...)
	}
	if len(s) == 0 || l.once {
		return false
	}
	verb := low(s, 0)
	switch {
	case names(s):
		return !l.negated
	case l.always, l.negated && l.ever:
		return acts(s, l)
	case l.lasts && IsVerb(verb):
		return !isNoun(s)
	case l.fronted && IsVerb(verb) && !anyOf(s, others) && !isNoun(s):
		return true
	case once(s):
		return false
	case verb == "no":
		return bans(s, l)
	case verb == "stop" && len(s) > 1 && !l.negated:
		return stops(s)
	case verb == "be", seeming[verb] && l.fronted && tone(s):
		return tone(s)
	case l.negated:
		if comma := find(s, ","); comma > 0 { // "don't move, there is a wasp"
			s = s[:comma]
		}
		return forbids(s, l)
	case !sayVerbs[verb] && !askVerbs[verb] && !workVerbs[verb] || !l.habit && isNoun(s):
		return false
	}
	return lasting(s, l)
}

// acts reports whether a verb follows "always" or "never", and not what is left of a fact: "always late", "never saw".
func acts(s []token, l lead) bool {
	verb := low(s, 0)
	switch {
	case len(s) == 1:
		return l.negated && (sayVerbs[verb] || workVerbs[verb] || strings.HasPrefix(verb, "auto-"))
	case pasts[verb], tones[verb], strings.HasSuffix(verb, "ing"), has(s, 0, "give", "up"):
		return false
	case adjectives[verb] && (at(s, 1, places) || at(s, 1, relatives)):
		return false
	case IsVerb(verb):
		return !isNoun(s)
	case strings.HasSuffix(verb, "ed") || strings.HasSuffix(verb, "s"):
		return false
	}
	// An adjective is followed by a preposition or nothing.
	return l.negated && !strings.HasSuffix(verb, "y") || at(s, 1, definites, owners, quantifiers, singles) ||
		has(s, 1, "me")
}

// forbids reports whether "don't" is followed by what holds again and again.
func forbids(s []token, l lead) bool {
	verb, o := low(s, 0), objectAt(s, 1)
	the := o.kind == definite && !certainly(s, 1) && !has(s, 1, "me") && !has(s, 1, "us")
	switch {
	case dropped[verb], has(s, 1, "up"), len(s) == 1 && !sayVerbs[verb]:
		return false
	case !sayVerbs[verb] && !workVerbs[verb]:
		return l.habit && o.kind != definite || has(s, 1, "any") && o.head != "" || has(s, 1, "me") && len(s) > 2
	case has(s, 1, "i") || has(s, 1, "that", "i"): // "don't assume I know"
		return sayVerbs[verb]
	case the && told[verb], the && !isName(s, 1):
		return l.habit && !at(s, 1, persons)
	case limited(s, o.end), at(s, o.end, places) && certain(s, o.end+1):
		return l.habit
	case o.kind == bare && o.head == "" && o.end > 1 && !sayVerbs[verb]:
		return l.habit || o.plural || isName(s, 1)
	case len(s) == 1:
		return verb != "stop" && verb != "call"
	}
	return true
}

// certain reports whether one thing that everybody knows of is at place i: "the lawn".
func certain(s []token, i int) bool {
	return objectAt(s, i).kind == definite && !certainly(s, i) && !isName(s, i) && !at(s, i, pronouns)
}

// isNoun reports whether the first word is no verb, because another one follows: "Format changes annoyed Vera".
func isNoun(s []token) bool {
	if has(s, 1, "of") || has(s, 1, "with") && !withVerbs[low(s, 0)] {
		return true
	}
	for i := 1; i < len(s); i++ {
		word, before := s[i].low, low(s, i-1)
		if word == "," || relatives[word] && i > 1 {
			return false
		}
		if finites[word] && before != "to" && before != "i" && before != "you" && before != "we" && !owners[before] {
			return true
		}
		if i > 1 && strings.HasSuffix(word, "ed") && len(word) > 4 && low(s, 0) != "keep" && before != "and" &&
			!at(s, i-1, quantifiers, definites, singles, owners, places) && !adjective(s, i) {
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
	verb, first := low(s, 0), 1
	if particles[low(s, 1)] { // "give me dates in UTC"
		first = 2
	}
	o := objectAt(s, first)
	rest, the := s[o.end:], certainly(s, first)
	only := l.only && o.kind == bare && o.plural
	switch {
	case anyOf(s, others), o.head == "" && strings.HasSuffix(low(s, 1), "ing") && !strings.HasSuffix(low(s, 1), "thing"):
		return false
	case guarded(s, o), has(s, 1, "me") && recurring(s), only && !limited(rest, 0):
		return true
	case verb == "call", verb == "alert", !sayVerbs[verb] && !workVerbs[verb] && !(askVerbs[verb] && l.habit):
		return false
	case workVerbs[verb] && !sayVerbs[verb] && !l.habit:
		return o.kind == bare && o.head != "" && kind(s, o) || special(s, o)
	case o.kind == definite && !the && !isName(s, 1):
		switch {
		case has(s, 1, "it"), has(s, 1, "them"):
			return l.habit || verb == "keep" && at(s, 2, tones)
		case at(s, 1, definites):
			return l.fronted && has(s, 1, "the")
		}
	case limited(rest, 0) && !choices.in(rest):
		return special(s, o)
	case the && (tones[low(rest, 0)] || one(rest, 0, "first", "last")):
		return true
	}
	switch {
	case l.told && one(s, first, "each", "every") && o.head != "", l.habit && (o.kind != single || o.head != ""):
		return true
	}
	return speech[verb] && spoken(s) || placed(s) || kind(s, o) || chosen(s, o) || special(s, o)
}

// kind reports whether what is asked for is all of a kind, and how it must be or where: "answers short", "prices in
// euros", "captions to images".
func kind(s []token, o object) bool {
	rest := s[o.end:]
	in, somewhere := objectAt(rest, 1), at(rest, 0, places)
	switch {
	case somewhere && o.kind <= single && !has(rest, 0, "from") && in.kind == bare && in.general():
		return closes(rest, in.end)
	case o.general() && (manner(rest, 0) || o.kind != quantified && anywhere(low(s, 0), rest)):
		return true
	case o.kind == quantified && o.head != "" && (has(rest, 0, "you") || has(rest, 0, "that", "you")):
		return true
	case somewhere && o.general() && (in.kind == bare && in.plural || in.kind == owned):
		// "emails to customers polite"
		return manner(rest, in.end)
	}
	// "Address clients formally", "Keep headings descriptive".
	adjective := len(rest) == 1 || len(rest) == 3 && has(rest, 1, "and")
	return adjective && (o.general() && o.kind != quantified && quality(rest, 0) ||
		(o.kind == bare && o.plural || low(s, 0) == "address") && (tones[low(rest, 0)] || adverb(low(rest, 0))))
}

// anywhere reports whether what follows all of a kind is no certain thing, place or receiver: "per kilo", "at zero".
func anywhere(verb string, rest []token) bool {
	to := has(rest, 0, "to") && !changes[verb]
	if !at(rest, 0, places) || to || one(rest, 0, "from", "of") || byTime(rest, 0) {
		return false
	}
	switch o := objectAt(rest, 1); o.kind {
	case definite, absent, quantified:
		return o.kind == definite && certainly(rest, 1)
	case single:
		return !has(rest, 0, "in") && !has(rest, 0, "on") && !has(rest, 0, "into")
	default:
		return closes(rest, o.end)
	}
}

// choices are words for what is chosen over something else.
var choices = phrasesOf("instead of|rather than|over|not|, not|and not|, never")

// chosen reports whether an object is enough, because its verb chooses it: "use metric units", "avoid jargon".
func chosen(s []token, o object) bool {
	verb, rest := low(s, 0), s[o.end:]
	ends := len(rest) == 0 || adverb(low(rest, 0)) || has(rest, 0, "only") || choices.at(rest, 0) > 0 ||
		has(rest, 0, "for") && objectAt(rest, 1).general() || has(rest, 0, "in") && formatAt(rest, 1) > 0
	switch {
	case !plainVerbs[verb]:
		return false
	case o.general() && o.kind != quantified:
		return ends || at(rest, 0, places) || one(rest, 0, ",", "and") || has(rest, 0, "the", "first", "time")
	case verb == "use" && o.kind == single:
		return styles[o.head] && o.plural
	case verb == "use" && (o.kind == bare || isName(s, 1)):
		return ends || at(rest, 0, places) && objectAt(rest, 1).kind == bare
	case verb == "include":
		return o.kind == bare && o.plural && len(rest) == 0
	}
	return preferring[verb] && (o.kind == bare || isName(s, 1)) && (ends || verb == "prefer")
}

// special reports whether a verb is followed by what makes only it an instruction.
func special(s []token, o object) bool {
	rest := s[o.end:]
	switch low(s, 0) {
	case "address", "round":
		return o.kind == quantified && len(rest) > 1 && !byTime(rest, 0) && !limited(rest, 0)
	case "convert":
		return o.kind == bare && has(rest, 0, "to")
	case "indent":
		return o.kind != definite
	case "refer":
		return find(s, "as") > 0
	case "remind":
		topic := objectAt(s, 3)
		return (has(s, 1, "me", "of") || has(s, 1, "me", "about")) && topic.kind == bare && topic.plural
	case "suggest", "offer", "give", "show", "list", "recommend", "propose":
		return at(s, 1, limits) && (isNumber(low(s, 2)) || at(s, 2, limits) && isNumber(low(s, 3))) && !limited(rest, 0)
	case "lead":
		return has(s, 1, "with") && certainly(s, 2)
	case "sign":
		return has(s, 1, "off", "with") && !has(s, 3, "the")
	case "say":
		return has(s, 1, "so") || has(s, 1, "i", "do", "not", "know")
	case "write", "add", "include", "test":
		p := objectAt(rest, 1)
		return has(rest, 0, "for") && p.kind == quantified && p.head != "" && !limited(rest, p.end) &&
			closes(rest, p.end)
	}
	return false
}

// placed reports whether what is asked for is everywhere, or in all of something that is made again and again.
func placed(s []token) bool {
	if find(s, "everywhere") > 0 || find(s, "anywhere") > 0 {
		return true
	}
	for i := 1; i+1 < len(s); i++ {
		if !at(s, i, places) || !at(s, i+1, quantifiers) || has(s, i, "for", "all") && lists[low(s, 0)] {
			continue
		}
		o := objectAt(s, i+1)
		if o.head != "" && o.kind == quantified && !limited(s, o.end) && closes(s, o.end) {
			return true
		}
	}
	return false
}

// closes reports whether what comes at place i can follow all that an instruction needs, and is no verb: "Format
// changes in all reports annoy Vera".
func closes(s []token, i int) bool {
	return i >= len(s) || at(s, i, places, relatives, tones, limits) || adverb(s[i].low) ||
		choices.at(s, i) > 0 || closing[s[i].low]
}
