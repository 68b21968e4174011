package grammar

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/workspace/markdown"
)

// Promote is the operation that moves a subsection of Extensions into a section of the type (seed 004 §13). It is not
// in Ops: only the maintainer can request it, and no session.
const Promote = "promote"

// Extensions is the heading of the section for content that a type of file has no section for.
const Extensions = "Extensions"

// Subsection is a heading of the third level with the text below it.
type Subsection struct {
	Name string
	Body string // without the heading, and without blank lines around

	start, end int // with the heading, in the section's body
}

// Subsections returns the subsections of a section's body, in order.
func Subsections(body string) []Subsection {
	var list []Subsection
	var at markdown.Scanner
	pos, open, text := 0, false, 0
	end := func() {
		if open {
			s := &list[len(list)-1]
			s.end, s.Body = pos, strings.Trim(body[text:pos], " \t\r\n")
		}
		open = false
	}
	for line := range strings.Lines(body) {
		level, name := markdown.Heading(line)
		// A heading of any level up to the third ends the subsection above; deeper ones belong to it.
		if at.Free() && level > 0 && level <= 3 {
			end()
			if open = level == 3; open {
				list = append(list, Subsection{Name: name, start: pos})
				text = pos + len(line)
			}
		}
		at.Next(line)
		pos += len(line)
	}
	end()
	return list
}

// Promote moves the subsection of Extensions called name into the section e.Section (seed 004 §13): to the end of a
// narrative section with its heading; to a list item by item, and then it must consist of items only. The tokens in it
// become e.Evidence. Errors are faults, and d is then invalid.
func (d *Document) Promote(t *Type, name string, e *Edit, now time.Time) (Applied, error) {
	if !t.strict() {
		return Applied{}, fault.New("only the profiles below %s/ have Extensions to promote from", Folder)
	}
	section, known := t.section(e.Section)
	if !known || section.Name == Extensions || section.Form == Log {
		names := slices.DeleteFunc(t.names(), func(n string) bool { return n == Extensions || n == ChangeLog })
		return Applied{}, fault.New("section: %q takes nothing from Extensions; the sections of a %s are %s", e.Section,
			t.Name, strings.Join(names, ", "))
	}
	if e.Rationale = oneLine(e.Rationale); e.Rationale == "" {
		return Applied{}, fault.New("why: required; give the reason for moving it to %s, in one line", section.Name)
	}
	done := Applied{}
	to, how, err := d.Find(t, section.Name)
	if missing, ok := errors.AsType[*MissingError](err); ok && !missing.Twice {
		to, done.Made, err = d.add(t, section.Name, ""), true, nil
	}
	if err != nil {
		return Applied{}, fault.New("section: %v", err)
	}
	from, _, err := d.Find(t, Extensions)
	if err != nil {
		return Applied{}, fault.New("%v", err)
	}
	moved, err := subsection(d.Parts[from].Body, name)
	if err != nil {
		return Applied{}, err
	}
	names, before := d.skeleton(), d.Parts[to].Body
	done.Section, done.Anchor, done.Match = d.Parts[to].Name, section.Anchor(), how
	e.Evidence, e.Rationale = Tokens(moved.Body), oneLine(moved.Name)+": "+e.Rationale
	add := Edit{Op: AppendSection, Rationale: e.Rationale, Content: "### " + moved.Name + "\n\n" + moved.Body}
	if section.Form == Narrative {
		if _, err := subsection(before, moved.Name); err == nil {
			return Applied{}, fault.New("section: %s has a subsection %q already", section.Name, moved.Name)
		}
	} else {
		add = Edit{Op: AppendItem, Rationale: e.Rationale, Items: Items(moved.Body)}
		// Text between items would be lost, because only items are moved.
		for _, b := range blocks(moved.Body) {
			if !b.item && strings.TrimSpace(b.raw) != "" {
				return Applied{}, fault.New("section: %s is a list, and %q is not: make items of its text first, or promote it "+
					"to another section", section.Name, moved.Name)
			}
		}
	}
	if err := add.clean(); err != nil {
		return Applied{}, err
	}
	if err := d.perform(&d.Parts[to], section.Form, add, &done, now); err != nil {
		return Applied{}, err
	}
	// Both in one event: a replay never shows the text twice, or not at all.
	d.Parts[from].Body = moved.cutFrom(d.Parts[from].Body)
	if after := Parse(d.String()); !slices.Equal(names, after.skeleton()) {
		return Applied{}, fault.New("%q would change which sections the file has: it has an open code block, or a heading "+
			"of the first two levels", moved.Name)
	}
	done.Exceeded = t.exceeds(section.Form, before, d.Parts[to].Body)
	if done.Exceeded != "" && len(strings.Fields(e.Override)) < 2 {
		return Applied{}, fault.New("override: %q would have %s; shorten it, or say why that is needed now, for how long, "+
			"and when it is curated", section.Name, done.Exceeded)
	}
	return done, nil
}

// subsection returns the subsection of a body called name, by its heading or the slug of it.
func subsection(body, name string) (Subsection, error) {
	var have []string
	var found []Subsection
	for _, s := range Subsections(body) {
		have = append(have, s.Name)
		if s.Name == name || Slug(name) != "" && Slug(s.Name) == Slug(name) {
			found = append(found, s)
		}
	}
	switch {
	case len(found) > 1:
		return Subsection{}, fault.New("there are %d subsections %q: give each a heading of its own", len(found), name)
	case len(found) == 0 && len(have) == 0:
		return Subsection{}, fault.New("there is no subsection %q, and no other: subsections begin with ###", name)
	case len(found) == 0:
		return Subsection{}, fault.New("there is no subsection %q; there are %s", name, strings.Join(have, ", "))
	case found[0].Body == "":
		return Subsection{}, fault.New("the subsection %q is empty", name)
	}
	return found[0], nil
}

// cutFrom returns body without s. The blank lines at the end of body stay as they were.
func (s Subsection) cutFrom(body string) string {
	if s.end < len(body) {
		return body[:s.start] + body[s.end:]
	}
	return strings.TrimRight(body[:s.start], " \t\r\n") + body[len(strings.TrimRight(body, " \t\r\n")):]
}
