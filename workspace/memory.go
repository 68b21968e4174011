package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/workspace/daylog"
	"github.com/yamo-protocol/yamo-mcp/workspace/memfile"
)

// Memory is the content of a memory file that SaveMemory writes (seed 003).
type Memory struct {
	Type      memfile.Type // Curated creates MEMORY.md
	Topic     string       // a few words, from which the slug is made; unused for a flush and the curated memory
	SessionID string
	Source    string // such as "claude-code"
	Parts     []Part // the sections, in order
	Tags      []string
	Links     []string // for the front matter, with or without [[…]] around them
}

// Part is a section of a memory file: "## Heading" and Markdown below it.
type Part struct{ Heading, Text string }

// Saved describes the memory file that was written.
type Saved struct {
	Name       string // of the file
	Slug       string
	Redactions int // number of credentials that were removed
}

// InvalidMemoryError lists what is wrong with a Memory. Nothing was written.
type InvalidMemoryError struct{ Problems []string }

// Error returns the problems, separated by semicolons.
func (e *InvalidMemoryError) Error() string { return strings.Join(e.Problems, "; ") }

// ErrMemoryThere is returned for a curated memory if MEMORY.md exists: it is edited, and never saved again as a whole.
var ErrMemoryThere = errors.New("MEMORY.md already exists and is kept")

// saveTries bounds the search for an unused name.
const saveTries = 100

// SaveMemory writes a memory file with valid front matter under the name that seed 003 prescribes, with times in the
// time zone of Now. It never replaces a file: a second one on the same topic and day gets the time in its slug, and for
// an existing curated memory the error is ErrMemoryThere.
//
// Text is escaped as in [Journal.Append], so that it cannot imitate another section, and credentials are removed. Tags
// for the type and the source are added. The error is an *InvalidMemoryError for values that the format does not allow,
// and fs.ErrNotExist in a group.
func (v *View) SaveMemory(ctx context.Context, m Memory) (Saved, error) {
	// SECURITY: the access check.
	if !v.who.May(audience.Write, audience.Notes) {
		return Saved{}, missing("write", memoryFolder)
	}
	now := v.Now()
	clean := &cleaner{scrub: v.ws.scrub}
	topic := clean.line(m.Topic)
	slug := memfile.Slug(topic, now)
	file := memfile.File{Matter: memfile.Matter{
		SessionID: clean.line(m.SessionID), Source: clean.line(m.Source), Type: m.Type,
	}}
	for _, link := range m.Links {
		if link = clean.line(link); !strings.HasPrefix(link, "[[") {
			link = "[[" + link + "]]"
		}
		file.Matter.Links = append(file.Matter.Links, link)
	}
	file.Matter.Tags = tags(m, file.Matter.Source, clean)
	sections := clean.parts(m.Parts)
	if sections == "" {
		return Saved{}, &InvalidMemoryError{[]string{"sections: at least one must have text"}}
	}
	// Another session may take a name first, and write() then reports a conflict: the next second is tried.
	for try := range saveTries {
		at, name := now.Add(time.Duration(try)*time.Second), slug
		file.Matter.Date = at.Format(time.DateOnly)
		switch {
		case m.Type.IsCurated():
			name = ""
			file.Matter.Scope, file.Matter.Updated = "long-term", file.Matter.Date
		case m.Type == memfile.MemoryFlush:
			name = "flush-" + at.Format("150405")
		case try > 0:
			name = timed(slug, at)
		}
		if m.Type != memfile.MemoryFlush {
			file.Matter.Slug = name
		}
		path := memfile.Name(m.Type, at, name)
		file.Body = head(m, file.Matter, topic, at) + sections
		if problems := file.Check(path); len(problems) > 0 {
			return Saved{}, &InvalidMemoryError{problems}
		}
		data, err := file.Format()
		if err != nil {
			return Saved{}, err
		}
		_, err = v.write(ctx, path, data, "", Note{Subject: path + ": new memory file"})
		if _, ok := errors.AsType[*ConflictError](err); ok {
			if m.Type.IsCurated() {
				return Saved{}, ErrMemoryThere
			}
			continue
		}
		return Saved{Name: path, Slug: name, Redactions: clean.redactions}, err
	}
	return Saved{}, &fs.PathError{Op: "write", Path: memoryFolder, Err: errors.New("too many memory files on one topic")}
}

// timed returns slug with the time as its last word, at most the fifth.
func timed(slug string, at time.Time) string {
	words := strings.Split(slug, "-")
	return strings.Join(append(words[:min(len(words), 4)], at.Format("150405")), "-")
}

// tags returns the tags that seed 003 prescribes for the memory's type and source, then its own, each once.
func tags(m Memory, source string, clean *cleaner) []string {
	all := map[memfile.Type][]string{
		memfile.DailyLog:    {"memory/daily"},
		memfile.MemoryFlush: {"memory/flush", "memory/auto"},
		memfile.SessionSave: {"memory/session"},
		memfile.Curated:     {"memory/curated", "agent/core"},
	}[m.Type]
	all = slices.Clone(all)
	if source != "" && (m.Type == memfile.DailyLog || m.Type == memfile.SessionSave) {
		words := strings.FieldsFunc(strings.ToLower(source), func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < '0' || r > '9')
		})
		if len(words) > 0 {
			all = append(all, "session/"+strings.Join(words, "-"))
		}
	}
	for _, tag := range m.Tags {
		if tag = strings.TrimPrefix(clean.line(tag), "#"); !slices.Contains(all, tag) {
			all = append(all, tag)
		}
	}
	return all
}

// head returns the text above the sections, as in seed 003's examples.
func head(m Memory, matter memfile.Matter, topic string, at time.Time) string {
	switch m.Type {
	case memfile.Curated:
		return "\n# Agent Memory\n"
	case memfile.MemoryFlush:
		return fmt.Sprintf("\n# Memory Flush: %s\n\n> Auto-saved before context compaction.\n",
			at.Format("2006-01-02 150405 MST")) + topicLine(topic)
	case memfile.SessionSave:
		name := matter.Slug
		ascii := !strings.ContainsFunc(topic, func(r rune) bool { return r >= utf8.RuneSelf })
		if topic != "" && (!ascii || memfile.Slug(topic, at) != strings.Join(strings.Fields(strings.ToLower(topic)), "-")) {
			name = topic // the slug has lost some of it
		}
		return fmt.Sprintf("\n# Session Save: %s\n\n> Saved on session end.\n", name)
	}
	var out strings.Builder
	out.WriteString(fmt.Sprintf("\n# Session: %s\n\n", at.Format("2006-01-02 15:04:05 MST")))
	for _, field := range []struct{ label, value string }{
		{"Session ID", matter.SessionID}, {"Source", matter.Source}, {"Topic", topic},
	} {
		if field.value != "" {
			out.WriteString("- **" + field.label + "**: " + field.value + "\n")
		}
	}
	return out.String()
}

// topicLine is the line about the topic of a flush, "" for none.
func topicLine(topic string) string {
	if topic == "" {
		return ""
	}
	return "\n- **Topic**: " + topic + "\n"
}

// cleaner makes text safe for a file and counts the credentials that it removes.
type cleaner struct {
	scrub      func(string) (string, int)
	redactions int
}

// text returns s without credentials, control characters and bidirectional marks. Line feeds stay.
func (c *cleaner) text(s string) string {
	s, n := c.scrub(text.Plain(s))
	c.redactions += n
	return s
}

// line is text in one line.
func (c *cleaner) line(s string) string { return text.OneLine(c.text(s)) }

// parts returns the sections as Markdown, without those that have no text.
func (c *cleaner) parts(parts []Part) string {
	var out strings.Builder
	for _, part := range parts {
		body := strings.Trim(daylog.Escape(c.text(part.Text)), "\n")
		if strings.TrimSpace(body) == "" {
			continue
		}
		if heading := strings.TrimLeft(c.line(part.Heading), "# "); heading != "" {
			out.WriteString("\n## " + text.OneLine(daylog.Escape(heading)) + "\n")
		}
		out.WriteString("\n" + body + "\n")
	}
	return out.String()
}

// Reference is a wikilink of a file.
type Reference struct {
	memfile.Link
	Name  string // of the target file, "" if it is missing
	Found bool   // the file exists and has the heading
}

// References returns the wikilinks of the file called name (seed 003, Wikilinks), front matter included, each once and
// in order. Errors are those of Read.
func (v *View) References(name string) ([]Reference, error) {
	data, err := v.Read(name)
	if err != nil {
		return nil, err
	}
	return v.references(name, string(data), v.names()), nil
}

// references resolves the wikilinks of text, the content of the file called name, among names.
func (v *View) references(name, text string, names []string) []Reference {
	var found []Reference
	seen := map[memfile.Link]bool{}
	var last struct { // the target read last: links to one file are often next to each other
		name     string
		headings memfile.Headings
		there    bool
	}
	for _, link := range memfile.Links(text) {
		if seen[link] {
			continue
		}
		seen[link] = true
		ref := Reference{Link: link, Name: link.Resolve(name, names)}
		if ref.Name != "" {
			if last.name != ref.Name {
				text, err := v.Read(ref.Name)
				last.name, last.headings, last.there = ref.Name, memfile.HeadingsOf(string(text)), err == nil
			}
			ref.Found = last.there && link.In(last.headings)
		}
		found = append(found, ref)
	}
	return found
}

// names returns the files that a link can lead to, sorted; none in a group.
func (v *View) names() []string {
	// SECURITY: the names of a folder are private.
	if !v.who.IsDM() {
		return nil
	}
	var names []string
	for name := range rootFiles {
		if strings.HasSuffix(name, ".md") && v.exists(name) {
			names = append(names, name)
		}
	}
	names = slices.Concat(names, v.list(memoryFolder), v.list(notesFolder))
	slices.Sort(names)
	return names
}
