package when

import "time"

// decadeNames are those that have words. In the twenties "the twenties" may be this century's or the last one's.
var decadeNames = map[string]int{
	"twenties": 20, "thirties": 30, "forties": 40, "fifties": 50, "sixties": 60, "seventies": 70, "eighties": 80,
	"nineties": 90,
}

// decade matches "the 1990s", "the '90s" and "the nineties". "In her thirties" is an age, "after 2000s" may be
// seconds, and "the 1960s house" is a kind of house.
func (p *parser) decade(i int) ([]Span, int) {
	at := i
	if p.word(at) == "the" {
		at++
	}
	year, n := p.decadeAt(at)
	if n == 0 {
		return nil, 0
	}
	before := at - 1
	for w := p.word(before); w == "-" || w == "early" || w == "mid" || w == "late"; w = p.word(before) {
		before--
	}
	part := before < at-1 && len(p.word(at)) == 4 // "early 2000s"
	certain := p.word(before) == "the" || part || isApostrophe(p.word(at)) || p.goesOn(i)
	kind := p.adjective(at+n) && !yearPrepositions[p.word(before-1)] // "in the 1920s jazz was new" is of a time
	if !p.exact && (!certain || kind) {
		return nil, 0
	}
	from := time.Date(year, 1, 1, 0, 0, 0, 0, p.now.Location())
	return []Span{{from, from.AddDate(10, 0, 0), Days}}, at + n - i
}

// decadeAt returns the first year of the decade that token i names, and its number of tokens. "The 1900s" are a
// century to most.
func (p *parser) decadeAt(i int) (year, n int) {
	if year = decadeNames[p.word(i)]; year > 0 {
		n = 1
	} else {
		k := i
		if isApostrophe(p.word(k)) {
			k++
		}
		if year = p.number(k); year < 0 || year%10 != 0 || p.tokens[k].ordinal {
			return 0, 0
		}
		long := len(p.word(k)) == 4 && k == i && year >= 1500 && (year%100 != 0 || year == 2000)
		if !long && len(p.word(k)) != 2 {
			return 0, 0
		}
		if isApostrophe(p.word(k + 1)) {
			k++
		}
		if n = k + 2 - i; p.word(k+1) != "s" || !p.gluedTo(i, k+1) {
			return 0, 0
		}
	}
	if year >= 100 {
		return year, n
	}
	switch this := p.now.Year() % 100 / 10 * 10; {
	case year == this:
		return 0, 0
	case year < this:
		return p.now.Year()/100*100 + year, n
	}
	return p.now.Year()/100*100 - 100 + year, n
}

// shortYear reads "'24" after a month or a season: a year up to ten years ahead.
func (p *parser) shortYear(i int) (year, n int) {
	k := p.number(i + 1)
	if !isApostrophe(p.word(i)) || k < 0 || len(p.word(i+1)) != 2 || !p.tokens[i+1].glued || p.tokens[i+1].ordinal ||
		p.word(i+2) == "s" && p.tokens[i+2].glued {
		return 0, 0
	}
	year = p.now.Year()/100*100 + k
	if year > p.now.Year()+10 {
		year -= 100
	}
	return year, 2
}

func isApostrophe(w string) bool { return w == "'" || w == "’" }
