package hosts

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlFormat edits TOML. Entries are tables with a header of their own, or members of an inline table.
type tomlFormat struct{}

// decode returns the content of the file; the error names the line.
func (tomlFormat) decode(text []byte) (map[string]any, error) {
	content := map[string]any{}
	if err := toml.Unmarshal(text, &content); err != nil {
		if wrong, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, _ := wrong.Position()
			return nil, fmt.Errorf("not valid TOML: line %d: %s", line, strings.TrimPrefix(wrong.Error(), "toml: "))
		}
		return nil, fmt.Errorf("not valid TOML: %w", err)
	}
	return content, nil
}

// statement is a header or a "key = value" of a TOML file.
type statement struct {
	table    []string // of which it is the header, or to which it belongs
	key      []string // nil for a header
	from, to int      // a header's range is its line
	inline   []span   // its keys, if the value is an inline table; nil otherwise
	names    []string // of these
}

// statements parses a text that decode has accepted.
func statements(text []byte) ([]statement, error) {
	var p unstable.Parser
	p.Reset(text)
	var list []statement
	var table []string
	for p.NextExpression() {
		e := p.Expression()
		var key []string
		from := -1
		for it := e.Key(); it.Next(); {
			if from < 0 {
				from = int(it.Node().Raw.Offset)
			}
			key = append(key, string(it.Node().Data))
		}
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = key
			list = append(list, statement{table: table, from: lineStart(text, from), to: lineEnd(text, from)})
		case unstable.KeyValue:
			s := statement{table: table, key: key, from: int(e.Raw.Offset), to: int(e.Raw.Offset + e.Raw.Length)}
			if e.Value().Kind == unstable.InlineTable {
				s.inline = []span{}
				for it := e.Value().Children(); it.Next(); {
					pair := it.Node()
					s.inline = append(s.inline, span{int(pair.Raw.Offset), int(pair.Raw.Offset + pair.Raw.Length)})
					name := pair.Key()
					name.Next()
					s.names = append(s.names, string(name.Node().Data))
				}
			}
			list = append(list, s)
		}
	}
	return list, p.Error()
}

// set writes the fields of value into the table at path, in the form that the file has it, or adds the table at the
// end.
func (f tomlFormat) set(text []byte, path []string, value object) ([]byte, error) {
	content, err := f.decode(text)
	if err != nil {
		return nil, err
	}
	if err := checkParents(content, path); err != nil {
		return nil, err
	}
	list, err := statements(text)
	if err != nil {
		return nil, err
	}
	header := slices.IndexFunc(list, func(s statement) bool { return s.key == nil && slices.Equal(s.table, path) })
	if header >= 0 {
		for _, field := range value {
			if text, err = setField(text, path, field); err != nil {
				return nil, err
			}
		}
		return text, nil
	}
	if _, ok := at(content, path); ok {
		return nil, fmt.Errorf("%s is there, but not as a table with the header [%s]; change it to one, or remove it",
			strings.Join(path, "."), dotted(path))
	}
	newline := lineBreak(text)
	if s := inlineTable(list, path[:len(path)-1]); s != nil {
		comma := ", "
		if len(s.inline) == 0 {
			comma = " "
		}
		closing := s.to - 1
		end := len(bytes.TrimRight(text[:closing], " \t\r\n"))
		return splice(text, end, closing, comma+tomlKey(path[len(path)-1])+" = "+tomlValue(value)+" "), nil
	}
	block := "[" + dotted(path) + "]" + newline
	for _, field := range value {
		if below, ok := field.value.(object); !ok {
			block += tomlKey(field.key) + " = " + tomlValue(field.value) + newline
		} else if len(below) > 0 {
			block += tomlKey(field.key) + " = " + tomlValue(below) + newline
		}
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		block = newline + block
	}
	if len(bytes.TrimSpace(text)) > 0 {
		block = newline + block
	}
	return slices.Concat(text, []byte(block)), nil
}

// inlineTable returns the statement that has the table at path as an inline table, nil for none.
func inlineTable(list []statement, path []string) *statement {
	for i, s := range list {
		if s.inline != nil && slices.Equal(slices.Concat(s.table, s.key), path) {
			return &list[i]
		}
	}
	return nil
}

// setField sets a key of the table with a header. The fields of an object are set where the file has it: in a table of
// its own, as dotted keys, or in braces; others' fields stay.
func setField(text []byte, table []string, f field) ([]byte, error) {
	below, ok := f.value.(object)
	if !ok {
		return setInTable(text, table, []string{f.key}, f.value)
	}
	if len(below) == 0 {
		return text, nil
	}
	list, err := statements(text)
	if err != nil {
		return nil, err
	}
	path := append(slices.Clip(table), f.key)
	for _, s := range list {
		own := s.key == nil && slices.Equal(s.table, path)
		dotted := slices.Equal(s.table, table) && len(s.key) > 1 && s.key[0] == f.key
		if !own && !dotted {
			continue
		}
		for _, field := range below {
			in, key := path, []string{field.key}
			if dotted {
				in, key = table, []string{f.key, field.key}
			}
			if text, err = setInTable(text, in, key, field.value); err != nil {
				return nil, err
			}
		}
		return text, nil
	}
	content, err := (tomlFormat{}).decode(text)
	if err != nil {
		return nil, err
	}
	present, _ := at(content, path)
	return setInTable(text, table, []string{f.key}, merged(present, below))
}

// setInTable sets a key of the table with a header: in its line, or in a new one after the table's last key.
func setInTable(text []byte, table, key []string, value any) ([]byte, error) {
	list, err := statements(text)
	if err != nil {
		return nil, err
	}
	written := dotted(key) + " = " + tomlValue(value)
	after := 0
	for _, s := range list {
		if !slices.Equal(s.table, table) {
			continue
		}
		if slices.Equal(s.key, key) {
			var present, wanted map[string]any
			if toml.Unmarshal(text[s.from:s.to], &present) == nil && toml.Unmarshal([]byte(written), &wanted) == nil &&
				fmt.Sprint(present) == fmt.Sprint(wanted) {
				return text, nil
			}
			return splice(text, s.from, s.to, written), nil
		}
		after = s.to
	}
	newline := lineBreak(text)
	line := written + newline
	if after = max(after, 1); text[after-1] != '\n' {
		after = lineEnd(text, after)
	}
	if text[after-1] != '\n' {
		line = newline + strings.TrimSuffix(line, newline)
	}
	return splice(text, after, after, line), nil
}

// remove cuts the table at path out of the text, with the tables below it and the empty line that set added.
func (f tomlFormat) remove(text []byte, path []string) ([]byte, error) {
	list, err := statements(text)
	if err != nil {
		return nil, err
	}
	// From the end, so that the offsets of what is before stay.
	for i, s := range slices.Backward(list) {

		below := len(s.table) >= len(path) && slices.Equal(s.table[:len(path)], path)
		if !below || s.key != nil {
			continue
		}
		end := s.to
		for _, next := range list[i+1:] {
			if next.key == nil {
				break
			}
			end = lineEnd(text, next.to)
		}
		from := s.from
		// The empty line that set has added before the header.
		if before := bytes.TrimSuffix(text[:from], []byte(lineBreak(text))); bytes.HasSuffix(before, []byte("\n")) &&
			(end == len(text) || len(bytes.TrimSpace(text[end:lineEnd(text, end)])) == 0) {
			from = len(before)
		}
		text = splice(text, from, end, "")
	}
	if s := inlineTable(list, path[:len(path)-1]); s != nil {
		if i := slices.Index(s.names, path[len(path)-1]); i > 0 {
			text = splice(text, s.inline[i-1].to, s.inline[i].to, "")
		} else if i == 0 && len(s.inline) > 1 {
			text = splice(text, s.inline[0].from, s.inline[1].from, "")
		} else if i == 0 {
			open := bytes.LastIndexByte(text[:s.inline[0].from], '{') + 1
			text = splice(text, open, s.to-1, "")
		}
	}
	content, err := f.decode(text)
	if err != nil {
		return nil, err
	}
	if _, ok := at(content, path); ok {
		return nil, fmt.Errorf("%s is not a table with the header [%s]; remove it by hand", strings.Join(path, "."),
			dotted(path))
	}
	return text, nil
}

var bareKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// tomlKey returns key as TOML, quoted where necessary.
func tomlKey(key string) string {
	if bareKey.MatchString(key) {
		return key
	}
	return tomlValue(key)
}

// dotted returns a path as a TOML key, quoted where necessary.
func dotted(path []string) string {
	var keys []string
	for _, key := range path {
		keys = append(keys, tomlKey(key))
	}
	return strings.Join(keys, ".")
}

// tomlValue returns a value of field on one line. Strings are written as in JSON, whose escapes TOML has as well.
func tomlValue(value any) string {
	switch v := value.(type) {
	case object:
		var parts []string
		for _, f := range v {
			parts = append(parts, tomlKey(f.key)+" = "+tomlValue(f.value))
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	case []string:
		var parts []string
		for _, item := range v {
			parts = append(parts, tomlValue(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return string(encode(value))
}
