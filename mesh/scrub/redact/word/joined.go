package word

import (
	"slices"
	"strings"
	"unicode"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/chars"
)

// joinedShape judges parts joined by hyphens and the like: tortuga-verde-21, correct-mule-battery-clasp.
func joinedShape(v string) int {
	trimmed := strings.TrimRight(v, EndSigns)
	digits := strings.ContainsAny(v, "0123456789")
	parts := strings.FieldsFunc(trimmed, func(r rune) bool { return strings.ContainsRune("-_./;", r) })
	words, numbers, odd, capital, short, small, foreign := 0, 0, 0, 0, 0, 0, 0
	for _, p := range parts {
		if len(p) > 2 && p[0] >= 'a' && p[0] <= 'z' {
			small++
		}
	}
	for i, p := range parts {
		c := censusOf(p)
		switch {
		case c.digits == len(p):
			numbers++
		case c.digits > 0 || c.signs > 0:
			switch {
			case c.lower > 0 && c.turns+c.signs > 1, c.lower > 0 && c.upper > 0 && c.digits > 0 &&
				(small > 0 || c.inner > 0 || chars.IsDigit(p[0]) && len(parts) > 2): // zV6-kumquat
				odd++
			case c.lower > 1 && (c.digits > 1 || len(p) > 4), words > 1 && i == len(parts)-1 && chars.IsDigit(p[0]):
				numbers++
			default:
				short++
			}
		case c.lower == 0 || len([]rune(p)) < 3 || i > 0 && isCommonPart(chars.Lower(p)):
			short++
		default:
			words++
			if !IsEnglish(chars.Lower(p)) {
				foreign++
			}
			if c.inner > 0 || c.upper > 0 && (c.lower > 0 && !unicode.IsUpper([]rune(p)[0])) {
				odd++
			}
			if c.upper > 0 {
				capital = 1
			}
		}
	}
	slash := strings.Contains(v, "/")
	signs := strings.ContainsAny(trimmed, "!#$%^&?~+*@")
	if len(trimmed) < len(v) {
		capital++
	}
	switch {
	case len(parts) < 2, IsMeasure(v), slash && (numbers == 0 || capital == 0):
		return 0
	case numbers+odd == 0:
		if strings.Contains(v, "-") && short == 0 && words >= 3 && !strings.ContainsAny(v, "_/.") {
			if capital > 0 && foreign == 0 && small == 0 { // Tuesday-Kettle-Brass
				return 5
			}
			return min(4, words) - max(0, 3-words)
		}
		last := parts[len(parts)-1]
		if strings.Count(v, "-") == len(parts)-1 && short == 1 && !digits && !IsCommon(last) {
			switch {
			case parts[0] == last: // vis-à-vis
				return 0
			case words == 2 && (foreign == 2 || foreign == 1 && foreignLinks[parts[1]]): // dachs-im-regen
				return 3
			case words >= 3 && !strings.HasPrefix(v, "end-to"): // look-but-dont-touch
				return 2
			}
		}
		if foreign == 2 && len(parts) == 2 && !digits { // limonada-fria
			return 1
		}
		if capital > 0 && strings.Contains(v, "_") && words >= 2 {
			return 1
		}
		if words == 2 && len(parts) == 2 && strings.Contains(v, "-") && small == 1 && capital > 0 && isUpperWord(parts[1]) &&
			len(parts[0]) > 4 && IsEnglish(parts[0]) { // chalkdust-Friday
			return 2
		}
		if foreign >= 2 && len(parts) > 2 && strings.Count(v, "_") == len(parts)-1 && small+short >= len(parts) {
			return 3 // wolke_mit_regen
		}
		return 0
	case len(parts) == 2 && odd == 0 && numbers == 1 && len(parts[1]) < 3 && !signs: // cluster-1, Falcon-9
		if len(parts[0]) > 4 && len(parts[1]) > 1 {
			return 2 + capital
		}
		return 1 + capital
	case chars.IsDigit(v[0]) && odd == 0 && !signs:
		return 0 // 2024-07-signing
	case words+odd == 0 && !signs:
		return 1
	case isRegion(parts):
		return 0
	}
	points := 3 + capital
	if small > 0 && small < len(parts)-numbers && words > 1 && capital > 0 && digits { // penguin-Ledger-52
		points++
	}
	if odd > 0 && (words > 0 || numbers > 0 || odd > 1) {
		points++
	}
	switch named := slices.ContainsFunc(parts, IsTechnical); {
	case words >= 2 && numbers == 1 && foreign == 0 && !named: // saffron-mitten-4
		points++
	case words == 2 && named && odd == 0: // web-Frontend-2
		points--
	}
	if short > 0 && odd == 0 {
		points--
	}
	if signs {
		points += 2
	}
	return max(0, min(6, points))
}

// isRegion reports whether the parts are those of a region or a zone of a cloud: eu-central-1.
func isRegion(parts []string) bool {
	return len(parts) == 3 && len(parts[0]) == 2 && len(parts[2]) < 3
}

// foreignLinks join words in languages other than English.
var foreignLinks = text.Set(`im am auf aus vom zum und de du la le les des del da do di el y et sur con com à a na em en
	van op`)

// technical are words of the names that hosts, branches, releases and documents have.
var technical = text.Set(`web frontend backend app apps api apis prod production staging stage dev test tests cluster
	node nodes host hosts pod pods job jobs worker workers feature fix bug bugfix hotfix issue task release build version
	step part phase sprint chapter lesson unit module section page table figure draft final copy new old beta alpha
	rev revision run batch group team room floor desk zone region rack disk volume line level tier plan type class
	form series model size grade week day month year time top long short mid half full first second third`)

// IsTechnical reports whether a part of a word is one of those that hosts, branches, releases and documents are named
// with, names what has a password, or announces something else.
func IsTechnical(part string) bool {
	low := chars.Lower(part)
	return technical[low] || ClueOf(low).Thing > 0 || ClueOf(low).Other
}

// isUpperWord reports whether v begins with a capital and goes on in small letters.
func isUpperWord(v string) bool {
	return v != "" && v[0] >= 'A' && v[0] <= 'Z' && len(v) > 3 && v[1:] == chars.Lower(v[1:])
}
