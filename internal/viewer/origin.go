package viewer

import (
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
	"github.com/yamo-protocol/yamo-mcp/workspace/trace"
)

// change is a difference for a page.
type change struct{ Label, Diff string }

func newChange(label string, c edit.Changed) change {
	return change{label, string(diff.Diff(c.From, []byte(c.Before), c.To, []byte(c.After)))}
}

// originLine is a line of a file with the event that wrote it.
type originLine struct {
	Number int
	Text   string
	By     *eventRow // nil if no event did
	Put    *eventRow // the later event that put it where it is now, nil if none did
	Same   bool      // the line above has the same origin
}

// origins returns the lines of a file's text, each with what trace.Origins knows about it.
func origins(text string, from []trace.Origin) []originLine {
	rows := map[*edit.Event]*eventRow{}
	row := func(e *edit.Event) *eventRow {
		if e == nil {
			return nil
		}
		if rows[e] == nil {
			made := newEventRow(*e)
			rows[e] = &made
		}
		return rows[e]
	}
	var list []originLine
	var last trace.Origin
	number := 0
	for line := range strings.Lines(text) {
		var now trace.Origin
		if number < len(from) {
			now = from[number]
		}
		if strings.TrimSpace(line) == "" {
			now = last // a blank line belongs to what is above it
		}
		number++
		list = append(list, originLine{
			Number: number, Text: strings.TrimRight(line, "\r\n"), By: row(now.Event), Put: row(now.Put),
			Same: now == last && number > 1,
		})
		last = now
	}
	return list
}
