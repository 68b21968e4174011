package brief

import (
	"unicode"
	"unicode/utf8"
)

// Tokens estimates how many tokens a language model takes for text. The estimate is a little too high for the common
// tokenizers, because a budget must hold without any of them at hand; a test compares it with o200k.
func Tokens(text string) int {
	const token = 4 // in quarters
	quarters, letters, digits := 0, 0, 0
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		switch {
		case r < utf8.RuneSelf && unicode.IsLetter(r):
			// Words of up to six letters are one token; longer ones have another for each four letters.
			if letters == 0 || letters >= 6 && letters%4 == 2 {
				quarters += token
			}
			letters, digits = letters+1, 0
			continue
		case r >= '0' && r <= '9':
			if digits%3 == 0 {
				quarters += token
			}
			letters, digits = 0, digits+1
			continue
		case r == ' ':
			// It is part of the word after it, but not of a number.
			if i < len(text) && text[i] >= '0' && text[i] <= '9' {
				quarters += token
			}
		case r < utf8.RuneSelf:
			quarters += 3
		case unicode.In(r, unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Arabic, unicode.Hebrew,
			unicode.Devanagari, unicode.Thai):
			quarters += 2
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.M):
			quarters += 3
		default:
			quarters += 2 * size // symbols and emoji
		}
		letters, digits = 0, 0
	}
	return (quarters + token - 1) / token
}
