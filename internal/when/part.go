package when

import (
	"math"
	"strings"
	"time"
)

// thirds are the words for the first, the second and the last third of a month, a year, a quarter, a season or a week.
var thirds = map[string]int{
	"beginning": 0, "start": 0, "early": 0, "middle": 1, "mid": 1, "end": 2, "late": 2,
}

// halves are the words before "half".
var halves = map[string]int{"first": 0, "second": 1, "last": 1}

// ordinals are the words that count what is in a month or a longer span; from its end, if they are negative.
var ordinals = map[string]int{
	"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "last": -1, "final": -1, "penultimate": -2,
}

// piece returns a part of a span, false if the span has none.
type piece func(whole Span) (Span, bool)

// part matches "the end of October", "mid-June", "the second half of 2025", "the last week of October", "the first
// Monday of November 2025", "the first ten days of July" and "the third quarter of next year".
func (p *parser) part(i int) ([]Span, int) {
	at := i
	if p.word(at) == "the" {
		at++
	}
	if _, ok := thirds[p.word(at)]; !ok && p.countedAt(at) == 0 && p.word(at) != "rest" {
		return nil, 0
	}
	for rank, rule := range []func(int) (piece, int){p.third, p.numbered, p.several} {
		cut, k := rule(at)
		if cut == nil {
			continue
		}
		read := p.occurrences
		if p.all || p.since(i) { // "the end of summer" may be a habit
			read = p.unnamed
		}
		whole, n := read(p.wholeAt, k)
		if n == 0 || rank > 0 && !p.countable(at, k, whole[0]) {
			continue
		}
		var list []Span
		for _, s := range whole {
			if s, ok := cut(s); ok {
				list = append(list, s)
			}
		}
		if len(list) == 0 {
			continue
		}
		p.ending = p.word(at) == "end"
		if len(whole) > 1 {
			list = p.choose(i, list)
		}
		return list, k + n - i
	}
	return nil, 0
}

// countable reports whether the first or the last of something at token at is a part of a whole at token k: not in
// "last week in 2025 planning", and "on the first Monday of the quarter" may be a habit.
func (p *parser) countable(at, k int, whole Span) bool {
	switch {
	case p.word(k-1) == "in" && whole.Unit != Month:
		return p.word(at-1) == "the"
	case p.exact || p.all:
		return true
	}
	return p.word(k) != "the" || p.word(k+1) != "week" && p.word(k+1) != "quarter"
}

// third reads "end of", "mid-", "early", "first half of", "last third of" and "rest of". k is the token at
// which the whole begins.
func (p *parser) third(at int) (cut piece, k int) {
	k, parts := at+1, 3
	if p.word(at) == "rest" && p.word(k) == "of" {
		return p.rest, k + 1
	}
	part, ok := thirds[p.word(at)]
	if half, counted := halves[p.word(at)]; counted && p.word(k) == "half" {
		part, parts, ok, k = half, 2, true, k+1
	} else if count := p.countedAt(at); p.word(k) == "third" && count != 0 && count <= 3 {
		part, ok, k = count-1, true, k+1
		if count < 0 {
			part = 3 + count
		}
	}
	if !ok {
		return nil, 0
	}
	name, next := p.word(at), p.word(k)
	adjective := name == "early" || name == "late" || name == "mid"
	switch {
	case adjective && name != "mid" && next == "in", adjective && next == "-" && p.tokens[k].glued,
		(name == "mid" || !adjective) && next == "of":
		k++
	case parts == 3 && (adjective || p.exact), parts == 2 && p.isYear(k): // "end October", "first half 2025"
	default:
		return nil, 0
	}
	return func(whole Span) (Span, bool) {
		return Span{cutAt(whole, part, parts), cutAt(whole, part+1, parts), Days}, true
	}, k
}

// rest returns what of a span is to come, if it is now.
func (p *parser) rest(whole Span) (Span, bool) {
	if whole.Holds(p.today) {
		whole.From = p.today
	}
	return Span{whole.From, whole.To, Days}, true
}

// countedAt reads "first", "40th" and "last", which is -1; 0 if token i is none of them.
func (p *parser) countedAt(i int) int {
	if k := p.number(i); k >= 1 && k <= 53 && p.tokens[i].ordinal {
		return k
	}
	return ordinals[p.word(i)]
}

// numbered reads "last week of", "first Monday in", "first and second month of", and "third quarter", which may have no
// preposition.
func (p *parser) numbered(at int) (cut piece, k int) {
	first := p.countedAt(at)
	last := first
	w, next := p.word(at+1), p.countedAt(at+2)
	if (w == "and" || w == "or") && next == first+1 || connectors[w] && next > first {
		at, last = at+2, next
	}
	name := p.word(at + 1)
	if first == 0 {
		return nil, 0
	}
	switch w := p.word(at + 2); {
	case w == "of" || w == "in":
		k = at + 3
	case (name == "quarter" || name == "week") && p.isYear(at+2):
		k = at + 2
	default:
		return nil, 0
	}
	return func(whole Span) (Span, bool) {
		if name == "week" && whole.Unit == Year && first > 1 && first == last {
			return p.week(whole.From.Year(), first)
		}
		s, ok := numbered(whole, name, first)
		if first != last {
			end, also := numbered(whole, name, last)
			return Span{s.From, end.To, Days}, ok && also
		}
		return s, ok
	}, k
}

// several reads "first ten days of" and "last two weeks in"; without a number it is a few.
func (p *parser) several(at int) (cut piece, k int) {
	direction := p.countedAt(at)
	if direction != 1 && direction != -1 {
		return nil, 0
	}
	count, n := p.quantityAt(at + 1)
	if n == 0 {
		count = quantities["few"]
	}
	k = at + 1 + n
	name := strings.TrimSuffix(p.word(k), "s")
	of := p.word(k + 1)
	if name == p.word(k) || units[name] == "" || count > 100 || of != "of" && of != "in" {
		return nil, 0
	}
	return func(whole Span) (Span, bool) {
		from, ok := numbered(whole, name, direction)
		to, ok2 := numbered(whole, name, direction*count)
		if direction < 0 {
			from, to = to, from
		}
		within := !from.From.Before(whole.From) && !to.To.After(whole.To)
		return Span{from.From, to.To, Days}, ok && ok2 && within
	}, k + 2
}

// numbered returns the day, week, weekend, weekday, month or quarter of a longer span with that number, counted from
// its end if it is negative. A week is seven days from the first day, or up to the last one.
func numbered(whole Span, name string, count int) (Span, bool) {
	if count == 0 {
		return Span{}, false
	}
	months := map[string]int{"month": 1, "quarter": 3}[name]
	if months > 0 {
		from := whole.From.AddDate(0, months*(count-1), 0)
		if count < 0 {
			from = whole.To.AddDate(0, months*count, 0)
		}
		s := Span{from, from.AddDate(0, months, 0), Days}
		if months == 1 {
			s.Unit = Month
		}
		return s, from.Day() == 1 && s != whole && !from.Before(whole.From) && !s.To.After(whole.To)
	}
	first, length, step := whole.From, 1, 7
	switch day, ok := weekdays[name]; {
	case name == "day":
		step = 1
	case name == "week":
		length = 7
	case name == "weekend":
		first, length = addDays(first, (13-int(first.Weekday()))%7), 2
	case ok && len(name) > 5:
		first = addDays(first, (7+int(day)-int(first.Weekday()))%7)
	default:
		return Span{}, false
	}
	from := addDays(first, step*(count-1))
	if count < 0 {
		// The last one begins on the last day that is a multiple of step after the first, and weeks end with the whole.
		last := int(math.Round(whole.To.Sub(first).Hours()/24)) - 1
		if name == "week" {
			last -= 6
		} else {
			last -= last % step
		}
		from = addDays(first, last+step*(count+1))
	}
	s := Span{from, addDays(from, length), Days}
	if length == 1 {
		s.Unit = Day
	}
	return s, from.Before(whole.To) && !from.Before(whole.From)
}

// cutAt returns where part of so many parts of a span end: at whole months if it has enough, else at whole days. Of a
// month with 31 days the third third has 11.
func cutAt(s Span, part, parts int) time.Time {
	if part == parts {
		return s.To
	}
	months := 12*(s.To.Year()-s.From.Year()) + int(s.To.Month()-s.From.Month())
	if months >= parts && months%parts == 0 {
		return s.From.AddDate(0, months*part/parts, 0)
	}
	days := int(math.Round(s.To.Sub(s.From).Hours() / 24))
	return addDays(s.From, days*part/parts)
}
