package instruct

import "strings"

// spoken reports whether a language or a manner follows a verb of speech: "reply in French", "speak to me in Spanish".
func spoken(s []token) bool {
	if has(s, 1, "first") {
		return true
	}
	for i := 1; i < len(s); i++ {
		o := objectAt(s, i+1)
		to := one(s, i, "to", "with")
		switch {
		case to && (formats[low(s, i+1)] || has(s, i, "with") && o.kind == bare && o.general()), at(s, i, tones),
			has(s, i, "like"):
			return !at(s, i+2, places) || !certain(s, i+3)
		case to && o.kind >= single && !has(s, i+1, "me") && !has(s, i+1, "us"):
			return false
		case has(s, i, "in"):
			if len(s) == i+2 && !isName(s, i+1) && !waysOf[low(s, i+1)] {
				return true // "answer in haiku"
			}
			if end := formatAt(s, i+1); end > 0 {
				return closes(s, end) && (!at(s, end, places) || !certain(s, end+1) && !nameAt(s, end+1))
			}
		}
	}
	return false
}

// nameAt reports whether the name of a person may be at place i.
func nameAt(s []token, i int) bool { return isName(s, i) && !formats[low(s, i)] }

// manner reports whether what begins at place i says how something is made: "short", "in English", "under five lines".
func manner(s []token, i int) bool {
	for one(s, i, "and", "or") { // "answers and summaries short"
		i = objectAt(s, i+1).end
	}
	i = degrees.skip(s, i)
	for adverb(low(s, i)) {
		i++
	}
	switch {
	case i >= len(s) || limited(s, i):
		return false
	case at(s, i, tones), at(s, i, formats) && closes(s, i+1), strings.HasSuffix(s[i].low, "-friendly"):
		return true
	case manyWords.at(s, i) > 0:
		return !certain(s, i+manyWords.at(s, i))
	case one(s, i, "in", "into"):
		end := formatAt(s, i+1)
		return end > 0 && closes(s, end)
	case at(s, i, limits):
		for at(s, i+1, limits) || has(s, i+1, "a", "maximum") || one(s, i+1, "of", "maximum") {
			i++
		}
		if number := low(s, i+1); isNumber(number) {
			return !strings.Contains(number, ":")
		}
		return manners[s[i].low] && !byTime(s, i)
	}
	return at(s, i, manners) && !byTime(s, i)
}

// manyWords are manners of more than one word.
var manyWords = phrasesOf(`step by step|up to date|out of|free of|separate from|to the nearest|at the end|at the top|
	at the bottom|day first|month first`)

// byTime reports whether a deadline follows: "by noon", "before 5".
func byTime(s []token, i int) bool {
	if !has(s, i, "by") && !has(s, i, "before") && !has(s, i, "after") && !has(s, i, "within") {
		return false
	}
	return at(s, i+1, units, times) || isNumber(low(s, i+1)) && !has(s, i, "within") || has(s, i+1, "the")
}

// formatAt returns where a language, a unit or a form within the next few words ends, 0 if there is none.
func formatAt(s []token, i int) int {
	if at(s, i, definites) && !certainly(s, i) {
		return 0
	}
	for k := i; k < min(len(s), i+5) && s[k].low != ","; k++ {
		if k > i && at(s, k, places, relatives) {
			return 0
		}
		if formats[s[k].low] || formats[singular(s[k].low)] {
			k++
			for formats[singular(low(s, k))] || made(s, k) {
				k++
			}
			return k
		}
	}
	return 0
}
