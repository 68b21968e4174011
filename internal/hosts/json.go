package hosts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// jsonFormat edits JSON, with comments and trailing commas if the file has them.
type jsonFormat struct{}

// decode accepts comments and trailing commas, which several hosts allow. Numbers stay as they are written.
func (jsonFormat) decode(text []byte) (map[string]any, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return map[string]any{}, nil
	}
	root, err := parseJSON(text)
	if err != nil {
		return nil, fmt.Errorf("not valid JSON: %w", err)
	}
	if key := repeated(&root); key != "" {
		return nil, fmt.Errorf("%q occurs twice in one object", key)
	}
	root = root.Clone()
	root.Standardize()
	decoder := json.NewDecoder(bytes.NewReader(root.Pack()))
	decoder.UseNumber()
	var content any
	if err := decoder.Decode(&content); err != nil {
		return nil, fmt.Errorf("not valid JSON: %w", err)
	}
	object, ok := content.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("must be a JSON object")
	}
	return object, nil
}

// parseJSON returns the syntax tree of text. The parser accepts a line comment at the end of the text only if a line
// feed ends it.
func parseJSON(text []byte) (hujson.Value, error) {
	root, err := hujson.Parse(text)
	if err != nil && !bytes.HasSuffix(text, []byte("\n")) {
		if ended, err := hujson.Parse(splice(text, len(text), len(text), "\n")); err == nil {
			return ended, nil
		}
	}
	return root, err
}

// repeated returns a key that occurs twice in one object, "" for none: which of the two counts depends on the
// program that reads them.
func repeated(root *hujson.Value) string {
	for value := range root.All() {
		object, ok := value.Value.(*hujson.Object)
		if !ok {
			continue
		}
		seen := map[string]bool{}
		for _, m := range object.Members {
			key := m.Name.Value.(hujson.Literal).String()
			if seen[key] {
				return key
			}
			seen[key] = true
		}
	}
	return ""
}

// set writes the fields of value into the object at path, which keeps its other fields, or creates it.
func (f jsonFormat) set(text []byte, path []string, value object) ([]byte, error) {
	content, err := f.decode(text)
	if err != nil {
		return nil, err
	}
	if err := checkParents(content, path); err != nil {
		return nil, err
	}
	text = orObject(text)
	if present, ok := at(content, path); ok {
		if _, isObject := present.(map[string]any); isObject {
			for _, field := range value {
				if text, err = f.setField(text, append(slices.Clip(path), field.key), field.value); err != nil {
					return nil, err
				}
			}
			return text, nil
		}
	}
	return f.put(text, path, value)
}

// setField makes value the value at path; of an object, such as the environment, others' fields stay.
func (f jsonFormat) setField(text []byte, path []string, value any) ([]byte, error) {
	if below, ok := value.(object); ok {
		return f.set(text, path, below)
	}
	return f.put(text, path, value)
}

// orObject returns text, or an empty object if it is empty.
func orObject(text []byte) []byte {
	if len(bytes.TrimSpace(text)) == 0 {
		return []byte("{}\n")
	}
	return text
}

// put makes value the value at path, whatever is there.
func (f jsonFormat) put(text []byte, path []string, value any) ([]byte, error) {
	root, err := parseJSON(text)
	if err != nil {
		return nil, err
	}
	d := jsonText{text: text, root: root}
	at := &root
	for i, key := range path {
		object, ok := at.Value.(*hujson.Object)
		if !ok { // null: checkParents has refused everything else
			return d.replace(at, nested(path[i:], value)), nil
		}
		member := find(object, key)
		if member < 0 {
			last := nested(path[i+1:], value)
			return d.insert(at, members(object), fmt.Sprintf("%s: ", encode(key)), last), nil
		}
		at = &object.Members[member].Value
	}
	return d.replace(at, value), nil
}

// setElement makes value an element of the array at path: in place of the one that is mine, else as the last.
func (f jsonFormat) setElement(text []byte, path []string, mine func(any) bool, value object) ([]byte, error) {
	content, err := f.decode(text)
	if err != nil {
		return nil, err
	}
	if err := checkParents(content, path); err != nil {
		return nil, err
	}
	text = orObject(text)
	present, _ := at(content, path)
	list, isList := present.([]any)
	switch {
	case present == nil:
		return f.put(text, path, []object{value})
	case !isList:
		return nil, fmt.Errorf("%s: not a list", strings.Join(path, "."))
	}
	root, array, err := f.array(text, path)
	if err != nil {
		return nil, err
	}
	d := jsonText{text: text, root: root}
	if i := slices.IndexFunc(list, mine); i >= 0 {
		return d.replace(&array.Value.(*hujson.Array).Elements[i], value), nil
	}
	return d.insert(array, elements(array.Value.(*hujson.Array)), "", value), nil
}

// removeElements removes the elements of the array at path that are mine, and the array and the object that it is in if
// they are empty then.
func (f jsonFormat) removeElements(text []byte, path []string, mine func(any) bool) ([]byte, error) {
	removed := false
	for {
		content, err := f.decode(text)
		if err != nil {
			return nil, err
		}
		present, _ := at(content, path)
		list, _ := present.([]any)
		i := slices.IndexFunc(list, mine)
		if i < 0 {
			if !removed || len(list) > 0 {
				return text, nil
			}
			break
		}
		root, array, err := f.array(text, path)
		if err != nil {
			return nil, err
		}
		text = jsonText{text: text, root: root}.cut(array, elements(array.Value.(*hujson.Array)), i)
		removed = true
	}
	for n := len(path); n > 0; n-- {
		content, err := f.decode(text)
		if err != nil {
			return nil, err
		}
		present, _ := at(content, path[:n])
		if object, ok := present.(map[string]any); ok && len(object) > 0 {
			break
		}
		if text, err = f.remove(text, path[:n]); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// array parses text and returns its syntax tree with the array at path, which must exist.
func (f jsonFormat) array(text []byte, path []string) (root hujson.Value, array *hujson.Value, err error) {
	if root, err = parseJSON(text); err != nil {
		return root, nil, err
	}
	array = &root
	for _, key := range path {
		object := array.Value.(*hujson.Object)
		array = &object.Members[find(object, key)].Value
	}
	return root, array, nil
}

// nested returns value below the keys of path.
func nested(path []string, value any) any {
	for _, p := range slices.Backward(path) {
		value = object{{p, value}}
	}
	return value
}

// remove cuts the member at path out of the text, with its comma and the space around it. Text without it stays the
// same.
func (f jsonFormat) remove(text []byte, path []string) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return text, nil
	}
	root, err := parseJSON(text)
	if err != nil {
		return nil, err
	}
	at := &root
	for i, key := range path {
		object, ok := at.Value.(*hujson.Object)
		if !ok {
			return text, nil
		}
		member := find(object, key)
		if member < 0 {
			return text, nil
		}
		if i == len(path)-1 {
			return jsonText{text: text, root: root}.cut(at, members(object), member), nil
		}
		at = &object.Members[member].Value
	}
	return text, nil
}

// find returns the index of the member called key, -1 for none.
func find(object *hujson.Object, key string) int {
	for i, m := range object.Members {
		if m.Name.Value.(hujson.Literal).String() == key {
			return i
		}
	}
	return -1
}

// span is where a member of an object or an element of an array is, from its name to the end of its value.
type span struct{ from, to int }

// members returns the places of the members in the text, from the name to the end of the value.
func members(object *hujson.Object) []span {
	var spans []span
	for _, m := range object.Members {
		spans = append(spans, span{m.Name.StartOffset, m.Value.EndOffset})
	}
	return spans
}

// elements returns the places of the elements in the text.
func elements(array *hujson.Array) []span {
	var spans []span
	for _, e := range array.Elements {
		spans = append(spans, span{e.StartOffset, e.EndOffset})
	}
	return spans
}

// jsonText is a text and its syntax tree.
type jsonText struct {
	text []byte
	root hujson.Value
}

// insert adds an item after the last of items, which are the parts of the object or array in: name, such as `"key": `
// or "", and value.
func (d jsonText) insert(in *hujson.Value, items []span, name string, value any) []byte {
	newline := lineBreak(d.text)
	if len(items) == 0 && d.oneLine() {
		return splice(d.text, in.StartOffset+1, in.StartOffset+1, name+d.render(value, "", true))
	}
	if len(items) == 0 {
		opened := in.StartOffset + 1
		base := indentation(d.text, in.StartOffset)
		item := newline + base + d.unit() + name + d.render(value, base+d.unit(), false)
		rest := d.text[opened : in.EndOffset-1]
		if !bytes.Contains(rest, []byte("\n")) {
			item += newline + base
			opened += len(rest) - len(bytes.TrimLeft(rest, " \t"))
		}
		return splice(d.text, in.StartOffset+1, opened, item)
	}
	last := items[len(items)-1]
	trailing := d.comma(last.to)
	after, item := last.to, ","
	if trailing >= 0 {
		after, item = trailing+1, ""
	}
	end := ""
	if trailing >= 0 {
		end = ","
	}
	begin := items[0].from
	if !bytes.Contains(d.text[in.StartOffset:begin], []byte("\n")) {
		return splice(d.text, after, after, item+" "+name+d.render(value, "", true)+end)
	}
	indent := indentation(d.text, begin)
	added := newline + indent + name + d.render(value, indent, false) + end
	// A comment at the end of the line belongs to what is before it, and the new member comes after it.
	line := bytes.TrimRight(d.text[after:lineEnd(d.text, after)], "\r\n")
	if rest := bytes.TrimSpace(line); bytes.HasPrefix(rest, []byte("//")) ||
		bytes.HasPrefix(rest, []byte("/*")) && bytes.Index(rest, []byte("*/")) == len(rest)-2 {
		return splice(splice(d.text, after+len(line), after+len(line), added), after, after, item)
	}
	return splice(d.text, after, after, item+added)
}

// replace gives v another value.
func (d jsonText) replace(v *hujson.Value, value any) []byte {
	if v.Value.Kind() != '{' && v.Value.Kind() != '[' || !d.same(v, value) {
		return splice(d.text, v.StartOffset, v.EndOffset,
			d.render(value, indentation(d.text, v.StartOffset), d.oneLine()))
	}
	return d.text
}

// same reports whether v is written differently from value at most, so that it can stay as the person wrote it.
func (d jsonText) same(v *hujson.Value, value any) bool {
	present := v.Clone()
	present.Minimize()
	return bytes.Equal(present.Pack(), encode(value))
}

// cut removes item i of items, which are the parts of the object or array in, with its lines if nothing else is on
// them.
func (d jsonText) cut(in *hujson.Value, items []span, i int) []byte {
	from, to := items[i].from, items[i].to
	comma := d.comma(to)
	if comma >= 0 {
		to = comma + 1
	}
	if len(items) == 1 && len(bytes.TrimSpace(d.text[in.StartOffset+1:from]))+
		len(bytes.TrimSpace(d.text[to:in.EndOffset-1])) == 0 {
		return splice(d.text, in.StartOffset+1, in.EndOffset-1, "")
	}
	start, end := lineStart(d.text, from), lineEnd(d.text, to)
	own := start > in.StartOffset && len(bytes.TrimSpace(d.text[start:from])) == 0 &&
		len(bytes.TrimSpace(d.text[to:end])) == 0 && end < in.EndOffset
	switch {
	case own:
		from, to = start, end
	case i < len(items)-1:
		to += len(d.text[to:]) - len(bytes.TrimLeft(d.text[to:], " \t"))
	default:
		from -= len(d.text[:from]) - len(bytes.TrimRight(d.text[:from], " \t"))
	}
	cut := splice(d.text, from, to, "")
	// The item before the last one needs no comma, unless there was a trailing one.
	if i > 0 && i == len(items)-1 && comma < 0 {
		if before := d.comma(items[i-1].to); before >= 0 {
			cut = splice(cut, before, before+1, "")
		}
	}
	return cut
}

// comma returns the offset of the comma after a value that ends at offset i, -1 for none.
func (d jsonText) comma(i int) int {
	for i < len(d.text) {
		rest := d.text[i:]
		switch {
		case rest[0] == ',':
			return i
		case bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0:
			i++
		case bytes.HasPrefix(rest, []byte("//")):
			i = lineEnd(d.text, i)
		case bytes.HasPrefix(rest, []byte("/*")) && bytes.Contains(rest, []byte("*/")):
			i += bytes.Index(rest, []byte("*/")) + 2
		default:
			return -1
		}
	}
	return -1
}

// oneLine reports whether the file is not empty and has no line breaks.
func (d jsonText) oneLine() bool {
	object, ok := d.root.Value.(*hujson.Object)
	return ok && len(object.Members) > 0 && !bytes.Contains(bytes.TrimSpace(d.text), []byte("\n"))
}

// unit is the indentation of one level: that of the first member of the file, else two spaces.
func (d jsonText) unit() string {
	if object, ok := d.root.Value.(*hujson.Object); ok && len(object.Members) > 0 {
		first := object.Members[0].Name.StartOffset
		if bytes.Contains(d.text[:first], []byte("\n")) {
			if unit := indentation(d.text, first); unit != "" {
				return unit
			}
		}
	}
	return "  "
}

// render returns value as JSON, whose lines after the first begin with indent, or on one line.
func (d jsonText) render(value any, indent string, inline bool) string {
	compact := encode(value)
	var b bytes.Buffer
	if inline {
		v, err := hujson.Parse(compact)
		if err != nil {
			return string(compact)
		}
		return spaced(&v)
	}
	if err := json.Indent(&b, compact, indent, d.unit()); err != nil {
		return string(compact)
	}
	return strings.ReplaceAll(b.String(), "\n", lineBreak(d.text))
}

// spaced writes a value on one line with spaces after colons and commas.
func spaced(v *hujson.Value) string {
	var parts []string
	switch value := v.Value.(type) {
	case *hujson.Object:
		for _, m := range value.Members {
			parts = append(parts, string(m.Name.Value.(hujson.Literal))+": "+spaced(&m.Value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case *hujson.Array:
		for _, e := range value.Elements {
			parts = append(parts, spaced(&e))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case hujson.Literal:
		return string(value)
	}
	return ""
}
