package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/workspace/memfile"
)

// Memory is what a memory file is to say (seed 003).
type Memory struct {
	Type      memfile.Type // Curated makes MEMORY.md
	Topic     string       // in some words; the slug is made of it. A flush and the curated memory have none
	SessionID string
	Source    string // such as "claude-code"
	Parts     []Part // the sections, in order
	Tags      []string
	Links     []string // of the front matter; [[…]] may be missing around them
}

// Part is a section of a memory file: "## Heading" and Markdown below it.
type Part struct{ Heading, Text string }

// Saved is what became of a Memory.
type Saved struct {
	Name       string // of the file
	Slug       string
	Redactions int // credentials that were taken out
}

// InvalidMemoryError lists what is wrong with a Memory. Nothing was written.
type InvalidMemoryError struct{ Problems []string }

// Error is the list.
func (e *InvalidMemoryError) Error() string { return strings.Join(e.Problems, "; ") }

// ErrMemoryThere is returned for a curated memory where there is one: it is edited and not saved again.
var ErrMemoryThere = errors.New("MEMORY.md is there already and is kept")

// saveTries bounds the search for a name that is free.
const saveTries = 100

// SaveMemory writes a memory file with valid front matter under the name that seed 003 gives it, in the time zone of
// Now. It never replaces a file: another on the same topic gets the time into its slug, and for a curated memory it is
// ErrMemoryThere. Text is escaped as a log's is, so that it cannot pass for another section, and credentials are taken
// out. A tag for the type, and for the source, is added to the tags. It fails with an *InvalidMemoryError for values
// that the format does not allow, and in a group as any missing file does.
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
		return Saved{}, &InvalidMemoryError{[]string{"sections have no text"}}
	}
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

// timed is slug with the time in it, and still of at most five words.
func timed(slug string, at time.Time) string {
	words := strings.Split(slug, "-")
	return strings.Join(append(words[:min(len(words), 4)], at.Format("150405")), "-")
}

// tags are the memory's own after those that seed 003 gives its type and source, each once.
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

// head is the text above the sections, as in seed 003's examples.
func head(m Memory, matter memfile.Matter, topic string, at time.Time) string {
	switch m.Type {
	case memfile.Curated:
		return "\n# Agent Memory\n"
	case memfile.MemoryFlush:
		return fmt.Sprintf("\n# Memory Flush: %s\n\n> Auto-saved before context compaction.\n",
			at.Format("2006-01-02 150405 MST"))
	case memfile.SessionSave:
		return fmt.Sprintf("\n# Session Save: %s\n\n> Saved on session end.\n", matter.Slug)
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

// cleaner makes text safe for a file and counts the credentials it takes out.
type cleaner struct {
	scrub      func(string) (string, int)
	redactions int
}

// text is s with its line feeds, without what could hide, and without credentials.
func (c *cleaner) text(s string) string {
	s, n := c.scrub(text.Plain(s))
	c.redactions += n
	return s
}

// line is s as one line.
func (c *cleaner) line(s string) string { return text.OneLine(c.text(s)) }

// parts are the sections that have text.
func (c *cleaner) parts(parts []Part) string {
	var out strings.Builder
	for _, part := range parts {
		body := strings.Trim(escapeLog(c.text(part.Text)), "\n")
		if strings.TrimSpace(body) == "" {
			continue
		}
		if heading := strings.TrimLeft(c.line(part.Heading), "# "); heading != "" {
			out.WriteString("\n## " + text.OneLine(escapeLog(heading)) + "\n")
		}
		out.WriteString("\n" + body + "\n")
	}
	return out.String()
}

// Reference is a wikilink of a file.
type Reference struct {
	memfile.Link
	Name  string // of the file it leads to, "" when there is none
	Found bool   // the file is there, and has the heading
}

// References are the wikilinks of the file called name, in order, those of its front matter included, each once.
func (v *View) References(name string) ([]Reference, error) {
	data, err := v.Read(name)
	if err != nil {
		return nil, err
	}
	return v.references(name, string(data), v.names()), nil
}

// references are the wikilinks of text, which is in the file called name, among names.
func (v *View) references(name, text string, names []string) []Reference {
	var found []Reference
	seen := map[memfile.Link]bool{}
	var last struct { // the file looked into: links to one file are often next to each other
		name, text string
		there      bool
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
				last.name, last.text, last.there = ref.Name, string(text), err == nil
			}
			ref.Found = last.there && link.HasHeading(last.text)
		}
		found = append(found, ref)
	}
	return found
}

// names are the files that a link can lead to: nothing in a group.
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
