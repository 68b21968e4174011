package scrub

import "strings"

// blockKind is what a block of scrubbed text is.
type blockKind int

const (
	prose   blockKind = iota // a paragraph
	heading                  // one line, "# Title"
	list                     // items and what belongs to them
	table                    // lines that begin with "|"
	code                     // fenced or indented
)

// block is a part of a text between blank lines, or a heading, or code.
type block struct {
	start, end int // without the line feed at the end
	kind       blockKind
	level      int // of a heading
}

// splitBlocks cuts text into blocks, in order. What lies between two blocks is
// white space. A fenced code block is one block, blank lines included.
func splitBlocks(text string) []block {
	var out []block
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
			out = append(out, block{start: i, end: end, kind: code})
			e, open = end, false
		case headingLevel(t) > 0 && indent == 0:
			out = append(out, block{start: i, end: e, kind: heading, level: headingLevel(t)})
			open = false
		case open:
			last := &out[len(out)-1]
			last.end = e
			if last.kind == prose && listMarker(t) {
				last.kind = list
			}
		default:
			kind := prose
			switch {
			case indent >= 4 || strings.HasPrefix(line, "\t"):
				kind = code
			case listMarker(t):
				kind = list
			case t[0] == '|':
				kind = table
			}
			out = append(out, block{start: i, end: e, kind: kind})
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

func headingLevel(t string) int {
	n := 0
	for n < len(t) && t[n] == '#' {
		n++
	}
	if n == 0 || n > 6 || byteAt(t, n) != ' ' || strings.TrimSpace(t[n:]) == "" {
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
	for n < len(t) && n < 9 && isDigit(t[n]) {
		n++
	}
	return n > 0 && n+1 < len(t) && (t[n] == '.' || t[n] == ')') && t[n+1] == ' '
}
