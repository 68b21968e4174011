package word

import (
	"slices"
	"strings"
	"unicode"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/chars"
)

// Shape is what a word looks like, in points: a password, the number of a lock, a random key. 0 is an ordinary word.
type Shape struct{ Word, Number, Key int }

// EndSigns are signs that a password can end in and words are followed by.
const EndSigns = "!?#*$%&+^~"

// census is what a word is made of.
type census struct {
	lower, upper, digits, signs, joints, others int
	turns                                       int // from letters to digits and back
	inner                                       int // capitals after a small letter
}

func censusOf(v string) (c census) {
	last, small := 0, false
	for i, r := range v {
		kind := 0
		switch {
		case unicode.IsDigit(r):
			c.digits++
			kind = 1
		case unicode.IsUpper(r):
			c.upper++
			if small {
				c.inner++
			}
			kind = 2
		case unicode.IsLetter(r) || unicode.IsMark(r):
			c.lower++
			kind = 2
		case strings.ContainsRune("!#$%^&?~+*@", r):
			c.signs++
		case strings.ContainsRune("-_./'’,:;", r):
			c.joints++
		default:
			c.others++
		}
		if i > 0 && kind != last && kind > 0 && last > 0 {
			c.turns++
		}
		last, small = kind, unicode.IsLower(r)
	}
	return c
}

// HasSmallAndDigits reports whether v has small letters and digits.
func HasSmallAndDigits(v string) bool {
	c := censusOf(v)
	return c.lower > 0 && c.digits > 0
}

// ShapeOf judges a word by its looks alone.
func ShapeOf(v string) (s Shape) {
	if n := strings.LastIndexByte(v, '$'); n > 0 && strings.Count(v, "$") > 2 && scrambled(v[n+1:]) {
		return Shape{Key: 6} // the hash of a password: $1$mERr$hx5rVt7rPNoS4wqbXKX7m0
	}
	if len(v) < 3 || len(v) > 120 || IsPlaceholder(v) || strings.HasPrefix(v, "[REDACTED") {
		return s
	}
	c := censusOf(v)
	if c.lower+c.upper == 0 {
		return Shape{Number: numberShape(v, c), Word: digitsAsWord(v, c)}
	}
	low := chars.Lower(v)
	s.Number = lockShape(v, c)
	s.Key = keyShape(v, c)
	if isReferenceWord(v, low) {
		return s
	}
	s.Word = wordShape(v, low, c)
	return s
}

// numberShape judges digits, alone or in groups: 6203, 418 207, 9-0-2-6.
func numberShape(v string, c census) int {
	groups := strings.FieldsFunc(v, func(r rune) bool { return r == ' ' || r == '-' || r == '.' })
	bare := strings.TrimRight(v, "#*")
	switch {
	case v[0] == '#' && c.digits > 3 && c.digits < 7 && strings.Trim(v[1:], "0123456789") == "": // #4406
		return 2
	case v[0] == '#' || c.digits < 3 || c.digits > 10 || strings.Trim(bare, "0123456789 -.*#") != "":
		return 0
	case c.digits == 3 && len(groups) == 3 && strings.Contains(v, "-"): // 0-9-3
		return 3
	case c.digits < 4 || len(groups) == 1 && strings.Contains(v, "."):
		return 0
	case bare != v && len(groups) == 1:
		return 6
	case len(groups) == 1 && len(v) == 4 && (v[:2] == "19" || v[:2] == "20"): // a year
		if v[:2] == "19" || v[2] > '3' {
			return 3
		}
		return 1
	case len(groups) == 1:
		return 4
	case strings.Contains(v, ".") && len(groups) > 2:
		return 0 // a date or a version
	}
	longest := 0
	for _, g := range groups {
		longest = max(longest, len(g))
	}
	switch {
	case longest == 1 && len(groups) >= 4: // 9-0-2-6
		return 6
	case longest <= 2 && len(groups) >= 3: // 31-08-54
		return 3
	case !strings.Contains(v, "-") && c.digits >= 6 && len(groups) <= 3: // 418 207
		return 4
	case c.digits >= 6 && len(groups) == 2 && len(groups[0]) == len(groups[1]): // 418-207
		return 4
	}
	return 0
}

// digitsAsWord judges digits as a password.
func digitsAsWord(v string, c census) int {
	if strings.Trim(v, "0123456789") == "" && c.digits >= 5 && c.digits <= 12 {
		return 2
	}
	return 0
}

// lockShape judges what is typed on a keypad with letters: 48B62, B4172, 8F3K-22QX.
func lockShape(v string, c census) int {
	const most = 8
	switch {
	case c.lower == 0 && c.joints+c.signs+c.others == 0 && len(v) >= 5 && len(v) <= most && c.turns > 2 && c.digits > 1:
		return 3 // K7TQ9
	case c.others > 0 || c.digits < 3 || c.signs > 0 && strings.TrimRight(v, "#*") == v:
		return 0
	case c.upper == 2 && c.turns == 2 && len(v) < 7 && c.digits == len(v)-2 && c.joints == 0: // C1958Y
		return 4
	case c.upper == 1 && c.lower == 0 && c.joints == 0 && len(v) <= most && (c.digits > 3 || !unicode.IsUpper(rune(v[0]))):
		return 3
	case c.digits == 6 && c.upper == 1 && len(v) == 8 && v[1] == '-': // G-482915
		return 4
	case c.joints == 1 && c.lower == 0 && len(v) > 5 && len(v) < most && isPickup(v): // KD7-293
		return 3
	case c.joints > 0 && len(v) >= most && !strings.ContainsAny(v, "./:'") && (c.lower == 0 || c.upper == 0) &&
		equalGroups(v):
		return 4
	}
	return 0
}

// isPickup reports whether v is two groups of capitals and digits, the first with both: the issues of a tracker begin
// with letters alone.
func isPickup(v string) bool {
	one, two, ok := strings.Cut(v, "-")
	return ok && len(one) >= 3 && len(two) >= 3 && IsMixed(one) && chars.IsAlpha(one[0])
}

// equalGroups reports whether hyphens cut v into parts of one length: c06d3-cd55c.
func equalGroups(v string) bool {
	parts := strings.Split(v, "-")
	return len(parts) > 1 && len(parts) < 9 && len(parts[0]) >= 4 && !IsHashOrUUID(v) &&
		!slices.ContainsFunc(parts, func(p string) bool { return len(p) != len(parts[0]) })
}

// keyShape judges random values.
func keyShape(v string, c census) int {
	const shortest, long, most = 16, 20, 2
	if pad := len(v) - len(strings.TrimRight(v, "=")); pad <= most { // base64
		v = v[:len(v)-pad]
		c.others -= pad
	}
	if len(v) < shortest || c.digits == 0 || c.others > 0 || c.signs > strings.Count(v, "+") ||
		strings.ContainsAny(v, "'’,:") || strings.HasPrefix(v, "/") || IsReference(v) {
		return 0
	}
	bare := strings.TrimPrefix(chars.Lower(v), "0x")
	hex := strings.Trim(bare, "0123456789abcdef") == ""
	switch {
	case hex && len(bare) >= 32 && Entropy(bare) > 3: //nolint:mnd // as in keyDigits
		return 4
	case hex && len(bare) > 20 && len(bare) < 32 && Entropy(bare) > 3: //nolint:mnd // no digest is as short
		return 3
	case hex || IsHashOrUUID(v) || Entropy(v) < 3.3 || strings.Count(v, "/") > 2 && strings.Contains(v, "."):
		return 0
	case c.lower > 0 && c.upper > 0 && c.turns >= 3 && scrambled(strings.NewReplacer("-", "", "_", "").Replace(v)):
		return 6
	case len(v) >= long && c.turns >= 4 && c.joints == 0:
		return 4
	}
	return 0
}

// isReferenceWord reports whether a word names something elsewhere: a file, an address, an identifier of a program, a
// version, a date.
func isReferenceWord(v, low string) bool {
	if strings.Contains(v, "://") ||
		strings.IndexByte("/.~$<{-@(\\", v[0]) >= 0 || IsVersion(low) || IsHashOrUUID(v) ||
		strings.ContainsAny(v, "()[]{}<>=\\|`\"") || strings.Contains(v, "--") ||
		strings.Contains(v, ",") && !strings.ContainsAny(v, EndSigns) ||
		strings.Contains(v, "::") || strings.Contains(v, "->") {
		return true
	}
	if name, domain, ok := strings.Cut(v, "@"); ok && name != "" && strings.Contains(domain, ".") {
		return true // an address of e-mail
	}
	if strings.HasSuffix(low, "5g") || strings.HasSuffix(low, "5ghz") || strings.HasSuffix(low, "2.4ghz") {
		return true // a wireless network
	}
	if n := strings.IndexByte(low, '&'); n >= 0 && isEntity(low[n+1:]) {
		return true
	}
	if digit := chars.IsDigit(v[0]); digit && strings.Trim(low, "0123456789-.:/tz+_") == "" {
		return true // a date or a time
	}
	dot := strings.LastIndexByte(low, '.')
	if dot < 0 || wordsAndDots(v) || strings.ContainsAny(v, "!#$%^&?~+*") {
		return false
	}
	end := low[dot+1:]
	// A file, a host, a field of a structure, a version.
	return strings.Trim(end, "abcdefghijklmnopqrstuvwxyz") == "" || strings.Trim(end, "0123456789x*") == ""
}

// isEntity reports whether s begins with the name of a sign of HTML, as after "&".
func isEntity(s string) bool {
	names := []string{"quot", "rdquo", "ldquo", "rsquo", "lt", "gt", "amp", "nbsp", "#"}
	return slices.ContainsFunc(names, func(e string) bool {
		return strings.HasPrefix(s, e) && (len(s) == len(e) || !chars.IsAlpha(s[len(e)]))
	})
}

// wordsAndDots reports whether v is words and a number joined by dots, as passwords are: plank.Otter.5, pao.quente.7h.
func wordsAndDots(v string) bool {
	const shortest, most = 3, 4
	parts := strings.Split(v, ".")
	last := parts[len(parts)-1]
	if len(parts) < 3 || len(last) > most || !chars.IsDigit(last[0]) || strings.Trim(last, "0123456789") != "" &&
		(len(last) < 2 || strings.Trim(last[:len(last)-1], "0123456789") != "") {
		return false
	}
	return !slices.ContainsFunc(parts[:len(parts)-1], func(p string) bool {
		return len(p) < shortest || strings.ContainsFunc(p, func(r rune) bool { return !unicode.IsLetter(r) })
	})
}

// wordShape judges a word with letters as a password.
func wordShape(v, low string, c census) int {
	const shortest = 5
	runes := c.lower + c.upper + c.digits + c.signs + c.joints
	letters := c.lower + c.upper
	switch {
	case runes < shortest || c.others > 0 || letters < 2 && c.digits < 4:
		return 0
	case c.digits > 2 && c.lower == 0 && c.signs == 0 && lockShape(v, c) == 4 && strings.Count(v, "-") > 1:
		return 4 // WQ7T-M4XN-92KD
	case c.digits > 0 && (c.joints > 0 || c.signs == 0):
		return digitShape(v, low, c)
	case c.digits > 0: // letters, digits and signs
		if letters < 3 || c.lower == 0 && runes < 8 {
			return 0
		}
		within := strings.ContainsAny(strings.Trim(low, EndSigns), "!#$%^&?~*@")
		if within || letters >= 4 && runes >= 7 && strings.Trim(low[:1], "+%*$#") != "" {
			return 6
		}
		return digitShape(strings.Trim(v, "+%*$#"), strings.Trim(low, "+%*$#"), c)
	case c.signs > 0:
		inner := strings.Trim(strings.ReplaceAll(v, "+", ""), "!#$%^&?~*@")
		if strings.ContainsAny(inner, "!#$%^?~+*@&") && letters >= shortest && !strings.Contains(inner, "'") &&
			c.upper < letters {
			return 4
		}
		return 0
	case c.joints > 0:
		return joinedShape(v)
	case c.upper > 0 && c.lower > 0 && c.inner > 1 && c.upper < c.lower*2 && isScrambledLetters(v):
		return 4
	case c.inner == 1 && c.upper == 1 && len(v) >= 9 && isForeignCamel(v): // heimwehApfel
		return 1
	case c.upper == 0 && isRunTogether(low):
		return 4
	case c.upper == 0 && runes >= 8 && isUnspeakable(low):
		return 4
	}
	return 0
}

// digitShape judges letters with digits: 4 for a word and a number, more for what no name looks like.
func digitShape(v, low string, c census) int {
	stem := strings.TrimRight(v, "0123456789!?*#$%&+^~")
	_, release, _ := strings.Cut(low, "@v") // login-action@v3
	switch {
	case release != "" && strings.Trim(release, "0123456789.") == "":
		return 0
	case IsAlgorithm(low), isUnit(low), len(low) > 1 && low[0] == 'v' && chars.IsDigit(low[1]):
		return 0
	case strings.ContainsAny(v, "-_./;"):
		return joinedShape(v)
	case c.signs > 0 && len(v) >= 8:
		return 6
	case c.turns == 1 && len(stem) < len(v): // kettle42
		switch {
		case c.upper == 0 && len(stem) > 8 && !IsEnglish(stem) && joinedWords(stem, 3): // threeblindmice9
			return 6
		case c.upper == 0 && len(stem) > 8 && c.digits > 1 && !IsEnglish(stem) && joinedWords(stem, 2): // pizzafriday77
			return 5
		case c.upper == len(stem) && len(stem) > 1, products[chars.Lower(stem)]: // SPRING25
			return 1
		case len([]rune(stem)) < 4: // iOS17
			return min(1, c.digits/3)
		case c.digits == 1, c.inner > 1: // and names of programs
			return 2
		case c.inner > 0 && c.digits < 3:
			return 3
		}
		return 4
	case c.turns == 1: // 24hours
		if len(v) >= 8 && c.digits >= 2 {
			return 3
		}
		return 0
	case c.lower == 0: // a model's number
		if len(v) >= 10 && c.turns > 4 {
			return 3
		}
		return 1
	case IsEnglish(unleet(low)), len(low) > 6 && strings.ContainsAny(low, "0134579") && joinedWords(unleet(low), 2):
		return 6 // bl4ckbird
	case c.digits == 1 && c.upper == 0 && isTwoWords(low): // text2speech
		return 2
	case c.digits == 1 && c.upper == 0 && strings.ContainsAny(low, "2468"): // poetry2nix
		return 3
	case c.upper > 1 && len(v) >= 8 && isCamel(v):
		return 2
	case c.upper > 0 && len(v) >= 8 && c.turns > 2:
		return 6
	case c.upper > 0 && len(v) >= 6:
		return 5
	case len(v) >= 7:
		return 5
	case len(v) >= 6:
		return 3
	}
	return 0
}

// products have names that end in a number: Debian12.
var products = text.Set(`windows python ubuntu debian fedora alpine react vue angular java php node nodejs postgres
	postgresql mysql mariadb android iphone galaxy pixel chrome firefox llama claude gemini qwen mistral gemma
	deepseek office excel photoshop route area cuda vulkan opengl directx spring swift rust unicode nextcloud
	auth noreply poly chacha xchacha salsa curve blake keccak twofish macos outlook exchange
	tailwind bootstrap drupal typo magento rails django laravel kotlin scala lua qt gtk
	junit webpack vite svelte nuxt next astro proxmox truenas freebsd openbsd centos rhel rocky opensuse leap`)

// isCamel reports whether v is parts of three letters or more that begin with capitals, and numbers: ChaCha20Poly1305.
func isCamel(v string) bool {
	n := 3
	for i, r := range v + "A" {
		switch {
		case unicode.IsUpper(r) || unicode.IsDigit(r) && i > 0 && !unicode.IsDigit(rune(v[i-1])):
			if n < 3 {
				return false
			}
			n = 1
			if unicode.IsDigit(r) {
				n = 3
			}
		case unicode.IsDigit(r):
		default:
			n++
		}
	}
	return true
}

// unleet returns low with its digits read as the letters that they resemble.
func unleet(low string) string {
	return strings.NewReplacer("0", "o", "1", "i", "3", "e", "4", "a", "5", "s", "7", "t", "9", "g").Replace(low)
}

// isTwoWords reports whether low is two English words with a digit between them.
func isTwoWords(low string) bool {
	n := strings.IndexAny(low, "0123456789")
	return n > 0 && n+1 < len(low) && IsEnglish(low[:n]) && IsEnglish(low[n+1:])
}

// isUnit reports whether low is an amount, or a number with the ending of its order: 16-bit, 2nd, 4xlarge.
func isUnit(low string) bool {
	rest := strings.TrimLeft(low, "0123456789")
	return rest != low && len(rest) < 8 && strings.Trim(rest, "-") != "" &&
		strings.Trim(rest, "-abcdefghijklmnopqrstuvwxyz") == "" && len(low) < 12
}

// isCommonPart reports whether a word is in most sentences and in few passwords.
func isCommonPart(low string) bool { return ClueOf(low).Plain && len(low) < 5 }

// isForeignCamel reports whether v is two words that are not English, the second with a capital.
func isForeignCamel(v string) bool {
	n := strings.IndexFunc(v, unicode.IsUpper)
	return n > 3 && len(v)-n > 3 && !IsEnglish(v[:n]) && !IsEnglish(chars.Lower(v[n:]))
}

// isScrambledLetters reports whether letters of both cases are mixed as by chance: szBGYrz.
func isScrambledLetters(v string) bool {
	lower := chars.Lower(v)
	if isUnspeakable(lower) {
		return true
	}
	odd, capitals := 0, 0 // parts that are no words of a name: kywn KSy F
	for _, r := range v {
		switch {
		case unicode.IsUpper(r):
			capitals++
		case capitals > 1:
			odd++
			capitals = 0
		default:
			capitals = 0
		}
	}
	if capitals == 1 {
		odd++
	}
	return odd > 1
}

// isUnspeakable reports whether letters have too few vowels, or too many consonants in a row, for a word.
func isUnspeakable(low string) bool {
	row, longest, vowels, letters := 0, 0, 0, 0
	for _, r := range low {
		letters++
		if strings.ContainsRune("aeiouyäöüáéíóúàèìòùâêîôûãõåæøı", r) || r > 0x17f {
			vowels++
			row = 0
			continue
		}
		row++
		longest = max(longest, row)
	}
	return (longest > 5 || vowels*6 < letters) && !IsEnglish(low)
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
	return seen[0] && seen[1] && seen[2] && turns >= len(v)/3 && Entropy(v) > 3.5 && !IsReference(v) && !IsHashOrUUID(v)
}
