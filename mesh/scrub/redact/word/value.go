package word

import (
	"math"
	"regexp"
	"strings"
	"unicode"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/chars"
)

// IsMixed reports whether v has digits and letters, as a random value has and a
// word has not.
func IsMixed(v string) bool {
	letter := func(r rune) bool { return r < 0x80 && chars.IsAlpha(byte(r)) } //nolint:gosec // below 0x80
	return strings.ContainsAny(v, "0123456789") && strings.ContainsFunc(v, letter)
}

// IsPlaceholder reports whether a value replaces a secret in an example:
// empty, a variable, a pattern of one character, an ellipsis, a word in
// brackets.
func IsPlaceholder(v string) bool {
	v = strings.Trim(v, `"']})>`)
	if v == "" || strings.Trim(v, string(v[0])) == "" {
		return true
	}
	switch v[0] {
	case '$', '<', '{', '%', '[', '(', '&':
		return true
	}
	switch chars.Lower(v) {
	case "password", "passwd", "pass", "pwd", "secret", "token", "changeme", "example", "redacted", "none", "null", "nil",
		"true", "false", "xxx", "yourpassword", "your_password", "your-password", "your-api-key", "your_api_key":
		return true
	}
	for _, begin := range []string{"your_", "your-", "YOUR_", "YOUR-", "<your", "my_", "example_", "EXAMPLE_"} {
		if strings.HasPrefix(v, begin) {
			return true
		}
	}
	if v[0] == '@' && len(v) > 2 && v[len(v)-1] == '@' { // of Maven
		return true
	}
	return strings.HasPrefix(v, "#{") || strings.HasPrefix(v, "...") || strings.HasPrefix(v, "***") ||
		strings.HasPrefix(v, "…")
}

// IsReference reports whether a value is code or a name rather than a
// credential: "user.profile2.token", "base64.StdEncoding", "sha256-of-file",
// "testEd25519Key", a date, a version, a number.
func IsReference(v string) bool {
	const name = 32 // no longer ones are written by hand
	if len(v) <= name && HasAny(chars.Lower(v), []string{"key", "token", "secret", "passw", "cert"}) {
		return true
	}
	for _, p := range strings.FieldsFunc(v, func(r rune) bool {
		return r == '.' || r == '-' || r == '_' || r == '=' ||
			r == '/' || r == '+'
	}) {
		letters, nums, turns := 0, 0, 0
		for i := range len(p) {
			if chars.IsDigit(p[i]) {
				nums++
			} else {
				letters++
			}
			if i > 0 && chars.IsDigit(p[i]) != chars.IsDigit(p[i-1]) {
				turns++
			}
		}
		if turns > 1 || letters > 0 && nums > 4 || letters > 20 {
			return false
		}
	}
	return true
}

// IsHashOrUUID reports whether v has the form of a digest (MD5 to SHA-512, in
// hexadecimal) or of a UUID.
func IsHashOrUUID(v string) bool {
	if len(v) == 36 && v[8] == '-' && v[13] == '-' && v[18] == '-' && v[23] == '-' {
		v = strings.ReplaceAll(v, "-", "")
	}
	switch len(v) {
	case 32, 40, 56, 64, 96, 128:
	default:
		return false
	}
	for i := range len(v) {
		if !chars.IsHex(v[i]) {
			return false
		}
	}
	return true
}

// Entropy is Shannon's, in bits a byte.
func Entropy(s string) float64 {
	if s == "" {
		return 0
	}
	var count [256]int
	for i := range len(s) {
		count[s[i]]++
	}
	sum := 0.0
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(s))
			sum -= p * math.Log2(p)
		}
	}
	return sum
}

// HasAny reports whether s contains one of the words, also within a longer word.
func HasAny(s string, words []string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// IsRandom reports whether v has letters and digits and does not repeat itself.
func IsRandom(v string) bool { return IsMixed(v) && Entropy(v) > 3 && !IsHashOrUUID(v) }

// measure is a number with a unit or what is counted: 8-stellig, 16-character, 0.5kW.
var measure = regexp.MustCompile(`^\d{1,4}(?:-\p{Ll}+|[.,]\d+\p{L}{1,3})$`)

// IsMeasure reports whether v is a number with a unit or with what is counted.
func IsMeasure(v string) bool { return chars.IsDigit(chars.At(v, 0)) && measure.MatchString(v) }

// IsLetters reports whether v has nothing but letters, of any script.
func IsLetters(v string) bool {
	return !strings.ContainsFunc(v, func(r rune) bool { return !unicode.IsLetter(r) })
}

// HasDigit reports whether v has an ASCII digit.
func HasDigit(v string) bool { return strings.ContainsAny(v, "0123456789") }
