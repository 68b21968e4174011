package when

import (
	"strings"
	"time"
)

// relativeYears are the words before "year" after a month or a season.
var relativeYears = map[string]int{"last": -1, "this": 0, "next": 1}

// yearAt reads an optional year, with or without a comma, or "last year", and returns 0 without one.
func (p *parser) yearAt(i int) (year, n int) {
	hyphen := p.word(i) == "-" && p.gluedTo(i-1, i+1) && (!p.tokens[i-1].glued || p.number(i-3) > 0 && !p.inNumber(i-3))
	if p.word(i) == "," || hyphen && p.isYear(i+1) { // "Nov-2026", but not in "backup-nov-2026"
		n++
	}
	if p.isYear(i+n) && !(p.word(i+n+1) == ":" && p.tokens[i+n+1].glued) {
		return p.number(i + n), n + 1
	}
	k := i
	if p.word(k) == "of" {
		k++
	}
	if year, more := p.shortYear(k); more > 0 {
		return year, k + more - i
	}
	if add, ok := relativeYears[p.word(k)]; ok && p.word(k+1) == "year" && (p.word(i-1) != "may" || p.word(k) != "this") {
		return p.now.Year() + add, k + 2 - i // not "in March, last year's budget"
	}
	if spans, more := p.beforeLast(k); more > 0 && spans[0].Unit == Year { // "the year before last"
		return spans[0].From.Year(), k + more - i
	}
	if count, more := p.quantityAt(i + n); more > 0 && units[p.word(i+n+more)] == "years" && p.word(i+n+more+1) == "ago" {
		return p.now.Year() - count, n + more + 2
	}
	return 0, 0
}

// monthAt returns the month that token i names, and the number of tokens: an abbreviation may have a period.
func (p *parser) monthAt(i int) (month time.Month, n int) {
	month, ok := months[p.word(i)]
	switch {
	case !ok || p.word(i) == "may" && p.word(i+1) == "'" && p.number(i+2) < 0:
		return 0, 0
	case len(p.word(i)) <= 4 && p.word(i) != "may" && p.word(i+1) == "." && p.tokens[i+1].glued &&
		(p.number(i+2) > 0 || connectors[p.word(i+2)] || p.word(i+2) == "or" || isApostrophe(p.word(i+2))):
		return month, 2
	}
	return month, 1
}

// dates returns the days from first to last of a month, in the year if it is not 0.
func (p *parser) dates(i int, month time.Month, first, last, year int) []Span {
	var list []Span
	years := []int{year}
	if year == 0 {
		years = nil
		for y := p.now.Year() - 4; y <= p.now.Year()+4; y++ { // a leap year at least on either side
			years = append(years, y)
		}
	}
	for _, y := range years {
		from, to := p.date(y, month, first), p.date(y, month, last)
		if from == nil || to == nil {
			continue
		}
		s := from[0]
		if last > first {
			s.To, s.Unit = to[0].To, Days
		}
		list = append(list, s)
	}
	if len(list) == 0 || year != 0 {
		return list
	}
	return p.choose(i, list)
}

// isDayNumber reports whether token i can be the number of a day.
func (p *parser) isDayNumber(i int) bool {
	n := p.number(i)
	return n >= 1 && n <= 31 && len(p.word(i)) <= 2
}

// inNumber reports whether token i belongs to what is right before it: a part of a longer number, or an amount.
func (p *parser) inNumber(i int) bool {
	return i > 0 && p.tokens[i].glued && strings.Contains(".:/-#$€£", p.word(i-1))
}

// month matches "March 2026", and "March" where no person and no verb is meant.
func (p *parser) month(i int) ([]Span, int) {
	month, n := p.monthAt(i)
	if n == 0 {
		return nil, 0
	}
	if p.word(i+n) == "of" && p.isYear(i+n+1) {
		n++
	}
	if year, more := p.yearAt(i + n); year != 0 {
		return []Span{p.monthIn(year, month)}, n + more
	}
	before := p.word(i - 1)
	named := p.exact || p.named || p.since(i) || monthPrepositions[before] || p.extent(i) ||
		personless[p.word(i)] && (prepositions[before] || before == "and" || before == "the")
	verb := !p.named && !p.tokens[i].capital && afterVerb[p.word(i+n)]
	if !named || verb {
		return nil, 0
	}
	return p.choose(i, p.monthsNear(month)), n
}

// monthsNear returns the last, this and the next year's month.
func (p *parser) monthsNear(month time.Month) (list []Span) {
	for y := -1; y <= 1; y++ {
		list = append(list, p.monthIn(p.now.Year()+y, month))
	}
	return list
}

// ordinalDay matches "on the 17th" where nothing is counted by it, as floors are, and "the 17th of last month".
func (p *parser) ordinalDay(i int) ([]Span, int) {
	if !p.isDayNumber(i) || !p.tokens[i].ordinal || p.word(i-1) != "the" {
		return nil, 0
	}
	if p.word(i+1) == "of" {
		month, n := p.modified(i + 2)
		if n == 0 || month[0].Unit != Month {
			return nil, 0 // "on the 1st of each month"
		}
		return p.date(month[0].From.Year(), month[0].From.Month(), p.number(i)), 2 + n
	}
	if !p.exact && !prepositions[p.word(i-2)] || p.counts(i) {
		return nil, 0
	}
	return p.choose(i, p.daysNear(p.number(i), 2)), 1
}

// counts reports whether the number at token i counts a thing that follows it: "the 3rd floor".
func (p *parser) counts(i int) bool {
	next := p.word(i + 1)
	return next != "" && isLetter(next[0]) && !afterOrdinal[next] && !isVerb(next)
}

// daysNear returns the days with a number in this month, and in so many before it and after it.
func (p *parser) daysNear(day, months int) (list []Span) {
	for m := -months; m <= months; m++ {
		first := time.Date(p.now.Year(), p.now.Month()+time.Month(m), 1, 0, 0, 0, 0, p.now.Location())
		list = append(list, p.date(first.Year(), first.Month(), day)...)
	}
	return list
}

// halvesAndQuarters are the months that "H1", "Q1" and "quarter 1" have.
var halvesAndQuarters = map[string]int{"h": 6, "q": 3, "quarter": 3}

// quarter matches "Q3", "Q3 2026", "quarter 3 of 2026" and "H1 2025".
func (p *parser) quarter(i int) ([]Span, int) {
	length := halvesAndQuarters[p.word(i)]
	n := p.number(i + 1)
	written := p.word(i) == "quarter"
	if length == 0 || n < 1 || n > 12/length || p.tokens[i+1].glued == written || p.tokens[i+1].ordinal {
		return nil, 0
	}
	quarter := func(year int) Span {
		from := p.monthIn(year, time.Month(length*(n-1)+1)).From
		return Span{from, from.AddDate(0, length, 0), Days}
	}
	year, more := p.yearAt(i + 2)
	if p.word(i+2) == "of" && p.isYear(i+3) {
		year, more = p.number(i+3), 2
	}
	if year != 0 {
		return []Span{quarter(year)}, 2 + more
	}
	heading := length == 6 && !p.all // "in H1"
	if !p.exact && (written || heading || !prepositions[p.word(i-1)] && !p.named) {
		return nil, 0
	}
	y := p.now.Year()
	return p.choose(i, []Span{quarter(y - 1), quarter(y), quarter(y + 1)}), 2
}

// extent reports whether token i is a time of which all or most is meant: "all of 2022".
func (p *parser) extent(i int) bool {
	return p.word(i-1) == "of" && extents[p.word(i-2)] && !p.adjective(i+1)
}

// year matches "in 2023", "in '98", and both years of "2019-2021".
func (p *parser) year(i int) ([]Span, int) {
	year, n := p.shortYear(i)
	if p.isYear(i) {
		year, n = p.number(i), 1
	}
	certain := p.exact || p.goesOn(i) || yearPrepositions[p.word(i-1)] || p.extent(i) || p.firstYear(i)
	if !certain || n == 0 || n == 2 && p.adjective(i+n) {
		return nil, 0
	}
	t := time.Date(year, 1, 1, 0, 0, 0, 0, p.now.Location())
	return []Span{{t, t.AddDate(1, 0, 0), Year}}, n
}

// firstYear reports whether a range of years begins at token i: "2019-2021", not in "ports 2000-2010".
func (p *parser) firstYear(i int) bool {
	years := p.number(i+2) - p.number(i)
	return connectors[p.word(i+1)] && p.gluedTo(i, i+2) && p.isYear(i+2) && years > 0 && years < 100 &&
		!numberedThings[p.word(i-1)] && !p.inNumber(i) && (p.word(i+3) != p.word(i+1) || !p.tokens[i+3].glued)
}
