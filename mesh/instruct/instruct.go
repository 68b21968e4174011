// Package instruct recognizes standing instructions and preferences in English: what a person wants of an assistant
// from now on, and not only once.
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
	"slices"
	"strings"
	"unicode"
)

// maxSentences is the number of sentences that are looked at: an instruction comes first.
const maxSentences = 6

// In reports whether a text has a standing instruction or a preference.
func In(text string) (found bool) {
	sentences(text, func(sentence string) bool {
		found = mayInstruct(sentence) && instructs(sentence)
		return !found
	})
	return found
}

// later are parts of sentences that may instruct although they do not begin like an instruction.
var later = []string{", so ", ", please ", " should ", " must "}

// mayInstruct reports whether the first word can begin an instruction, or a later clause may be one. Most sentences of
// most memories end here.
func mayInstruct(sentence string) bool {
	first := sentence[:len(sentence)-len(strings.TrimLeftFunc(sentence, func(r rune) bool {
		return unicode.IsLetter(r) || r == '-'
	}))]
	word := strings.ToLower(first)
	noun := singular(word)
	return sayVerbs[word] || workVerbs[word] || askVerbs[word] || places[word] || quantifiers[word] || owners[word] ||
		openers[word] || outputs[noun] || styles[noun] || mass[word] ||
		slices.ContainsFunc(later, func(clause string) bool { return strings.Contains(sentence, clause) })
}

// joints come between a reason and an instruction: "I'm vegan, so never suggest meat".
var joints = phrasesOf(", so|, but|, and|, please")

// instructs reports whether a sentence, or a clause of it, is an instruction or a preference.
func instructs(sentence string) bool {
	s := tokens(sentence)
	switch question := strings.HasSuffix(sentence, "?"); {
	case announces(s, sentence):
		return true
	case asks(s):
		return false
	case prefers(s):
		return true
	case question:
		return false
	case wishes(s) || requires(s) || terse(s) || commands(s):
		return true
	}
	for i := range s {
		if joints.at(s, i) > 0 && commands(s[i+1:]) {
			return true
		}
	}
	return false
}

// announces reports whether a sentence ends with a colon and tells that an instruction follows: "User preference:".
func announces(s []token, sentence string) bool {
	n := len(s)
	return strings.HasSuffix(sentence, ":") && n > 0 && n < 4 && rules[singular(low(s, n-1))] &&
		(!strings.HasSuffix(low(s, 0), "'s") || low(s, 0) == "user's")
}

// asks reports whether a sentence begins as a question: "What do I prefer …".
func asks(s []token) bool {
	return at(s, 0, interrogatives) && !has(s, 0, "do", "not") && !(has(s, 0, "when") && find(s, ",") > 0)
}
