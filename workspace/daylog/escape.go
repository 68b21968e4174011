package daylog

import (
	"regexp"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/workspace/markdown"
)

// Escape makes plain text safe for a log: no line of it is a heading, a rule, raw HTML, a comment or an anchor, and an
// open code block is closed. Fenced code blocks stay as they are, and so does indented code but for comments, anchors
// and what looks like a fence.
func Escape(text string) string {
	var out strings.Builder
	var at markdown.Scanner
	var code indented
	lines := slices.Collect(strings.Lines(text))
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if at.Closing() == "" { // no comment ever begins, so that the scanner is in text or in code
			line = strings.ReplaceAll(line, "<!--", `\<!--`)
		}
		body := strings.TrimLeft(line, " \t")
		kind := at.Next(line)
		if n := indentedFence(lines[i:]); kind == markdown.Text && n > 0 {
			out.WriteString(strings.Join(lines[i:i+n], ""))
			i += n - 1
			continue
		}
		isCode := code.next(line, kind)
		if kind == markdown.Text && (markdown.LooksLikeFence(line) || structural(strings.TrimRight(body, " \t\n"), isCode)) {
			out.WriteString(line[:len(line)-len(body)] + `\`)
			line = body
		}
		out.WriteString(line)
	}
	if closing := at.Closing(); closing != "" {
		out.WriteString("\n" + closing) // indented as the first line, which may be in a list item
	}
	return out.String()
}

// indentedFence returns the number of lines of a code block in a list item, which may be indented further than one that
// is in none: all of its lines begin with the same white space, so that none of them can be anything else. It is 0 if
// lines begin with no such block.
func indentedFence(lines []string) int {
	indent := lines[0][:len(lines[0])-len(strings.TrimLeft(lines[0], " \t"))]
	if len(indent) < 4 && !strings.Contains(indent, "\t") || !markdown.LooksLikeFence(lines[0]) {
		return 0
	}
	// Without its indentation it is a block that the scanner knows.
	var at markdown.Scanner
	for i, line := range lines {
		rest, ok := strings.CutPrefix(line, indent)
		if !ok && strings.TrimSpace(line) != "" {
			return 0
		}
		if kind := at.Next(rest); i > 0 && kind == markdown.Fence {
			return i + 1
		} else if i == 0 && kind != markdown.Fence {
			return 0
		}
	}
	return 0
}

// indented follows the blocks of indented code (CommonMark §4.4) from line to line.
type indented struct {
	inText bool // the last line was text that this one would continue
	inList bool // what is indented belongs to a list item
}

// listItem begins an item of a list.
var listItem = regexp.MustCompile(`^ {0,3}(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t]|$)`)

// next reports whether the next line, of the kind that a [markdown.Scanner] finds, is indented code. In a list item
// it says no: by CommonMark it may be a heading there.
func (in *indented) next(line string, kind markdown.Kind) bool {
	line = strings.TrimRight(line, "\r\n")
	far := strings.HasPrefix(line, "    ") || strings.HasPrefix(strings.TrimLeft(line, " "), "\t")
	switch {
	case strings.TrimSpace(line) == "":
		in.inText = false
		return false
	case kind != markdown.Text:
		in.inText, in.inList = false, in.inList && strings.HasPrefix(line, " ")
		return false
	case far && !in.inText && !in.inList:
		return true
	}
	in.inList = listItem.MatchString(line) || in.inList && (in.inText || strings.TrimLeft(line, " \t") != line)
	in.inText = true
	return false
}

// structural reports whether a line would be a heading, an underline of one or a rule, raw HTML, or the
// hidden anchor of the file grammar. In indented code only an anchor is, for readers that do not know of such code.
func structural(line string, isCode bool) bool {
	if line == "" {
		return false
	}
	switch line[0] {
	case '#', '<':
		return !isCode
	case '[':
		return strings.Contains(line, "]:") // [//]: # (an anchor), and every other definition
	case '=', '-':
		return !isCode && strings.Trim(line, line[:1]+" \t") == ""
	}
	return false
}
