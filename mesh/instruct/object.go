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
		return object{end: min(i, len(s))}
	case at(s, i, quantifiers):
		o.kind = quantified
		if at(s, i+1, idioms) {
			o.kind = definite
		}
		i++
		for at(s, i, owners) || one(s, i, "single", "new") {
			i++
		}
	case at(s, i, definites, persons) || one(s, i, "me", "us"):
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
		if ending[word] || adverb(word) || i > start && (tones[word] || singles[word]) ||
			at(s, i, places, relatives, limits, quantifiers, definites, finites) && !outputs[word] ||
			manyWords.at(s, i) > 0 || compared.at(s, i) > 0 {
			break
		}
		if o.head != "" && o.plural && (tones[word] || formats[word] || !made(s, i) && !made(s, i+1)) {
			break
		}
		if made(s, i) || s[i].name && formats[word] {
			o.head = singular(word)
			o.plural, o.end = o.head != word || mass[word] || formats[word] && s[i].name, i+1
		}
	}
	if o.kind == quantified && o.plural && one(s, start-1, "every", "each") && !mass[o.head] {
		o.head = "" // "every school uses letters"
	}
	if o.kind == definite && styles[o.head] && certainly(s, start-1) {
		o.kind, o.plural = bare, true // "the imperative", "the metric system"
	}
	if o.head == "" {
		o.end = i
		o.plural = i > start && strings.HasSuffix(s[i-1].low, "s")
	}
	if o.end < len(s) && o.end > 0 && numbered[singular(low(s, o.end-1))] && identifier(s[o.end].low) {
		o.kind = definite // "column B", "page 3"
	}
	if i > start && o.head == "" && s[i-1].name && o.kind == bare && !formats[s[i-1].low] && !weekdays[s[i-1].low] {
		o.kind = definite
	}
	return o
}

// made reports whether the word at place i is what an assistant makes again and again, or how it is.
func made(s []token, i int) bool {
	one := singular(low(s, i))
	return outputs[one] || styles[one] || mass[low(s, i)]
}

// adverb reports whether a word has the ending of an adverb and is one.
func adverb(word string) bool {
	return strings.HasSuffix(word, "ly") && !outputs[word] && !tones[word] && !notAdverbs[word]
}

// identifier reports whether a word is a number or a letter that names one of many: "B" in "column B".
func identifier(word string) bool {
	return len(word) == 1 && word != "i" && word != "," || isNumber(word)
}

// general reports whether an object is for everything of a kind that is made again and again.
func (o object) general() bool {
	return o.head != "" && (o.kind == quantified || o.plural && (o.kind == bare || o.kind == owned) ||
		o.kind == owned && o.head == "name")
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
	if at(s, i+1, pronouns) {
		return false
	}
	o := objectAt(s, i+1)
	word := s[i].low
	return o.kind == definite && near[word] && !certainly(s, i+1) || word == "from" && o.kind != quantified
}

// certainly reports whether "the" is followed by a part that every text has: "the subject", "the imperative".
func certainly(s []token, i int) bool { return has(s, i, "the") && at(s, i+1, parts) }
