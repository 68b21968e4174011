package viewer

import (
	"context"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/internal/viewer/page"
	"github.com/yamo-protocol/yamo-mcp/mesh/confidence"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// shown is the number of characters of a memory in a list.
const shown = 400

// row is a memory in a list.
type row struct {
	ID, Link string
	Zone     page.Zone
	Kind     string // its type, or what was made of it
	Text     string
	Created  time.Time
	InDay    bool   // it is below its day, so that the time of day is enough
	Who      string // who said it, "" if that is not recorded
	Happened string // when what it tells happened
	Project  string
	Tags     []string
	Past     *record.Revision
	Next     string // the page of what replaced it, "" for none
	Place    string // of a passage
	Disputed string // who said it, and whose word it replaced unconfirmed; "" if it is not in dispute

	Level    string // how likely it answers the query; "" without one
	Chance   float64
	Bars     []bar
	Replaced []record.Past
}

// bar is a signal of the ranking as a small bar.
type bar struct {
	Name  string
	Value float64 // 0 to 1, or below 0 for what counts against it
}

// newRow returns a memory for a list. below is the path of its page without the id.
func newRow(h record.Hit, home record.Visibility, below string) row {
	r := row{
		ID: h.ID, Link: below + url.PathEscape(h.ID), Zone: zoneOf(h.Visibility), Kind: kindOf(h.Record),
		Text: text.Shorten(strings.TrimSpace(h.Content), shown), Created: h.CreatedAt, Who: whoSaid(h, home),
		Happened: eventDate(h.OccurredAt), Project: record.ProjectName(h.Project), Tags: h.Tags, Past: h.Past, Place: h.Place,
		Replaced: h.Replaced,
	}
	if h.Past != nil && h.Past.New != "" {
		r.Next = below + url.PathEscape(h.Past.New)
	}
	if h.Passage != "" {
		r.Text = text.Shorten(strings.TrimSpace(h.Passage), shown)
	}
	return r
}

// disputed returns a row with what is in dispute about the memory. To a group nothing is.
func (r row) disputed(ctx context.Context, m Member, h record.Hit) (row, error) {
	if m.Dreams == nil {
		return r, nil
	}
	var err error
	r.Disputed, err = m.Dreams.Decided().Mark(ctx, h, shown)
	return r, err
}

// eventDate returns a date, with or without a time, as the pages show dates; anything else, such as a part of the
// calendar in words, as it was stored.
func eventDate(at string) string {
	for layout, shown := range map[string]string{
		time.DateOnly: "2 January 2006", "2006-01-02T15:04": "2 January 2006, 15:04", "2006-01": "January 2006",
	} {
		if t, err := time.Parse(layout, at); err == nil {
			return t.Format(shown)
		}
	}
	return at
}

// kindOf names the type of a memory for a person.
func kindOf(r *record.Record) string {
	switch {
	case r.Lesson != nil:
		return "lesson"
	case r.Reflection != nil:
		return "reflection"
	case r.Type == record.FileType:
		return "file"
	}
	return typeName(r.Type)
}

// typeName names a stored type for a person.
func typeName(stored string) string {
	if stored == record.DefaultType {
		return "memory"
	}
	return stored
}

// unknownSource is what a memory's own page has instead of who said it.
const unknownSource = "who said it is not recorded"

// whoSaid tells a person where a memory comes from, "" if that is not recorded.
func whoSaid(h record.Hit, home record.Visibility) string {
	who := h.From(home)
	switch {
	case h.Type == record.FileType:
		return "in " + h.Source
	case h.Foreign(home) && h.Source == "": // its zone names the group
		who = "said in the group"
	case h.Foreign(home):
		who = "said in the group by " + strconv.Quote(h.Source)
	case who == "user":
		who = "said by you"
	case who == "" && (h.Reflection != nil || h.Lesson != nil):
		who = "concluded by the agent"
	case who == "" && !h.Imported:
		return ""
	case who == "":
		return "imported"
	default:
		who = "said by " + who
	}
	if h.Imported {
		who += ", imported"
	}
	return who
}

// explained adds why a search found the memory.
func (r row) explained(h record.Hit) row {
	r.Level, r.Chance = string(confidence.Of(h.Probability)), h.Probability
	for _, s := range h.Signals {
		// What belongs to no conversation has this share by itself, to compete on equal terms: there is nothing to show.
		if s.Value != 0 && (s.Name != "session" || h.SessionID != "") {
			r.Bars = append(r.Bars, bar{nameOf(s.Name), s.Value})
		}
	}
	return r
}

// signalNames are the signals of the ranking in a person's words (docs/ranking.md).
var signalNames = map[string]string{
	"cosine": "similar meaning", "meaning": "meaning, compared with the others", "own_words": "its own words",
	"context_words": "words around it", "word_pairs": "pairs of words", "length": "length",
	"session": "the best of its conversation", "speaker": "who is asked about", "standing": "a standing instruction",
	"time": "the time asked about", "project": "the project", "label": "its labels",
}

func nameOf(signal string) string {
	if name, ok := signalNames[signal]; ok {
		return name
	}
	return strings.ReplaceAll(signal, "_", " ")
}
