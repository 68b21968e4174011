// Package chars classifies the characters of a text for the packages of scrub: by byte where a form is ASCII,
// so that offsets into the text stay valid.
package chars

import (
	"unicode"
	"unicode/utf8"
)

// At returns text[i], and a space beyond either end.
func At(text string, i int) byte {
	if i < 0 || i >= len(text) {
		return ' '
	}
	return text[i]
}

// IsDigit reports whether c is an ASCII digit.
func IsDigit(c byte) bool { return '0' <= c && c <= '9' }

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }

// IsAlpha reports whether c is an ASCII letter.
func IsAlpha(c byte) bool { return isUpper(c) || 'a' <= c && c <= 'z' }

// IsAlnum reports whether c is an ASCII letter or digit.
func IsAlnum(c byte) bool { return IsAlpha(c) || IsDigit(c) }

// IsHex reports whether c is a hexadecimal digit in either case.
func IsHex(c byte) bool { return IsDigit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F' }

// IsBase64 reports whether c is an ASCII letter or digit, or another character of standard base64.
func IsBase64(c byte) bool { return IsAlnum(c) || c == '+' || c == '/' || c == '=' }

// Lower is strings.ToLower for ASCII only: the length and all offsets stay the same.
func Lower(s string) string {
	for i := range len(s) {
		if isUpper(s[i]) {
			b := []byte(s)
			for ; i < len(b); i++ {
				if isUpper(b[i]) {
					b[i] += 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return s
}

// LowerUnicode is Lower for the letters of all scripts: a letter whose lower case has another length in bytes stays, as
// does a byte that is not UTF-8.
func LowerUnicode(text string) string {
	low := []byte(text)
	for i, r := range text {
		if small := unicode.ToLower(r); small != r && utf8.RuneLen(small) == utf8.RuneLen(r) {
			utf8.EncodeRune(low[i:], small)
		}
	}
	return string(low)
}

// IsUnspaced reports whether r belongs to a script that is written without spaces between words, or to the
// punctuation and full-width forms used with them.
func IsUnspaced(r rune) bool {
	if r < 0x0e00 {
		return false
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao,
		unicode.Khmer, unicode.Myanmar) || r >= 0x3000 && r <= 0x303f || r >= 0xff00 && r <= 0xffef
}
