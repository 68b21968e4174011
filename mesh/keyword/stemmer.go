package keyword

import "strings"

// maxCached is the number of words whose stems a Stemmer keeps.
const maxCached = 200_000

// Stemmer is Stems for many texts: it keeps the stems of words that it has seen, since most of the time of Stems is for
// stemming the same words again. It is not safe for concurrent use.
type Stemmer struct{ stems map[string]string }

// Each calls yield with the stem of each word of text except function words, in order and with repetitions. Words of
// more than maxWord bytes are left out: they are data, not words.
func (s *Stemmer) Each(text string, yield func(stem string)) {
	eachWord(text, func(w string) {
		if function[w] || len(w) > maxWord {
			return
		}
		known, ok := s.stems[w]
		if !ok {
			if len(s.stems) >= maxCached || s.stems == nil {
				s.stems = map[string]string{}
			}
			w = strings.Clone(w) // or the map would keep the whole text in memory
			known = stem(w)
			s.stems[w] = known
		}
		yield(known)
	})
}

// maxWord is the maximum length of a word, in bytes.
const maxWord = 64
