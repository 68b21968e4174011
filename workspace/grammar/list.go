package grammar

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/workspace/markdown"
)

// bullet matches the beginning of a list item.
var bullet = regexp.MustCompile(`^([-*+]|[0-9]{1,9}[.)])[ \t]+`)

// block is a run of lines of a section: a list item with what is indented below it, or anything else.
// Joined, the blocks are the section's body.
type block struct {
	raw  string
	item bool
	line int // from 0
}

// blocks splits a body into its items and what is between them.
func blocks(body string) []block {
	var list []block
	var at markdown.Scanner
	start, pos, line, blank := 0, 0, 0, true
	for raw := range strings.Lines(body) {
		empty := strings.TrimSpace(raw) == ""
		indented := raw[0] == ' ' || raw[0] == '\t'
		last := len(list) - 1
		inItem := last >= 0 && list[last].item
		item := at.Free() && bullet.MatchString(raw)
		// A line belongs to the block above if it is in its code block, continues its text, or is indented below an item.
		if last < 0 || at.Free() && (item || inItem && !empty && !indented && blank) {
			if last >= 0 {
				list[last].raw = body[start:pos]
			}
			list = append(list, block{item: item, line: line})
			start = pos
		}
		at.Next(raw)
		blank = empty
		pos += len(raw)
		line++
	}
	if len(list) > 0 {
		list[len(list)-1].raw = body[start:]
	}
	return apart(list)
}

// apart makes the blank lines at the end of each item blocks of their own, so that removing an item leaves them.
func apart(list []block) []block {
	var out []block
	for _, b := range list {
		if !b.item {
			out = append(out, b)
			continue
		}
		text := strings.TrimRight(b.raw, " \t\r\n")
		end := len(text)
		if at := strings.IndexByte(b.raw[end:], '\n'); at >= 0 {
			end += at + 1
		} else {
			end = len(b.raw)
		}
		out = append(out, block{b.raw[:end], true, b.line})
		if end < len(b.raw) {
			out = append(out, block{b.raw[end:], false, b.line + strings.Count(b.raw[:end], "\n")})
		}
	}
	return out
}

// text returns an item without its bullet, its lines joined by line feeds and without the indentation of the first.
func (b block) text() string {
	var lines []string
	indent := 0
	for line := range strings.Lines(b.raw) {
		line = strings.TrimRight(line, " \t\r\n")
		if len(lines) == 0 {
			mark := bullet.FindString(b.raw)
			indent, line = len(mark), strings.TrimPrefix(line, mark)
		} else {
			line = strings.ReplaceAll(line, "\t", "  ")
			// No more than the indentation of the item's text: code inside an item keeps its own.
			line = line[min(indent, len(line)-len(strings.TrimLeft(line, " "))):]
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// Items returns the texts of a section's list items, in order, without bullets and indentation.
func Items(body string) []string {
	var items []string
	for _, b := range blocks(body) {
		if b.item {
			items = append(items, b.text())
		}
	}
	return items
}

// itemLines returns text as a list item with the given bullet and line end.
func itemLines(text, mark, newline string) string {
	var out strings.Builder
	for i, line := range strings.Split(strings.Trim(text, "\n"), "\n") {
		switch {
		case i == 0:
			out.WriteString(mark + line)
		case line != "":
			out.WriteString(strings.Repeat(" ", len(mark)) + line)
		}
		out.WriteString(newline)
	}
	return out.String()
}

// markOf returns the bullet for an item after the last one of a list.
func markOf(list []block) string {
	for _, b := range slices.Backward(list) {
		if b.item {
			mark := strings.TrimRight(bullet.FindString(b.raw), " \t")
			return following(mark + " ")
		}
	}
	return "- "
}

// following returns the bullet of the item after one with this bullet: the next number, or the same mark.
func following(mark string) string {
	digits := strings.TrimRight(mark, ".) ")
	n, err := strconv.Atoi(digits)
	if err != nil || n >= maxNumber {
		return mark
	}
	return strconv.Itoa(n+1) + mark[len(digits):]
}

// maxNumber is the largest number of an item (CommonMark §5.2 allows nine digits).
const maxNumber = 999_999_999
