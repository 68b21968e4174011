package instruct

import "strings"

// The kinds of what an instruction is about.
const (
	absent     = iota
	bare       // without an article: "emails", "metric units", "code"
	quantified // "every email", "all my reports"
	owned      // "my emails"
	single     // "a letter", "three questions"
	definite   // "the letter", "it", "Vera"
)

// object is a group of words around a noun.
type object struct {
	kind   int
	head   string // the singular of what an assistant makes or how it is, "" for anything else
	plural bool   // in the plural, or a noun that needs none
	end    int    // where what follows it begins
}

// objectAt returns the group of words that begins at place i.
func objectAt(s []token, i int) object {
	o := object{kind: bare, end: i}
	switch {
	case i >= len(s) || s[i].low == ",":
		return object{end: i}
	case at(s, i, quantifiers):
		o.kind = quantified
		if at(s, i+1, idioms) {
			o.kind = definite
		}
		i++
		for at(s, i, owners) || has(s, i, "single") || has(s, i, "new") {
			i++
		}
	case at(s, i, definites, persons) || has(s, i, "me") || has(s, i, "us"):
		o.kind = definite
		if at(s, i, definites) {
			i++
		}
	case at(s, i, owners):
		o.kind = owned
		i++
	case at(s, i, singles):
		o.kind = single
		i++
	}
	start := i
	for ; i < len(s) && i < start+5; i++ {
		word := s[i].low
		if word == "," || at(s, i, places, relatives, limits, quantifiers, definites, finites) && !outputs[word] ||
			word == "and" || word == "or" || has(s, i, "step", "by") || word == "instead" || word == "not" || word == "everywhere" ||
			word == "anywhere" || strings.HasSuffix(word, "ly") && !outputs[word] || i > start && tones[word] {
			break
		}
		one := singular(word)
		if outputs[one] || styles[one] || mass[word] {
			o.head, o.plural, o.end = one, one != word || mass[word], i+1
		} else if o.head != "" && o.plural && !compound(s, i) {
			break
		}
	}
	if o.head == "" {
		o.end = i
		o.plural = i > start && strings.HasSuffix(s[i-1].low, "s")
	}
	if o.end < len(s) && o.end > 0 && at(s, o.end-1, numbered) && identifier(s[o.end].low) {
		o.kind = definite // "column B", "page 3"
	}
	if i > start && o.head == "" && s[i-1].name && o.kind == bare && !formats[s[i-1].low] {
		o.kind = definite
	}
	return o
}

// compound reports whether a later word of the group is a noun of an assistant too: "code review comments".
func compound(s []token, i int) bool {
	if i+1 >= len(s) {
		return false
	}
	one := singular(s[i+1].low)
	return outputs[one] || styles[one]
}

// identifier reports whether a word is a number or a letter that names one of many: "B" in "column B".
func identifier(word string) bool { return len(word) == 1 && word != "i" || isNumber(word) }

// general reports whether an object is for everything of a kind that is made again and again.
func (o object) general() bool {
	return o.head != "" && (o.kind == quantified || o.plural && (o.kind == bare || o.kind == owned))
}

// limited reports whether what follows an object chooses certain ones: "in the tray", "from the bank", "of the form".
func limited(s []token, i int) bool {
	if !at(s, i, places) && !at(s, i, relatives) {
		return false
	}
	switch word := s[i].low; {
	case i+1 >= len(s), relatives[word] && word != "as" && word != "that" && word != "which":
		return false
	case word == "that" || word == "which":
		return !has(s, i+1, "you") && !has(s, i+1, "i")
	}
	if at(s, i+1, places) { // "from before June"
		i++
	}
	if has(s, i+1, "me") || has(s, i+1, "us") {
		return false
	}
	o := objectAt(s, i+1)
	word := s[i].low
	near := word == "in" || word == "from" || word == "of" || word == "on" || word == "at" || word == "for" || word == "to"
	return o.kind == definite && near && !certainly(s[i+1:min(len(s), o.end+1)]) || word == "from" && o.kind != quantified
}

// certainly reports whether "the" is followed by a part that every text has: "the subject", "the imperative".
func certainly(s []token) bool { return has(s, 0, "the") && at(s, 1, parts) }

// manner reports whether what begins at place i says how something is made: "short", "in English", "under five lines".
func manner(s []token, i int) bool {
	for has(s, i, "and") || has(s, i, "or") { // "answers and summaries short"
		i = objectAt(s, i+1).end
	}
	for i < len(s) && (strings.HasSuffix(s[i].low, "ly") && !strings.Contains(s[i].low, "-") || has(s, i, "as") && at(s, i+1, tones) || has(s, i, "very") ||
		has(s, i, "always") || has(s, i, "more") || has(s, i, "no") || has(s, i, "free")) && !tones[s[i].low] {
		i++
	}
	switch {
	case i >= len(s) || limited(s, i):
		return false
	case at(s, i, tones), strings.HasSuffix(s[i].low, "-friendly"), has(s, i, "step", "by", "step"):
		return true
	case has(s, i, "in") || has(s, i, "into"):
		return formatAt(s, i+1)
	case has(s, i, "at") && (has(s, i+1, "the", "end") || has(s, i+1, "the", "top") || has(s, i+1, "the", "bottom")):
		return true
	case at(s, i, limits) && (isNumber(low(s, i+1)) || isNumber(low(s, i+2)) && at(s, i+1, limits)):
		return i+1 < len(s) && !strings.Contains(low(s, i+1), ":")
	case at(s, i, limits) && at(s, i+1, limits):
		return isNumber(low(s, i+2)) || isNumber(low(s, i+3))
	case at(s, i, manners):
		return !byTime(s, i)
	}
	return false
}

// byTime reports whether a deadline follows: "by noon", "before 5".
func byTime(s []token, i int) bool {
	if !has(s, i, "by") && !has(s, i, "before") && !has(s, i, "after") && !has(s, i, "within") {
		return false
	}
	return at(s, i+1, units, times) || isNumber(low(s, i+1)) && !has(s, i, "within") || has(s, i+1, "the")
}

// formatAt reports whether the next few words have a language, a unit or a form.
func formatAt(s []token, i int) bool {
	if at(s, i, definites) && !certainly(s[i:]) {
		return false
	}
	for k := i; k < min(len(s), i+5) && s[k].low != ","; k++ {
		if k > i && at(s, k, places, relatives) {
			return false
		}
		if word := singular(s[k].low); formats[word] || formats[s[k].low] {
			return true
		}
	}
	return false
}

// low returns the word at place i, "" if there is none.
func low(s []token, i int) string {
	if i < 0 || i >= len(s) {
		return ""
	}
	return s[i].low
}
