package when

import "time"

// ordinals are the words that count what is in a month.
var ordinals = map[string]int{"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5}

// countedAt reads "first", "2nd" and "last", which is -1; 0 if token i is none of them.
func (p *parser) countedAt(i int) int {
	switch k := p.number(i); {
	case p.word(i) == "last":
		return -1
	case k >= 1 && k <= 5 && p.tokens[i].ordinal:
		return k
	}
	return ordinals[p.word(i)]
}

// within matches "the last week of October", "the first Monday of November 2025" and "the second day of last month".
func (p *parser) within(i int) ([]Span, int) {
	at := i
	if p.word(at) == "the" {
		at++
	}
	count := p.countedAt(at)
	if of := p.word(at + 2); count == 0 || of != "of" && of != "in" {
		return nil, 0
	}
	whole, n := p.monthOf(at + 3)
	if n == 0 {
		return nil, 0
	}
	var list []Span
	for _, month := range whole {
		if s, ok := part(month, p.word(at+1), count); ok {
			list = append(list, s)
		}
	}
	switch {
	case len(list) == 0:
		return nil, 0
	case len(whole) > 1:
		list = p.choose(i, list)
	}
	return list, at + 3 + n - i
}

// monthOf reads "October", "October 2025", "last month" and "the month", and returns the months that may be meant.
func (p *parser) monthOf(i int) (months []Span, n int) {
	if p.word(i) == "the" && p.word(i+1) == "month" || p.word(i) == "this" && p.word(i+1) == "month" {
		s, _ := p.calendar("month", 0, i)
		return []Span{s}, 2
	}
	if spans, n := p.modified(i); n > 0 && len(spans) == 1 && spans[0].Unit == Month {
		return spans, n
	}
	month, n := p.monthAt(i)
	if n == 0 {
		return nil, 0
	}
	if year, more := p.yearAt(i + n); year != 0 {
		t := time.Date(year, month, 1, 0, 0, 0, 0, p.now.Location())
		return []Span{{t, t.AddDate(0, 1, 0), Month}}, n + more
	}
	return p.monthsNear(month), n
}

// part returns the day, week, weekend or weekday of a month with that number, counted from its end if it is -1. A week
// is seven days from its first day, or up to its last one.
func part(month Span, name string, count int) (Span, bool) {
	from, length := month.From, 1
	switch day, ok := weekdays[name]; {
	case name == "day":
	case name == "week":
		length = 7
	case name == "weekend":
		from, length = addDays(from, (13-int(from.Weekday()))%7), 2
	case ok && len(name) > 5:
		from = addDays(from, (7+int(day)-int(from.Weekday()))%7)
	default:
		return Span{}, false
	}
	step := 7
	if name == "day" {
		step = 1
	}
	if count > 0 {
		from = addDays(from, step*(count-1))
	} else if name == "day" || name == "week" {
		from = addDays(month.To, -length)
	} else {
		for next := addDays(from, step); next.Before(month.To); next = addDays(from, step) {
			from = next
		}
	}
	s := Span{from, addDays(from, length), Days}
	if length == 1 {
		s.Unit = Day
	}
	return s, from.Before(month.To)
}

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
	for _, rule := range []func(int) ([]Span, int){p.iso, p.numeric, p.weekday, p.dayMonth, p.monthDay, p.ordinalDay} {
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
