// Package frontmatter reads the YAML between two lines of --- at the beginning of a Markdown text.
//
// It touches no disk. Memory files (seed 003) and skills have front matter, so that both the workspace and the mesh
// import it.
package frontmatter

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
)

const delimiter = "---"

// Split cuts text into the YAML between the lines of --- and the body after them, both byte for byte. A byte order
// mark before the first line is skipped. ok is false for a text without front matter, which is all body.
func Split(text string) (matter, body string, ok bool) {
	rest, ok := cutDelimiter(strings.TrimPrefix(text, "\uFEFF"))
	if !ok {
		return "", text, false
	}
	for at := 0; at < len(rest); {
		if body, ok := cutDelimiter(rest[at:]); ok {
			return rest[:at], body, true
		}
		next := strings.IndexByte(rest[at:], '\n')
		if next < 0 {
			break
		}
		at += next + 1
	}
	return "", text, false
}

// cutDelimiter removes the first line of s if it is a delimiter, apart from blanks at its end.
func cutDelimiter(s string) (rest string, ok bool) {
	line, rest, _ := strings.Cut(s, "\n")
	return rest, strings.TrimRight(line, " \t\r") == delimiter
}

// Decode reads YAML into v, which has yaml tags; unknown fields are ignored. The error contains the first line of the
// parser's message, without its excerpt of the text, which may be private.
func Decode(matter string, v any) error {
	if err := yaml.Unmarshal([]byte(matter), v); err != nil {
		message, _, _ := strings.Cut(yaml.FormatError(err, false, false), "\n")
		return fmt.Errorf("front matter: %s", message)
	}
	return nil
}
