package when

import "time"

// occurrences returns all that a rule may mean, without a choice by the tense, the earliest first.
func (p *parser) occurrences(rule func(int) ([]Span, int), i int) ([]Span, int) {
	defer func(open bool) { p.open = open }(p.open)
	p.open = true
	return rule(i)
}

// wholeAt reads a span of more than a day that has parts: "October", "last month", "the year", "2025", "summer 2024",
// "the third quarter of 2025".
func (p *parser) wholeAt(i int) (spans []Span, n int) {
	at := i
	if w := p.word(at); w == "the" || w == "this" {
		at++
		if name := p.word(at); name == "week" || name == "month" || name == "quarter" || name == "year" {
			if next := p.word(at + 1); next != "before" && next != "after" && next != "of" {
				s, _ := p.calendar(name, 0, at)
				return []Span{s}, at + 1 - i
			}
		}
	}
	if spans, n = p.modified(at); n > 0 && len(spans) == 1 && spans[0].Unit != Day && p.word(at+n-1) != "weekend" {
		return spans, at + n - i
	}
	rules := []func(int) ([]Span, int){p.monthOf, p.beforeLast, p.weekNumber, p.quarter, p.season, p.decade}
	if !p.nested { // so that a long chain of parts takes no longer than its length
		p.nested = true
		defer func() { p.nested = false }()
		rules = append(rules, p.part)
	}
	for _, rule := range rules {
		if spans, n = rule(at); n > 0 && spans[0].Unit != Day {
			return spans, at + n - i
		}
	}
	if p.isYear(at) && !(at+1 < len(p.tokens) && p.tokens[at+1].glued && isLetter(p.word(at + 1)[0])) {
		from := time.Date(p.number(at), 1, 1, 0, 0, 0, 0, p.now.Location())
		return []Span{{from, from.AddDate(1, 0, 0), Year}}, at + 1 - i
	}
	return nil, 0
}

// monthOf reads "October" and "October 2025" after words that make it certain that a month is meant.
func (p *parser) monthOf(i int) (months []Span, n int) {
	month, n := p.monthAt(i)
	if verb := p.word(i) == "may" || p.word(i) == "march"; n == 0 || verb && !p.exact && !p.tokens[i].capital {
		return nil, 0
	}
	if year, more := p.yearAt(i + n); year != 0 {
		return []Span{p.monthIn(year, month)}, n + more
	}
	return p.choose(i, p.monthsNear(month)), n
}

// monthIn returns a month of a year.
func (p *parser) monthIn(year int, month time.Month) Span {
	from := time.Date(year, month, 1, 0, 0, 0, 0, p.now.Location())
	return Span{from, from.AddDate(0, 1, 0), Month}
}
