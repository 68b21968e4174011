// Package when understands the times that people write: dates ("17 November", "2026-03-04"), and phrases that depend
// on today ("last Tuesday", "in March", "two weeks ago"). It reads English and ISO 8601.
//
// A phrase names a Span of the calendar, not a moment, and only what is certain to be a date is one: "may", "march",
// "sat" and "second" by themselves are words. Libraries of this kind return moments ("last week" is a day), take words
// for dates ("we" for Wednesday), or do not know the phrases above, so the grammar is here.
package when

import (
	"cmp"
	"errors"
	"strings"
	"time"
)

// Unit is the precision of a Span.
type Unit int

// The units that a phrase may name. Other spans, such as weeks, have the unit Days.
const (
	Minute Unit = iota
	Day
	Days
	Month
	Year
)

// Span is a part of the calendar: from From up to and not including To, both in the location of the now that it was
// resolved against. A zero time leaves that end open.
type Span struct {
	From, To time.Time
	Unit     Unit
}

// Overlaps reports whether s has a moment in common with another span.
func (s Span) Overlaps(other Span) bool {
	return (other.To.IsZero() || s.From.Before(other.To)) && (s.To.IsZero() || other.From.Before(s.To))
}

// Holds reports whether t is in the span.
func (s Span) Holds(t time.Time) bool {
	return !t.Before(s.From) && (s.To.IsZero() || t.Before(s.To))
}

// The layouts of Span.String.
const (
	dayLayout    = "Monday 2 January 2006"
	minuteLayout = dayLayout + ", 15:04"
)

// String returns the span for people: "Tuesday 17 November 2026", "March 2026".
func (s Span) String() string {
	last := s.To.Add(-1)
	switch {
	case s.From.IsZero():
		return "before " + s.To.Format(dayLayout)
	case s.To.IsZero():
		return "since " + s.From.Format(dayLayout)
	}
	switch s.Unit {
	case Minute:
		return s.From.Format(minuteLayout)
	case Day:
		return s.From.Format(dayLayout)
	case Month:
		return s.From.Format("January 2006")
	case Year:
		return s.From.Format("2006")
	}
	return s.From.Format(dayLayout) + " to " + last.Format(dayLayout)
}

// Describe returns the spans of a phrase that may mean each of them.
func Describe(spans []Span) string {
	var list []string
	for _, s := range spans {
		list = append(list, s.String())
	}
	return strings.Join(list, " or ")
}

// isoMinute is ISO 8601 without a zone and seconds.
const isoMinute = "2006-01-02T15:04"

// ISO returns the span as ISO 8601 writes it, without a time zone: 2026, 2026-03, 2026-11-17, 2026-11-17T09:00, or the
// first and last day of several, 2026-11-16/2026-11-22. A date is the same date everywhere, and does not reveal where
// it was written. The span must not be open.
func (s Span) ISO() string {
	switch s.Unit {
	case Minute:
		return s.From.Format(isoMinute)
	case Day:
		return s.From.Format(time.DateOnly)
	case Month:
		return s.From.Format("2006-01")
	case Year:
		return s.From.Format("2006")
	}
	return s.From.Format(time.DateOnly) + "/" + s.To.Add(-1).Format(time.DateOnly)
}

// ParseISO reads what ISO returns, as times in zone.
func ParseISO(text string, zone *time.Location) (Span, error) {
	if first, last, ok := strings.Cut(text, "/"); ok {
		from, err := time.ParseInLocation(time.DateOnly, first, zone)
		to, err2 := time.ParseInLocation(time.DateOnly, last, zone)
		return Span{from, addDays(to, 1), Days}, cmp.Or(err, err2)
	}
	switch len(text) {
	case len("2006"):
		t, err := time.ParseInLocation("2006", text, zone)
		return Span{t, t.AddDate(1, 0, 0), Year}, err
	case len("2006-01"):
		t, err := time.ParseInLocation("2006-01", text, zone)
		return Span{t, t.AddDate(0, 1, 0), Month}, err
	case len(time.DateOnly):
		t, err := time.ParseInLocation(time.DateOnly, text, zone)
		return Span{t, addDays(t, 1), Day}, err
	}
	t, err := time.ParseInLocation(isoMinute, text, zone)
	return Span{t, t.Add(time.Minute), Minute}, err
}

// Over returns the last moment, to the millisecond, of dates in the form of ISO that spaces separate, in zone: by then
// all of them were over. What happened at noon was so at noon. It is the zero time if there are none.
func Over(dates string, zone *time.Location) (last time.Time) {
	for iso := range strings.FieldsSeq(dates) {
		s, err := ParseISO(iso, zone)
		if err != nil {
			return time.Time{}
		}
		end := s.To.Add(-time.Millisecond)
		if s.Unit == Minute {
			end = s.From
		}
		if end.After(last) {
			last = end
		}
	}
	return last
}

// First returns the first moment of dates in the form of ISO that spaces separate, in zone: before it none of them had
// begun. It is the zero time if there are none.
func First(dates string, zone *time.Location) (first time.Time) {
	for iso := range strings.FieldsSeq(dates) {
		s, err := ParseISO(iso, zone)
		if err != nil {
			return time.Time{}
		}
		if first.IsZero() || s.From.Before(first) {
			first = s.From
		}
	}
	return first
}

// errUnknown is the error of Parse. It completes a sentence that begins with the argument's name.
var errUnknown = errors.New("give a date or time such as 2026-01-31, 2026-01, 2026-01-31T15:04:05Z, 17 November, " +
	"yesterday, last Tuesday, last week, in March or two weeks ago")

// Parse reads a time that a caller gave as an argument. Nothing but the phrase, a preposition and spaces may be in it.
// Of a date that is named without a year, and of a weekday, the last one up to now is meant. Where a phrase may mean
// two days, the first is returned.
func Parse(text string, now time.Time) (Span, error) {
	s, _, err := parse(text, now, past)
	return s, err
}

// ParseSince is Parse for the time from which on something is: the first moment of what the phrase names.
func ParseSince(text string, now time.Time) (time.Time, error) {
	s, err := Parse(text, now)
	return s.From, err
}

// ParseUntil is ParseSince for the time before which something is, but "the end of October" ends with the month.
func ParseUntil(text string, now time.Time) (time.Time, error) {
	s, ending, err := parse(text, now, past)
	if ending {
		return s.To, err
	}
	return s.From, err
}

// ParseEvent is Parse for when something happened or will happen: a date without a year is the last one if what is told
// about it is in the past tense ("We adopted two goats"), and otherwise the one that is nearest to now.
func ParseEvent(text, told string, now time.Time) (Span, error) {
	lean := either
	if tenseOf(newParser(told[:min(len(told), maxText)], now).tokens) == past {
		lean = past
	}
	s, _, err := parse(text, now, lean)
	return s, err
}

// parse reads a time that is the whole of text, except for prepositions before it and a full stop after it. lean is the
// tense that an ambiguous date is read in. ending is true for the end of a month or another span.
func parse(text string, now time.Time, lean tense) (s Span, ending bool, err error) {
	text = strings.TrimSpace(text)
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		t = t.In(now.Location())
		return Span{t, t.Add(1), Minute}, false, nil
	}
	p := newParser(text, now)
	p.exact, p.lean = true, func(int) tense { return lean }
	i := 0
	for i < len(p.tokens) && (prepositions[p.tokens[i].text] || p.tokens[i].text == "the") {
		if _, n := p.match(i); n > 0 { // "in two weeks", "the day before yesterday"
			break
		}
		i++
	}
	spans, n := p.match(i)
	rest := i + n
	for rest < len(p.tokens) && p.tokens[rest].text == "." {
		rest++
	}
	if n == 0 || rest != len(p.tokens) {
		return Span{}, false, errUnknown
	}
	return spans[0], p.ending, nil
}

// maxFound is the maximum number of spans of a text: one with more dates is not about any of them.
const maxFound = 8

// maxText is the number of bytes of a text that are searched for dates.
const maxText = 64 << 10

// InText returns the dates that a text names, in order and each once, as of now, when it was written. Where a phrase
// may mean several days it is the one that the tense of its sentence suggests, or the nearest to now.
func InText(text string, now time.Time) []Span {
	if len(text) > maxText {
		text = text[:maxText]
	}
	p := newParser(text, now)
	p.lean = p.tense
	var found []Span
	p.each(func(_, _ int, spans []Span) bool {
		for _, known := range found {
			if known.ISO() == spans[0].ISO() {
				return true
			}
		}
		found = append(found, spans[0])
		return len(found) < maxFound
	})
	return found
}

// InQuestion returns what the first time phrase of a question means: one span, several if the phrase may mean each of
// them, none if the question has no such phrase, or one after "before" or "until", which tells too little. After
// "since" and "after" a span is open. A time of day is not kept: who asks for it wants that day. rest is the question
// without the phrase.
func InQuestion(text string, now time.Time) (spans []Span, rest string) {
	p := newParser(text, now)
	p.lean, p.all = p.tense, true
	rest = text
	p.each(func(i, end int, named []Span) bool {
		if w := p.word(i - 1); w == "before" || w == "until" || w == "till" {
			return false
		}
		before := i
		for before > 0 && (prepositions[p.word(before-1)] || p.word(before-1) == "the") {
			before--
		}
		rest = text[:p.tokens[before].start] + text[p.tokens[end-1].end:]
		for _, s := range named {
			if s.Unit == Minute {
				day := midnight(s.From)
				s = Span{day, addDays(day, 1), Day}
			}
			switch {
			case p.since(i):
				s.To = time.Time{}
			case p.word(i-1) == "after":
				s.To = time.Time{}
				if p.tense(i) != future {
					s.From = named[0].To
				}
			}
			spans = append(spans, s)
		}
		return false
	})
	return spans, rest
}

// since reports whether the question asks for what comes since the phrase that begins at token i: "since 3 May", "since
// my birthday on 3 May".
func (p *parser) since(i int) bool {
	if p.word(i-1) != "on" && p.word(i-1) != "in" {
		return p.word(i-1) == "since"
	}
	for k := i - 2; k >= max(0, i-6) && !p.ends(k); k-- {
		if p.word(k) == "since" {
			return true
		}
	}
	return false
}
