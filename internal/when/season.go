package when

import (
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
)

// seasons are the first months of the seasons, as the meteorologists of the northern hemisphere count them.
var seasons = map[string]time.Month{"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}

// seasonBefore are words that make a season without a year a date in a question. In other texts "in the summer" is
// often a habit.
var seasonBefore = text.Set("in during since until till before after over from")

// notFalls are words before "last fall" where somebody fell.
var notFalls = text.Set("the a his her my our their your its")

// season matches "summer 2024", "the winter of 2024/25", and "in spring" where only a date can be meant.
func (p *parser) season(i int) ([]Span, int) {
	at := i
	if p.word(at) == "the" {
		at++
	}
	month, ok := seasons[p.word(at)]
	if !ok {
		return nil, 0
	}
	named := p.exact || seasonBefore[p.word(i-1)]
	k := at + 1
	if p.word(k) == "of" {
		k++
	}
	if year, n := p.yearAt(k); year != 0 {
		if p.word(at) == "fall" && !named && at == i {
			return nil, 0 // "prices fall 2024 times"
		}
		spans, more := p.seasonOf(i, k+n, year, month)
		return spans, k + n + more - i
	}
	if !named || !p.exact && !p.all {
		return nil, 0
	}
	var list []Span
	for y := -2; y <= 1; y++ {
		list = append(list, p.seasonFrom(p.now.Year()+y, month))
	}
	return p.choose(i, list), at + 1 - i
}

// seasonFrom returns the season that begins in a year.
func (p *parser) seasonFrom(year int, month time.Month) Span {
	from := time.Date(year, month, 1, 0, 0, 0, 0, p.now.Location())
	return Span{from, from.AddDate(0, 3, 0), Days}
}

// seasonOf returns the season of a year, and the number of tokens that the year's second half takes: "winter 2024/25".
// A winter with one year is the one that begins in it, or ends in it if the other is to come.
func (p *parser) seasonOf(i, next, year int, month time.Month) (spans []Span, n int) {
	s := p.seasonFrom(year, month)
	if month != time.December {
		return []Span{s}, 0
	}
	if w := p.word(next); w == "/" || w == "-" || w == "–" {
		if last := p.number(next + 1); last >= 0 && p.tokens[next].glued && (last == year+1 || last == (year+1)%100) {
			return []Span{s}, 2
		}
	}
	before := p.seasonFrom(year-1, month)
	if s.From.After(p.now) && p.lean(i) != future {
		s, before = before, s
	}
	if p.all {
		return []Span{s, before}, 0
	}
	return []Span{s}, 0
}

// modifiedSeason returns the last but one (-2), the last (-1), this (0) or the next season of that name. "This spring"
// is this year's, "this winter" the one of now or the nearest.
func (p *parser) modifiedSeason(month time.Month, direction int) Span {
	var over []Span
	for y := p.now.Year() - 3; ; y++ {
		s := p.seasonFrom(y, month)
		switch {
		case direction > 0 && s.From.After(p.now):
			return s
		case direction == 0 && month != time.December && y == p.now.Year(), direction == 0 && s.Holds(p.now):
			return s
		case direction == 0 && month == time.December && s.From.After(p.now):
			last := over[len(over)-1]
			if p.now.Sub(last.To) < s.From.Sub(p.now) {
				return last
			}
			return s
		case direction < 0 && s.To.After(p.now):
			return over[len(over)+direction]
		}
		over = append(over, s)
	}
}

// weekNumber matches "week 40 of 2025", "calendar week 3", "CW 3", and "week 40" where only a date can be meant: "in
// week 3 of the course" is none.
func (p *parser) weekNumber(i int) ([]Span, int) {
	at := i
	if p.word(at) == "calendar" {
		at++
	}
	week := p.number(at + 1)
	// Not "11 kW".
	short := (p.word(at) == "cw" || p.word(at) == "kw") && (p.exact || p.tokens[at].capital && p.number(i-1) < 0)
	if p.word(at) != "week" && !short || week < 1 || week > 53 || len(p.word(at+1)) > 2 || p.tokens[at+1].ordinal {
		return nil, 0
	}
	k := at + 2
	if w := p.word(k); (w == "of" || w == "in" || w == "/") && p.isYear(k+1) {
		k++
	}
	if year, n := p.yearAt(k); year != 0 {
		if s, ok := p.week(year, week); ok {
			return []Span{s}, k + n - i
		}
		return nil, 0
	}
	if !p.exact && !short && at == i && (!p.all || !seasonBefore[p.word(i-1)] || p.word(at+2) == "of") {
		return nil, 0
	}
	var list []Span
	for year := p.now.Year() - 6; year <= p.now.Year()+1; year++ { // at least one of them has 53 weeks
		if s, ok := p.week(year, week); ok {
			list = append(list, s)
		}
	}
	return p.choose(i, list), at + 2 - i
}

// week returns a week of ISO 8601, false if the year does not have it. The first is the one with 4 January.
func (p *parser) week(year, week int) (Span, bool) {
	january := startOf(year, time.January, 4, p.now.Location())
	monday := addDays(january, 7*(week-1)-(int(january.Weekday())+6)%7)
	return Span{monday, addDays(monday, 7), Days}, addDays(monday, 3).Year() == year
}

// timeFirst matches "noon yesterday", "3 pm on Tuesday" and "9:30 yesterday".
func (p *parser) timeFirst(i int) ([]Span, int) {
	clock, n := p.timeOfDay(i, Span{p.today, addDays(p.today, 1), Day})
	if n == 0 || clock.Unit != Minute {
		return nil, 0
	}
	k := i + n
	if p.word(k) == "on" || p.word(k) == "of" {
		k++
	}
	// Another time is no day, and in a timetable each one would look at all that follow.
	if _, again := p.timeOfDay(k, Span{p.today, addDays(p.today, 1), Day}); again > 0 {
		return nil, 0
	}
	days, m := p.match(k)
	if m == 0 || len(days) != 1 || days[0].Unit != Day {
		return nil, 0
	}
	year, month, day := days[0].From.Date()
	hour, minute, _ := clock.From.Clock()
	t := time.Date(year, month, day, hour, minute, 0, 0, p.now.Location())
	return []Span{{t, t.Add(time.Minute), Minute}}, k + m - i
}
