package forget

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/workspace"
)

// Line is a line of a workspace file that is about a subject.
type Line struct {
	File string `json:"file"`
	Line int    `json:"line"` // from 1
	Text string `json:"text"`
	Kept string `json:"kept,omitempty"` // why it is not erased and what the person can do, "" if it is
}

// doubted is the beginning of Kept of a line that may have only the word of a subject that is a name, or name another.
const doubted = "it may contain only the word, or be about another"

// Doubtful reports whether the line is not erased because it may not be about the subject: "prices rose".
func (l Line) Doubtful() bool { return strings.HasPrefix(l.Kept, doubted) }

// pinned are the anchors of a file's pinned and locked sections.
type pinned map[string]bool

// lines returns the lines of all files that are about a subject, in the order of files and lines.
func (f Forgetter) lines(ctx context.Context, subject mesh.Subject) (all []Line, err error) {
	pins, err := f.pins(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range f.files() {
		data, more, err := f.Workspace.Head(name)
		if err != nil {
			continue // missing, or refused, which the view reports
		}
		for _, l := range linesAbout(string(data), subject, pins[name]) {
			l.File = name
			switch {
			case name == workspace.SoulFile || name == workspace.IdentityFile:
				l.Kept = "it defines the agent: yamo-mcp reconfigure"
			case more:
				l.Kept = "the file is too large: edit it by hand"
			}
			all = append(all, l)
		}
	}
	return all, nil
}

// files are the workspace's files that are read, by name.
func (f Forgetter) files() []string {
	names := f.Workspace.Present()
	for _, file := range f.Workspace.Searched() {
		names = append(names, file.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (f Forgetter) pins(ctx context.Context) (map[string]pinned, error) {
	list, err := f.Editor.Pins(ctx)
	if err != nil {
		return nil, err
	}
	pins := map[string]pinned{}
	for _, pin := range list {
		if pins[pin.File] == nil {
			pins[pin.File] = pinned{}
		}
		pins[pin.File][pin.Anchor] = true
	}
	return pins, nil
}

// eraseLines removes the lines that are not kept and were shown, and returns all, with the reason for those that could
// not be removed.
func (f Forgetter) eraseLines(ctx context.Context, subject mesh.Subject, shown Plan, lines []Line) ([]Line, error) {
	pins, err := f.pins(ctx)
	if err != nil {
		return nil, err
	}
	var done []Line
	for len(lines) > 0 {
		name := lines[0].File
		n := slices.IndexFunc(lines, func(l Line) bool { return l.File != name })
		if n < 0 {
			n = len(lines)
		}
		own := slices.Clone(lines[:n])
		lines = lines[n:]
		if slices.ContainsFunc(own, func(l Line) bool { return l.Kept == "" }) {
			_, err = f.Workspace.EraseLines(ctx, name, func(present string) string {
				about := linesAbout(present, subject, pins[name])
				return without(present, slices.DeleteFunc(about, func(l Line) bool {
					l.File = name
					return !shown.has(l)
				}))
			})
			reason := ""
			switch {
			case err == nil:
			case errors.Is(err, fs.ErrNotExist):
				reason = "it is an archived log: yamo-mcp rotate --delete " + name
			case errors.Is(err, fs.ErrPermission):
				reason = "it cannot be edited here: edit it by hand"
			default:
				return done, err
			}
			for i := range own {
				if own[i].Kept == "" {
					own[i].Kept = reason
				}
			}
		}
		done = append(done, own...)
	}
	return done, nil
}

// without returns text without the lines that are not kept.
func without(text string, lines []Line) string {
	gone := map[int]bool{}
	for _, l := range lines {
		gone[l.Line] = l.Kept == ""
	}
	var b strings.Builder
	number := 0
	for line := range strings.Lines(text) {
		if number++; !gone[number] {
			b.WriteString(line)
		}
	}
	return b.String()
}
