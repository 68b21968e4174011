package keyword

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
