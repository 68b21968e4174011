package record

import (
	"crypto/sha256"
	"strings"
	"unicode"
	"unicode/utf8"
)

// WordsKey identifies the words of a text. Texts that differ in punctuation, letter case and white space only, so that
// they say the same, have the same key.
type WordsKey [16]byte

// Words returns the key of the record's content.
func (r *Record) Words() WordsKey {
	sum := sha256.Sum256([]byte(words(r.Content)))
	return WordsKey(sum[:16])
}

// SameWords reports whether two texts say the same in the same words.
func SameWords(a, b string) bool { return a == b || words(a) == words(b) }

// minWords is the number of words from which on punctuation and case do not matter: "Yes?" is not "yes".
const minWords = 3

// words returns text reduced to what makes a difference. It keeps everything that may: question marks, signs and
// apostrophes within words, the case of abbreviations (US, IT), names in code (userID), paths and numbers.
func words(text string) string {
	fields := strings.Fields(text)
	if len(fields) < minWords {
		return strings.Join(fields, " ")
	}
	loud := text == strings.ToUpper(text) // then capitals distinguish nothing
	kept := fields[:0]
	for i, word := range fields {
		word = TrimWord(word)
		low := strings.ToLower(word)
		if word == "" || article(word) || article(low) && (i == 0 || loud) {
			continue
		}
		if loud || ordinary(word) {
			word = low
		}
		kept = append(kept, word)
	}
	return strings.Join(kept, " ")
}

// TrimWord removes the punctuation around a word that changes nothing. A full stop before a word belongs to it
// (".env"), as brackets do to a number ("(500)").
func TrimWord(word string) string {
	const quotes = "\"'“”‘’«»"
	if strings.ContainsFunc(word, unicode.IsDigit) {
		return strings.TrimRight(word, ".,;:!…"+quotes)
	}
	return strings.TrimLeft(strings.TrimRight(word, ".,;:!…)]}"+quotes), "([{"+quotes)
}

func article(word string) bool { return word == "a" || word == "an" || word == "the" }

// minLoud is the number of letters from which on a word in capitals is emphasis ("QUIET") and no abbreviation.
const minLoud = 5

// ordinary reports whether the case of a word means nothing: it is in lower case but for its first letter, or a long
// word in capitals, and not a path or a name in code.
func ordinary(word string) bool {
	small := func(r rune) bool { return !unicode.IsUpper(r) }
	if utf8.RuneCountInString(word) >= minLoud && !strings.ContainsFunc(word, small) {
		return true
	}
	_, first := utf8.DecodeRuneInString(word)
	for _, r := range word[first:] {
		if unicode.IsUpper(r) || unicode.IsDigit(r) || strings.ContainsRune(`/\_@`, r) {
			return false
		}
	}
	return true
}
