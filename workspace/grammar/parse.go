package grammar

import (
	"regexp"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/frontmatter"
	"github.com/yamo-protocol/yamo-mcp/workspace/markdown"
)

// Document is a Markdown file, divided where its sections begin. Its strings joined are the file, byte for byte.
type Document struct {
	Head  string // up to the end of the title: byte order mark, front matter, "# " line
	Parts []Part // never empty; the first has no heading: the text above the first section
}

// Part is a section: its heading of the second level, and all up to the next one.
type Part struct {
	Heading string // the line without its end; "" for the first part
	Hidden  string // from there up to the end of the hidden anchor; "" without one
	Body    string // the rest: from the end of the line on which Heading and Hidden end

	Name   string // of the heading
	Anchor Anchor
	Line   int // of the heading, from 1
}

// Anchor is a section's hidden id (seed 004 §2). In the file it is one of
//
//	[//]: # (anchor: concerns v1)
//	<!-- @anchor: concerns v1 -->
type Anchor struct {
	ID      string // "" for none
	Version string // the digits
}

var anchorForms = []*regexp.Regexp{
	regexp.MustCompile(`^\[//\]: # \(anchor: ([a-z0-9][a-z0-9_-]*) v([0-9]{1,9})\)$`),
	regexp.MustCompile(`^<!-- @anchor: ([a-z0-9][a-z0-9_-]*) v([0-9]{1,9}) -->$`),
}

// looksLikeAnchor matches what was probably meant as an anchor.
var looksLikeAnchor = regexp.MustCompile(`(?i)^\s*(\[//\]:.*anchor|<!--\s*@?\s*anchor)`)

// anchorOf reads a line as an anchor.
func anchorOf(line string) (Anchor, bool) {
	line = strings.TrimRight(line, " \t\r\n")
	for _, form := range anchorForms {
		if m := form.FindStringSubmatch(line); m != nil {
			return Anchor{m[1], m[2]}, true
		}
	}
	return Anchor{}, false
}

// Parse divides text into its parts. It has no errors: every text is a document.
func Parse(text string) *Document {
	d := &Document{}
	rest := text
	if _, body, ok := frontmatter.Split(text); ok {
		d.Head, rest = text[:len(text)-len(body)], body
	}
	if title := titleEnd(rest); title > 0 {
		d.Head += rest[:title]
	}
	d.Head = withoutEnd(d.Head)
	rest = text[len(d.Head):]
	line := 1 + strings.Count(d.Head, "\n")
	part, start := Part{Line: line}, 0
	var at markdown.Scanner
	pos := 0
	for raw := range strings.Lines(rest) {
		if name, ok := sectionHeading(raw); ok && at.Free() {
			part.Body = rest[start:pos]
			d.Parts = append(d.Parts, part)
			part = Part{Heading: withoutEnd(raw), Name: name, Line: line}
			start = pos + len(part.Heading)
		}
		at.Next(raw)
		pos += len(raw)
		line++
	}
	part.Body = rest[start:]
	d.Parts = append(d.Parts, part)
	for i := range d.Parts {
		if d.Parts[i].Heading != "" {
			d.Parts[i].takeAnchor()
		}
	}
	return d
}

// withoutEnd returns text without its last line end.
func withoutEnd(text string) string {
	return strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
}

// titleEnd returns the length of text up to the end of its title, 0 if it has none.
func titleEnd(text string) int {
	end := 0
	for line := range strings.Lines(text) {
		end += len(line)
		body := strings.TrimSpace(strings.TrimPrefix(line, "\uFEFF"))
		if strings.HasPrefix(body, "# ") {
			return end
		}
		if body != "" {
			return 0
		}
	}
	return 0
}

// sectionHeading returns the text of a heading of the second level at the beginning of a line. A heading without text
// begins no section: it could not be named, because "" is the text above the first section.
func sectionHeading(line string) (name string, ok bool) {
	level, name := markdown.Heading(line)
	return name, level == 2 && line[0] == '#' && name != ""
}

// takeAnchor moves the anchor, if the first line that is not blank is one, from the body to Hidden.
func (p *Part) takeAnchor() {
	end := 0
	for line := range strings.Lines(p.Body) {
		end += len(line)
		if strings.TrimSpace(line) == "" {
			continue
		}
		if a, ok := anchorOf(line); ok {
			p.Anchor, p.Hidden = a, withoutEnd(p.Body[:end])
			p.Body = p.Body[len(p.Hidden):]
		}
		return
	}
}

// Text returns the part, byte for byte.
func (p Part) Text() string { return p.Heading + p.Hidden + p.Body }

// String returns the file, byte for byte.
func (d *Document) String() string {
	var out strings.Builder
	out.WriteString(d.Head)
	for _, p := range d.Parts {
		out.WriteString(p.Text())
	}
	return out.String()
}

// Sections returns the names of the document's sections, in order.
func (d *Document) Sections() []string {
	var names []string
	for _, p := range d.Parts[1:] {
		names = append(names, p.Name)
	}
	return names
}

// newline returns the line end that the file uses.
func (d *Document) newline() string {
	text := d.Head
	for i := 0; !strings.Contains(text, "\n") && i < len(d.Parts); i++ {
		text = d.Parts[i].Text()
	}
	if at := strings.IndexByte(text, '\n'); at > 0 && text[at-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}
