package redact

import (
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/chars"
)

// phoneWords announce a telephone number, in the languages of the formats
// below.
var phoneWords = []string{
	"phone", "telephone", "tel", "mobile", "cell", "cellphone", "call", "call me", "dial", "fax", "whatsapp", "sms",
	"text me",
	"telefon", "telefonnummer", "handy", "handynummer", "mobil", "rufnummer", "mobilnummer", "anrufen",
	"téléphone", "portable", "móvil", "celular", "teléfono", "telefono", "cellulare", "telefone", "telemóvel",
	"电话", "手机", "電話", "携帯", "전화", "휴대폰", "телефон", "тел", "номер",
}

// phoneAt matches a telephone number:
//
//   - international: "+" or "00", an assigned calling code, and as many digits
//     as a number of that country has, 8 to 15 in all;
//   - North American: (NPA) NXX-XXXX, NPA-NXX-XXXX, with dots or spaces, with
//     or without a leading 1, area and exchange codes as they are issued;
//   - national with a trunk 0, in groups: 030 1234567, 0171/1234567,
//     01 23 45 67 89, 020 7946 0958;
//   - with an area code in parentheses, in Russia's and Brazil's groups: 8 (912) 345-67-89, (11) 98765-4321;
//   - any other 7 to 12 digits when a word such as "phone" or "call" is
//     shortly before them in the line.
//
// Dates, versions, amounts, ISBNs and ids have none of these forms.
func phoneAt(text string, run []group) (start, n int) {
	if start, n := internationalAt(text, run); n > 0 {
		return start, n
	}
	if start, n := northAmericanAt(text, run); n > 0 {
		return start, n
	}
	if start, n := trunkAt(text, run); n > 0 {
		return start, n
	}
	if start, n := areaAt(text, run); n > 0 {
		return start, n
	}
	return announcedAt(text, run)
}

// internationalAt takes as many groups as make a possible number; if there are none, a row of several groups
// below an assigned calling code, which is a number with a digit too many or too few.
func internationalAt(text string, run []group) (start, n int) {
	first := run[0].start
	plus := chars.At(text, first-1) == '+'
	if plus && chars.IsAlnum(chars.At(text, first-2)) {
		return 0, 0
	}
	if !plus && !strings.HasPrefix(text[first:run[0].end], "00") {
		return 0, 0
	}
	total, valid, mistyped := 0, 0, 0
	for k, g := range run {
		if total += g.len(); total > 17 {
			break
		}
		d := strings.TrimPrefix(digits(text, run[:k+1]), "00")
		assigned, possible := callingCode(d)
		zeros := len(d) - len(strings.TrimRight(d, "0"))
		switch {
		case len(d) > 15 || zeros > 5 && k == 0 || zeros > 7:
		case possible && (len(d) >= 9 || plus && len(d) == 8 && run[0].len() == 3 && run[0].sep == " "):
			valid = k + 1
		case assigned && d[0] != '1' && len(d) >= 9 && k > 0 && run[0].len() < 4:
			mistyped = k + 1
		}
		if len(g.sep) > 3 || strings.Contains(g.sep, "  ") {
			break
		}
	}
	if !plus && run[0].len() == 2 && (hexBefore(text, first) ||
		len(run) > 1 && hexAfter(text, run[0].end) && inBytes(run)) {
		return 0, 0 // a row of bytes
	}
	n = valid
	if n == 0 {
		n = mistyped
	}
	switch {
	case n == 0:
		return 0, 0
	case plus:
		return first - 1, n
	case n == 1 && !near(text, first, phoneWords):
		return 0, 0
	}
	return first, n
}

// nanp reports whether d is a North American number: ten digits, area code
// and exchange 200 to 999 and not of the service codes N11.
func nanp(d string) bool {
	return len(d) == 10 && d[0] >= '2' && d[3] >= '2' && d[1:3] != "11" && d[4:6] != "11"
}

// northAmericanAt returns where a number of the North American plan begins in run, and how many groups it has, 0 for
// none: 3-3-4 digits, after a 1 if there are more.
func northAmericanAt(text string, run []group) (start, n int) {
	first := 0
	if run[0].len() == 1 && text[run[0].start] == '1' && len(run) > 3 {
		first = 1
	}
	if len(run) < first+3 {
		return 0, 0
	}
	g := run[first : first+3]
	if g[0].len() != 3 || g[1].len() != 3 || g[2].len() != 4 || !nanp(digits(text, g)) {
		return 0, 0
	}
	open := chars.At(text, g[0].start-1) == '(' && strings.HasPrefix(g[0].sep, ")")
	if !open && g[0].sep != g[1].sep || strings.ContainsAny(g[1].sep, "/()") {
		return 0, 0
	}
	start = run[0].start
	if open {
		start = min(start, g[0].start-1)
	}
	// A plain list of numbers has the same form with spaces.
	if !open && g[0].sep == " " && (chars.IsDigit(chars.At(text, start-2)) || len(run) > first+3) &&
		!near(text, start, phoneWords) {
		return 0, 0
	}
	return start, first + 3
}

// trunkAt is northAmericanAt for national numbers elsewhere: they begin with a single 0, have 9 to 12 digits, and one
// kind of separator.
func trunkAt(text string, run []group) (start, n int) {
	g := run[0]
	if g.len() < 2 || g.len() > 5 || text[g.start] != '0' || text[g.start+1] == '0' || len(run) < 2 {
		return 0, 0
	}
	sep := g.sep
	open := chars.At(text, g.start-1) == '(' && strings.HasPrefix(sep, ")")
	if len(sep) > 1 && !open && sepLen(sep) != len(sep) {
		return 0, 0
	}
	total := g.len()
	k := 1
	for ; k < len(run) && total < 12; k++ {
		if run[k].len() < 2 || k > 1 && run[k-1].sep != run[1].sep || strings.ContainsAny(run[k-1].sep, "()") &&
			!(k == 1 && open) {
			break
		}
		total += run[k].len()
	}
	if total < 9 || total > 12 || dated(run[:k]) || isZIP(text, run[:k]) {
		return 0, 0
	}
	if pairs := g.len() == 2 && total == 10 && k == 5; pairs || strings.Contains(sep, ".") || run[1].len() == 2 {
		// A row of hexadecimal bytes has the same form.
		if !pairs || !near(text, g.start, phoneWords) &&
			(len(run) > k || hexBefore(text, g.start) || hexAfter(text, run[k-1].end)) {
			return 0, 0
		}
	}
	if total == 9 && !strings.ContainsAny(sep, "/)-") && !near(text, g.start, phoneWords) && run[1].len() < 6 {
		return 0, 0
	}
	start = g.start
	if open {
		start--
	}
	return start, k
}

// isZIP reports whether the groups are an American postal code after the letters of its state: "MA 02110-1301".
func isZIP(text string, run []group) bool {
	before := strings.TrimRight(text[:run[0].start], " ,")
	upper := func(c byte) bool { return c >= 'A' && c <= 'Z' }
	n := len(before)
	return len(run) == 2 && run[0].len() == 5 && run[0].sep == "-" && run[1].len() == 4 &&
		upper(chars.At(before, n-1)) && upper(chars.At(before, n-2)) && !chars.IsAlnum(chars.At(before, n-3))
}

// areaAt matches groups that only telephone numbers have, after an area code in parentheses.
func areaAt(text string, run []group) (start, n int) {
	first := 0
	if run[0].len() == 1 && (text[run[0].start] == '8' || text[run[0].start] == '7') {
		first = 1
	}
	if len(run) < first+3 || chars.At(text, run[first].start-1) != '(' || !strings.HasPrefix(run[first].sep, ")") {
		return 0, 0
	}
	lengths := make([]int, 0, 4)
	for _, g := range run[first:min(len(run), first+4)] {
		lengths = append(lengths, g.len())
	}
	start = run[0].start
	if first == 0 {
		start--
	}
	switch {
	case first == 1 && len(lengths) == 4 && slices.Equal(lengths, []int{3, 3, 2, 2}):
		return start, first + 4
	case first == 0 && slices.Equal(lengths[:3], []int{2, 5, 4}) && text[run[1].start] == '9':
		return start, 3
	}
	return 0, 0
}

// inBytes reports whether all groups have two digits.
func inBytes(run []group) bool {
	return !slices.ContainsFunc(run, func(g group) bool { return g.len() != 2 || g.sep != " " && g.sep != "" })
}

// hexBefore and hexAfter report whether two hexadecimal digits are next to a
// run of digits.
func hexBefore(text string, i int) bool {
	return chars.At(text, i-1) == ' ' && chars.IsHex(chars.At(text, i-2)) && chars.IsHex(chars.At(text, i-3)) &&
		!chars.IsAlnum(chars.At(text, i-4))
}

// hexAfter reports whether another hexadecimal byte follows: then the digits are a dump and no number.
func hexAfter(text string, i int) bool {
	return chars.At(text, i) == ' ' && chars.IsHex(chars.At(text, i+1)) && chars.IsHex(chars.At(text, i+2)) &&
		!chars.IsAlnum(chars.At(text, i+3))
}

// dated reports whether the groups begin as a date does: 02-05-2024, 2024/05/02.
func dated(run []group) bool {
	if len(run) < 3 {
		return false
	}
	a, b, c := run[0].len(), run[1].len(), run[2].len()
	return a <= 2 && b <= 2 && c == 4 || a == 4 && b <= 2 && c <= 2
}

// announcedAt is northAmericanAt for numbers of 7 to 12 digits after a word such as "phone", in whatever groups.
func announcedAt(text string, run []group) (start, n int) {
	if dated(run) || !near(text, run[0].start, phoneWords) {
		return 0, 0
	}
	total := 0
	for k, g := range run {
		total += g.len()
		if total > 12 {
			return 0, 0
		}
		last := k == len(run)-1
		if last || len(g.sep) > 1 {
			if total < 7 || k > 5 || strings.Contains(digits(text, run[:k+1]), "0000000") {
				return 0, 0
			}
			return run[0].start, k + 1
		}
	}
	return 0, 0
}
