package markup

import (
	"slices"
	"strings"
)

// span is a byte range [start,end).
type span struct{ start, end int }

// edit replaces the bytes [start,end) of a text.
type edit struct {
	start, end int
	with       string
}

// apply makes the edits in text. An edit that overlaps an earlier one is left
// out: a construct is edited whole or not at all, and the next round parses the
// text again.
func apply(text string, edits []edit) string {
	if len(edits) == 0 {
		return text
	}
	slices.SortStableFunc(edits, func(a, b edit) int {
		if a.start != b.start {
			return a.start - b.start
		}
		return a.end - b.end
	})
	var b strings.Builder
	b.Grow(len(text))
	last := 0
	for _, e := range edits {
		if e.start < last || e.end < e.start || e.end > len(text) {
			continue
		}
		b.WriteString(text[last:e.start])
		b.WriteString(e.with)
		last = e.end
	}
	b.WriteString(text[last:])
	return b.String()
}

func lineStart(text string, i int) int { return strings.LastIndexByte(text[:i], '\n') + 1 }

// lineEnd returns the offset of the line feed after i, or the end of the text.
func lineEnd(text string, i int) int {
	if n := strings.IndexByte(text[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(text)
}
