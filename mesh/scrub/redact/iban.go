package redact

import (
	"strings"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/chars"
)

// ibanLengths is the ISO 13616 registry: country to length.
var ibanLengths = map[string]int{
	"AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BI": 27, "BR": 29, "BY": 28,
	"CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DJ": 27, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18,
	"FK": 18, "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HN": 28, "HR": 21, "HU": 28,
	"IE": 22, "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LC": 32, "LI": 21, "LT": 20,
	"LU": 20, "LV": 21, "LY": 25, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MN": 20, "MR": 27, "MT": 31, "MU": 30, "NI": 28,
	"NL": 18, "NO": 15, "OM": 23, "PK": 24, "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "RU": 33, "SA": 24,
	"SC": 31, "SD": 18, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "SO": 23, "ST": 25, "SV": 28, "TL": 23, "TN": 24, "TR": 26,
	"UA": 29, "VA": 22, "VG": 24, "XK": 20, "YE": 30,
}

// findIBANs finds international bank account numbers: a country, the length
// of that country, and a valid checksum; in one piece or in groups.
func findIBANs(text string) []Finding {
	var found []Finding
	for i := 0; i+15 <= len(text); i++ {
		if !chars.IsDigit(text[i+2]) || !chars.IsDigit(text[i+3]) || !chars.IsAlpha(text[i]) || !chars.IsAlpha(text[i+1]) ||
			chars.IsAlnum(chars.At(text, i-1)) {
			continue
		}
		want := ibanLengths[strings.ToUpper(text[i:i+2])]
		if want == 0 {
			continue
		}
		if end, ok := ibanEnd(text, i, want); ok {
			found = append(found, IBAN.At(i, end))
			i = end
		}
	}
	return found
}

// ibanEnd returns where an IBAN of want characters ends that begins at start, if its check digits are right (ISO
// 13616). Spaces and hyphens may divide it.
func ibanEnd(text string, start, want int) (int, bool) {
	var b strings.Builder
	i := start
	for ; i < len(text) && b.Len() < want; i++ {
		switch c := text[i]; {
		case chars.IsAlnum(c):
			b.WriteByte(c)
		case (c == ' ' || c == '-') && chars.IsAlnum(chars.At(text, i-1)):
		case strings.HasPrefix(text[i:], "\u00a0"):
			i++
		default:
			return 0, false
		}
	}
	if b.Len() != want || chars.IsAlnum(chars.At(text, i)) {
		return 0, false
	}
	s := strings.ToUpper(b.String())
	return i, mod97(s[4:]+s[:4]) == 1
}

// mod97 is the remainder of ISO 7064 with letters as 10 to 35.
func mod97(s string) int {
	r := 0
	for i := range len(s) {
		if chars.IsDigit(s[i]) {
			r = (r*10 + int(s[i]-'0')) % 97
		} else {
			r = (r*100 + int(s[i]-'A') + 10) % 97
		}
	}
	return r
}
