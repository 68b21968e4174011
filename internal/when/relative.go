package when

import (
	"strings"
	"time"
)

// relativeDay matches yesterday, today and what is said in their place.
func (p *parser) relativeDay(i int) ([]Span, int) {
	at := func(days, n int) ([]Span, int) { return p.day(addDays(p.today, days)), n }
	switch w, next := p.word(i), p.word(i+1); {
	case w == "now" && p.exact:
		return []Span{{p.now, p.now.Add(time.Minute), Minute}}, 1
	case w == "today", w == "tonight":
		return at(0, 1)
	case w == "this" && (next == "morning" || next == "afternoon" || next == "evening"):
		return at(0, 2)
	case w == "last" && next == "night":
		return at(-1, 2)
	case w == "yesterday" && (next != "is" || p.exact): // "Yesterday is her favourite song"
		return at(-1, 1)
	case w == "tomorrow":
		return at(1, 1)
	case w == "day" && next == "before" && p.word(i+2) == "yesterday":
		return at(-2, 3)
	case w == "day" && next == "after" && p.word(i+2) == "tomorrow":
		return at(2, 3)
	case w == "the" && next == "day":
		if spans, n := p.relativeDay(i + 1); n == 3 {
			return spans, 4
		}
	}
	return nil, 0
}

// quantityAt reads "3", "three", "a couple of".
func (p *parser) quantityAt(i int) (count, n int) {
	if p.word(i) == "a" && (p.word(i+1) == "couple" || p.word(i+1) == "few") {
		i, n = i+1, 1
	}
	count, ok := quantities[p.word(i)]
	if k := p.number(i); k > 0 && !p.tokens[i].ordinal {
		count, ok = k, true
	}
	if !ok {
		return 0, 0
	}
	n++
	if p.word(i+1) == "of" {
		n++
	}
	return count, n
}

// counted matches "two weeks ago", "in three days", "a month from now", "the last ten days".
func (p *parser) counted(i int) ([]Span, int) {
	w, at := p.word(i), i
	switch w {
	case "last", "past", "next", "previous", "in":
		at++
	}
	if w == "in" && p.word(at) == "the" { // "in the last ten days"
		return nil, 0
	}
	count, n := p.quantityAt(at)
	if s, ok := p.ago(at+n, count); ok && n > 0 && at == i {
		return []Span{s}, n + 2
	}
	unit, ok := units[p.word(at+n)]
	if n == 0 || !ok || unit == "weekends" || unit == "quarters" || count > 5000 {
		return nil, 0
	}
	end := at + n + 1
	if at > i && w != "in" && p.ofOther(i, end) {
		return nil, 0
	}
	short := unit == "minutes" || unit == "hours"
	switch after := p.word(end); {
	case w == "last", w == "past", w == "previous":
		from := p.move(-count, unit)
		if !short {
			from = midnight(from)
		}
		return []Span{{from, p.now.Add(time.Minute), Days}}, end - i
	case w == "next":
		return []Span{{p.today, addDays(midnight(p.move(count, unit)), 1), Days}}, end - i
	case after == "ago", after == "back" && !short:
		return []Span{p.about(p.move(-count, unit), unit)}, end + 1 - i
	case after == "from" && (p.word(end+1) == "now" || p.word(end+1) == "today"):
		return []Span{p.about(p.move(count, unit), unit)}, end + 2 - i
	case w == "in" && !short && p.lean(i) != past, w == "in" && p.exact:
		// In a sentence about the past it is how long something took.
		return []Span{p.about(p.move(count, unit), unit)}, end - i
	}
	return nil, 0
}

// ago reads "summers ago" and "Fridays ago" after a number, and what else is counted by the calendar.
func (p *parser) ago(i, count int) (Span, bool) {
	name := strings.TrimSuffix(p.word(i), "s")
	if p.word(i+1) != "ago" || count > 100 || units[name] != "" && name != "weekend" && name != "quarter" {
		return Span{}, false
	}
	if day, ok := weekdays[name]; ok {
		return p.day(addDays(p.modifiedWeekday(i, day, -1)[0].From, -7*(count-1)))[0], true
	}
	return p.calendar(name, -count, i)
}

// ofOther reports whether "last week", which begins at token i and ends before token end, is a week of something whose
// time is not known: "of the course", "the last week before the exam".
func (p *parser) ofOther(i, end int) bool {
	return p.word(end) == "of" || p.word(end) == "before" && p.word(i-1) == "the"
}

// move returns now moved by so many units.
func (p *parser) move(count int, unit string) time.Time {
	switch unit {
	case "minutes":
		return p.now.Add(time.Duration(count) * time.Minute)
	case "hours":
		return p.now.Add(time.Duration(count) * time.Hour)
	case "days":
		return addDays(p.now, count)
	case "weeks":
		return addDays(p.now, 7*count)
	case "fortnights":
		return addDays(p.now, 14*count)
	case "months":
		return addMonths(p.now, count)
	}
	return addMonths(p.now, 12*count)
}

// addMonths moves t by so many months, to the month's last day where it is too short.
func addMonths(t time.Time, count int) time.Time {
	moved := t.AddDate(0, count, 0)
	if moved.Day() != t.Day() {
		moved = addDays(moved, -moved.Day())
	}
	return moved
}

// about returns the span that is meant by a time which is given in some unit: two weeks ago is about a week. An exact
// parser returns the day, or the minute.
func (p *parser) about(t time.Time, unit string) Span {
	day := midnight(t)
	around := func(days int) Span { return Span{addDays(day, -days), addDays(day, days+1), Days} }
	switch {
	case unit == "minutes", unit == "hours":
		return Span{t, t.Add(time.Minute), Minute}
	case p.exact, unit == "days":
		return p.day(day)[0]
	case unit == "weeks", unit == "fortnights":
		return around(3)
	case unit == "months":
		return around(15)
	}
	year := time.Date(t.Year(), 1, 1, 0, 0, 0, 0, t.Location())
	return Span{year, year.AddDate(1, 0, 0), Year}
}

// modified matches "last week", "this March", "next Friday".
func (p *parser) modified(i int) ([]Span, int) {
	n, direction := 1, 0
	switch p.word(i) {
	case "last", "past", "previous":
		direction = -1
	case "this":
		if w := p.word(i + 1); w == "coming" || w == "past" {
			direction, n = 1, 2
			if w == "past" {
				direction = -1
			}
		}
	case "current":
	case "next", "coming", "upcoming", "following":
		direction = 1
	default:
		return nil, 0
	}
	at := i + n
	name := p.word(at)
	if direction != 0 && p.ofOther(i, at+1) {
		return nil, 0
	}
	if day, ok := weekdays[name]; ok && !((name == "sat" || name == "sun") && p.word(i-1) == "the") {
		return p.modifiedWeekday(i, day, direction), n + 1
	}
	if month, m := p.monthAt(at); m == 1 && (p.tokens[at].capital || p.exact || direction != 0 && !p.verbAt(at)) {
		return p.modifiedMonth(month, direction), n + 1
	}
	s, ok := p.calendar(name, direction, i)
	if !ok || name == "fall" && !p.exact && notFalls[p.word(i-1)] {
		return nil, 0
	}
	n++
	if name == "week" { // "last week on Tuesday"
		k := i + n
		if p.word(k) == "on" {
			k++
		}
		if day, ok := weekdays[p.word(k)]; ok && len(p.word(k)) > 5 {
			return p.day(inWeek(s.From, day)), k + 1 - i
		}
	}
	return []Span{s}, n
}

// verbAt reports whether the month's name at token i may be a verb: "may", "march".
func (p *parser) verbAt(i int) bool {
	name, next := p.word(i), p.word(i+1)
	return (name == "may" || name == "march") && next != "" && isLetter(next[0]) && !pronouns[next]
}

// modifiedMonth returns the month that "last" (direction -1), "this" (0) or "next" (1) selects: the last that is over,
// the one of this year, or the first that has not begun.
func (p *parser) modifiedMonth(month time.Month, direction int) []Span {
	list := p.monthsNear(month)
	var chosen []Span
	for _, s := range list {
		switch {
		case direction < 0 && !s.To.After(p.now):
			chosen = []Span{s}
		case direction == 0 && s.From.Year() == p.now.Year():
			chosen = []Span{s}
		case direction > 0 && s.From.After(p.now) && chosen == nil:
			chosen = []Span{s}
		}
	}
	return chosen
}

// calendar returns the last but one (-2), the last (-1), this (0), the next (1) or a further week, weekend, month,
// quarter, season or year.
// "The past week" is the last seven days.
func (p *parser) calendar(name string, direction, i int) (Span, bool) {
	year, month, _ := p.today.Date()
	firstDay := func(y int, m time.Month) time.Time { return time.Date(y, m, 1, 0, 0, 0, 0, p.now.Location()) }
	rolling := p.word(i) == "past" || p.word(i) == "last" && p.word(i-1) == "the" && p.word(i-2) == "in"
	if unit, ok := units[name]; ok && rolling && name != "weekend" && name != "quarter" && name != unit {
		return Span{midnight(p.move(-1, unit)), p.now.Add(time.Minute), Days}, true
	}
	if month, ok := seasons[name]; ok {
		return p.modifiedSeason(month, direction), true
	}
	switch name {
	case "week":
		from := addDays(p.monday(), 7*direction)
		return Span{from, addDays(from, 7), Days}, true
	case "weekend":
		from := addDays(p.monday(), 7*direction+5)
		return Span{from, addDays(from, 2), Days}, true
	case "month":
		from := firstDay(year, month+time.Month(direction))
		return Span{from, from.AddDate(0, 1, 0), Month}, true
	case "quarter":
		from := firstDay(year, month-(month-1)%3+time.Month(3*direction))
		return Span{from, from.AddDate(0, 3, 0), Days}, true
	case "year":
		from := firstDay(year+direction, 1)
		return Span{from, from.AddDate(1, 0, 0), Year}, true
	}
	return Span{}, false
}
