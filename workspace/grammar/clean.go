package grammar

import (
	"regexp"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/workspace/markdown"
)

// clean normalizes the edit's texts (see plainText), and refuses a field that the operation does not take.
func (e *Edit) clean() error {
	e.Content = plainText(e.Content)
	e.Rationale, e.Override = oneLine(e.Rationale), oneLine(e.Override)
	// The caller's slice stays as it is, because an edit may be planned again.
	e.Items = slices.Clone(e.Items)
	for i := range e.Items {
		e.Items[i] = plainText(e.Items[i])
	}
	switch e.Op {
	case ReplaceSection, AppendSection:
		if len(e.Items) > 0 {
			return fault.New("items: not used by %s; pass content, in Markdown", e.Op)
		}
		if e.Content == "" {
			return fault.New("content: required by %s; to retire a section use tombstone_section", e.Op)
		}
	case CurateItems:
		if e.Content != "" {
			return fault.New("content: not used by curate_items; pass items, the complete new list")
		}
	case TombstoneSection:
		if e.Content != "" || len(e.Items) > 0 {
			return fault.New("content: not used by tombstone_section; the rationale gives the reason")
		}
	case AppendItem:
	}
	for _, text := range append([]string{e.Content}, e.Items...) {
		if err := checkText(text); err != nil {
			return err
		}
	}
	return nil
}

// underlines reports whether a line turns the one above it into a heading.
func underlines(line, above string) bool {
	level, _ := markdown.Heading(above)
	return strings.TrimSpace(above) != "" && level == 0 && !bullet.MatchString(above) && markdown.Underline(line) > 0
}

// checkText refuses text that would become structure of the file.
func checkText(text string) error {
	var at markdown.Scanner
	above := ""
	for line := range strings.Lines(text) {
		if at.Free() {
			level, _ := markdown.Heading(line)
			switch {
			case level == 1 || level == 2:
				return fault.New("content: headings inside a section must begin with ###, got %q",
					strings.TrimSpace(line))
			case looksLikeAnchor.MatchString(line):
				return fault.New("content: %q is a hidden anchor; anchors are not edited (seed 004 §4)", strings.TrimSpace(line))
			case underlines(line, above):
				return fault.New("content: %q makes a heading of the line above it; put a blank line between them",
					strings.TrimSpace(line))
			}
		}
		at.Next(line)
		above = line
	}
	if !at.Free() {
		return fault.New("content: a code block or comment is never closed")
	}
	return nil
}

// plainText returns text.Plain of s, without blank lines before and after it.
func plainText(s string) string {
	s = strings.TrimRight(text.Plain(s), " \t\n")
	for {
		line, rest, ok := strings.Cut(s, "\n")
		if !ok || strings.TrimSpace(line) != "" {
			return s
		}
		s = rest
	}
}

// oneLine returns s as plain text in one line that does not begin a comment.
func oneLine(s string) string {
	return strings.ReplaceAll(text.OneLine(text.Plain(s)), "<!--", `\<!--`)
}

var tombstone = regexp.MustCompile(`^_Retired [0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z: .*_$`)

// isTombstone reports whether text is the note that tombstone_section leaves.
func isTombstone(text string) bool { return tombstone.MatchString(strings.TrimSpace(text)) }
