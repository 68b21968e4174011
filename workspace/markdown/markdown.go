// Package markdown finds the structure of Markdown line by line: fenced code blocks, comments and headings, as in
// CommonMark 0.31.2.
//
// It reads lines and builds no tree, because workspace files are edited byte for byte: a caller that changes a section
// must know where its lines are. Limitation: it does not follow list items and block quotes, in which a code block may
// be indented further.
package markdown

import (
	"iter"
	"strings"
)

// Kind is what a line is.
type Kind int

// The kinds of lines.
const (
	Text    Kind = iota // none of the others
	Fence               // the first or last line of a fenced code block (CommonMark §4.5)
	Code                // a line inside one
	Comment             // a line of an HTML comment (CommonMark §4.6, start condition 2)
)

// Scanner follows the code blocks and comments of a text from line to line. The zero value is at the text's beginning.
type Scanner struct {
	fence   string // of the open code block, as Closing returns it
	comment bool
}

// Free reports whether the next line is outside code blocks and comments, so that it can be a heading.
func (s *Scanner) Free() bool { return s.fence == "" && !s.comment }

// Closing returns the line that closes the open code block, without a line end, "" if none is open.
func (s *Scanner) Closing() string { return s.fence }

// Next returns the kind of the next line, with or without its line end.
func (s *Scanner) Next(line string) Kind {
	if s.comment {
		s.comment = !strings.Contains(line, "-->")
		return Comment
	}
	body, indented := outdent(strings.TrimRight(line, "\r\n"))
	mark := fenceOf(body)
	if s.fence != "" {
		open := strings.TrimLeft(s.fence, " ")
		if !indented && strings.HasPrefix(mark, open) && strings.Trim(body[len(mark):], " \t") == "" {
			s.fence = ""
			return Fence
		}
		return Code
	}
	switch {
	case indented:
		return Text
	case mark != "" && (mark[0] == '~' || !strings.Contains(body[len(mark):], "`")):
		s.fence = line[:strings.IndexByte(line, mark[0])] + mark
		return Fence
	case strings.HasPrefix(body, "<!--"):
		s.comment = !strings.Contains(body, "-->")
		return Comment
	}
	return Text
}

// LooksLikeFence reports whether a line begins like the first line of a code block, at any indentation. By CommonMark
// it may be none, because it is indented too far or has another backtick; some readers treat it as one nevertheless.
func LooksLikeFence(line string) bool { return fenceOf(strings.TrimLeft(line, " \t")) != "" }

// fenceOf returns the run of at least three backticks or tildes that a line begins with, "" if it has none.
func fenceOf(line string) string {
	for _, c := range []string{"`", "~"} {
		if run := len(line) - len(strings.TrimLeft(line, c)); run >= 3 {
			return line[:run]
		}
	}
	return ""
}

// outdent removes up to three spaces; indented reports that the line begins with more, or with a tab.
func outdent(line string) (body string, indented bool) {
	body = strings.TrimLeft(line, " ")
	return body, len(line)-len(body) > 3 || strings.HasPrefix(body, "\t")
}

// Heading returns the level, 1 to 6, and the text of an ATX heading (CommonMark §4.2), 0 for any other line. White
// space and a closing run of # are not part of the text. The line may be indented by up to three spaces; inside a list
// item that is a heading of the item. The caller uses a [Scanner] to skip code blocks.
func Heading(line string) (level int, text string) {
	body, indented := outdent(strings.TrimRight(line, " \t\r\n"))
	text = strings.TrimLeft(body, "#")
	level = len(body) - len(text)
	if indented || level == 0 || level > 6 || text != "" && text[0] != ' ' && text[0] != '\t' {
		return 0, ""
	}
	text = strings.TrimSpace(text)
	open := strings.TrimRight(text, "#")
	if open == "" || strings.HasSuffix(open, " ") || strings.HasSuffix(open, "\t") {
		text = strings.TrimSpace(open)
	}
	return level, text
}

// Underline returns the level, 1 or 2, if the line turns a paragraph above it into a heading (CommonMark §4.3), 0 for
// any other line.
func Underline(line string) int {
	body, indented := outdent(strings.TrimRight(line, " \t\r\n"))
	switch {
	case indented || body == "":
		return 0
	case strings.Trim(body, "=") == "":
		return 1
	case strings.Trim(body, "-") == "":
		return 2
	}
	return 0
}

// Item returns the text of a list item that begins with a bullet (-, * or +) and a space, on a line without
// indentation.
func Item(line string) (text string, ok bool) {
	if len(line) < 2 || !strings.Contains("-*+", line[:1]) || line[1] != ' ' {
		return line, false
	}
	return line[2:], true
}

// Lines yields the lines of a text outside its fenced code blocks, without their line ends.
func Lines(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		var at Scanner
		for line := range strings.Lines(text) {
			line = strings.TrimRight(line, "\r\n")
			if kind := at.Next(line); kind == Fence || kind == Code {
				continue
			}
			if !yield(line) {
				return
			}
		}
	}
}
