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

// isOver reports whether what a memory tells was ahead, or of the day, when it was stored, and is past now: "to do
// today" and a flight's time are of no use afterwards. What happened before it was stored stays true. now is in the
// zone that the memory's dates are read in.
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
	over := false
	for _, s := range spans {
		switch {
		case s.To.IsZero(), s.To.After(now):
			return false
		case s.Unit == when.Month, s.Unit == when.Year, s.From.Before(began):
			continue
		case s.Holds(said) && when.InPast(r.Content):
			continue
		}
		over = true
	}
	return over
}
