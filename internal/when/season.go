package when

import (
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
)

// seasons are the first months of the seasons, as the meteorologists of the northern hemisphere count them.
var seasons = map[string]time.Month{"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}

// seasonBefore are words that make a season without a year a date in a question. In other texts "in the summer" is
// often a habit.
var seasonBefore = text.Set("in during since until till before after over from throughout")

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
	named := p.exact || p.named || seasonBefore[p.word(i-1)]
	k := at + 1
	if p.word(k) == "of" {
		k++
	}
	if year, n := p.yearAt(k); year != 0 {
		if p.word(at) == "fall" && !named && at == i {
			return nil, 0 // "prices fall 2024 times"
		}
		spans, more := p.seasonOf(i, k+n, year, month)
		if k == at+1 && (at > i || !named) && p.adjective(k+n+more) {
			return nil, 0
		}
		return spans, k + n + more - i
	}
	if !named || !p.exact && !p.all && !p.named && !p.since(i) {
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
	if s.From.After(p.now) && p.leanAt(i) != future {
		s, before = before, s
	}
	if p.all && !p.open {
		return []Span{s, before}, 0
	}
	return []Span{s}, 0
}

// modifiedSeason returns the last (direction -1), this (0), the next (1) or a further season of that name. "This
// spring" is this year's, "this winter" the one of now or the nearest.
func (p *parser) modifiedSeason(month time.Month, direction int) Span {
	year := p.now.Year() - 1
	for !p.seasonFrom(year, month).To.After(p.now) {
		year++
	}
	coming := p.seasonFrom(year, month) // or the one of now
	last := p.seasonFrom(year-1, month)
	switch {
	case direction < 0:
		return p.seasonFrom(year+direction, month)
	case direction > 0 && coming.Holds(p.now):
		return p.seasonFrom(year+direction, month)
	case direction > 0:
		return p.seasonFrom(year+direction-1, month)
	case month != time.December:
		return p.seasonFrom(p.now.Year(), month)
	case !coming.Holds(p.now) && p.now.Sub(last.To) < coming.From.Sub(p.now):
		return last
	}
	return coming
}
