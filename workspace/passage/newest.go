package passage

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/workspace/markdown"
)

var anyDate = regexp.MustCompile(`\b[0-9]{4}-[0-9]{2}-[0-9]{2}\b`)

// dated is a part of a Markdown file: a heading of the first or second level, and the text up to the next one.
type dated struct {
	text string
	date string // the latest in the section, or else of the section above it
	size int    // characters
	show bool
}

// Newest returns up to n characters of MEMORY.md: sections from its beginning, where what always holds is
// written, for up to a third of them, and the sections with the latest dates. Without dates a section is newer than
// those above it. What is left out is marked with the line "[…]".
func Newest(memory string, n int) string {
	if utf8.RuneCountInString(memory) <= n {
		return memory
	}
	sections := sectionsOf(memory)
	left := n
	take := func(i int) bool {
		s := &sections[i]
		// A line with the gap may come before and after each.
		if s.show || s.size+2*(len(text.Gap)+1) > left {
			return s.show
		}
		s.show, left = true, left-s.size-2*(len(text.Gap)+1)
		return true
	}
	for i := range sections {
		if s := sections[i]; n-left+s.size > n/3 || !take(i) {
			break
		}
	}
	newest := make([]int, len(sections))
	for i := range newest {
		newest[i] = i
	}
	slices.SortFunc(newest, func(a, b int) int {
		return cmp.Or(cmp.Compare(sections[b].date, sections[a].date), cmp.Compare(b, a))
	})
	for _, i := range newest {
		const least = 200 // a shorter part of a section is of no use
		if !take(i) && left > least {
			s := &sections[i]
			s.text = sectionEnd(s.text, left-2*(len(text.Gap)+1))
			s.show, left = true, 0
		}
	}
	var out strings.Builder
	shown := true
	for _, s := range sections {
		if !s.show && shown {
			out.WriteString(text.Gap + "\n")
		}
		if shown = s.show; shown {
			out.WriteString(strings.TrimRight(s.text, "\n") + "\n\n")
		}
	}
	return text.First(strings.TrimRight(out.String(), "\n"), n)
}

// sectionEnd returns up to n characters of a section: its heading, and its end.
func sectionEnd(s string, n int) string {
	heading, body, _ := strings.Cut(s, "\n")
	if level, _ := markdown.Heading(heading); level == 0 {
		heading, body = "", s
	} else {
		heading += "\n"
	}
	head := heading + text.Gap + "\n"
	return text.First(head, max(0, n)) + text.Last(body, max(0, n-utf8.RuneCountInString(head)))
}

// sectionsOf divides a file at its headings of the first and second level.
func sectionsOf(file string) []dated {
	var parts []string
	var scan markdown.Scanner
	begin, at := 0, 0
	for line := range strings.Lines(file) {
		free := scan.Free()
		scan.Next(line)
		if level, _ := markdown.Heading(line); free && (level == 1 || level == 2) && at > begin {
			parts = append(parts, file[begin:at])
			begin = at
		}
		at += len(line)
	}
	parts = append(parts, file[begin:])
	sections := make([]dated, len(parts))
	last := ""
	for i, part := range parts {
		sections[i] = dated{text: part, size: utf8.RuneCountInString(part)}
		if dates := anyDate.FindAllString(part, -1); len(dates) > 0 {
			last = slices.Max(dates)
		}
		sections[i].date = last
	}
	return sections
}
