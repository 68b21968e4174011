package when

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
)

// errUnknown is the error of Parse. It completes a sentence that begins with the argument's name.
var errUnknown = errors.New("give a date or time such as 2026-01-31, 2026-01, 2026-01-31T15:04:05Z, 17 November, " +
	"yesterday at half past nine, last Tuesday, last week, in March, two weeks ago, two summers ago, mid-March, " +
	"October and November 2025, the last three months of 2025, Q3 2025, H1 2025, week 40 of 2025 or the weekend " +
	"after next")

// errEvent is the error of ParseEvent.
var errEvent = fmt.Errorf("%w, or up to %d of them with commas", errUnknown, maxFound)

// leading are words, other than prepositions, that an argument may begin with.
var leading = text.Set("the ever about all whole most much")

// Parse reads a time that a caller gave as an argument. Nothing but the phrase, a preposition and spaces may be in it.
// Of a date that is named without a year, and of a weekday, the last one up to now is meant. Where a phrase may mean
// two days, or means both, the first is returned.
func Parse(text string, now time.Time) (Span, error) {
	spans, _, err := parse(text, now, past, false)
	if err != nil {
		return Span{}, err
	}
	return spans[0], nil
}

// ParseSince is Parse for the time from which on something is: the first moment of what the phrase names.
func ParseSince(text string, now time.Time) (time.Time, error) {
	s, err := Parse(text, now)
	return s.From, err
}

// ParseUntil is ParseSince for the time before which something is, but "the end of October" ends with the month.
func ParseUntil(text string, now time.Time) (time.Time, error) {
	spans, ending, err := parse(text, now, past, false)
	switch {
	case err != nil:
		return time.Time{}, err
	case ending:
		return spans[0].To, nil
	}
	return spans[0].From, nil
}

// ParseEvent is Parse for when something happened or will happen, which may be several times: "the spring and autumn of
// 2025", "2026-03-04, 2026-03-11". A date without a year is the last one, unless what is told about it looks ahead
// ("The goats will be adopted") or nothing is told: then it is the one that is nearest to now.
func ParseEvent(text, told string, now time.Time) ([]Span, error) {
	if spans := answered(text, now.Location()); len(spans) > 0 {
		return spans, nil
	}
	lean := past
	if ahead(newParser(told[:min(len(told), maxText)], now).tokens) {
		lean = either
	}
	spans, _, err := parse(text, now, lean, true)
	if err != nil || len(spans) > maxFound {
		return nil, errEvent
	}
	return spans, nil
}

// answered reads times as they are answered, "2025-03 2025-06", and returns none if text is anything else.
func answered(text string, zone *time.Location) (spans []Span) {
	for iso := range strings.FieldsSeq(text) {
		s, err := ParseISO(iso, zone)
		if err != nil || !s.From.Before(s.To) {
			return nil
		}
		spans = append(spans, s)
	}
	return spans
}

// parse reads a time that is the whole of text, except for prepositions before it and a full stop after it, or several
// of them that commas or words separate. lean is the tense that an ambiguous date is read in. ending is true for the
// end of a month or another span.
func parse(text string, now time.Time, lean tense, several bool) (spans []Span, ending bool, err error) {
	text = strings.TrimSpace(text)
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		t = t.In(now.Location())
		return []Span{{t, t.Add(1), Minute}}, false, nil
	}
	if strings.Contains(text, "/") {
		if spans := answered(text, now.Location()); len(spans) == 1 {
			return spans, false, nil
		}
	}
	p := newParser(text, now)
	p.exact, p.lean = true, func(int) tense { return lean }
	for i := 0; ; i++ {
		found, ok := p.leadingPhrase(i)
		if !ok {
			return nil, false, errUnknown
		}
		if !found.every {
			found.spans = found.spans[:1]
		}
		spans = append(spans, found.spans...)
		i = found.end
		if separators[p.word(i)] && several {
			if joining[p.word(i+1)] {
				i++
			}
			continue
		}
		for i < len(p.tokens) && p.tokens[i].text == "." {
			i++
		}
		if i != len(p.tokens) {
			return nil, false, errUnknown
		}
		return spans, p.ending, nil
	}
}

// separators are between the times of an argument.
var separators = text.Set(", ; and or & +")

// leadingPhrase returns the phrase that begins at token i, or after prepositions there: "in two weeks", "the day before
// yesterday", "before last summer".
func (p *parser) leadingPhrase(i int) (found phrase, ok bool) {
	found, ok = p.phrase(i)
	for ; !ok && i < len(p.tokens) && (prepositions[p.word(i)] || leading[p.word(i)]); i++ {
		found, ok = p.phrase(i + 1)
	}
	return found, ok
}
