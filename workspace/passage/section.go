package passage

import (
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/frontmatter"
	"github.com/yamo-protocol/yamo-mcp/workspace/markdown"
)

// Section is a heading of MEMORY.md with what is below it.
type Section struct {
	Heading string   `json:"heading"`
	Bullets []string `json:"bullets"`
	Text    string   `json:"text,omitempty"` // everything but the list items: paragraphs, tables, code
}

// Sections reads the Markdown sections of a MEMORY.md: its headings of any level, in order, each with
// the list items and the text directly below it. Indented lines continue an item. What is before the first heading
// belongs to the heading "". Headings with nothing below them, comments and anchors are left out.
func Sections(text string) []Section {
	sections := []Section{{Bullets: []string{}}}
	_, body, _ := frontmatter.Split(text)
	// Appending to strings would take minutes for a paragraph of megabytes.
	var outside, item strings.Builder // of the last section: its text, and the list item that is being read
	closeItem := func() {
		if item.Len() > 0 {
			last := &sections[len(sections)-1]
			last.Bullets = append(last.Bullets, item.String())
			item.Reset()
		}
	}
	closeSection := func() {
		closeItem()
		sections[len(sections)-1].Text = strings.Trim(outside.String(), "\n")
		outside.Reset()
	}
	var scan markdown.Scanner
	for line := range strings.Lines(body) {
		line = strings.TrimRight(line, "\r\n")
		kind := scan.Next(line)
		trimmed := strings.TrimSpace(line)
		level, heading := markdown.Heading(line)
		bullet, isItem := markdown.Item(trimmed)
		switch {
		case kind == markdown.Comment:
			closeItem()
		case kind == markdown.Fence || kind == markdown.Code:
			closeItem()
			outside.WriteString(line + "\n")
		case level > 0 && line[0] == '#':
			closeSection()
			sections = append(sections, Section{Heading: heading, Bullets: []string{}})
		case isItem:
			closeItem()
			item.WriteString(strings.TrimSpace(bullet))
		case item.Len() > 0 && trimmed != "" && strings.TrimLeft(line, " \t") != line:
			item.WriteString(" " + trimmed)
		default:
			closeItem()
			if !strings.HasPrefix(trimmed, "[//]:") {
				outside.WriteString(line + "\n")
			}
		}
	}
	closeSection()
	kept := sections[:0]
	for _, section := range sections {
		if len(section.Bullets) > 0 || strings.TrimSpace(section.Text) != "" {
			kept = append(kept, section)
		}
	}
	return kept
}
