package redact

import (
	"strings"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/chars"
)

// group is a run of digits in a text.
type group struct {
	start, end int
	sep        string // the separator between this group and the next of its run
}

func (g group) len() int { return g.end - g.start }

// findNumbers finds what is recognized by its digits: payment cards, US
// social security numbers and telephone numbers.
func findNumbers(text string) []Finding {
	var found []Finding
	for at := 0; at < len(text); {
		if !chars.IsDigit(text[at]) {
			at++
			continue
		}
		run := digitRun(text, at)
		at = run[len(run)-1].end
		for i := 0; i < len(run); {
			f, n := matchNumber(text, run, i)
			if n == 0 {
				i++
				continue
			}
			found = append(found, f)
			i += n
		}
	}
	return found
}

// maxRun bounds a run of groups: no number has more, and it keeps the search
// linear.
const maxRun = 12

// digitRun returns the groups of digits from at on that short separators
// (spaces, hyphens, dots, slashes, parentheses) hold together.
func digitRun(text string, at int) []group {
	var run []group
	for len(run) < maxRun {
		end := at
		for end < len(text) && chars.IsDigit(text[end]) {
			end++
		}
		run = append(run, group{start: at, end: end})
		next := end
		for next < len(text) && next-end < 4 {
			n := sepLen(text[next:])
			if n == 0 {
				break
			}
			next += n
		}
		if next == end || next >= len(text) || !chars.IsDigit(text[next]) {
			break
		}
		run[len(run)-1].sep = text[end:next]
		at = next
	}
	return run
}

// sepLen is the length of the separator s begins with: one of " -./()" or a
// no-break space, a no-break hyphen or a dash; 0 for none.
func sepLen(s string) int {
	if strings.IndexByte(" -./()", s[0]) >= 0 {
		return 1
	}
	for _, wide := range []string{"\u00a0", "\u202f", "\u2010", "\u2011", "\u2013"} {
		if strings.HasPrefix(s, wide) {
			return len(wide)
		}
	}
	return 0
}

// matchNumber returns what begins at group i, and how many groups it takes.
func matchNumber(text string, run []group, i int) (Finding, int) {
	if !freeBefore(text, run[i].start) {
		return Finding{}, 0
	}
	for _, m := range []struct {
		kind  Kind
		match func(string, []group) (int, int)
	}{{Card, cardAt}, {SSN, ssnAt}, {Phone, phoneAt}} {
		start, n := m.match(text, run[i:])
		if n > 0 && freeAfter(text, run[i+n-1].end) {
			return m.kind.At(start, run[i+n-1].end), n
		}
	}
	return Finding{}, 0
}

// freeBefore reports whether a number can begin at i: not inside a word, an
// identifier, a decimal or a path.
func freeBefore(text string, i int) bool {
	c := chars.At(text, i-1)
	if chars.IsAlnum(c) || c == '_' || c == '$' || c == '#' {
		return false
	}
	p := chars.At(text, i-2)
	switch c {
	case '-', '.', '/', ',':
		return !chars.IsAlnum(p) && p != '_'
	case ':': // a time, or a device number; but "tel:"
		return !chars.IsDigit(p) && (!chars.IsAlpha(p) || chars.IsAlpha(chars.At(text, i-3)) &&
			chars.IsAlpha(chars.At(text, i-4)))
	}
	return true
}

// freeAfter reports whether a number may end at i: what follows does not continue it, as in 12-34 or 12.5%.
func freeAfter(text string, i int) bool {
	c := chars.At(text, i)
	if chars.IsAlnum(c) || c == '_' || c == '%' {
		return false
	}
	if c == '-' || c == '.' || c == ',' || c == '/' || c == ':' || c == '@' {
		n := chars.At(text, i+1)
		return !chars.IsAlnum(n) && n != '_'
	}
	return true
}

// digits returns the digits of the groups without what separates them.
func digits(text string, gs []group) string {
	var b strings.Builder
	for _, g := range gs {
		b.WriteString(text[g.start:g.end])
	}
	return b.String()
}

// cardAt matches a payment card number: 13 to 19 digits in one group, or in
// groups held together by one and the same separator, with the prefix and
// length of a network and a valid Luhn checksum.
func cardAt(text string, run []group) (start, n int) {
	total := 0
	for k, g := range run {
		if k > 0 && (run[k-1].sep != run[0].sep || len(run[k-1].sep) > 3) || k > 0 &&
			strings.Trim(run[0].sep, " -.\u00a0\u2011") != "" {
			return 0, 0
		}
		total += g.len()
		if k > 0 && (run[0].len() != 4 || g.len() < 1 || g.len() > 6) {
			return 0, 0
		}
		if total > 19 {
			return 0, 0
		}
		if total < 13 {
			continue
		}
		d := digits(text, run[:k+1])
		if !(k == 0 && len(d) == 19) && cardNetwork(d) && luhn(d) {
			return run[0].start, k + 1
		}
	}
	return 0, 0
}

// cardNetwork reports whether prefix and length are those of Visa, Mastercard,
// American Express, Discover, JCB, Diners Club, UnionPay or Maestro.
func cardNetwork(d string) bool {
	n := len(d)
	p2, p3, p4 := number(d[:2]), number(d[:3]), number(d[:4])
	switch {
	case d[0] == '4':
		return n == 13 || n == 16 || n == 19
	case p2 >= 51 && p2 <= 55, p4 >= 2221 && p4 <= 2720:
		return n == 16
	case p2 == 34 || p2 == 37:
		return n == 15
	case p4 == 6011, p2 == 65, p3 >= 644 && p3 <= 649, p2 == 62:
		return n >= 16
	case p4 >= 3528 && p4 <= 3589:
		return n == 16
	case p3 >= 300 && p3 <= 305, p2 == 36, p2 == 38, p2 == 39:
		return n == 14
	case p4 == 5018, p4 == 5020, p4 == 5038, p4 == 5893, p4 == 6304, p4 == 6759, p4 >= 6761 && p4 <= 6763:
		return n >= 16
	}
	return false
}

// luhn reports whether the check digit of a card's number is right (ISO/IEC 7812-1).
func luhn(d string) bool {
	sum := 0
	for i := range len(d) {
		v := int(d[len(d)-1-i] - '0')
		if i%2 == 1 {
			if v *= 2; v > 9 {
				v -= 9
			}
		}
		sum += v
	}
	return sum%10 == 0
}

// number is the value of a short run of digits.
func number(d string) int {
	n := 0
	for i := range len(d) {
		n = n*10 + int(d[i]-'0')
	}
	return n
}

var ssnWords = []string{"ssn", "social security", "social-security", "taxpayer id"}

// ssnAt matches a US social security number: 3-2-4 digits with hyphens and an
// area, group and serial that can be issued. With spaces, or with nothing
// between, the words "SSN" or "social security" must precede it.
func ssnAt(text string, run []group) (start, n int) {
	if run[0].len() == 9 {
		if issued(text[run[0].start:run[0].end]) && near(text, run[0].start, ssnWords) {
			return run[0].start, 1
		}
		return 0, 0
	}
	if len(run) < 3 || run[0].len() != 3 || run[1].len() != 2 || run[2].len() != 4 || run[0].sep != run[1].sep {
		return 0, 0
	}
	if !issued(digits(text, run[:3])) {
		return 0, 0
	}
	switch run[0].sep {
	case "-", "\u2010", "\u2011", "\u2013":
		return run[0].start, 3
	case " ", ".", "\u00a0":
		if near(text, run[0].start, ssnWords) {
			return run[0].start, 3
		}
	}
	return 0, 0
}

// issued reports whether a United States social security number of nine digits can have been issued: some areas, groups
// and serials never are.
func issued(d string) bool {
	area := number(d[:3])
	return area > 0 && area != 666 && area < 900 && d[3:5] != "00" && d[5:] != "0000"
}

// nearWindow is the maximum distance, in bytes, of a word that announces a value.
const nearWindow = 40

// near reports whether one of the words, all lower case, is shortly
// before position i in the same line.
func near(text string, i int, words []string) bool {
	w := text[max(0, i-nearWindow):i]
	if nl := strings.LastIndexByte(w, '\n'); nl >= 0 {
		w = w[nl+1:]
	}
	w = chars.Lower(w)
	for _, word := range words {
		at := strings.LastIndex(w, word)
		if at < 0 {
			continue
		}
		before, after := chars.At(w, at-1), chars.At(w, at+len(word))
		if word[0] >= 0x80 || !chars.IsAlnum(before) && !chars.IsAlnum(after) {
			return true
		}
	}
	return false
}
