// Command picture draws what the demo printed as a terminal, in SVG, for README.md.
//
//	demo -server bin/yamo-mcp >demo.txt
//	picture -o docs/demo.svg <demo.txt
//
// Its invariant: every line of the picture is a line of the input, except the first, which is the command.
package main

import (
	"bufio"
	"encoding/xml"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

// excerpt lists, in order, what the lines to draw contain. "" is an empty line.
var excerpt = []string{
	"memory_store",
	"",
	"The sleeper berth to Oslo is booked",
	"stored, private",
	"is called with the token",
	"redacted: api_key",
	"",
	"memory_search",
	"",
	"How do we travel into Norway?",
	"The sleeper berth to Oslo is booked",
	"Which animal disturbs our sleep?",
	"The neighbour's dog barks",
	"although no words match",
	"",
	`for the group "book-club"`,
	"",
	"--connection group --group book-club",
	"connected; resources:",
	"resources/read yamo://workspace/MEMORY.md",
	"not found",
	"How do we travel into Norway?",
	"[shared]",
	"none of the 8 private ones",
}

// Sizes in pixels. A line is stretched to its number of columns, so that no font makes it wider than the picture.
const (
	columns   = 100 // as wide as the demo takes a terminal to be
	cell      = 8
	line      = 19
	margin    = 20
	bar       = 34
	fontSize  = 13
	width     = columns*cell + 2*margin
	textStart = bar + margin + fontSize
)

func main() {
	out := flag.String("o", "docs/demo.svg", "the file to write")
	flag.Parse()
	if err := run(os.Stdin, *out); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out string) error {
	lines, err := choose(in)
	if err != nil {
		return err
	}
	return os.WriteFile(out, []byte(draw(lines)), 0o644)
}

// choose returns the lines of the demo's output that the excerpt asks for, each with the lines it continues on.
func choose(in io.Reader) ([]string, error) {
	chosen := []string{"$ make demo", ""}
	scanner := bufio.NewScanner(in)
	last := ""
	for _, part := range excerpt {
		if part == "" {
			chosen = append(chosen, "")
			continue
		}
		found := last != "" && strings.Contains(last, part) // a line that was read to see where the one before ended
		for !found && scanner.Scan() {
			last = scanner.Text()
			found = strings.Contains(last, part)
		}
		if !found {
			return nil, fmt.Errorf("the demo has no line with %q after the one before it", part)
		}
		chosen = append(chosen, last)
		for last = ""; scanner.Scan(); {
			last = scanner.Text()
			if !continues(last) {
				break
			}
			chosen = append(chosen, last)
			last = ""
		}
	}
	if err := scanner.Err(); err != nil {
		return nil, err
	}
	for _, text := range chosen {
		if n := utf8.RuneCountInString(text); n > columns {
			return nil, fmt.Errorf("a line has %d columns, of at most %d: %s", n, columns, text)
		}
	}
	return chosen, nil
}

// continues reports whether a line belongs to the one before it.
func continues(text string) bool {
	return strings.HasPrefix(text, "   ") && !strings.HasPrefix(text, "   ok ")
}

// draw returns the picture of a terminal with the lines.
func draw(lines []string) string {
	height := textStart + line*(len(lines)-1) + margin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" `,
		width, height, width, height)
	b.WriteString(
		`aria-label="A terminal: make demo. A memory is stored, found by its meaning, and not found by a group.">` + "\n",
	)
	b.WriteString("<!-- Made by `make picture`. -->\n")
	b.WriteString(`<style>text{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;` +
		fmt.Sprintf("font-size:%dpx", fontSize) + `;white-space:pre;fill:#d5dae3}` +
		`.title{fill:#fff;font-weight:bold}.ask{fill:#8ecbff}.ok{fill:#9bdc8f}.note{fill:#98a1b0}</style>` + "\n")
	fmt.Fprintf(&b, `<rect width="%d" height="%d" rx="10" fill="#1d2230"/>`+"\n", width, height)
	for i, color := range []string{"#ff6159", "#ffbd2e", "#28c941"} {
		fmt.Fprintf(&b, `<circle cx="%d" cy="17" r="6" fill="%s"/>`+"\n", margin+i*20, color)
	}
	for i, text := range lines {
		if text == "" {
			continue
		}
		fmt.Fprintf(&b, `<text x="%d" y="%d" textLength="%d" lengthAdjust="spacingAndGlyphs" xml:space="preserve"`,
			margin, textStart+i*line, utf8.RuneCountInString(text)*cell)
		if class := classOf(lines, i); class != "" {
			fmt.Fprintf(&b, ` class="%s"`, class)
		}
		b.WriteString(">")
		_ = xml.EscapeText(&b, []byte(text)) // a strings.Builder does not fail
		b.WriteString("</text>\n")
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// classOf returns the style of a line; one that continues another has its style.
func classOf(lines []string, i int) string {
	for i > 0 && continues(lines[i]) {
		i--
	}
	switch text := lines[i]; {
	case strings.HasPrefix(text, " > "):
		return "ask"
	case strings.HasPrefix(text, "   ok "):
		return "ok"
	case strings.HasPrefix(text, " < "):
		return ""
	case strings.HasPrefix(text, "$"):
		return "note"
	}
	return "title"
}
