// Package passage takes the Markdown of a workspace apart for those who search, show and compare it: into passages,
// sections with their list items, and texts that say the same.
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

// maxPassage is how many characters a passage has at most, its headings aside: embedding models read no
// more of a text than about that (RFC-0011 §7.1).
const maxPassage = 1200

// Passage is a part of a file, of the size of the text under one heading.
type Passage struct {
	Heading string // the heading above it, "" before the first
	Text    string // that heading and those above it in one line, and the text below it
}

// Cut cuts a Markdown text at its headings and, where more than 1,200 characters are under one, at
// blank lines, list items or words. Front matter is left out, and so are headings without text.
func Cut(file string) []Passage {
	_, body, _ := frontmatter.Split(strings.TrimPrefix(strings.ToValidUTF8(file, "\uFFFD"), "\uFEFF"))
	var found []Passage
	var headings [6]string // that lead to the present line, by level
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

// parts cuts the text under a heading into pieces of at most maxPassage characters, none of them blank.
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

// edge is where text is best cut: at the last of the best kind of boundary in its second half.
func edge(text string) int {
	for _, mark := range []string{"\n\n", "\n- ", "\n* ", "\n", " "} {
		if at := strings.LastIndex(text, mark); at > len(text)/2 {
			return at + 1
		}
	}
	return len(text)
}
