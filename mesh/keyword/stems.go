package keyword

import "slices"

// Stems returns the stems of the words of text except function words, in order and with repetitions.
func Stems(text string) []string {
	var stems []string
	eachWord(text, func(w string) {
		if !function[w] {
			stems = append(stems, stem(w))
		}
	})
	return stems
}

// In returns the stems of q's words that occur in text, without repetitions.
func (q Query) In(text string) []string {
	var found []string
	eachWord(text, func(w string) {
		if s := stem(w); slices.Contains(q.terms, s) && !slices.Contains(found, s) {
			found = append(found, s)
		}
	})
	return found
}
