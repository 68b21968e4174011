package when

import (
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
)

// offsets are the units that are counted from a date, in days.
var offsets = map[string]int{"days": 1, "weeks": 7}

// during are words before how long something took: "for two days after 3 May".
var during = text.Set("for within only just another")

// offset matches what a date is counted from: "two days before 5 May", "the day after 3 May", "the Monday after 3 May".
// "The week before 3 May" may be seven days or those from a Monday.
func (p *parser) offset(i int) ([]Span, int) {
	if p.nested || during[p.word(i-1)] {
		return nil, 0
	}
	count, n := p.quantityAt(i)
	if p.word(i) == "the" {
		count, n = 1, 1
	}
	at := i + n
	unit := units[p.word(at)]
	day, named := weekdays[p.word(at)]
	direction := map[string]int{"before": -1, "after": 1}[p.word(at+1)]
	the := p.word(i) == "the"
	if direction == 0 || n == 0 || count > 1000 || named != the && unit != "days" || !named && offsets[unit] == 0 {
		return nil, 0
	}
	p.nested = true // so that a long chain takes no longer than its length
	dates, m := p.match(at + 2)
	p.nested = false
	if m == 0 || dates[0].Unit != Day {
		return nil, 0
	}
	var list []Span
	for _, date := range dates {
		if named {
			list = append(list, p.day(nextWeekday(date.From, day, direction))...)
		} else {
			list = append(list, p.about(addDays(date.From, direction*count*offsets[unit]), unit))
		}
	}
	return list, at + 2 + m - i
}

// nextWeekday returns the first such day after t's, or the last before it if direction is -1.
func nextWeekday(t time.Time, day time.Weekday, direction int) time.Time {
	for t = addDays(t, direction); t.Weekday() != day; {
		t = addDays(t, direction)
	}
	return t
}
