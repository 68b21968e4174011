package instruct

import "strings"

// lead is what comes before the verb of an instruction.
type lead struct {
	habit   bool // it holds again and again: "by default", "when you write SQL", "always"
	once    bool // it is for one occasion: "in this report"
	negated bool // "don't", "never"
	should  bool // "please", "you must": somebody is told
	always  bool // "always" or "never"
	lasts   bool // "from now on"
}

// habits are phrases that make an instruction hold again and again, wherever they are in it.
var habits = phrases(`from now on|from here on|going forward|by default|in general|at all times|as a rule|in doubt|
	unless i ask|unless i say|unless asked|unless told|unless i tell|unless requested|unless otherwise|when i ask|
	every time|each time|if unsure|when unsure|if you are unsure|if you're unsure|
	if you are not sure|if you're not sure|on weekends|on weekdays|in future|in the future|without asking|
	without my|as default|at night`)

func phrases(list string) (out [][]string) {
	for phrase := range strings.SplitSeq(list, "|") {
		out = append(out, strings.Fields(phrase))
	}
	return out
}

// habitual reports whether a sentence has a phrase that makes it hold again and again.
func habitual(s []token) bool {
	for _, phrase := range habits {
		if find(s, phrase...) >= 0 {
			return true
		}
	}
	for i := range s {
		switch {
		case has(s, i, "on") && (at(s, i+1, weekdays) || at(s, i+1, times) && at(s, i+2, weekdays)),
			(has(s, i, "when") || has(s, i, "whenever") || has(s, i, "if")) && occasion(s[i:]):
			return true
		case (has(s, i, "before") || has(s, i, "after")) && isNumber(low(s, i+1)) &&
			(has(s, i+2, "pm") || has(s, i+2, "am") || has(s, i+2, "o'clock")),
			(has(s, i, "before") || has(s, i, "after")) && (i+2 >= len(s) || has(s, i+2, ",")) &&
				(clock(low(s, i+1)) || has(s, i+1, "noon") || has(s, i+1, "midnight")):
			return true
		}
	}
	return false
}

// clock reports whether a word is a time of the day: "8pm", "20:00".
func clock(word string) bool {
	return isNumber(word) && word != "a"
}

// leads are words before the verb that change nothing.
var leads = phrases(`please|also|and|so|but|just|simply|kindly|then|remember to|be sure to|make sure to|make sure that you|
	make sure you|make sure that|make sure to|make sure|don't forget to|do not forget to|try to|always remember to|only|generally|
	usually|ideally|instead|can you please|could you please|would you please|can you|could you|will you|you can|you may|
	you could|feel free to|i want you to|i need you to|i'd like you to|i would like you to|i expect you to|
	i'd prefer you to|i'd prefer if you|i want the assistant to|the user wants you to|the user wants me to|
	the user wants the assistant to|the user asked me to|the user asked you to|the user asked to|user asked to|
	the user told me to|user wants me to|user wants you to|you should|you must|you shall|you need to|you have to|
	you ought to|agents should|the assistant should|the agent should|assistants should|agents must|be careful to|
	try not to|the user wants agents to|user wants agents to|i always want you to|i really want you to|in short|i ask you to`)

// takeLead returns what comes before the verb, and the rest, which begins with the verb.
func takeLead(s []token) (lead, []token) {
	var l lead
	l.habit, l.lasts = habitual(s), fromNowOn(s)
	for len(s) > 1 {
		n := 0
		for _, phrase := range leads {
			if len(phrase) > n && has(s, 0, phrase...) {
				n = len(phrase)
			}
		}
		switch {
		case n > 0:
			l.should = l.should || s[0].low != "and" && s[0].low != "so" && s[0].low != "but" && s[0].low != "also"
			if s[n-1].low == "to" && s[n-2].low == "not" {
				l.negated = true
			}
		case has(s, 0, "always") || has(s, 0, "never"):
			n, l.always, l.habit, l.negated = 1, true, true, l.negated || has(s, 0, "never")
		case has(s, 0, "do", "not"):
			n, l.negated = 2, true
		case has(s, 0, "don't") || has(s, 0, "dont") || has(s, 0, "not") && l.should:
			n, l.negated = 1, true
		case has(s, 0, ","):
			n = 1
		default:
			if end, habit, ok := fronted(s); ok {
				l.habit, l.once = l.habit || habit, l.once || !habit && (once(s[:end]) || anyOf(s[:end], definites))
				s = s[end:]
				continue
			}
			return l, s
		}
		s = s[n:]
	}
	return l, s
}

// fronted returns where an adverbial at the beginning ends: "in all reports,", "when you write SQL,", "by default".
func fronted(s []token) (end int, habit, ok bool) {
	for _, phrase := range habits {
		if has(s, 0, phrase...) && (!strings.HasPrefix(phrase[0], "when") && phrase[0] != "unless" || has(s, len(phrase), ",")) {
			return len(phrase), true, true
		}
	}
	if has(s, 0, "everywhere") {
		return 1, true, true
	}
	when := has(s, 0, "when") || has(s, 0, "whenever") || has(s, 0, "if") || has(s, 0, "while") || has(s, 0, "unless")
	if !when && !at(s, 0, places) {
		return 0, false, false
	}
	comma := find(s[:min(len(s), 14)], ",")
	if when || comma > 0 && s[1].low != "all" && s[1].low != "every" {
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

// occasion reports whether an adverbial is for something that comes up again and again: "when I ask about wine", "if a
// test fails", "for code reviews".
func occasion(s []token) bool {
	if once(s) || anyOf(s, gone) {
		return false
	}
	i := 1
	if gerund(low(s, i), sayVerbs, workVerbs, askVerbs) {
		return true
	}
	if has(s, i, "i") || has(s, i, "you") || has(s, i, "we") {
		i++
		for has(s, i, "are") || has(s, i, "am") || has(s, i, "do") || has(s, i, "not") || has(s, i, "don't") ||
			has(s, i, "want") || has(s, i, "to") || has(s, i, "ever") {
			i++
		}
		return at(s, i, sayVerbs, workVerbs) || gerund(low(s, i), sayVerbs, workVerbs) || has(s, i, "unsure") ||
			has(s, i, "sure") || has(s, i-1, "don't") && has(s, i, "know")
	}
	o := objectAt(s, i)
	switch {
	case at(s, i, weekdays) || has(s, i, "doubt"):
		return true
	case o.kind == single:
		return o.head != "" && (has(s, i, "a") || has(s, i, "an"))
	}
	return o.general() && !limited(s, o.end)
}
