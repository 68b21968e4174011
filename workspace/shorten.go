package workspace

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/workspace/markdown"
)

// gap takes the place of text that is not shown.
const gap = "[…]"

// newestEntries returns up to n characters of a log: its title, and its last entries as a whole. An entry begins after
// a blank line; the heading of the session that it belongs to comes before it.
func newestEntries(log string, n int) string {
	if utf8.RuneCountInString(log) <= n {
		return log
	}
	title := ""
	if first, _, ok := strings.Cut(log, "\n"); ok && strings.HasPrefix(first, "# ") && len(first) < n/4 {
		title = first + "\n\n"
	}
	starts := entryStarts(log)
	for i, s := range slices.Backward(starts) {
		if whole := title + gap + "\n\n" + s.session + log[s.at:]; utf8.RuneCountInString(whole) > n {
			if i == len(starts)-1 {
				break // not even the last fits
			}
			s = starts[i+1]
			return title + gap + "\n\n" + s.session + log[s.at:]
		}
	}
	head := title + gap + "\n"
	room := n - utf8.RuneCountInString(head)
	if room <= 0 {
		return text.First(log, n)
	}
	return head + lastChars(log, room)
}

// lastChars returns up to n characters from the end of s, from the beginning of a line if that loses little.
func lastChars(s string, n int) string {
	at := len(s)
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:at])
		at -= size
	}
	tail := s[at:]
	if end := strings.IndexByte(tail, '\n'); at > 0 && end >= 0 && end < len(tail)/4 {
		tail = tail[end+1:]
	}
	return tail
}

// entryStart is the place of an entry in a log, with the heading that it is under, if that is not its first line.
type entryStart struct {
	at      int
	session string
}

// entryStarts returns where the entries of a log begin. A blank line in a code block ends none.
func entryStarts(log string) (starts []entryStart) {
	var scan markdown.Scanner
	at, session, blank := 0, "", true
	for line := range strings.Lines(log) {
		free := scan.Free()
		scan.Next(line)
		level, _ := markdown.Heading(line)
		if free && level == 2 {
			session = ""
		}
		if free && (blank || level > 0) && strings.TrimSpace(line) != "" {
			starts = append(starts, entryStart{at, session})
		}
		if free && level == 2 {
			session = strings.TrimRight(line, "\r\n") + "\n\n"
		}
		blank = free && strings.TrimSpace(line) == ""
		at += len(line)
	}
	return starts
}

var anyDate = regexp.MustCompile(`\b[0-9]{4}-[0-9]{2}-[0-9]{2}\b`)

// section is a part of a Markdown file: a heading of the first or second level, and the text up to the next one.
type section struct {
	text string
	date string // the latest in the section, or else of the section above it
	size int    // characters
	show bool
}

// newestSections returns up to n characters of MEMORY.md: sections from its beginning, where what always holds is
// written, for up to a third of them, and the sections with the latest dates. Without dates a section is newer than
// those above it. What is left out is marked with the line "[…]".
func newestSections(memory string, n int) string {
	if utf8.RuneCountInString(memory) <= n {
		return memory
	}
	sections := sectionsOf(memory)
	left := n
	take := func(i int) bool {
		s := &sections[i]
		// A gap line may come before and after each.
		if s.show || s.size+2*(len(gap)+1) > left {
			return s.show
		}
		s.show, left = true, left-s.size-2*(len(gap)+1)
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
			s.text = sectionEnd(s.text, left-2*(len(gap)+1))
			s.show, left = true, 0
		}
	}
	var out strings.Builder
	shown := true
	for _, s := range sections {
		if !s.show && shown {
			out.WriteString(gap + "\n")
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
	head := heading + gap + "\n"
	return text.First(head, max(0, n)) + lastChars(body, max(0, n-utf8.RuneCountInString(head)))
}

// sectionsOf divides a file at its headings of the first and second level.
func sectionsOf(file string) []section {
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
	sections := make([]section, len(parts))
	last := ""
	for i, part := range parts {
		sections[i] = section{text: part, size: utf8.RuneCountInString(part)}
		if dates := anyDate.FindAllString(part, -1); len(dates) > 0 {
			last = slices.Max(dates)
		}
		sections[i].date = last
	}
	return sections
}

// Entry is an entry of a daily log.
type Entry struct {
	Session string // the heading of the second level that it is under, without #; "" for none
	Text    string
}

// Entries returns the entries of a daily log in order: what its blank lines and headings divide, without the headings
// of sessions and the title. A heading of the third level begins an entry and belongs to it.
func Entries(log string) (entries []Entry) {
	starts := entryStarts(log)
	titled := false // the last entry is only a heading of the third level so far
	for i, s := range starts {
		end := len(log)
		if i+1 < len(starts) {
			end = starts[i+1].at
		}
		part := strings.TrimSpace(log[s.at:end])
		level, heading := markdown.Heading(strings.SplitN(part, "\n", 2)[0])
		switch {
		case level == 1 || level == 2:
			if _, part, _ = strings.Cut(part, "\n"); strings.TrimSpace(part) == "" {
				titled = false
				continue
			}
		case level > 2 && !strings.Contains(part, "\n"):
			part = heading + ":"
		}
		session := strings.TrimLeft(strings.TrimSpace(s.session), "# ")
		if titled {
			entries[len(entries)-1].Text += "\n" + strings.TrimSpace(part)
		} else {
			entries = append(entries, Entry{session, strings.TrimSpace(part)})
		}
		titled = level > 2 && !strings.Contains(part, "\n")
	}
	return entries
}
