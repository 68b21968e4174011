// Package passage divides the Markdown of a workspace for search, display and comparison: into passages and into
// sections with their list items. It also compares texts regardless of their form (Says).
//
// It touches no disk. Its invariant: front matter is in no passage and no section, and code is never taken for a
// heading.
package passage

import (
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/frontmatter"
	"github.com/yamo-protocol/yamo-mcp/workspace/markdown"
)

// Passage is the text under one heading of a file.
type Passage struct {
	Heading string // the heading above it, "" before the first
	Path    string // that heading and those above it: "Kitchen > Stove"
	Text    string // without headings and surrounding blank lines
	Line    int    // of the file, on which Text begins, from 1
}

// Cut divides Markdown into passages, in order: at its headings. Front matter and headings without text are left out.
func Cut(file string) []Passage {
	file = strings.TrimPrefix(strings.ToValidUTF8(file, "\uFFFD"), "\uFEFF")
	_, body, _ := frontmatter.Split(file)
	var found []Passage
	var headings [6]string // above the current line, by level
	var section strings.Builder
	number := strings.Count(file, "\n") - strings.Count(body, "\n") // of the line after the section
	end := func() {
		var above []string
		for _, heading := range headings {
			if heading != "" {
				above = append(above, heading)
			}
		}
		last := ""
		if len(above) > 0 {
			last = above[len(above)-1]
		}
		text := strings.TrimLeft(section.String(), "\n")
		line := number - strings.Count(text, "\n")
		if text = strings.TrimRight(text, " \t\n"); strings.TrimSpace(text) != "" {
			found = append(found, Passage{last, strings.Join(above, " > "), text, line})
		}
		section.Reset()
	}
	var at markdown.Scanner
	for line := range strings.Lines(body) {
		number++
		bare := strings.TrimRight(line, "\r\n")
		kind := at.Next(bare)
		level, heading := markdown.Heading(bare)
		if level == 0 || bare[0] != '#' || kind != markdown.Text && kind != markdown.Comment {
			section.WriteString(bare + "\n")
			continue
		}
		end()
		headings[level-1] = heading
		clear(headings[level:])
	}
	number++
	end()
	return found
}
