package redact

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/chars"
)

// announces matches words that announce a random value later in their sentence: "my key for the weather service is
// k7E3…", "when it asks for the client secret, paste dvZX…".
var announces = regexp.MustCompile(`(?i)\b(?:keys?|secrets?|tokens?|credentials?|(passwords?))\b[^\n"'<>{}=]{1,80}$`)

// announcesKey matches the words for a private key, before one in hexadecimal digits.
var announcesKey = regexp.MustCompile(`(?i)\b(?:private|wallet|signing|secret|master|encryption|recovery)` +
	`\s+key\b[^\n<>{}]{1,80}$`)

// keyDigits are the lengths of keys in hexadecimal digits: of 128, 192, 256 and 512 bits.
var keyDigits = []int{32, 48, 64, 128}

// findDistant finds random values that words earlier in the sentence announce.
func findDistant(text string) (found []Finding) {
	const shortest, longest, reach = 20, 200, 100
	encoded := func(c byte) bool { return isBase64(c) || c == '_' || c == '-' }
	for end := 0; end < len(text); end++ {
		start := end
		for end < len(text) && encoded(text[end]) {
			end++
		}
		if end-start < shortest || end-start > longest {
			continue
		}
		v := strings.TrimLeft(text[start:end], "-+/=_")
		start = end - len(v)
		before := text[max(0, start-reach):start]
		before = before[strings.LastIndexByte(before, '\n')+1:]
		hex := strings.TrimPrefix(v, "0x")
		switch {
		case slices.Contains(keyDigits, len(hex)) && strings.Trim(chars.Lower(hex), "0123456789abcdef") == "" &&
			announcesKey.MatchString(before) && !announcesDigest(before):
			found = append(found, Finding{PrivateKey, start, end})
		case strings.Contains(before, "--") || strings.Contains(strings.TrimRight(v, "="), "="):
			// A command line, whose options have rules of their own.
		case scrambled(v) && !announcesDigest(before):
			if word := announces.FindStringSubmatch(before); word != nil && word[1] != "" {
				found = append(found, Finding{Password, start, end})
			} else if word != nil {
				found = append(found, Finding{APIKey, start, end})
			}
		}
	}
	return found
}

// sentenceEnd ends the part of a text in which a word for a password announces one.
var sentenceEnd = regexp.MustCompile(`[.!?]+\s|\n`)

// strong are words for passwords that have no other meaning; see [findInSentence].
var strong = regexp.MustCompile(`(?i)(?:` + passwords + `|wachtwoord|lösenord|adgangskode|hasło|heslo|парол)`)

// strongHints are in every text with one of them.
var strongHints = append([]string{"wachtwoord", "lösenord", "adgangskode", "hasło", "heslo", "парол"},
	passwordHints...)

// joins are words between which and the name of a password there can be one.
var joins = []string{
	"is", "was", "are", "be", "to", "now", "as", "with", "try", "use", "enter", "type", "paste", "became",
	"remains", "stays",
	"reads", "says", "like", "default", "namely", "=", ":", "->", "→", "auf", "ist", "war", "lautet", "est", "es",
	"é", "è", "je", "er", "är",
}

// findInSentence finds passwords that have signs which words do not have, or follow a word such as "became", in a
// sentence about a password.
func findInSentence(text string) (found []Finding) {
	if !containsAny(lowerCase(text), strongHints) {
		return nil
	}
	for at := 0; at < len(text); {
		end, next := len(text), len(text)
		if m := sentenceEnd.FindStringIndex(text[at:]); m != nil {
			end, next = at+m[0]+1, at+m[1]
		}
		end = min(end, len(text))
		if part := text[at:end]; len(part) < 400 && containsAny(lowerCase(part), strongHints) && isProse(part) &&
			strong.MatchString(part) {
			for _, f := range wordsIn(part) {
				found = append(found, Finding{Password, at + f.start, at + f.end})
			}
		}
		at = next
	}
	return found
}

// isProse reports whether a line is made of words rather than of code.
func isProse(line string) bool {
	list := strings.Fields(line)
	signs := strings.Count(line, "(") + strings.Count(line, "{") + strings.Count(line, ";") + strings.Count(line, "=") +
		strings.Count(line, "<") + strings.Count(line, "|") + strings.Count(line, "[") + strings.Count(line, "://")
	return len(list) >= 4 && signs*8 < len(list)+4
}

// wordsIn returns the words of a sentence that are passwords.
func wordsIn(sentence string) (list []span) {
	const marks = "\"'`„“”«»()<>"
	before, at := "", 0
	for field := range strings.FieldsSeq(sentence) {
		at += strings.Index(sentence[at:], field)
		start := at + len(field) - len(strings.TrimLeft(field, marks))
		v := strings.TrimRight(strings.Trim(field, marks), ".,:;")
		v = strings.TrimRight(v, marks)
		at += len(field)
		joined := slices.Contains(joins, before)
		before = chars.Lower(strings.Trim(field, marks+",."))
		if len(v) > 64 || isPlaceholder(v) || !clearlySecret(v) || strings.ContainsAny(v, "/@\\") || hasLabel(v) {
			continue
		}
		odd := strings.ContainsAny(v[:len(v)-1], "!#$%^&?~") || strings.HasSuffix(v, "!")
		if odd && mixed(v) || joined {
			list = append(list, span{start, start + len(v)})
		}
	}
	return list
}

// phrase is a phrase in quotes, in a sentence about a passphrase.
var phrase = regexp.MustCompile(`(?i)\bpass ?phrases?\b[^\n."]{0,60}["“«]([a-zà-ÿ0-9 -]{8,80})["”»]`)

// code is the code of something that is locked, or a PIN, and the number after it.
var code = regexp.MustCompile(`(?i)(?:\b(?:(?:` + lockedThings + `)\s+(?:pin|code)|pin|` +
	`(?:code|codice|código|kode|kod|toegangscode|zugangscode)\s+` +
	`(?:d['’]accès|d['’]accesso|de\s+acceso|de\s+acesso|d['’]entrée|` +
	`(?:de|del|della|dell['’]|do|da|van|von|der|des|du|for|of|to)` +
	`(?:\s*(?:la|le|el|l['’]|the|my|our|het|de|den|dem))?\s*(?:` + lockedThings + `)))\b)` +
	`(?:\s+(?:for|of|to|on|de|del|della|do|da|van|von|du|der|des|für)\s*(?:l['’])?[^\n.,:;\d]{1,40}?)?` +
	`(?:\s*[,:=—–]\s*|\s+(?:is|was|to|back\s+to|now|est|es|è|é|ist|lautet|war|era|je|er|är)\s+(?:now\s+|still\s+)?)` +
	`["']?(\d{4,8}[A-F#*]?)(?:[^\w%-]|$)`)

// lockedThings have codes.
const lockedThings = entrances + `|thermostat|elevator|lift|cellar|basement|tür|tor|haus|garagen|porte|portail|` +
	`immeuble|coffre|alarme|cancello|porta|portone|cassaforte|allarme|puerta|portón|edificio|caja fuerte|alarma|` +
	`portão|prédio|cofre|deur|poort|kluis|bramy|domofonu|phone|card|sim`

// entrances and the like, in English.
const entrances = `door|gate|alarm|garage|entrance|safe|lock|lockbox|padlock|locker|intercom|keypad|building|house|` +
	`cabin|gym`

// findCodes finds the codes of doors and the like, and passphrases in quotes.
func findCodes(text string) (found []Finding) {
	const reachBack, reachOn = 40, 120
	lower := chars.Lower(text)
	for _, hint := range []string{"cod", "código", "pin", "kod"} {
		for at := 0; ; {
			n := strings.Index(lower[at:], hint)
			if n < 0 {
				break
			}
			at += n + len(hint)
			start, end := max(0, at-reachBack), min(len(text), at+reachOn)
			if !hasNumber(text[at:end]) {
				continue
			}
			for start > 0 && !utf8.RuneStart(text[start]) {
				start--
			}
			for _, m := range code.FindAllStringSubmatchIndex(text[start:end], -1) {
				found = append(found, Finding{Password, start + m[2], start + m[3]})
			}
		}
	}
	for _, near := range partsNear(lower, []string{"passphrase", "pass phrase"}) {
		part := text[near.start:near.end]
		for _, m := range phrase.FindAllStringSubmatchIndex(part, -1) {
			if isPassphrase(part[m[2]:m[3]]) {
				found = append(found, Finding{Password, near.start + m[2], near.start + m[3]})
			}
		}
	}
	return found
}

// hasNumber reports whether a line begins with text in which there is a number of four digits or more.
func hasNumber(text string) bool {
	const least = 4
	n := 0
	for i := 0; i < len(text) && text[i] != '\n' && n < least; i++ {
		if n++; !chars.IsDigit(text[i]) {
			n = 0
		}
	}
	return n >= least
}

// scrambled reports whether v mixes digits and both cases, as random values do and names do not.
func scrambled(v string) bool {
	turns := 0
	kind := func(c byte) int {
		switch {
		case chars.IsDigit(c):
			return 0
		case c >= 'a' && c <= 'z':
			return 1
		case c >= 'A' && c <= 'Z':
			return 2
		}
		return 3 //nolint:mnd // another sign
	}
	seen := [4]bool{}
	for i := range len(v) {
		seen[kind(v[i])] = true
		if i > 0 && kind(v[i]) != kind(v[i-1]) {
			turns++
		}
	}
	return seen[0] && seen[1] && seen[2] && turns >= len(v)/3 && entropy(v) > 3.5 && !isReference(v) && !isHashOrUUID(v)
}

// announcesDigest reports whether a sentence names something public before a value.
func announcesDigest(before string) bool {
	return containsAny(chars.Lower(before), []string{
		"public", "hash", "digest", "checksum", "fingerprint", "integrity", "sha", "commit", "version", "id ",
		"http", "file",
	}) || strings.Contains(before, "ssh-")
}

// blockScalar returns where the text of a block scalar of YAML begins if one begins at i, and i otherwise.
func blockScalar(text string, i int) int {
	n := i
	if c := chars.At(text, n); c != '|' && c != '>' {
		return i
	}
	n += 1 + len(text[n+1:]) - len(strings.TrimLeft(text[n+1:], "+-123456789"))
	if n = skipBlank(text, n); chars.At(text, n) != '\n' {
		return i
	}
	return skipBlank(text, n+1)
}
