// Package trace tells where a line of a workspace file comes from: which recorded edit wrote it, when, and what it
// cites. It is for direct conversations only, and writes nothing but what any look at the record writes: a change by
// hand that was not recorded yet.
package trace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit/merge"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// Origin is where a line of a file comes from.
type Origin struct {
	// Event is the edit that wrote the line, without its texts; nil for a file without recorded edits.
	Event *edit.Event `json:"event,omitempty"`
	// First means that the record begins with the line: it was there before the first recorded edit.
	First bool `json:"before_the_record,omitempty"`
	// Put is the later event that put the line where it is now: an undo, a change by hand, a sweep that moved it.
	Put *edit.Event `json:"moved_by,omitempty"`
}

// Line is a line of a file, with the edit that wrote it.
type Line struct {
	File    string `json:"file"` // relative to the workspace
	Line    int    `json:"line"` // from 1
	Text    string `json:"text"`
	Section string `json:"section,omitempty"` // the heading that it is under
	Group   string `json:"group,omitempty"`   // the group that wrote the file
	Origin
	// Evidence are the tokens in the line, or else those of the edit.
	Evidence []string `json:"evidence,omitempty"`
	Own      bool     `json:"-"` // Evidence is in the line
}

// MaxLines is the maximum number of lines that Find returns.
const MaxLines = 10

// numbered matches a file with the number of a line, in the form of lint's findings.
var numbered = regexp.MustCompile(`^(.+\.md):([0-9]{1,7})$`)

// Find returns the lines that target names: FILE:LINE, or else a text that they contain, white space and letter case
// aside, up to MaxLines, in all files of the workspace; those with recorded edits come first. more is the number of
// those that were left out. A target without a line is a fault.
func Find(
	ctx context.Context, view *workspace.View, editor *edit.Editor, target string,
) (list []Line, more int, err error) {
	if m := numbered.FindStringSubmatch(target); m != nil {
		number, _ := strconv.Atoi(m[2]) // up to seven digits
		lines, err := linesOf(view, m[1])
		if errors.Is(err, fs.ErrNotExist) {
			return nil, 0, fault.New("%s: no such file in the workspace", m[1])
		}
		if err != nil {
			return nil, 0, err
		}
		if number < 1 || number > len(lines) {
			return nil, 0, fault.New("%s: the file has %d lines", target, len(lines))
		}
		if lines[number-1] == "" {
			return nil, 0, fault.New("%s: the line is blank; name one with text", target)
		}
		list, err := about(ctx, view, editor, m[1], []int{number - 1})
		return list, 0, err
	}
	wanted := folded(target)
	if wanted == "" {
		return nil, 0, fault.New("name a line as FILE:LINE, or pass some of its words")
	}
	var logged []Line // in files that are never edited
	for _, name := range view.Quotable() {
		lines, err := linesOf(view, name)
		if err != nil {
			continue // missing, or refused, which lint reports
		}
		var at []int
		for i, line := range lines {
			if strings.Contains(folded(line), wanted) {
				at = append(at, i)
			}
		}
		if len(at) == 0 {
			continue
		}
		found, err := about(ctx, view, editor, name, at)
		if err != nil {
			return nil, 0, err
		}
		if view.Editable(name) {
			list = append(list, found...)
		} else {
			logged = append(logged, found...)
		}
	}
	if list = append(list, logged...); len(list) == 0 {
		return nil, 0, fault.New("no line of the workspace's files contains %q; name one as FILE:LINE", target)
	}
	more = max(0, len(list)-MaxLines)
	return list[:len(list)-more], more, nil
}

func folded(s string) string { return strings.ToLower(text.OneLine(s)) }

func linesOf(view *workspace.View, name string) ([]string, error) {
	data, err := view.Read(name)
	if err != nil {
		return nil, err
	}
	return split(string(data)), nil
}

// split returns the lines of a file without their ends, with a replacement character for what is no text.
func split(file string) []string {
	var lines []string
	for line := range strings.Lines(strings.ToValidUTF8(file, "\uFFFD")) {
		lines = append(lines, strings.TrimRight(line, " \t\r\n"))
	}
	return lines
}

// origin is where a line of a text comes from: an index into the events, and that of the one that moved it, 0 for none.
type origin struct{ event, put int }

// Origins returns where each line of a file comes from. text is what the file has now, or the beginning of that. It
// first records what was changed by hand. Lines that the record does not have, because the file is changed at this
// moment or its edits are not recorded, have no event. A file whose record cannot be followed is a fault.
func Origins(ctx context.Context, editor *edit.Editor, name, text string) ([]Origin, error) {
	return originsOf(ctx, editor, name, split(text))
}

func originsOf(ctx context.Context, editor *edit.Editor, name string, present []string) ([]Origin, error) {
	var events []edit.Event
	var lines []string
	var origins []origin
	known := map[string]origin{} // of every line that there was
	err := editor.Steps(ctx, name, func(event edit.Event, text string) {
		events = append(events, event)
		next := split(text)
		kept := merge.Common(lines, next)
		was := make([]origin, len(next))
		for i, line := range next {
			now := origin{event: len(events) - 1}
			old, there := known[line]
			switch from := kept[i]; {
			case from >= 0:
				now = origins[from]
			// A session that writes what was there says it again; these only put it somewhere.
			case there && repeats(event):
				now = origin{old.event, len(events) - 1}
			}
			was[i], known[line] = now, now
		}
		lines, origins = next, was
	})
	if err != nil {
		return nil, err
	}
	list := make([]Origin, len(present))
	for i := range list {
		// Only what the record ends with: the file may be changed at this moment.
		if i >= len(lines) || lines[i] != present[i] {
			continue
		}
		from := origins[i]
		list[i] = Origin{Event: &events[from.event], First: from.event == 0 && events[0].Op == edit.OpSnapshot}
		if from.put > 0 {
			list[i].Put = &events[from.put]
		}
	}
	return list, nil
}

// about returns what wrote the lines of a file with these indexes.
func about(ctx context.Context, view *workspace.View, editor *edit.Editor, name string, at []int) ([]Line, error) {
	present, err := linesOf(view, name)
	if err != nil {
		return nil, err
	}
	origins, err := originsOf(ctx, editor, name, present)
	if err != nil {
		return nil, err
	}
	var list []Line
	for _, i := range at {
		if i >= len(present) {
			continue // the file was cut meanwhile
		}
		line := Line{
			File: name, Line: i + 1, Text: present[i], Section: section(present, i), Group: workspace.GroupOf(name),
			Origin: origins[i],
		}
		for _, token := range grammar.Tokens(line.Text) {
			line.Evidence, line.Own = append(line.Evidence, token.String()), true
		}
		if !line.Own && line.Event != nil {
			line.Evidence = line.Event.Evidence
		}
		list = append(list, line)
	}
	return list, nil
}

// repeats reports whether an event can put lines that were there before somewhere else, as they were.
func repeats(event edit.Event) bool {
	switch event.Op {
	case edit.OpUndo, edit.OpRestore, edit.OpObserved, edit.OpDrift, edit.OpSnapshot:
		return true
	}
	return event.MadeBy().Source == edit.FromSweep
}

// section returns the last heading above a line.
func section(lines []string, i int) string {
	d := grammar.Parse(strings.Join(lines[:i+1], "\n") + "\n")
	return d.Parts[len(d.Parts)-1].Name
}

// Who returns in words who wrote a line, without the evidence.
func (l Line) Who() string {
	if l.Event == nil {
		switch {
		case l.Group != "":
			return "the group " + l.Group + " wrote it: quoted speech"
		case strings.HasPrefix(l.File, "memory/"):
			return "an entry of the log, by a session, a hook or by hand; the log has no record of edits"
		}
		return "the record of edits does not know the file: it was written by hand, or by another program"
	}
	e := l.Event
	if l.First {
		return fmt.Sprintf("it was there before the record of edits began, at %s: written by hand, at the first boot or by "+
			"another program", e.Time)
	}
	switch made := e.MadeBy(); made.Source {
	case edit.FromHand:
		return fmt.Sprintf("written by hand, or by another program: the record noticed it at %s", e.Time)
	case edit.FromSweep:
		return fmt.Sprintf("a dream of %s promoted it at %s", e.Actor, e.Time)
	case edit.FromDiary:
		return fmt.Sprintf("the diary of a dream of %s, at %s", e.Actor, e.Time)
	case edit.FromProposal:
		return fmt.Sprintf("a session proposed it, and the owner accepted it at %s", e.Time)
	case edit.FromCommand:
		return fmt.Sprintf("a command of the owner (%s), at %s", e.Op, e.Time)
	case edit.FromSession:
	}
	return fmt.Sprintf("a session of %s wrote it at %s", e.Actor, e.Time)
}
