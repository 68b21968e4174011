package word

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/chars"
)

// SecretLike reports whether v does not look like a word: it has a digit, or
// a sign that words do not have, or capitals within.
func SecretLike(v string) bool {
	letters, inner, runes := 0, 0, 0
	for i, r := range v {
		runes++
		switch {
		case unicode.IsDigit(r), strings.ContainsRune("!@#$%^&+?~", r):
			return utf8.RuneCountInString(v) >= 4
		case unicode.IsLetter(r):
			letters++
			if i > 0 && unicode.IsUpper(r) {
				inner++
			}
		}
	}
	return letters == runes && inner > 0 && inner < letters-1
}

// IsCode reports whether an unquoted value is an expression or a name of a program's source.
func IsCode(v string) bool {
	if IsExpression(v) {
		return true
	}
	// user.password, opts.Token2
	if strings.Contains(v, ".") && !strings.ContainsAny(v, "!@#$%^&+?~") {
		return !strings.ContainsFunc(v, func(r rune) bool { return r != '.' && r != '_' && !unicode.IsLetter(r) }) ||
			IsVersion(v)
	}
	// camelCase and PascalCase names
	return !strings.ContainsFunc(v, func(r rune) bool { return !unicode.IsLetter(r) && r != '_' }) &&
		v != strings.ToLower(v)
}

// IsExpression reports whether an unquoted value is a number, a path or an expression of a program's source.
func IsExpression(v string) bool {
	if strings.HasPrefix(v, "0x") && strings.Trim(v[2:], "0123456789abcdefABCDEF") == "" && len(v) <= 10 {
		return true
	}
	if strings.HasPrefix(v, "/") || strings.HasPrefix(v, "./") || strings.HasPrefix(v, "~/") || strings.HasPrefix(v, "*") {
		return true
	}
	if cmdlet.MatchString(v) {
		return true
	}
	return strings.ContainsAny(v, "()[]{}\\|") || strings.Contains(v, "::") || strings.Contains(v, "->") ||
		strings.Contains(v, "//")
}

// cmdlet is the name of a command of PowerShell.
var cmdlet = regexp.MustCompile(`^(?:Read|Get|New|Set|Import|Export|Convert(?:To|From)|Invoke|Select)-[A-Z][A-Za-z]+$`)

// IsVersion reports whether v is digits and dots, with a "v" before them or without.
func IsVersion(v string) bool {
	return strings.Trim(strings.TrimPrefix(v, "v"), "0123456789.") == ""
}

// plain are words that follow "password is" or "password:" without being one.
var plain = strings.Fields(`
	a an the my your our their his her its this that these those it he she they we you i and or but not no yes in on at by
	for from of to with
	as if when then than so too very also only just still now never always often already there here what which who where
	how why because
	required optional hidden empty blank missing wrong incorrect invalid valid correct right weak strong expired unknown
	secret private public
	hashed salted encrypted stored saved kept needed used unused set unset changed reset shared lost forgotten leaked
	compromised broken
	safe secure insecure case-sensitive same different unique default temporary random short long new old good bad fine
	okay true false
	null nil none undefined string text int number bool boolean bytes byte char object array list optional any str varchar
	input field value
	type name label user username email login admin must should can cannot will would may might being been gone going
	coming about
	available unavailable protected enabled disabled supported deprecated generated rotated verified confirmed accepted
	rejected refused
	something nothing everything prompt written sent sensitive ok todo tbd see wie nicht falsch richtig sehr ein eine der
	die das
	ist obligatorio obligatoria requerida requerido incorrecta correcta necesaria requis requise obligatoire incorrect
	incorrecte faux erroné richiesta obbligatoria errata obrigatória incorreta verplicht vereist onjuist nodig
	erforderlich ungültig abgelaufen wymagane niepoprawne krävs påkrevd обязателен неверный gerekli zorunlu`)

// IsCommon reports whether v is an ordinary word rather than a password, by a list and by endings of English
// adjectives and verbs.
func IsCommon(v string) bool {
	v = strings.ToLower(strings.Trim(v, "._-"))
	if slices.Contains(plain, v) {
		return true
	}
	for _, end := range []string{
		"ed", "ing", "able", "ible", "ly", "ent", "ive", "ous", "ally", "é", "ée", "és", "ées", // changé
	} {
		if len(v) > len(end)+3 && strings.HasSuffix(v, end) {
			return true
		}
	}
	return false
}

// algorithms begin words of letters and digits that are no password.
var algorithms = []string{
	"sha", "md", "aes", "rsa", "utf", "base", "argon", "bcrypt", "scrypt", "pbkdf", "oauth", "ipv", "http", "tls", "ssl",
	"win", "rfc", "cve", "iso", "ntlm", "wpa", "x509", "ed25519", "hmac", "ssha", "crypt", "des", "totp", "fido", "u2f",
	"utf8", "latin", "smd", "gpg", "pkcs", "p12", "v0", "v1", "v2", "v3", "v4", "user", "test", "step", "option", "field",
}

// IsAlgorithm reports whether v, in lower case, is the name of an algorithm, a standard or the like, or one with a
// number: sha256, utf8mb4.
func IsAlgorithm(v string) bool {
	return slices.ContainsFunc(algorithms, func(a string) bool {
		rest, ok := strings.CutPrefix(v, a)
		return ok && (rest == "" || !chars.IsAlpha(rest[0]))
	})
}

// sentenceWords are in sentences about passphrases and seldom in passphrases.
var sentenceWords = []string{"a", "an", "the", "your", "is", "are", "must", "be", "to", "for", "of", "at", "or"}

// IsSentenceWord reports whether w, in lower case, is in sentences about passphrases and seldom in passphrases.
func IsSentenceWord(w string) bool { return slices.Contains(sentenceWords, w) }
