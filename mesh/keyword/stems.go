package keyword

import "slices"

// Stems are the words of text that say something, reduced to their stems, in order and with repetitions.
func Stems(text string) []string {
	var stems []string
	eachWord(text, func(w string) {
		if !function[w] {
			stems = append(stems, stem(w))
		}
	})
	return stems
}

// In are the words of the query that stand in text, each once, as their stems.
func (q Query) In(text string) []string {
	var found []string
	eachWord(text, func(w string) {
		if s := stem(w); slices.Contains(q.terms, s) && !slices.Contains(found, s) {
			found = append(found, s)
		}
	})
	return found
}
