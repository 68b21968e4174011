// Package passage divides the Markdown of a workspace for search, display and comparison: into passages and into
// sections with their list items. It also compares texts regardless of their form (Says).
//
// It touches no disk. Its invariant: front matter is in no passage and no section, and code is never taken for a
// heading.
package passage

import (
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/frontmatter"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/workspace/markdown"
)

// maxPassage is the maximum length of a passage in characters, without its headings: embedding models read no more of a
// text than about that (RFC-0011 §7.1).
const maxPassage = 1200

// Passage is a part of a file, of the size of the text under one heading.
type Passage struct {
	Heading string // the heading above it, "" before the first
	Text    string // that heading and those above it in one line, and the text below it
}

// Cut divides Markdown into passages, in order: at its headings and, if more than 1,200 characters follow one, at blank
// lines, list items or words. Front matter and headings without text are left out.
func Cut(file string) []Passage {
	_, body, _ := frontmatter.Split(strings.TrimPrefix(strings.ToValidUTF8(file, "\uFFFD"), "\uFEFF"))
	var found []Passage
	var headings [6]string // above the current line, by level
	var section strings.Builder
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
		for _, part := range parts(section.String()) {
			found = append(found, Passage{last, strings.TrimSpace(strings.Join(above, " > ") + "\n\n" + part)})
		}
		section.Reset()
	}
	var at markdown.Scanner
	for line := range strings.Lines(body) {
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
	end()
	return found
}

// parts divides the text under a heading into pieces of up to maxPassage characters, none of them blank.
func parts(body string) (pieces []string) {
	body = strings.Trim(body, "\n")
	for {
		head := text.First(body, maxPassage)
		if head != body {
			head = head[:edge(head)]
		}
		if strings.TrimSpace(head) != "" {
			pieces = append(pieces, strings.TrimRight(strings.Trim(head, "\n"), " \t"))
		}
		if body = body[len(head):]; body == "" {
			return pieces
		}
	}
}

// edge returns where to cut text: at the last boundary in its second half, of the best kind that it has there. A cut in
// the first half would leave a passage too short to be found by its meaning.
func edge(text string) int {
	for _, mark := range []string{"\n\n", "\n- ", "\n* ", "\n", " "} {
		if at := strings.LastIndex(text, mark); at > len(text)/2 {
			return at + 1
		}
	}
	return len(text)
}
