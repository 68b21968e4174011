package when

import (
	"slices"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
)

// habitual are the words before a weekday that make it no date.
var habitual = text.Set("every each any most alternate usual weekly regular typical traditional a an next " +
	"black good fat ash cyber casual super giving blue palm easter holy maundy shrove whit bloody")

// habits are the words after a weekday that make it no date.
var habits = text.Set("mornings lunchtimes afternoons evenings nights")

// weekday matches "Tuesday", "Tuesday of last week", and the weekday of "Tuesday, 17 November".
func (p *parser) weekday(i int) ([]Span, int) {
	day, ok := weekdays[p.word(i)]
	if !ok || habitual[p.word(i-1)] || p.countedAt(i-1) != 0 || habits[p.word(i+1)] {
		return nil, 0
	}
	if !p.exact && (!p.isWeekday(i) || p.isKind(i) || p.isCited(i)) {
		return nil, 0
	}
	k := i + 1
	if p.word(k) == "," || p.word(k) == "the" {
		k++
	}
	for _, rule := range []func(int) ([]Span, int){p.iso, p.numeric, p.dayMonth} {
		if spans, n := rule(k); n > 0 {
			return spans, k + n - i
		}
	}
	if p.isDayNumber(k) && p.tokens[k].ordinal && !p.counts(k) { // "Friday the 13th"
		list := slices.DeleteFunc(p.daysNear(p.number(k), 12), func(s Span) bool { return s.From.Weekday() != day })
		if len(list) > 0 {
			return p.choose(i, list), k + 1 - i
		}
	}
	if k = i + 1; p.word(k) == "of" {
		k++
	}
	if _, n := p.quantityAt(k); n > 0 { // "Wednesday two weeks ago"
		if ago, m := p.counted(k); m > 0 && units[p.word(k+n)] == "weeks" {
			middle := ago[0].From.Add(ago[0].To.Sub(ago[0].From) / 2)
			return p.day(inWeek(addDays(middle, -(int(middle.Weekday())+6)%7), day)), k + m - i
		}
	}
	if p.word(k+1) == "week" {
		if week, n := p.modified(k); n == 2 {
			return p.day(inWeek(week[0].From, day)), k + 2 - i
		}
	}
	var list []Span
	first := addDays(p.today, int(day)-int(p.today.Weekday()))
	for week := -1; week <= 1; week++ {
		list = append(list, p.day(addDays(first, 7*week))...)
	}
	if list[1].From.Equal(p.today) && !p.exact && p.word(i-1) != "since" {
		// On a Sunday "on Sunday" is not today.
		list = []Span{list[0], list[2]}
	}
	return p.choose(i, list), 1
}

// isWeekday reports whether token i is a weekday's name that is no other word, as "Sat" and "Sun" are: with a
// preposition before it, or before the first of several.
func (p *parser) isWeekday(i int) bool {
	for k := i; k > i-14; k -= 2 {
		if _, ok := weekdays[p.word(k)]; !ok || len(p.word(k)) > 5 || !p.tokens[k].capital {
			return ok && len(p.word(k)) > 5
		}
		w := p.word(k - 1)
		if prepositions[w] {
			return true
		} else if !listing[w] && w != "," {
			return false
		}
	}
	return false
}

// inWeek returns a weekday of the week that begins on monday.
func inWeek(monday time.Time, day time.Weekday) time.Time {
	return addDays(monday, (int(day)+6)%7)
}

// monday returns the first day of today's week.
func (p *parser) monday() time.Time { return addDays(p.today, -(int(p.today.Weekday())+6)%7) }

// modifiedWeekday returns the last, this or the next week's day. "Next Friday" on a Monday is this week's to some
// people and the next week's to others.
func (p *parser) modifiedWeekday(i int, day time.Weekday, direction int) []Span {
	back := (int(p.today.Weekday()) - int(day) + 6) % 7 // + 1 days ago
	switch direction {
	case -1:
		return p.day(addDays(p.today, -back-1))
	case 0:
		return p.day(inWeek(p.monday(), day))
	}
	coming := addDays(p.today, 7-(back+1)%7)
	if back == 6 {
		coming = addDays(p.today, 7)
	}
	spans := p.day(coming)
	if p.word(i) == "next" && coming.Before(addDays(p.monday(), 7)) {
		spans = append(spans, p.day(addDays(coming, 7))...)
	}
	if !p.all {
		return spans[:1]
	}
	return spans
}
