package markup

import (
	"strings"

	"github.com/yamo-protocol/yamo-mcp/mesh/scrub/chars"
)

// BlockKind is the kind of a block of scrubbed text.
type BlockKind int

// The kinds of blocks.
const (
	Prose   BlockKind = iota // a paragraph
	Heading                  // one line, "# Title"
	List                     // items and what belongs to them
	Table                    // lines that begin with "|"
	Code                     // fenced or indented
)

// Block is a part of a text between blank lines, or a heading, or code.
type Block struct {
	Start, End int // byte offsets, without the line feed at the end
	Kind       BlockKind
	Level      int // of a heading, 1 to 6
}

// Blocks cuts text into blocks, in order. Between two blocks is only white
// space. A fenced code block is one block, blank lines included.
func Blocks(text string) []Block {
	var out []Block
	open := false // whether the last block goes on
	for i := 0; i < len(text); {
		e := lineEnd(text, i)
		line := text[i:e]
		t := strings.TrimLeft(line, " \t")
		indent := len(line) - len(t)
		switch {
		case t == "":
			open = false
		case fenceLen(t) > 0 && indent < 4:
			end := fenceEnd(text, e, t)
			out = append(out, Block{Start: i, End: end, Kind: Code})
			e, open = end, false
		case headingLevel(t) > 0 && indent == 0:
			out = append(out, Block{Start: i, End: e, Kind: Heading, Level: headingLevel(t)})
			open = false
		case open:
			last := &out[len(out)-1]
			last.End = e
			if last.Kind == Prose && listMarker(t) {
				last.Kind = List
			}
		default:
			kind := Prose
			switch {
			case indent >= 4 || strings.HasPrefix(line, "\t"):
				kind = Code
			case listMarker(t):
				kind = List
			case t[0] == '|':
				kind = Table
			}
			out = append(out, Block{Start: i, End: e, Kind: kind})
			open = true
		}
		i = e + 1
	}
	return out
}

// fenceLen is the length of the code fence that a line begins with.
func fenceLen(t string) int {
	n := 0
	for n < len(t) && t[n] == t[0] {
		n++
	}
	if n < 3 || t[0] != '`' && t[0] != '~' || t[0] == '`' && strings.Contains(t[n:], "`") {
		return 0
	}
	return n
}

// fenceEnd returns the end of the line that closes the fence t; without one
// the code goes on to the end.
func fenceEnd(text string, from int, t string) int {
	n := fenceLen(t)
	for i := from + 1; i < len(text); {
		e := lineEnd(text, i)
		c := strings.TrimSpace(text[i:e])
		if len(c) >= n && strings.Trim(c, t[:1]) == "" {
			return e
		}
		i = e + 1
	}
	return len(text)
}

// headingLevel returns the level of the ATX heading t, 1 to 6, or 0 if t is none (CommonMark §4.2).
func headingLevel(t string) int {
	n := 0
	for n < len(t) && t[n] == '#' {
		n++
	}
	if n == 0 || n > 6 || chars.At(t, n) != ' ' || strings.TrimSpace(t[n:]) == "" {
		return 0
	}
	return n
}

// listMarker reports whether a line begins a list item.
func listMarker(t string) bool {
	if len(t) > 1 && (t[0] == '-' || t[0] == '*' || t[0] == '+') && t[1] == ' ' {
		return true
	}
	n := 0
	for n < len(t) && n < 9 && chars.IsDigit(t[n]) {
		n++
	}
	return n > 0 && n+1 < len(t) && (t[n] == '.' || t[n] == ')') && t[n+1] == ' '
}
