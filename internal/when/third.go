package when

import (
	"math"
	"time"
)

// thirds are the words for the first, the second and the last third of a month, a year, a quarter, a season or a week.
var thirds = map[string]int{
	"beginning": 0, "start": 0, "early": 0, "middle": 1, "mid": 1, "end": 2, "late": 2,
}

// halves are the words before "half".
var halves = map[string]int{"first": 0, "second": 1, "last": 1}

// third matches "the end of October", "mid-June", "early 2025", "the beginning of last month" and "the first half of
// May".
func (p *parser) third(i int) ([]Span, int) {
	at := i
	if p.word(at) == "the" {
		at++
	}
	k, parts := at+1, 3
	part, ok := thirds[p.word(at)]
	if half, counted := halves[p.word(at)]; counted && p.word(k) == "half" {
		part, parts, ok, k = half, 2, true, k+1
	}
	if !ok {
		return nil, 0
	}
	switch name, next := p.word(at), p.word(k); {
	case (name == "early" || name == "late") && next == "in", name == "mid" && next == "-" && p.tokens[k].glued,
		name != "early" && name != "late" && next == "of":
		k++
	case parts == 3 && (name == "early" || name == "late" || name == "mid" || p.exact): // "end October"
	default:
		return nil, 0
	}
	whole, n := p.wholeAt(k)
	if n == 0 {
		return nil, 0
	}
	p.ending = p.word(at) == "end"
	list := make([]Span, len(whole))
	for x, s := range whole {
		list[x] = Span{cut(s, part, parts), cut(s, part+1, parts), Days}
	}
	if len(list) > 1 {
		list = p.choose(i, list)
	}
	return list, k + n - i
}

// wholeAt reads a span of more than a day that has thirds: "October", "last month", "the year", "2025", "summer 2024".
func (p *parser) wholeAt(i int) (spans []Span, n int) {
	at := i
	if w := p.word(at); w == "the" || w == "this" {
		at++
	}
	if at > i {
		if name := p.word(at); name == "week" || name == "month" || name == "quarter" || name == "year" {
			s, _ := p.calendar(name, 0, at)
			return []Span{s}, at + 1 - i
		}
	}
	if spans, n = p.modified(at); n > 0 && len(spans) == 1 && spans[0].Unit != Day && p.word(at+n-1) != "weekend" {
		return spans, at + n - i
	}
	if verbs := p.word(at) == "may" || p.word(at) == "march"; !verbs || p.exact || p.tokens[at].capital {
		if spans, n = p.monthOf(at); n > 0 {
			return spans, at + n - i
		}
	}
	for _, rule := range []func(int) ([]Span, int){p.weekNumber, p.quarter, p.season} {
		if spans, n = rule(at); n > 0 {
			return spans, at + n - i
		}
	}
	if p.isYear(at) && !(at+1 < len(p.tokens) && p.tokens[at+1].glued && isLetter(p.word(at + 1)[0])) { // no "2000s"
		from := time.Date(p.number(at), 1, 1, 0, 0, 0, 0, p.now.Location())
		return []Span{{from, from.AddDate(1, 0, 0), Year}}, at + 1 - i
	}
	return nil, 0
}

// cut returns where part of so many parts of a span end: at whole months if it has enough, else at whole days. Of a
// month with 31 days the third third has 11.
func cut(s Span, part, parts int) time.Time {
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
