package prose

import (
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
)

// Words for numbers of two digits; those of digits are spokenDigits.
var (
	tens = text.Set(`twenty thirty forty fifty sixty seventy eighty ninety zwanzig dreißig vierzig fünfzig sechzig siebzig
		achtzig neunzig vingt trente quarante cinquante soixante veinte treinta cuarenta cincuenta sesenta setenta ochenta
		noventa vinte trinta quarenta cinquenta sessenta oitenta venti trenta quaranta cinquanta sessanta settanta ottanta
		novanta`)
	teens = text.Set(`ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen
		zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn dix onze douze treize
		quatorze quinze seize diez once doce trece catorce quince dieciséis diecisiete dieciocho diecinueve
		dez doze treze dezasseis dezassete dezoito dezanove dieci undici dodici tredici quattordici quindici
		sedici`)
	// early are the tens in the hours of a day.
	early = text.Set(`twenty zwanzig vingt veinte vinte venti`)
	ands  = text.Set(`e y et`)
	// scales make a number of those before them.
	scales = text.Set(`hundred thousand million percent hundert tausend prozent cent mille cien mil ciento cento`)
	// dayTimes are before the time of a day.
	dayTimes = text.Set(`at for around by until till from before after about since um gegen bis ab à vers às a las alle`)
)

// late are the tens that no minute of an hour has.
var late = []string{"sixty", "seventy", "eighty", "ninety", "sechzig", "siebzig", "achtzig", "neunzig"}

// centuries begin the number of a year: nineteen eighty-four.
var centuries = text.Set(`eighteen nineteen twenty achtzehn neunzehn zwanzig`)

// isLate reports whether a word is a number above all minutes of an hour.
func isLate(low string) bool {
	return slices.ContainsFunc(late, func(ten string) bool {
		return strings.HasPrefix(low, ten) || strings.HasSuffix(low, ten)
	})
}

// spokenNumber returns how many digits a word tells, 0 if it is no number, and whether it can be the hour of a day.
func spokenNumber(low string) (digits int, hour bool) {
	ten, unit, joined := strings.Cut(low, "-")
	switch {
	case spokenDigits[low] > 0:
		return spokenDigits[low], true
	case teens[low]:
		return 2, true
	case tens[low]:
		return 2, early[low]
	case joined && tens[ten] && spokenDigits[unit] > 0:
		return 2, early[ten]
	}
	if n := strings.LastIndex(low, "und"); n > 0 && tens[low[n+len("und"):]] { // einundvierzig
		return 2, early[low[n+len("und"):]]
	}
	return 0, false
}

// spokenAt returns where a code ends that is told in words for numbers from word i on: forty-one twenty-two.
func (p *passage) spokenAt(i, s int) int {
	const least, most = 4, 10
	part := p.sentences[s]
	end, all, numbers, hour := i, 0, 0, false
	for end < part.last && (end == i || p.words[end-1].after <= comma) {
		digits, early := spokenNumber(p.words[end].low)
		if digits == 0 {
			break
		}
		hour = end == i && early || hour && !(numbers == 1 && isLate(p.words[end].low) && !centuries[p.words[i].low])
		numbers++
		all += digits
		if tens[p.words[end].low] && end+2 < part.last && ands[p.words[end+1].low] && p.words[end].after == blank {
			if unit, _ := spokenNumber(p.words[end+2].low); unit > 0 { // quarenta e um
				end += 2
			}
		}
		end++
	}
	if end < part.last && scales[p.words[end].low] || i > part.first && dayTimes[p.words[i-1].low] {
		return i
	}
	if all == least-1 && numbers == all && part.turned { // the three digits of a lock
		return end
	}
	if numbers == all && numbers > 2 && p.counts(i, end) {
		return i
	}
	if all < least || all > most || numbers < 2 || numbers == 2 && hour && !p.namesCode(s) { // ten forty-five
		return i
	}
	return end
}

// namesCode reports whether a sentence has a word for a code, and not only for what has one.
func (p *passage) namesCode(s int) bool {
	for _, i := range p.sentences[s].names {
		if c := p.words[i].clue; c.Number > 3 && c.Thing == 0 {
			return true
		}
	}
	return false
}
