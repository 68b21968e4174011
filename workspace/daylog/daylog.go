// Package daylog knows the text of a daily log (RFC-0009 §2.5): its entries, how it is shortened, and what an entry
// must not contain. It touches no disk.
package daylog

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/workspace/markdown"
)

// Newest returns up to n characters of a log: its title, and its last entries as a whole. An entry begins after
// a blank line; the heading of the session that it belongs to comes before it.
func Newest(log string, n int) string {
	if utf8.RuneCountInString(log) <= n {
		return log
	}
	title := ""
	if first, _, ok := strings.Cut(log, "\n"); ok && strings.HasPrefix(first, "# ") && len(first) < n/4 {
		title = first + "\n\n"
	}
	starts := entryStarts(log)
	for i, s := range slices.Backward(starts) {
		if whole := title + text.Gap + "\n\n" + s.session + log[s.at:]; utf8.RuneCountInString(whole) > n {
			if i == len(starts)-1 {
				break // not even the last fits
			}
			s = starts[i+1]
			return title + text.Gap + "\n\n" + s.session + log[s.at:]
		}
	}
	head := title + text.Gap + "\n"
	room := n - utf8.RuneCountInString(head)
	if room <= 0 {
		return text.First(log, n)
	}
	return head + text.Last(log, room)
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

// LastSession returns the last heading of the second level in the end of a log, "" if it has none. What is in a code
// block is no heading.
func LastSession(tail string) string {
	last := ""
	for line := range markdown.Lines(tail) {
		if strings.HasPrefix(line, "## ") {
			last = strings.TrimRight(line, " \t\r")
		}
	}
	return last
}
