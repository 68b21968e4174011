package memfile

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/frontmatter"
	"github.com/yamo-protocol/yamo-mcp/workspace/markdown"
)

// Resolve returns which of names, relative to the workspace, is the target of l in the file called from, "" if none is.
// As in Obsidian a target is a path or the end of one: [[2026-02-13-setup]] is memory/2026-02-13-setup.md. Letter case
// matters only between files that differ in nothing else, and of several files the one with the fewest folders wins.
func (l Link) Resolve(from string, names []string) string {
	target := l.Name()
	if target == "" {
		return from
	}
	target = path.Clean(strings.TrimPrefix(target, "/"))
	if slices.Contains(names, target) {
		return target
	}
	found := ""
	for _, name := range names {
		switch {
		case !strings.EqualFold(name, target) && !strings.HasSuffix(strings.ToLower(name), "/"+strings.ToLower(target)):
		case found == "" || shorter(name, found, target):
			found = name
		}
	}
	return found
}

// shorter reports whether a is a better match for target than b: fewer folders, the same letter case, the first by
// name.
func shorter(a, b, target string) bool {
	exact := func(name string) int {
		if strings.HasSuffix(name, target) {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(strings.Count(a, "/"), strings.Count(b, "/")), cmp.Compare(exact(a), exact(b)),
		cmp.Compare(a, b)) < 0
}

// Headings are the headings of a file, of any level, in one letter case.
type Headings map[string]bool

// HeadingsOf returns the headings of a file's text.
func HeadingsOf(text string) Headings {
	_, body, _ := frontmatter.Split(text)
	found := Headings{}
	for line := range markdown.Lines(body) {
		if level, heading := markdown.Heading(line); level > 0 {
			found[foldCase(heading)] = true
		}
	}
	return found
}

// foldCase returns s in one letter case: strings that strings.EqualFold takes for equal become the same.
func foldCase(s string) string { return strings.ToLower(strings.ToUpper(s)) }

// In reports whether l's heading is among found, in any letter case. For [[file#Part#Section]] only the last counts. It
// is true for a link without a heading.
func (l Link) In(found Headings) bool {
	want := l.Heading
	if at := strings.LastIndexByte(want, '#'); at >= 0 {
		want = strings.TrimSpace(want[at+1:])
	}
	return want == "" || found[foldCase(want)]
}
