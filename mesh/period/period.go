// Package period compares the times that memories were stored, and that they tell of, with parts of the calendar.
package period

import (
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/when"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// Date sets r.OccurredAt to the dates at which what r tells happened: what the caller gave, else what the text names,
// as of r.CreatedAt. zone is the audience's.
//
// SECURITY: only the private compartment's dates are those of the user's time zone, which is private: what is
// "yesterday" around midnight would tell a group where the user is.
func Date(r *record.Record, to record.Visibility, zone *time.Location) error {
	if to != record.Private {
		zone = time.Local
	}
	spans := events(r)
	switch {
	case r.Lesson != nil || len(spans) > 0:
		return nil
	case r.OccurredAt != "":
		var err error
		if spans, err = when.ParseEvent(r.OccurredAt, r.Content, r.CreatedAt.In(zone)); err != nil {
			return fault.New("occurred_at: %v", err)
		}
	default:
		spans = when.InText(r.Content, r.CreatedAt.In(zone))
	}
	var list []string
	for _, s := range spans {
		list = append(list, s.ISO())
	}
	r.OccurredAt = strings.Join(list, " ")
	return nil
}

// events returns the dates of r that Date has set, as times in UTC, and none if it has not.
func events(r *record.Record) (spans []when.Span) {
	for iso := range strings.FieldsSeq(r.OccurredAt) {
		s, err := when.ParseISO(iso, time.UTC)
		if err != nil {
			return nil
		}
		spans = append(spans, s)
	}
	return spans
}

// Period is one or more parts of the calendar that memories are looked for in.
type Period []when.Span

// floating returns t's date and clock as a time in UTC, as the dates of memories are compared: a date is the same
// everywhere.
func floating(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	return time.Date(year, month, day, hour, minute, second, t.Nanosecond(), time.UTC)
}

// stored reports whether r was stored in the period.
func (p Period) stored(r *record.Record) bool {
	for _, s := range p {
		if s.Holds(r.CreatedAt) {
			return true
		}
	}
	return false
}

// overlaps calls f with each time at which what r tells happened, and a part of the period that has a moment in common
// with it.
func (p Period) overlaps(r *record.Record, f func(event, part when.Span)) {
	for _, event := range events(r) {
		for _, s := range p {
			part := when.Span{From: floating(s.From), To: floating(s.To), Unit: s.Unit}
			if part.Overlaps(event) {
				f(event, part)
			}
		}
	}
}

// Holds reports whether r was stored in the period, or tells of something that happened in it.
func (p Period) Holds(r *record.Record) bool {
	held := p.stored(r)
	p.overlaps(r, func(_, _ when.Span) { held = true })
	return held
}

// How much of the weight of time a memory gets, see docs/ranking.md.
const (
	vagueShare  = .3 // for "in 2026" where a day is asked for, and for all of a year that is asked for
	storedShare = .7 // for having been stored then, when it tells of other days
	vagueTimes  = 8  // an event that is longer than so many times the period is vague
)

// Share returns how well r fits the period, 0 to 1.
func (p Period) Share(r *record.Record) (share float32) {
	if p.stored(r) {
		share = 1
		if r.OccurredAt != "" {
			share = storedShare
		}
	}
	p.overlaps(r, func(event, part when.Span) {
		fits := float32(1)
		if !part.From.IsZero() && !part.To.IsZero() && event.To.Sub(event.From) > vagueTimes*part.To.Sub(part.From) {
			fits = vagueShare
		}
		share = max(share, fits)
	})
	if len(p) > 0 && p[0].Unit == when.Year {
		share *= vagueShare
	}
	return share
}
