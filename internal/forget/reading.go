package forget

import (
	"fmt"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
	"github.com/yamo-protocol/yamo-mcp/workspace/markdown"
)

// linesAbout returns the lines of a text that are about a subject: what mentions it, the rest of its paragraph, what is
// nested in its item, and everything below a heading that mentions it.
func linesAbout(text string, subject mesh.Subject, pins pinned) []Line {
	var scanner markdown.Scanner
	r := reading{subject: subject, pins: pins, doubt: doubtOf(subject)}
	matter := false
	for line := range strings.Lines(text) {
		r.number++
		trimmed := strings.TrimSpace(line)
		if r.number == 1 && trimmed == "---" || matter {
			matter = r.number == 1 || trimmed != "---"
			if subject.In(line) {
				r.add(r.number, line, "it is front matter: edit it by hand")
			}
			continue
		}
		free := scanner.Free()
		kind := scanner.Next(line)
		if free && kind == markdown.Text {
			if depth, heading := markdown.Heading(strings.TrimRight(line, "\r\n")); depth > 0 {
				r.heading(line, depth, heading)
				continue
			}
		}
		switch {
		case trimmed == "":
			r.end()
			r.before = false
			continue
		case kind != markdown.Text, startsItem(trimmed), strings.HasPrefix(trimmed, "|"), field.MatchString(trimmed):
			r.end()
		}
		if len(r.current) == 0 {
			r.first = r.number
		}
		r.current = append(r.current, line)
	}
	r.end()
	return r.list
}

// doubtOf returns the reason to keep a line that may be about a subject.
func doubtOf(subject mesh.Subject) string {
	if every := subject.Unsure(); every != "" {
		return fmt.Sprintf("%s: to erase it too, edit it by hand or forget %q", doubted, every)
	}
	if subject.Person() {
		return doubted + ": to erase it too, edit it by hand or forget the name that it has"
	}
	return doubted + ": to erase it too, edit it by hand"
}

// reading is how far a text is read, line by line.
type reading struct {
	subject mesh.Subject
	pins    pinned
	doubt   string // why what is in doubt is kept
	list    []Line

	number  int // of the line
	anchor  string
	level   int      // of the heading below which everything is about the subject, 0 without one
	current []string // lines that are not yet split into units
	first   int      // the number of the first of them
	before  bool     // the unit before, without a blank line between, is about the subject
	parents []parent // that the current item is nested in
}

// parent is an item that others may be nested in.
type parent struct {
	indent int
	about  bool
}

func (r *reading) add(number int, line, kept string) {
	r.list = append(r.list, Line{Line: number, Text: strings.TrimSpace(line), Kept: kept})
}

// kept is why nothing of the section is erased, "" if it is.
func (r *reading) kept() string {
	if r.pins[edit.WholeFile] || r.pins[r.anchor] {
		return "it is pinned: yamo-mcp unpin or unlock, then again"
	}
	return ""
}

// heading reads the line of a heading.
func (r *reading) heading(line string, depth int, heading string) {
	r.end()
	r.parents, r.before = nil, false
	if r.level >= depth {
		r.level = 0
	}
	r.anchor = grammar.Slug(heading)
	if r.level == 0 && r.subject.Surely(heading) && depth > 1 {
		r.level = depth
	}
	if r.level == 0 && !r.subject.In(heading) {
		return
	}
	reason := r.kept()
	switch {
	case depth == 1:
		reason = "it is the title: edit it by hand"
	case r.level == 0:
		reason = r.doubt
	}
	r.add(r.number, line, reason)
}

// end reads the lines that are not yet split into units.
func (r *reading) end() {
	for _, unit := range units(r.current, r.subject.Surely) {
		r.unit(unit)
		r.first += len(unit)
	}
	r.current = nil
}

// unit reads a unit, which begins at the first line that is not read.
func (r *reading) unit(lines []string) {
	text, in := joined(lines), indent(lines[0])
	item := startsItem(text)
	if item || in == 0 {
		r.parents = slices.DeleteFunc(r.parents, func(p parent) bool { return p.indent >= in })
	}
	about := r.level > 0 || slices.ContainsFunc(r.parents, func(p parent) bool { return p.about }) ||
		r.subject.Surely(text)
	back := r.before && refersBack(text)
	if item {
		r.parents = append(r.parents, parent{in, about})
	}
	r.before = about || back
	reason := r.kept()
	if !about {
		reason = r.doubt
	}
	for i, line := range lines {
		if about || back || r.subject.In(text) {
			r.add(r.first+i, line, reason)
		}
	}
}
