package grammar

import (
	"strings"

	"github.com/yamo-protocol/yamo-mcp/workspace/markdown"
)

// Units splits a section's body into what is written and changed as one: a list item with the lines that belong to it,
// a paragraph, a table, a code block, a heading, each with the blank lines after it. The first unit is the blank lines
// at the beginning, "" for none. Joined, the units are the body.
func Units(body string) []string {
	units := []string{""}
	var at markdown.Scanner
	start, pos := 0, 0
	blank, inItem, heading := true, false, false // of the lines before
	for raw := range strings.Lines(body) {
		empty := strings.TrimSpace(raw) == ""
		if at.Free() && !empty {
			item := bullet.MatchString(raw)
			below := inItem && (raw[0] == ' ' || raw[0] == '\t')
			level, _ := markdown.Heading(raw)
			title := level > 0 && raw[0] == '#'
			if item || title || heading || blank && !below || len(units) == 1 && strings.TrimSpace(body[:pos]) == "" {
				units[len(units)-1] = body[start:pos]
				units, start, inItem = append(units, ""), pos, item
			}
			heading = title
		}
		at.Next(raw)
		blank = empty
		pos += len(raw)
	}
	units[len(units)-1] = body[start:]
	return units
}
