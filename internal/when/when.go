// Package when understands the times that people write: dates ("17 November", "2026-03-04"), and phrases that depend
// on today ("last Tuesday", "in March", "two weeks ago"). It reads English and ISO 8601.
//
// A phrase names a Span of the calendar, not a moment, and only what is certain to be a date is one: "may", "march",
// "sat" and "second" by themselves are words. Libraries of this kind return moments ("last week" is a day), take words
// for dates ("we" for Wednesday), or do not know the phrases above, so the grammar is here.
package when

import (
	"cmp"
	"slices"
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
	p.each(func(named phrase) bool {
		if !named.every {
			named.spans = named.spans[:1]
		}
		for _, s := range named.spans {
			known := func(other Span) bool { return other.ISO() == s.ISO() }
			if len(found) < maxFound && !slices.ContainsFunc(found, known) {
				found = append(found, s)
			}
		}
		return len(found) < maxFound
	})
	return found
}

// InQuestion returns what the first time phrase of a question means: one span, several if the phrase may mean each of
// them or means all of them, none if the question has no such phrase. After "since" and "after", "before" and "until" a
// span is open; until a time to come it begins today. "The week before" a time and the one after it are not known. A
// time of day is not kept: who asks for it wants that day. rest is the question without the phrase.
func InQuestion(text string, now time.Time) (spans []Span, rest string) {
	p := newParser(text, now)
	p.lean, p.all = p.tense, true
	rest = text
	p.each(func(named phrase) bool {
		i := named.i
		before := i
		for before > 0 && (prepositions[p.word(before-1)] || p.word(before-1) == "the") {
			before--
		}
		if w := p.word(before); (w == "before" || w == "after") && units[strings.TrimSuffix(p.word(before-1), "s")] != "" {
			return false
		}
		rest = text[:p.tokens[before].start] + text[p.tokens[named.end-1].end:]
		for _, s := range named.spans {
			spans = append(spans, p.opened(i, s))
		}
		return false
	})
	return spans, rest
}

// opened returns the days of a span that the phrase at token i of a question names, or all time before or after them.
func (p *parser) opened(i int, s Span) Span {
	if s.Unit == Minute {
		day := midnight(s.From)
		s = Span{day, addDays(day, 1), Day}
	}
	began := time.Time{}
	if p.tense(i) == future {
		began = p.today
	}
	switch w := p.beforeThe(i); {
	case p.since(i):
		s.To = time.Time{}
	case w == "after":
		if p.tense(i) != future {
			s.From = s.To
		}
		s.To = time.Time{}
	case w == "before" && !p.ending && began.Before(s.From):
		s.From, s.To, s.Unit = began, s.From, Days
	case (w == "before" && p.ending || w == "until" || w == "till") && began.Before(s.To):
		s.From, s.Unit = began, Days
	}
	return s
}
