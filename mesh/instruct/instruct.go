// Package instruct recognizes standing instructions and preferences in English: what a person wants of an assistant from
// now on, and not only once.
//
// An instruction is for what is made again and again: "Use UTC in all reports", "Keep answers short", "Don't push to
// main". A request is for one thing, or for all of a certain set: "Use UTC in this report", "Sign every letter in the
// tray". A fact may begin with the same words: "Use cases are in every folder". What somebody else wants, asks or is
// quoted with is neither.
//
// Invariant: a text is one or not by its words only, so what was recognized once is recognized again. A missed
// instruction costs less than a fact that is taken for one and comes with every session: in doubt it is none.
package instruct

import (
	"strings"
	"unicode"
)

// maxSentences is the number of sentences that are looked at: an instruction comes first.
const maxSentences = 6

// In reports whether a text has a standing instruction or a preference.
func In(text string) (found bool) {
	sentences(text, func(sentence string, reported bool) bool {
		if !reported && mayBegin(sentence) {
			found = standing(sentence)
		}
		return !found
	})
	return found
}

// mayBegin reports whether the first word can begin an instruction. Most sentences of most memories end here.
func mayBegin(sentence string) bool {
	first := sentence[:len(sentence)-len(strings.TrimLeftFunc(sentence, func(r rune) bool {
		return unicode.IsLetter(r) || r == '-'
	}))]
	word := strings.ToLower(first)
	return sayVerbs[word] || workVerbs[word] || askVerbs[word] || places[word] || quantifiers[word] || owners[word] ||
		openers[word] || outputs[singular(word)] || mass[word]
}

// standing reports whether a sentence, or what follows ", so" in it, is an instruction or a preference.
func standing(sentence string) bool {
	s := tokens(sentence)
	question := strings.HasSuffix(strings.TrimRight(sentence, " \n\"”)"), "?")
	if label(sentence) || !question && (wishes(s) || requires(s)) {
		return true
	}
	if asks(s) {
		return false
	}
	if prefers(s) || !question && commands(s) {
		return true
	}
	for i := range s {
		if has(s, i, ",") && (has(s, i+1, "so") || has(s, i+1, "but") || has(s, i+1, "and") || has(s, i+1, "please")) &&
			commands(s[i+1:]) {
			return true
		}
	}
	return false
}

// label reports whether a sentence ends with a colon and announces an instruction: "User preference:".
func label(sentence string) bool {
	name, ok := strings.CutSuffix(strings.TrimSpace(sentence), ":")
	if !ok {
		return false
	}
	words := strings.Fields(strings.ToLower(name))
	if n := len(words); n > 0 && n < 4 {
		last := words[n-1]
		return last == "rule" || last == "rules" || last == "preference" || last == "preferences" || last == "instruction" ||
			last == "instructions" || last == "convention" || last == "conventions"
	}
	return false
}

// asks reports whether a sentence begins as a question: "What do I prefer …".
func asks(s []token) bool {
	return at(s, 0, interrogatives) && !has(s, 0, "do", "not") && !(has(s, 0, "when") && find(s, ",") > 0)
}
