package workspace

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// Place is a section of a workspace file.
type Place struct {
	File    string `json:"file"`              // relative to the workspace
	Section string `json:"section,omitempty"` // its heading; "" for the text above the first
}

// Quotes are the places where the workspace's files say text in the same words, by file: the files with a fixed name, and
// those that are searched as memory. Of a file that is larger than MaxFileSize its beginning is looked at. In a group
// there are none.
func (v *View) Quotes(text string) []Place {
	places := []Place{}
	// SECURITY: it reads what a group never sees.
	if !v.who.IsDM() {
		return places
	}
	var names []string
	for name := range rootFiles {
		names = append(names, name)
	}
	for _, file := range v.Searched() {
		names = append(names, file.Name)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		data, _, err := v.Head(name)
		if err != nil {
			continue // it is not there, or refused, which was reported
		}
		for _, part := range grammar.Parse(strings.ToValidUTF8(string(data), "\uFFFD")).Parts {
			if place := (Place{name, part.Name}); Says(part.Body, text) && !slices.Contains(places, place) {
				places = append(places, place)
			}
		}
	}
	return places
}

// shortest is how many characters a text has at least of which it means something that another one contains it.
const shortest = 12

// Says reports whether body says text in the same words, whatever white space, letter case, bullets and invisible
// characters it has. A short text has to be a line of its own.
func Says(body, text string) bool {
	wanted := folded(text)
	if utf8.RuneCountInString(wanted) >= shortest {
		return strings.Contains(folded(body), wanted)
	}
	return wanted != "" && slices.ContainsFunc(strings.Split(body, "\n"), func(line string) bool { return folded(line) == wanted })
}

func folded(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Variation_Selector) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
	s = strings.TrimLeft(text.OneLine(s), "-*+#> ")
	return strings.TrimRight(s, ".!,;: ")
}
