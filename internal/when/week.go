package when

import "time"

// weekOf matches "the week of 9 November", and "the weekend of 14 November".
func (p *parser) weekOf(i int) ([]Span, int) {
	at := i
	if p.word(at) == "the" {
		at++
	}
	name := p.word(at)
	if name != "week" && name != "weekend" || p.word(at+1) != "of" {
		return nil, 0
	}
	k := at + 2
	if p.word(k) == "the" {
		k++
	}
	for _, rule := range []func(int) ([]Span, int){p.iso, p.numeric, p.weekday, p.dayMonth, p.ordinalDay} {
		days, n := rule(k)
		if n == 0 || days[0].Unit != Day {
			continue
		}
		from, length := inWeek(addDays(days[0].From, -(int(days[0].From.Weekday())+6)%7), time.Monday), 7
		if name == "weekend" {
			from, length = addDays(from, 5), 2
		}
		return []Span{{from, addDays(from, length), Days}}, k + n - i
	}
	return nil, 0
}

// isoWeek matches 2026-W50, 2026W50 and 2026-W50-3, which are weeks and a day of ISO 8601.
func (p *parser) isoWeek(i int) ([]Span, int) {
	if !p.isYear(i) {
		return nil, 0
	}
	k := i + 1
	if p.word(k) == "-" {
		k++
	}
	week := p.number(k + 1)
	if p.word(k) != "w" || len(p.word(k+1)) != 2 || week < 1 || week > 53 || !p.gluedTo(i, k+1) {
		return nil, 0
	}
	s, ok := p.week(p.number(i), week)
	if !ok {
		return nil, 0 // most years have 52
	}
	n := k + 2 - i
	if day := p.number(k + 3); p.word(k+2) == "-" && day >= 1 && day <= 7 && p.gluedTo(k+1, k+3) {
		return p.day(addDays(s.From, day-1)), n + 2
	}
	return []Span{s}, n
}

// gluedTo reports whether no space is between the tokens from first to last.
func (p *parser) gluedTo(first, last int) bool {
	for k := first + 1; k <= last; k++ {
		if k >= len(p.tokens) || !p.tokens[k].glued {
			return false
		}
	}
	return true
}

// weekNumber matches "week 40 of 2025", "weeks 40 to 42 of 2025", "calendar week 3", "CW 3", and "week 40" where only a
// date can be meant: "in week 3 of the course" is none.
func (p *parser) weekNumber(i int) ([]Span, int) {
	at := i
	if p.word(at) == "calendar" {
		at++
	}
	week, last, k := p.number(at+1), p.number(at+3), at+2
	if w := p.word(k); last <= week || !connectors[w] || w == "and" && last > week+1 {
		last = week
	} else {
		k += 2
	}
	// Not "11 kW".
	short := (p.word(at) == "cw" || p.word(at) == "kw") && (p.exact || p.tokens[at].capital && p.number(i-1) < 0)
	if p.word(at) != "week" && (p.word(at) != "weeks" || last == week) && !short || week < 1 || last > 53 ||
		len(p.word(at+1)) > 2 || p.tokens[at+1].ordinal {
		return nil, 0
	}
	weeks := func(year int) (Span, bool) {
		first, ok := p.week(year, week)
		end, also := p.week(year, last)
		return Span{first.From, end.To, Days}, ok && also
	}
	next := k
	if w := p.word(k); (w == "of" || w == "in" || w == "/") && p.isYear(k+1) {
		k++
	}
	if year, n := p.yearAt(k); year != 0 {
		if s, ok := weeks(year); ok {
			return []Span{s}, k + n - i
		}
		return nil, 0
	}
	if !p.exact && !short && at == i && (!p.all || !seasonBefore[p.word(i-1)] || p.word(next) == "of") {
		return nil, 0
	}
	var list []Span
	for year := p.now.Year() - 6; year <= p.now.Year()+1; year++ { // at least one of them has 53 weeks
		if s, ok := weeks(year); ok {
			list = append(list, s)
		}
	}
	return p.choose(i, list), next - i
}

// week returns a week of ISO 8601, false if the year does not have it. The first is the one with 4 January.
func (p *parser) week(year, week int) (Span, bool) {
	january := startOf(year, time.January, 4, p.now.Location())
	monday := addDays(january, 7*(week-1)-(int(january.Weekday())+6)%7)
	return Span{monday, addDays(monday, 7), Days}, addDays(monday, 3).Year() == year
}
