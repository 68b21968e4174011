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
	open := false // the previous line belongs to a bullet
	var scan markdown.Scanner
	for line := range strings.Lines(body) {
		line = strings.TrimRight(line, "\r\n")
		current := &sections[len(sections)-1]
		switch kind := scan.Next(line); kind {
		case markdown.Comment:
			open = false
			continue
		case markdown.Fence, markdown.Code:
			open = false
			current.Text += line + "\n"
			continue
		}
		trimmed := strings.TrimSpace(line)
		if level, heading := markdown.Heading(line); level > 0 && line[0] == '#' {
			sections = append(sections, Section{Heading: heading, Bullets: []string{}})
			open = false
		} else if bullet, ok := markdown.Item(trimmed); ok {
			current.Bullets = append(current.Bullets, strings.TrimSpace(bullet))
			open = true
		} else if open && trimmed != "" && strings.TrimLeft(line, " \t") != line {
			current.Bullets[len(current.Bullets)-1] += " " + trimmed
		} else {
			open = false
			if !strings.HasPrefix(trimmed, "[//]:") {
				current.Text += line + "\n"
			}
		}
	}
	kept := sections[:0]
	for _, section := range sections {
		section.Text = strings.Trim(section.Text, "\n")
		if len(section.Bullets) > 0 || strings.TrimSpace(section.Text) != "" {
			kept = append(kept, section)
		}
	}
	return kept
}
