package dream

import (
	"regexp"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/when"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// recurring are words of what comes again, so that its date is never over.
var recurring = regexp.MustCompile(`(?i)\b(birthday|born|anniversary|every|each|annual(ly)?|yearly|` +
	`monthly|weekly|daily|always|usually|often|never|` +
	`(mon|tues|wednes|thurs|fri|satur|sun)(days|day (mornings|afternoons|evenings|nights))|` +
	`weekdays|weekends|of the month|since|until|holiday)\b`)

// lately is how long before a memory was stored its date may be for it to tell of something that was over by then, and
// not of history, if no word tells of an occasion.
const lately = 30 * 24 * time.Hour

// occasion finds what a text tells of that has its day: after it, nobody trains for a marathon. What else is dated,
// such as a first day at work, stays true.
var occasion = regexp.MustCompile(`(?i)\b(appointments?|flight|meeting|exams?|inspection|marathon|race|tournament|` +
	`match|concert|festival|fair|party|trip|visits?|conference|workshop|lecture|deadline|interview|rehearsal|dinner|` +
	`lunch|(is|are|falls?) on|takes? place|happens?|leaves?|departs?|arrives?|starts?|begins?|trains? for|training for|` +
	`prepar(es?|ing)|going to|plans? to|will|due)\b`)

// isOver reports whether what a memory tells was ahead, or of the day, when it was stored, and is past now: "to do
// today" and a flight's time are of no use afterwards. Neither is an appointment that was over already when it was
// stored; what else happened before stays true. now is in the zone that the memory's dates are read in.
func isOver(r *record.Record, now time.Time) bool {
	if recurring.MatchString(r.Content) {
		return false
	}
	said := r.CreatedAt.In(now.Location())
	year, month, day := said.Date()
	began := time.Date(year, month, day, 0, 0, 0, 0, said.Location())
	spans := when.InText(r.Content, said)
	for iso := range strings.FieldsSeq(r.OccurredAt) {
		if s, err := when.ParseISO(iso, now.Location()); err == nil {
			spans = append(spans, s)
		}
	}
	past := when.InPast(r.Content)
	over := false
	for _, s := range spans {
		s = nearest(s, r.Content, said)
		switch {
		case s.To.IsZero(), s.To.After(now):
			return false
		case s.Unit == when.Month, s.Unit == when.Year:
			continue
		case s.From.Before(began) && past && s.Unit != when.Minute:
			continue
		case s.From.Before(began) && said.Sub(s.From) > lately && !occasion.MatchString(r.Content):
			continue
		case s.Holds(said) && past:
			continue
		}
		over = true
	}
	return over
}

// nearest returns s, or the same day of the year before if the text names no year and that was just before it was
// stored: "the appointment is on 20 April", stored on the 21st, is not about the next year.
func nearest(s when.Span, text string, said time.Time) when.Span {
	from := s.From.AddDate(-1, 0, 0)
	if s.Unit == when.Month || s.Unit == when.Year || from.After(said) || said.Sub(from) > lately ||
		strings.Contains(text, s.From.Format("2006")) {
		return s
	}
	s.From, s.To = from, s.To.AddDate(-1, 0, 0)
	return s
}
