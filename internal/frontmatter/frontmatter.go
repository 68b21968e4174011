// Package frontmatter reads the YAML between two lines of --- at the beginning of a Markdown text.
//
// It touches no disk. Memory files (seed 003) and skills have front matter, so that both the workspace and the mesh
// import it.
package frontmatter

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
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

// maxMatter is the maximum size of front matter, in bytes.
const maxMatter = 64 << 10

// Decode reads YAML into v, which has yaml tags; unknown fields are ignored. The error contains the first line of the
// parser's message, without its excerpt of the text, which may be private. Anchors are not supported, because a few
// of them can expand to gigabytes.
func Decode(matter string, v any) (err error) {
	if len(matter) > maxMatter {
		return fmt.Errorf("front matter: it is longer than %d KiB", maxMatter>>10)
	}
	// The library panics on some input that it does not expect, such as a tag.
	defer func() {
		if recover() != nil {
			err = errors.New("front matter: it has YAML that cannot be read, such as a tag (!x); write plain values")
		}
	}()
	if err := check(lexer.Tokenize(matter)); err != nil {
		return err
	}
	if err := yaml.Unmarshal([]byte(matter), v); err != nil {
		// The library's message would name the types of this program.
		if wrong, ok := errors.AsType[*yaml.TypeError](err); ok && wrong.StructFieldName != nil {
			_, field, _ := strings.Cut(*wrong.StructFieldName, ".")
			return fmt.Errorf("front matter: the value of %s has another type than it should; write it as text, in quotes",
				strings.ToLower(field))
		}
		message, _, _ := strings.Cut(yaml.FormatError(err, false, false), "\n")
		return fmt.Errorf("front matter: %s", message)
	}
	return nil
}

// maxDepth is the maximum depth of lists and maps in each other. The parser's time grows with its square.
const maxDepth = 32

// check returns an error for YAML that would take too much time or memory.
func check(tokens token.Tokens) error {
	depth, line, entries := 0, 0, 0 // entries of lists that begin on the line
	for _, t := range tokens {
		if t.Position.Line != line {
			line, entries = t.Position.Line, 0
		}
		switch t.Type {
		case token.AliasType:
			return errors.New("front matter: it has a YAML alias (*x); write the value out")
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth--
		case token.SequenceEntryType:
			entries++
		}
		if depth+entries > maxDepth {
			return errors.New("front matter: its lists are nested too deeply")
		}
	}
	return nil
}

// List is a list of strings. A single value is read as a list of one, as Obsidian does, and numbers as their text.
type List []string

// UnmarshalYAML implements yaml.InterfaceUnmarshaler.
func (l *List) UnmarshalYAML(unmarshal func(any) error) error {
	var list []any
	if err := unmarshal(&list); err != nil {
		var single any
		if err := unmarshal(&single); err != nil {
			return err
		}
		if list = nil; single != nil {
			list = []any{single}
		}
	}
	*l = nil
	for _, value := range list {
		switch value := value.(type) {
		case nil:
		case map[string]any, []any:
			return errors.New("a list has a value that is neither text nor a number")
		case string:
			*l = append(*l, value)
		default:
			*l = append(*l, fmt.Sprint(value))
		}
	}
	return nil
}
