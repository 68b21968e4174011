package passage

import (
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/frontmatter"
	"github.com/yamo-protocol/yamo-mcp/workspace/markdown"
)

// Section is a heading of MEMORY.md with its list items.
type Section struct {
	Heading string   `json:"heading"`
	Bullets []string `json:"bullets"`
}

// Sections reads the Markdown sections of a MEMORY.md: its headings of any level, in order, each with
// the list items directly below it. Indented lines continue an item. Items before the first heading belong
// to the heading "". Headings without items are left out.
func Sections(text string) []Section {
	sections := []Section{{}}
	_, body, _ := frontmatter.Split(text)
	open := false // the previous line belongs to a bullet
	for line := range markdown.Lines(body) {
		trimmed := strings.TrimSpace(line)
		current := &sections[len(sections)-1]
		if level, heading := markdown.Heading(line); level > 0 && line[0] == '#' {
			sections = append(sections, Section{Heading: heading})
			open = false
		} else if bullet, ok := markdown.Item(trimmed); ok {
			current.Bullets = append(current.Bullets, strings.TrimSpace(bullet))
			open = true
		} else if open && trimmed != "" && strings.TrimLeft(line, " \t") != line {
			current.Bullets[len(current.Bullets)-1] += " " + trimmed
		} else {
			open = false
		}
	}
	kept := sections[:0]
	for _, section := range sections {
		if len(section.Bullets) > 0 {
			kept = append(kept, section)
		}
	}
	return kept
}
