package when

// eachYear returns the phrase of what is in two years: "October 2024 and 2025".
func (p *parser) eachYear(first side) (phrase, bool) {
	at := first.i + first.n
	spans, _ := p.match(first.i)
	if len(spans) != 1 || spans[0].Unit == Minute || spans[0].From.Day() != 1 && spans[0].Unit != Day {
		return phrase{}, false
	}
	years := p.number(at+1) - p.number(at-1)
	other := Span{spans[0].From.AddDate(years, 0, 0), spans[0].To.AddDate(years, 0, 0), spans[0].Unit}
	return phrase{i: first.i, end: at + 2, spans: append(spans, other), every: true}, true
}

// adjacent reports whether two spans are one period: "October and November".
func adjacent(first, last Span) bool {
	return first.To.Equal(last.From) && first.Unit != Year && first.Unit != Day
}

// prepend returns the list that begins with a month, a day or a year, and a comma: "March, April and May 2025", "3 May,
// 9 June and 2 July 2025", "in 2019, 2021 and 2022".
func (p *parser) prepend(first side) (phrase, bool) {
	at := first.i + first.n
	if p.listing > 12 || at < p.unlisted || !starters[p.word(at+1)] && p.number(at+1) < 0 {
		return phrase{}, false
	}
	begin, _ := p.unnamed(p.match, first.i)
	month := first.n == 1 && months[p.word(first.i)] > 0 && months[p.word(at+1)] > 0
	year := first.n == 1 && p.isYear(first.i) && p.isYear(at+1)
	day := !first.bare && len(begin) > 1 && begin[0].Unit == Day
	if !month && !year && !day {
		return phrase{}, false
	}
	p.goOn(first, at+1)
	named := p.named
	p.named = month && (named || !first.bare)
	p.listing++
	rest, ok := p.phrase(at + 1)
	p.listing--
	p.named = named
	// Commas alone make a list of three dates or more of which the last has a year: "2 May, 16 May, 30 May 2025".
	if ok && day && p.listing > 0 && len(rest.spans) == 1 && p.isYear(rest.end-1) {
		rest.list = true
	}
	if !ok || !rest.list || day != (rest.spans[0].Unit == Day) {
		p.unlisted = max(p.unlisted, at+1) // what comes next in it ends no list either
		return phrase{}, false
	}
	if len(begin) > 1 {
		begin = p.asOf(first.i, rest.spans[0].From, past)
	}
	switch {
	case len(begin) == 0:
		return phrase{}, false
	case !rest.every && adjacent(begin[0], rest.spans[0]):
		rest.spans = []Span{{begin[0].From, rest.spans[0].To, Days}}
	default:
		rest.spans, rest.every = append(begin, rest.spans...), true
	}
	rest.i = first.i
	return rest, true
}

// listed reports whether the times before and after "and" or "or" belong together: parts of the calendar that are
// longer than a day, or days of which only the last has a year. Of a question and an argument all days count,
// although a text may have them apart.
func (p *parser) listed(last side, first, second []Span) bool {
	if first[0].Unit != second[0].Unit || first[0].Unit == Minute {
		return false
	}
	if first[0].Unit == Day {
		return len(first) > 1 && (p.dated(last) || (p.all || p.exact) && len(second) > 1)
	}
	return len(second) > 1 || p.dated(last)
}
