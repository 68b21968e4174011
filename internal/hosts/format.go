package hosts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// field is a member of an object.
type field struct {
	key   string
	value any // string, bool, int, []string, object or []object
}

// object is a value with its fields in order.
type object []field

// MarshalJSON keeps the order of the fields.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(encode(f.key))
		b.WriteByte(':')
		b.Write(encode(f.value))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// encode returns a value of field as JSON on one line, with <, > and & as they are.
func encode(value any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(value) // the values of field can be encoded
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// format is a file format that can be edited without touching the rest of a file.
type format interface {
	// decode returns the content as maps, slices and scalars; an empty file is an empty map.
	decode(text []byte) (map[string]any, error)
	// set makes value the value at path. Fields of an object that is there already and that value lacks stay.
	set(text []byte, path []string, value object) ([]byte, error)
	// remove removes what is at path. The text is returned as it is if there is nothing.
	remove(text []byte, path []string) ([]byte, error)
}

// byteOrderMark may begin a file that was written on Windows. The parsers do not accept it.
var byteOrderMark = []byte("\xef\xbb\xbf")

// bare returns a file's text without a byte order mark, and with line feeds where every line ends in CRLF, as the
// formats expect it. restore undoes both for another text.
func bare(file []byte) (text []byte, restore func([]byte) []byte) {
	text, marked := bytes.CutPrefix(file, byteOrderMark)
	crlf := bytes.Contains(text, []byte("\r\n")) && bytes.Count(text, []byte("\r\n")) == bytes.Count(text, []byte("\n"))
	if crlf {
		text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	}
	return text, func(text []byte) []byte {
		if crlf {
			text = bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
		}
		if marked {
			text = slices.Concat(byteOrderMark, text)
		}
		return text
	}
}

// edit calls change with the text of a file and verifies that others, which returns what belongs to other programs, is
// the same of its result.
func edit(f format, file []byte, others func(content map[string]any) map[string]any,
	change func(text []byte) ([]byte, error),
) ([]byte, error) {
	text, restore := bare(file)
	before, err := f.decode(text)
	if err != nil {
		return nil, err
	}
	if text, err = change(text); err != nil {
		return nil, err
	}
	const fixed = "this file is written in a way that cannot be edited without changing the rest of it"
	after, err := f.decode(text)
	if err != nil {
		return nil, fmt.Errorf("%s (%w)", fixed, err)
	}
	if !reflect.DeepEqual(others(before), others(after)) {
		return nil, errors.New(fixed)
	}
	return restore(text), nil
}

// without returns a copy of content that lacks what is at path, and the objects of the path that are empty then.
func without(content map[string]any, path []string) map[string]any {
	rest := map[string]any{}
	for key, value := range content {
		if key != path[0] {
			rest[key] = value
			continue
		}
		below, ok := value.(map[string]any)
		if len(path) == 1 || value == nil {
			continue
		}
		if !ok {
			rest[key] = value
		} else if below = without(below, path[1:]); len(below) > 0 {
			rest[key] = below
		}
	}
	return rest
}

// at returns the value at path.
func at(content map[string]any, path []string) (value any, ok bool) {
	value = content
	for _, key := range path {
		object, isObject := value.(map[string]any)
		if !isObject {
			return nil, false
		}
		if value, ok = object[key]; !ok {
			return nil, false
		}
	}
	return value, true
}

// checkParents fails if a value on the way to path is there but is not an object.
func checkParents(content map[string]any, path []string) error {
	for i := 1; i < len(path); i++ {
		value, ok := at(content, path[:i])
		if _, isObject := value.(map[string]any); ok && !isObject && value != nil {
			return fmt.Errorf("%s: not an object", strings.Join(path[:i], "."))
		}
	}
	return nil
}

// lineBreak is the line break that text uses.
func lineBreak(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// lineStart returns the offset of the first byte of the line that offset i is on.
func lineStart(text []byte, i int) int { return bytes.LastIndexByte(text[:i], '\n') + 1 }

// lineEnd returns the offset after the line break of the line that offset i is on.
func lineEnd(text []byte, i int) int {
	if n := bytes.IndexByte(text[i:], '\n'); n >= 0 {
		return i + n + 1
	}
	return len(text)
}

// indentation returns the white space at the beginning of the line that offset i is on.
func indentation(text []byte, i int) string {
	line := text[lineStart(text, i):]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// splice returns text with [from, to) replaced.
func splice(text []byte, from, to int, with string) []byte {
	return slices.Concat(text[:from], []byte(with), text[to:])
}
