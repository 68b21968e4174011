package redact

import (
	"regexp"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/chars"
)

// named is what a sentence calls a secret after its value, up to the end of the clause: "hunter2 is her password."
const named = `\s+(?:[\w'-]+\s+){0,3}(?:password|passphrase|passcode|passwort|kennwort|contraseña|mot de passe)` +
	`(?:\s+(?:for|to|of|on|at|in|für|de|para|pour)\b|\s*(?:[.,;:!?)\n]|$))`

// Parts of the forms of sentences.
const (
	passwords = `(?:\b(?:passwords?|passphrases?|passcodes?|pw|passwort|kennwort|contraseña|mot de passe|senha)\b|` +
		`парол[ьяе])`
	whose   = `the|my|your|his|her|our|their|its`
	typedOn = `(?:key\s?pad|pin\s?pad|numpad|number\s+pad|intercom|alarm(?:\s+panel)?|alarm\s+box|(?:door|bike|` +
		`key)?\s?lock|lock\s?box|safe)`
	from = `(?:from|von|vom|de|da|с|z)`
	into = `(?:to|into|auf|zu|in|à|a|para|на|->|→)`
)

// passwordHints are in every text with one of passwords.
var passwordHints = []string{
	"passw", "passphrase", "passcode", "pw ", "kennwort", "contraseña", "mot de passe", "senha", "пароль",
}

// oddWord accepts what is no word and no name of an algorithm or version.
func oddWord(v string) bool {
	return secretLike(v) && !isCode(v) && !isVersion(v) && !isAlgorithm(chars.Lower(v)) && !isHashOrUUID(v)
}

// sentences are forms in which people write a secret and what it is, other than the name before the value.
var sentences = []pair{
	{
		[]string{"passw", "passphrase", "passcode", "kennwort", "contraseña", "mot de passe"},
		regexp.MustCompile(`(?i)(?:^|[\s("'\x60])([^\s"'\x60<>]{6,64}?)["'\x60]?\s+` +
			`(?:as|is|als|ist|como|es|comme|est)` + named),
		Password, clearlySecret,
	},
	{
		[]string{"passw", "passphrase", "passcode"},
		regexp.MustCompile(`(?i)\b(?:password|passphrase|passcode)\s+(?:(?:that|which)\s+)?(?:you|i|we|he|she|they)\s+` +
			`(?:[\w']+\s+){1,4}?(?:is|was)\s+["'\x60]?([^\s"'\x60<>]{6,64}?)["'\x60.,;:!?)]*(?:\s|$)`),
		Password, clearlySecret,
	},
	{
		[]string{"pin ", "code "},
		regexp.MustCompile(`(?i)\b(?:use|enter|type|with|try|dial|has|have)\s+(?:(?:the|my|your|his|her|our|their)\s+)?` +
			`(?:pin|(?:pin|access|door|gate|alarm|entry|security|key)\s+code)\s+["']?(\d{4,8}[#*]?)`),
		Password, isNumber,
	},
	{
		[]string{"code "},
		regexp.MustCompile(`(?i)\bcode\s+(?:for|of|to|at)\s+(?:the|my|our|your|her|his|their)\s+(?:[\w-]+\s+){0,2}` +
			`(?:` + entrances + `)\s*(?:\bis\b|\bwas\b|:|=)\s*["']?(\d{4,8}[#*]?)`),
		Password, isNumber,
	},
	{[]string{"code "}, regexp.MustCompile(`(?i)\bcode\s+(\d{4,8}[#*])`), Password, isNumber},
	// A number that is typed where nothing but a code is.
	{
		[]string{"keypad", "key pad", "pin pad", "pinpad", "numpad", "intercom", "alarm", "lock", "safe"},
		regexp.MustCompile(`(?i)\b(?:type|enter|press|punch(?:\s+in)?|dial|key\s+in|tap|put\s+in)` +
			`\s+["']?(\d{4,8}[#*]?)["']?\s+` +
			`(?:on|into|in|at)\s+(?:` + whose + `\s+)?(?:[\w-]+\s+){0,2}?` + typedOn + `\b`),
		Password, isNumber,
	},
	{
		[]string{"keypad", "key pad", "pin pad", "pinpad", "numpad", "intercom", "alarm", "lock", "safe"},
		regexp.MustCompile(`(?i)\b(?:on|at)\s+(?:` + whose + `\s+)?(?:[\w-]+\s+){0,2}?` + typedOn + `[,:]?\s+` +
			`(?:you\s+|just\s+|then\s+){0,2}(?:type|enter|press|punch(?:\s+in)?|dial|key\s+in|tap)\s+["']?(\d{4,8}[#*]?)`),
		Password, isNumber,
	},
	{
		[]string{"code"},
		regexp.MustCompile(`(?i)\b(?:recovery|backup|rescue|unlock|pairing|2fa|otp)[ -]codes?\s*(?:is|are|was|:|=|` +
			`,)?\s*["']?` +
			`((?:[a-z0-9]{4,8}-){1,7}[a-z0-9]{4,8}|\d{6,8}|[a-z0-9]{8,16})\b`),
		Password, hasDigit,
	},
	{
		[]string{"pin "},
		regexp.MustCompile(`(?i)\b(?:my|her|his|our|their|your|bank|card|sim|phone|debit|credit)\s+pin\s+(\d{4,8})` +
			`(?:[^\w%-]|$)`),
		Password, isNumber,
	},
	{
		[]string{"unlock", "open"},
		regexp.MustCompile(`(?i)\b(?:unlock|open)s?\s+(?:it\s+)?with\s+(?:the\s+(?:code|pin)\s+)?["']?` +
			`(\d{4,8}|\d{1,2}(?:-\d{1,2}){2,3})(?:[^\w%-]|$)`),
		Password, isNumber,
	},
	// A change: the old secret, and the new one.
	{
		passwordHints,
		regexp.MustCompile(`(?i)` + passwords + `[^.\n]{0,40}?\s` + from + `\s+["'\x60„“«]?([^\s"'\x60<>]{4,64}?)` +
			`["'\x60“”»]?\s+` + into + `\s`),
		Password, clearlySecret,
	},
	{
		passwordHints,
		regexp.MustCompile(`(?i)` + passwords + `[^.\n]{0,40}?\s` + from + `\s+\S{4,80}\s+` + into +
			`\s+["'\x60„“«]?([^\s"'\x60<>]{4,64}?)["'\x60“”».,;:!?)]*(?:\s|$)`),
		Password, clearlySecret,
	},
	// "The password was reset; the new one is x".
	{
		passwordHints,
		regexp.MustCompile(`(?i)` + passwords + `[^\n]{0,80}?\b(?:new|old|current|temporary|next|other|real|right)` +
			`\s+one\s*` +
			`(?:is\s+now|is|was|will\s+be|:|=)\s+["'\x60]?([^\s"'\x60<>]{6,64}?)["'\x60.,;:!?)]*(?:\s|$)`),
		Password, oddWord,
	},
	{
		[]string{"admin", "root", "guest", "ubuntu"},
		regexp.MustCompile(`(?i)\b(?:admin|administrator|root|guest|ubuntu)\s+/\s+([^\s"'<>]{6,64})`),
		Password, clearlySecret,
	},
	{
		[]string{"creds", "credentials", "login"},
		regexp.MustCompile(`(?i)\b(?:creds|credentials|login)\b\s*(?:are\b|is\b|:|=|with\b|as\b)?\s*` +
			`[\w.@+-]+\s*(?:[/:,|]|\band\b)\s*` +
			`([^\s"'<>]{6,64})`),
		Password, clearlySecret,
	},
	{
		[]string{"combination"},
		regexp.MustCompile(`(?i)\b(?:safe|lock|locker|padlock|vault|suitcase|strongbox)\b[^.\n]{0,40}\bcombination\b` +
			`[^.\n\d]{0,20}(\d{1,2}(?:[ -]+\d{1,2}){2,3})\b`),
		Password, isNumber,
	},
	{
		[]string{"combination"},
		regexp.MustCompile(`(?i)\bcombination\b[^.\n\d]{0,20}\b(?:safe|lock|locker|padlock|vault|suitcase|strongbox)\b` +
			`[^.\n\d]{0,20}(\d{1,2}(?:[ -]+\d{1,2}){2,3})\b`),
		Password, isNumber,
	},
	{
		[]string{"phrase", "seed", "mnemonic"},
		regexp.MustCompile(`(?i)\b(?:(?:recovery|seed|backup|secret|wallet|mnemonic)\s+(?:phrase|words|seed)|mnemonic)\b` +
			`[^\n]{0,40}?(?:\bis|\bare|:|=)\s*["'\x60]?((?:[a-z]{3,8}\s+){11,23}[a-z]{3,8})\b`),
		Password, isSeed,
	},
}

// hasDigit accepts what is no word.
func hasDigit(v string) bool { return strings.ContainsAny(v, "0123456789") }

// isNumber accepts the numbers that a form has found.
func isNumber(string) bool { return true }

// isSeed accepts a number of words that a wallet's seed has, none of which is a word of sentences that seeds lack.
func isSeed(v string) bool {
	list := strings.Fields(chars.Lower(v))
	return len(list)%3 == 0 && !slices.ContainsFunc(list, func(w string) bool {
		return slices.Contains([]string{"the", "and", "for", "are", "your", "should", "not", "never", "must", "has"}, w)
	})
}
