package memfile

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/workspace/markdown"
)

var (
	dated    = regexp.MustCompile(`^([0-9]{4}-[0-9]{2}-[0-9]{2})-(.+)\.md$`)
	tag      = regexp.MustCompile(`^[\p{L}\p{N}_-]+(/[\p{L}\p{N}_-]+)*$`)
	digits   = regexp.MustCompile(`^[\p{N}/]+$`)
	wikilink = regexp.MustCompile(`!?\[\[([^\[\]|#\n]*)(#[^\[\]|\n]*)?(\|[^\[\]\n]*)?\]\]`)
)

// Check returns the problems of f as the file called name (see Name), nil if there are none. Each is one sentence that
// begins with the name of the field (seed 003).
func (f File) Check(name string) []string {
	var wrong []string
	report := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	m := f.Matter
	curated := m.Type.IsCurated()
	switch m.Type {
	case DailyLog, MemoryFlush, SessionSave, Curated, longTerm, "":
	default:
		report("type is %q, not one of daily-log, memory-flush, session-save, curated", m.Type)
	}
	if m.Date == "" && !curated {
		report("date is missing")
	}
	for _, date := range []struct{ field, value string }{{"date", m.Date}, {"updated", m.Updated}} {
		if _, err := time.Parse(time.DateOnly, date.value); date.value != "" && err != nil {
			report("%s is %q, not a day as YYYY-MM-DD", date.field, date.value)
		}
	}
	if len(m.Tags) == 0 {
		report("tags are missing; at least one is needed")
	}
	for _, t := range m.Tags {
		if !tag.MatchString(t) || digits.MatchString(t) {
			report("tags has %q: a tag is letters, digits, _ and - (not only digits), with / between levels", t)
		}
	}
	for _, link := range m.Links {
		if match := wikilink.FindString(link); match == "" || match != link {
			report("links has %q, not a wikilink as [[memory/2026-02-13-setup]]", link)
		}
	}
	if curated { // its name is fixed, and it needs no date
		return wrong
	}
	parts := dated.FindStringSubmatch(path.Base(name))
	switch {
	case parts == nil:
		report("name is %s, not YYYY-MM-DD-slug.md", path.Base(name))
		return wrong
	case m.Date != "" && parts[1] != m.Date:
		report("date is %s, but the name has %s", m.Date, parts[1])
	}
	isFlush := flushSlug.MatchString(parts[2])
	switch {
	case isFlush != (m.Type == MemoryFlush) && m.Type != "":
		report("type is %s, but the name is %s", m.Type, path.Base(name))
	case !isFlush && !ValidSlug(parts[2]):
		report("slug %q is not 2 to 5 words in lower case with hyphens between them (or begins with group-, which names "+
			"a group's log)", parts[2])
	case m.Slug != "" && m.Slug != parts[2]:
		report("slug is %q, but the name has %q", m.Slug, parts[2])
	}
	return wrong
}

// Link is a wikilink, [[target#heading|alias]] (seed 003, Wikilinks).
type Link struct {
	Target  string // as written, without .md; "" for a heading of the same file
	Heading string
	Alias   string
}

// Name returns the target as a file name relative to the workspace, "" for the same file. The file need not exist.
func (l Link) Name() string {
	if l.Target == "" {
		return ""
	}
	return strings.TrimSuffix(l.Target, ".md") + ".md"
}

// Links returns the wikilinks of a text outside its fenced code blocks, in order. The heading may come before the
// alias, as in Obsidian, or after it, as in seed 003: [[file#heading|alias]], [[file|alias#heading]].
func Links(text string) []Link {
	var links []Link
	for line := range markdown.Lines(text) {
		for _, m := range wikilink.FindAllStringSubmatch(line, -1) {
			link := Link{
				Target:  strings.TrimSuffix(strings.TrimSpace(m[1]), ".md"),
				Heading: strings.TrimSpace(strings.TrimPrefix(m[2], "#")),
				Alias:   strings.TrimSpace(strings.TrimPrefix(m[3], "|")),
			}
			if alias, heading, ok := strings.Cut(link.Alias, "#"); ok && link.Heading == "" && alias != "" &&
				!strings.HasSuffix(alias, " ") {
				link.Alias, link.Heading = alias, strings.TrimSpace(heading)
			}
			if link.Target != "" || link.Heading != "" {
				links = append(links, link)
			}
		}
	}
	return links
}
