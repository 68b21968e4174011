package when

import (
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
)

// parser finds the phrases of a text.
type parser struct {
	text   string
	tokens []token
	now    time.Time
	today  time.Time // the first moment of the day
	lean   func(i int) tense
	all    bool // return every meaning of a phrase

	sentence struct { // the one that tense was asked for last
		from, to int
		tense    tense
	}
	exact bool // "two weeks ago" is a day and not about a week; the text is nothing but a phrase

	open   bool // rules return all occurrences of a phrase without a year
	named  bool // "March" and "spring" are times without a preposition
	nested bool // a part of something is being read

	onward   int // the token at which a range or a list of years goes on, 0 outside of one
	listing  int // the number of times in a list before the one that is being read
	unlisted int // the token up to which commas are known to make no list

	ending bool // the end of something was matched
}

func newParser(text string, now time.Time) *parser {
	return &parser{text: text, tokens: tokenize(text), now: now, today: midnight(now)}
}

// match returns what the phrase that begins at token i may mean, and its number of tokens, 0 if none begins there.
func (p *parser) match(i int) (spans []Span, n int) {
	if i < 0 || i >= len(p.tokens) || p.number(i) < 0 && !starters[p.word(i)] {
		return nil, 0
	}
	for _, rule := range []func(int) ([]Span, int){
		p.isoWeek, p.iso, p.numeric, p.timeFirst, p.part, p.weekOf, p.weekNumber, p.beforeLast, p.theWeekend,
		p.season, p.decade, p.relativeDay, p.offset, p.counted, p.modified, p.dayMonth, p.ordinalDay, p.weekday, p.month,
		p.quarter, p.year,
	} {
		if spans, n = rule(i); n > 0 {
			break
		}
	}
	if n == 0 || p.inName(i+n) {
		return nil, 0
	}
	if spans[0].Unit == Day {
		part, more := p.partOfDay(i+n-1), 0
		for k := range spans {
			if spans[k], more = p.timeOfDay(i+n, spans[k]); part != "" && spans[k].Unit == Minute {
				spans[k] = inPart(part, spans[k])
			}
		}
		n += more
	}
	return spans, n
}

// placeKinds are the last words of names of places that begin with a time: "May Street", "5 October Avenue".
var placeKinds = text.Set("street road avenue lane square boulevard terrace crescent drive close court way place " +
	"bridge alley quay row rd ave")

// inName reports whether the time that ends before token i is a part of a place's name. A writer who begins it with a
// small letter may write the month so too.
func (p *parser) inName(i int) bool {
	if p.isDayNumber(i-1) && months[p.word(i-2)] > 0 { // "April 25 Bridge"
		return placeKinds[p.word(i)] && p.tokens[i].capital
	}
	before := p.word(i - 1)
	_, weekday := weekdays[before]
	if named := weekday || months[before] > 0; !named && seasons[before] == 0 || !placeKinds[p.word(i)] {
		return false
	} else if !p.tokens[i].capital {
		return named && !p.tokens[i-1].capital
	}
	return !placeKinds[p.word(i+1)] // "on Friday Bridge Street was closed"
}

// word returns the text of token i, "" outside.
func (p *parser) word(i int) string {
	if i < 0 || i >= len(p.tokens) {
		return ""
	}
	return p.tokens[i].text
}

// number returns the number that token i is, -1 if it is not one.
func (p *parser) number(i int) int {
	if i < 0 || i >= len(p.tokens) {
		return -1
	}
	return p.tokens[i].num
}

// isYear reports whether token i is a year of four digits, in a text one that people write about.
func (p *parser) isYear(i int) bool {
	n := p.number(i)
	return len(p.word(i)) == 4 && !p.tokens[i].ordinal && (p.exact && n > 0 || n >= 1900 && n < 2200) &&
		(p.word(i+1) != "s" || !p.tokens[i+1].glued) // no decade
}

func (p *parser) day(t time.Time) []Span { return []Span{{t, addDays(t, 1), Day}} }

// date returns the day of the calendar, nil if the month does not have it.
func (p *parser) date(year int, month time.Month, day int) []Span {
	t := startOf(year, month, day, p.now.Location())
	if t.Month() != month || t.Day() != day {
		return nil
	}
	return p.day(t)
}

// layouts are the notations of iso.
var layouts = []struct {
	layout string
	unit   Unit
}{
	{time.RFC3339Nano, Minute},
	{"2006-01-02T15:04:05", Minute},
	{"2006-01-02T15:04Z07:00", Minute},
	{isoMinute, Minute},
	{time.DateOnly, Day},
	{"2006/01/02", Day},
	{"2006-01", Month},
}

// iso matches 2026-03-04, 2026-03 and times in RFC 3339, but no part of a longer name.
func (p *parser) iso(i int) ([]Span, int) {
	if !p.isYear(i) || i > 0 && p.tokens[i].glued && strings.Contains("-/._:#@", p.word(i-1)) {
		return nil, 0
	}
	start := p.tokens[i].start
	end := span(p.text, start, func(r rune) bool { return isDigit(r) || strings.ContainsRune("-:TZ.+/", r) })
	text := strings.TrimRight(p.text[start:end], ".:-/")
	if end = start + len(text); end < len(p.text) && (p.text[end] == '_' || isLetter(p.text[end])) {
		return nil, 0
	}
	for _, l := range layouts {
		t, err := time.ParseInLocation(l.layout, text, p.now.Location())
		if err != nil {
			continue
		}
		n := 0
		for i+n < len(p.tokens) && p.tokens[i+n].start < end {
			n++
		}
		s := Span{From: t.In(p.now.Location()), Unit: l.unit}
		switch l.unit {
		case Minute:
			s.To = s.From.Add(time.Minute)
		case Day:
			s.To = addDays(s.From, 1)
		default:
			s.To = s.From.AddDate(0, 1, 0)
		}
		return []Span{s}, n
	}
	return nil, 0
}

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }

// numeric matches 17.11.2026 and 17/11/2026, and 11/2026 where that is all. What may be the 4th of November or the 11th
// of April is no date.
func (p *parser) numeric(i int) ([]Span, int) {
	separator := p.word(i + 1)
	if month := p.number(i); p.exact && separator == "/" && month >= 1 && month <= 12 && p.isYear(i+2) {
		return []Span{p.monthIn(p.number(i+2), time.Month(month))}, 3
	}
	if p.number(i) < 1 || separator != "." && separator != "/" || p.word(i+3) != separator || !p.isYear(i+4) {
		return nil, 0
	}
	for k := i + 1; k < i+5; k++ {
		if !p.tokens[k].glued {
			return nil, 0
		}
	}
	if k := i + 5; k < len(p.tokens) && p.tokens[k].glued && (p.word(k) == "-" || isLetter(p.word(k)[0])) {
		return nil, 0 // a version
	}
	day, month := p.number(i), p.number(i+2)
	if separator == "/" {
		switch {
		case month > 12:
			day, month = month, day
		case day <= 12 && day != month:
			return nil, 0
		}
	}
	if month < 1 || month > 12 {
		return nil, 0
	}
	if spans := p.date(p.number(i+4), time.Month(month), day); spans != nil {
		return spans, 5
	}
	return nil, 0
}
