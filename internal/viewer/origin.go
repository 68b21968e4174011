package viewer

import (
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
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
	Same   bool      // the line above has the same origin
}

// origins returns the lines of a file, each with the event after which it was first there in these words. Events are
// those of the file, oldest first.
//
// A line that two sections have in the same words has the origin of the later one: what it says was then written twice.
func origins(text string, events []edit.Event) []originLine {
	present := map[string]*eventRow{}
	for _, e := range events {
		if e.Op == edit.OpErase || e.Asked != nil && e.Op == edit.OpPropose {
			continue
		}
		row := newEventRow(e)
		if e.Base != nil {
			lines := map[string]*eventRow{}
			for line := range strings.Lines(*e.Base) {
				line = strings.TrimSpace(line)
				if lines[line] = present[line]; lines[line] == nil {
					lines[line] = &row
				}
			}
			present = lines
		}
		for _, c := range e.Changes {
			cut := map[string]*eventRow{}
			for line := range strings.Lines(c.Cut) {
				line = strings.TrimSpace(line)
				cut[line] = present[line]
				delete(present, line)
			}
			// Only what differs is cut, which may begin within a line: then the whole line is in neither.
			for line := range strings.Lines(c.Insert) {
				line = strings.TrimSpace(line)
				if present[line] = cut[line]; present[line] == nil {
					present[line] = &row
				}
			}
		}
	}
	var list []originLine
	var last *eventRow
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, "\r\n")
		by := present[strings.TrimSpace(line)]
		if strings.TrimSpace(line) == "" {
			by = last // a blank line belongs to what is above it
		}
		list = append(list, originLine{number, line, by, by == last && number > 1})
		last = by
	}
	return list
}
