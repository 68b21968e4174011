package hosts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// yamlFormat edits YAML in block style, line by line: an entry is a line "NAME:" and the indented lines below it. A
// flow mapping ({…}) gets its entry on the same line.
type yamlFormat struct{}

// decode returns the content of the file, empty for a file of comments. Of several documents it is not clear which is
// meant, and where a carriage return ends a line, the parser counts more lines than the edits do.
func (yamlFormat) decode(text []byte) (map[string]any, error) {
	content := map[string]any{}
	if bytes.Count(text, []byte("\r")) > bytes.Count(text, []byte("\r\n")) {
		return nil, errors.New("has a line that ends in a carriage return only; save it with other line endings")
	}
	file, err := parser.ParseBytes(text, 0)
	if err == nil && len(file.Docs) > 1 {
		return nil, errors.New("has several YAML documents")
	}
	if err == nil && len(bytes.TrimSpace(text)) > 0 {
		err = yaml.Unmarshal(text, &content)
	}
	if err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		return nil, fmt.Errorf("not valid YAML: %s", first)
	}
	if content == nil { // comments only
		content = map[string]any{}
	}
	return content, nil
}

// set writes value to path. An entry that is there is replaced as a whole, with its other fields kept: YAML has too
// many forms to edit each in place.
func (f yamlFormat) set(text []byte, path []string, value object) ([]byte, error) {
	content, err := f.decode(text)
	if err != nil {
		return nil, err
	}
	if err := checkParents(content, path); err != nil {
		return nil, err
	}
	newline := lineBreak(text)
	key, name := path[0], path[1]
	if present, ok := at(content, path); ok {
		// What a person has added to the entry stays, except for comments.
		value = merged(present, value)
		if text, err = f.remove(text, path); err != nil {
			return nil, err
		}
	}
	parent, err := yamlPair(text, key)
	if err != nil {
		return nil, err
	}
	if parent == nil {
		added := key + ":" + newline + yamlBlock(name, value, "  ", newline)
		if len(text) > 0 && text[len(text)-1] != '\n' {
			added = newline + added
		}
		return slices.Concat(text, []byte(added)), nil
	}
	if flow, ok := parent.Value.(*ast.MappingNode); ok && flow.IsFlowStyle {
		opened := offset(text, flow.Start.Position.Line, flow.Start.Position.Column) + 1
		comma := ", "
		if len(flow.Values) == 0 {
			comma = ""
		}
		return splice(text, opened, opened, yamlKey(name)+": "+string(encode(value))+comma), nil
	}
	// After the line "extensions:", so that nothing depends on where its last entry ends.
	position := parent.Key.GetToken().Position
	end := lineEnd(text, offset(text, position.Line, position.Column))
	indent := "  "
	if first := firstKey(parent.Value); first > 1 {
		indent = strings.Repeat(" ", first-1)
	}
	block := yamlBlock(name, value, indent, newline)
	if text[end-1] != '\n' {
		block = newline + strings.TrimSuffix(block, newline)
	}
	return splice(text, end, end, block), nil
}

// remove cuts the lines of the entry at path out of the text. It refuses an entry that shares its line with others,
// unless it is in braces.
func (f yamlFormat) remove(text []byte, path []string) ([]byte, error) {
	content, err := f.decode(text)
	if err != nil {
		return nil, err
	}
	if _, ok := at(content, path); !ok {
		return text, nil
	}
	parent, err := yamlPair(text, path[0])
	if err != nil {
		return nil, err
	}
	values, flow := pairs(parent.Value)
	i := slices.IndexFunc(values, func(p *ast.MappingValueNode) bool { return keyOf(p) == path[1] })
	if i >= 0 && flow {
		if text, ok := cutFlow(text, values, i); ok {
			return text, nil
		}
	}
	if i < 0 || flow {
		return nil, fmt.Errorf("%s is not an entry of its own line; remove it by hand", strings.Join(path, "."))
	}
	position := values[i].Key.GetToken().Position
	from := lineStart(text, offset(text, position.Line, position.Column))
	to := lineEnd(text, from)
	for end := to; end < len(text); {
		next := lineEnd(text, end)
		line := strings.TrimRight(string(text[end:next]), " \t\r\n")
		if line != "" && len(line)-len(strings.TrimLeft(line, " ")) < position.Column {
			break
		}
		if end = next; line != "" {
			to = next
		}
	}
	return splice(text, from, to, ""), nil
}

// cutFlow removes pair i of a mapping in flow style, if its value is written as set does, as JSON.
func cutFlow(text []byte, values []*ast.MappingValueNode, i int) (cut []byte, ok bool) {
	position := values[i].Key.GetToken().Position
	from := offset(text, position.Line, position.Column)
	colon := bytes.IndexByte(text[from:], ':')
	if colon < 0 {
		return nil, false
	}
	decoder := json.NewDecoder(bytes.NewReader(text[from+colon+1:]))
	var value map[string]any
	if decoder.Decode(&value) != nil {
		return nil, false
	}
	to := from + colon + 1 + int(decoder.InputOffset())
	if rest, more := bytes.CutPrefix(text[to:], []byte(",")); more {
		to = len(text) - len(bytes.TrimLeft(rest, " "))
	} else {
		from = len(bytes.TrimSuffix(bytes.TrimRight(text[:from], " "), []byte(",")))
	}
	return splice(text, from, to, ""), true
}

// yamlPair returns the pair of a key at the top of the file, nil for none.
func yamlPair(text []byte, key string) (*ast.MappingValueNode, error) {
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, err
	}
	for _, doc := range file.Docs {
		values, _ := pairs(doc.Body)
		for _, pair := range values {
			if keyOf(pair) == key {
				return pair, nil
			}
		}
	}
	return nil, nil
}

// pairs returns the pairs of a mapping, and whether it is one in flow style.
func pairs(node ast.Node) (values []*ast.MappingValueNode, flow bool) {
	switch n := node.(type) {
	case *ast.MappingNode:
		return n.Values, n.IsFlowStyle
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, false
	case *ast.AnchorNode:
		return pairs(n.Value)
	}
	return nil, false
}

// keyOf returns a key as the program that reads the file has it, without quotes.
func keyOf(pair *ast.MappingValueNode) string { return pair.Key.GetToken().Value }

// firstKey returns the column of the first key of a mapping, 0 if it has none.
func firstKey(node ast.Node) int {
	if values, _ := pairs(node); len(values) > 0 {
		return values[0].Key.GetToken().Position.Column
	}
	return 0
}

// offset returns the offset of a line and column, both from 1; columns count characters.
func offset(text []byte, line, column int) int {
	at := 0
	for range line - 1 {
		at = lineEnd(text, at)
	}
	rest := []rune(string(text[at:lineEnd(text, at)]))
	return at + len(string(rest[:min(column-1, len(rest))]))
}

// merged returns value with the fields of present that it lacks, in alphabetical order, also in its objects.
func merged(present any, value object) object {
	fields, _ := present.(map[string]any)
	var more object
	value = slices.Clone(value)
	for i, f := range value {
		if below, ok := f.value.(object); ok {
			value[i].value = merged(fields[f.key], below)
		}
	}
	for key, v := range fields {
		if !slices.ContainsFunc(value, func(f field) bool { return f.key == key }) {
			more = append(more, field{key, v})
		}
	}
	slices.SortFunc(more, func(a, b field) int { return strings.Compare(a.key, b.key) })
	return slices.Concat(value, more)
}

var plainScalar = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)

// yamlKey returns key as YAML: quoted if it would be read as something other than a string.
func yamlKey(key string) string {
	if plainScalar.MatchString(key) && !slices.Contains([]string{
		"y", "n", "yes", "no", "on", "off", "true", "false",
		"null",
	},
		strings.ToLower(key)) {
		return key
	}
	return string(encode(key))
}

// yamlBlock returns an entry as lines that begin with indent. Strings and what is nested are written as in JSON, which
// is YAML too.
func yamlBlock(name string, value object, indent, newline string) string {
	var b strings.Builder
	b.WriteString(indent + yamlKey(name) + ":" + newline)
	for _, f := range value {
		b.WriteString(indent + "  " + yamlKey(f.key) + ":")
		if list, ok := f.value.([]string); ok && len(list) > 0 {
			b.WriteString(newline)
			for _, item := range list {
				b.WriteString(indent + "  - " + string(encode(item)) + newline)
			}
			continue
		}
		b.WriteString(" " + string(encode(f.value)) + newline)
	}
	return b.String()
}
