package instruct

import (
	"slices"
	"strings"
)

// phrases are sequences of words, by their first word.
type phrases map[string][][]string

// phrasesOf returns the phrases of a list, which bars separate.
func phrasesOf(list string) phrases {
	p := phrases{}
	for phrase := range strings.SplitSeq(list, "|") {
		words := strings.Fields(phrase)
		p[words[0]] = append(p[words[0]], words)
	}
	return p
}

// at returns the number of words of the longest phrase that comes at place i, 0 if there is none.
func (p phrases) at(s []token, i int) (n int) {
	for _, phrase := range p[low(s, i)] {
		if len(phrase) > n && has(s, i, phrase...) {
			n = len(phrase)
		}
	}
	return n
}

// in reports whether a phrase comes anywhere.
func (p phrases) in(s []token) bool {
	for i := range s {
		if p.at(s, i) > 0 {
			return true
		}
	}
	return false
}

// skip returns where what follows the phrases at place i begins.
func (p phrases) skip(s []token, i int) int {
	for n := p.at(s, i); n > 0; n = p.at(s, i) {
		i += n
	}
	return i
}

// has reports whether the words of a phrase come at place i.
func has(s []token, i int, phrase ...string) bool {
	if i < 0 || len(s) < i+len(phrase) {
		return false
	}
	for k, word := range phrase {
		if s[i+k].low != word {
			return false
		}
	}
	return true
}

// one reports whether the word at place i is one of a few.
func one(s []token, i int, words ...string) bool {
	return i < len(s) && slices.Contains(words, low(s, i))
}

// at reports whether the word at place i is in one of the sets.
func at(s []token, i int, sets ...map[string]bool) bool {
	if i < 0 || i >= len(s) {
		return false
	}
	for _, set := range sets {
		if set[s[i].low] {
			return true
		}
	}
	return false
}

// anyOf reports whether a word of a sentence is in one of the sets.
func anyOf(s []token, sets ...map[string]bool) bool {
	for i := range s {
		if at(s, i, sets...) {
			return true
		}
	}
	return false
}

// find returns the first place of a word, -1 if there is none.
func find(s []token, word string) int {
	for i := range s {
		if s[i].low == word {
			return i
		}
	}
	return -1
}

// isName reports whether the word at place i begins with a capital.
func isName(s []token, i int) bool { return i >= 0 && i < len(s) && s[i].name }

// low returns the word at place i, "" if there is none.
func low(s []token, i int) string {
	if i < 0 || i >= len(s) {
		return ""
	}
	return s[i].low
}
