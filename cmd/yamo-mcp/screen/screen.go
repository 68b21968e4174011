// Package screen shows answers to a person: with colours, wrapped and in pages on a terminal, as plain text elsewhere.
//
// The invariant: what has come from outside reaches a terminal through Text, Wrap or Line only, which remove what a
// terminal would obey; and output that is not to a terminal has the same words without an escape sequence.
package screen

import (
	"io"
	"os"
	"strings"
	"time"

	"github.com/fatih/color"
	"github.com/mattn/go-isatty"
	"github.com/rivo/uniseg"
	"golang.org/x/term"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
)

// Screen is one answer. Put and Wrap add to it, Print shows it.
type Screen struct {
	Zone *time.Location // in which times are shown; New sets the machine's

	content  strings.Builder
	out      io.Writer
	errs     io.Writer // of the pager
	getenv   func(string) string
	terminal *os.File // nil: out is no terminal
	colors   bool
	width    int // columns, 0: lines are not wrapped
}

const (
	narrowest = 40  // columns below which wrapping makes text unreadable
	widest    = 100 // columns of a line that is easy to read
)

// New returns an empty screen. Colours are on if out is a terminal, unless NO_COLOR is set (no-color.org) or TERM is
// dumb.
func New(out, errs io.Writer, getenv func(string) string) *Screen {
	s := &Screen{Zone: time.Local, out: out, errs: errs, getenv: getenv}
	file, ok := out.(*os.File)
	if !ok || !isatty.IsTerminal(file.Fd()) {
		return s
	}
	s.terminal = file
	s.colors = getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
	if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
		s.width = max(narrowest, min(widest, width))
	}
	return s
}

// Put adds words that are the program's own, or that Text, Line or Excerpt returned.
func (s *Screen) Put(words string) { _, _ = s.content.WriteString(words) }

// Day returns the day of a time, such as 2026-01-31.
func (s *Screen) Day(t time.Time) string { return t.In(s.Zone).Format(time.DateOnly) }

// Stamp returns a time to the second.
func (s *Screen) Stamp(t time.Time) string { return t.In(s.Zone).Format(time.DateTime) }

// Style is how words look on a terminal with colours.
type Style []color.Attribute

// The styles, by what they mean.
var (
	Strong  = Style{color.Bold}
	Faint   = Style{color.Faint}
	Heading = Style{color.Bold, color.FgCyan}
	Good    = Style{color.FgGreen}
	Caution = Style{color.FgYellow}
	Foreign = Style{color.FgMagenta} // what others said, or can read
)

// In returns words in a style.
func (s *Screen) In(style Style, words string) string {
	if !s.colors || words == "" {
		return words
	}
	c := color.New(style...)
	c.EnableColor() // the library decides by the process's stdout, which may be another file
	return c.Sprint(words)
}

// Text returns what has come from outside as a person may see it. It can have several lines.
func Text(words string) string { return text.Plain(words) }

// Line returns what has come from outside as one line.
func Line(words string) string { return text.Line(words) }

// Excerpt returns what has come from outside as one line that fits into the given number of lines of the screen, each
// indented by indent columns, with "…" for what is cut.
func (s *Screen) Excerpt(words string, lines, indent int) string {
	width := s.width
	if width == 0 {
		width = widest
	}
	return text.Shorten(Line(words), lines*(width-indent)-1)
}

// Wrap writes text that has come from outside after a label, with its other lines below its first: on a terminal broken
// between words where they are too long.
func (s *Screen) Wrap(label, words string) {
	indent := uniseg.StringWidth(label)
	margin := strings.Repeat(" ", indent)
	label = s.In(Strong, label)
	for line := range strings.SplitSeq(Text(words), "\n") {
		for _, part := range s.broken(line, s.width-indent) {
			s.Put(strings.TrimRight(label+part, " ") + "\n")
			label = margin
		}
	}
}

// broken breaks a line between words into parts of at most width columns; a word that is longer is a part of its own.
func (s *Screen) broken(line string, width int) []string {
	if s.width == 0 || uniseg.StringWidth(line) <= width {
		return []string{line}
	}
	var parts []string
	var part strings.Builder
	used := 0
	for word := range strings.FieldsSeq(line) {
		w := uniseg.StringWidth(word)
		if used > 0 && used+1+w > width {
			parts = append(parts, part.String())
			part.Reset()
			used = 0
		}
		if used > 0 {
			part.WriteByte(' ')
			used++
		}
		part.WriteString(word)
		used += w
	}
	return append(parts, part.String())
}
