package tools

import (
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
)

// problem is one thing wrong with the arguments.
type problem struct {
	order int // the field's place in the struct; unknown fields come last
	text  string
}

// explain turns a validator's findings into a fault with one clause for each: the field, what is
// allowed and what came.
func (s *schema) explain(tool string, value any, invalid *jsonschema.ValidationError) error {
	var problems []problem
	for leaf := range leaves(invalid) {
		problems = append(problems, s.problems(leaf, value)...)
	}
	// The validator visits maps, whose order is random: the same mistake must get the same answer.
	slices.SortFunc(problems, func(a, b problem) int {
		if a.order != b.order {
			return a.order - b.order
		}
		return strings.Compare(a.text, b.text)
	})
	texts := make([]string, len(problems))
	for i, p := range problems {
		texts[i] = p.text
	}
	return fault.New("invalid arguments for %s: %s. Correct this and call again.",
		tool, strings.Join(slices.Compact(texts), "; "))
}

// leaves yields the findings that have no finer ones below them. A choice (anyOf, oneOf) counts as one.
func leaves(e *jsonschema.ValidationError) func(yield func(*jsonschema.ValidationError) bool) {
	return func(yield func(*jsonschema.ValidationError) bool) { walk(e, yield) }
}

// walk visits the leaves below e, and returns false when yield does.
func walk(e *jsonschema.ValidationError, yield func(*jsonschema.ValidationError) bool) bool {
	switch e.ErrorKind.(type) {
	// The causes of a choice contradict each other: "must be a string" next to "must be a number" helps no one.
	case *kind.AnyOf, *kind.OneOf:
		return yield(e)
	}
	if len(e.Causes) == 0 {
		return yield(e)
	}
	for _, cause := range e.Causes {
		if !walk(cause, yield) {
			return false
		}
	}
	return true
}

// rules lists the rules that were broken, as pointers into the schema: unlike the places in the value,
// these hold no names from a map's keys.
func rules(e *jsonschema.ValidationError) []string {
	var broken []string
	for leaf := range leaves(e) {
		_, at, _ := strings.Cut(leaf.SchemaURL, "#")
		broken = append(broken, at+"/"+strings.Join(leaf.ErrorKind.KeywordPath(), "/"))
	}
	slices.Sort(broken)
	return slices.Compact(broken)
}

// problems describes what one finding means for the caller.
func (s *schema) problems(e *jsonschema.ValidationError, arguments any) []problem {
	// The finding has only its place, so the rule and the value there are looked up together.
	at, value := s.compiled, arguments
	for _, token := range e.InstanceLocation {
		at, value = child(at, token), element(value, token)
	}
	switch found := e.ErrorKind.(type) {
	case *kind.Required:
		problems := make([]problem, 0, len(found.Missing))
		for _, name := range found.Missing {
			path := append(slices.Clone(e.InstanceLocation), name)
			problems = append(problems, problem{s.order(path), place(path) + " is required: " + allowed(child(at, name))})
		}
		return problems
	case *kind.AdditionalProperties:
		return []problem{{len(s.fields), s.unknown(e.InstanceLocation, at, found.Properties)}}
	}
	text := fmt.Sprintf("%s must be %s, got %s", place(e.InstanceLocation), allowed(at), came(value, at, e.ErrorKind))
	if value == nil && !s.required(e.InstanceLocation) {
		// Models send null for "not set", which a string or number refuses.
		text += " (leave it out instead)"
	}
	return []problem{{s.order(e.InstanceLocation), text}}
}

// unknown names fields that the object at path does not have, and those it has.
func (s *schema) unknown(path []string, at *jsonschema.Schema, names []string) string {
	var valid []string
	switch {
	case len(path) == 0:
		valid = s.fields
	case at != nil:
		for field := range at.Properties {
			valid = append(valid, field)
		}
		slices.Sort(valid)
	}
	// The names are the caller's: a call with thousands of them must not be answered with thousands.
	const most = 10
	slices.Sort(names)
	quoted := make([]string, 0, most)
	for _, name := range names[:min(len(names), most)] {
		quoted = append(quoted, strconv.Quote(short(name)))
	}
	text := "unknown field " + strings.Join(quoted, ", ")
	if len(names) > most {
		text += fmt.Sprintf(" and %d more", len(names)-most)
	}
	if len(path) > 0 {
		text += " in " + place(path)
	}
	if len(valid) == 0 {
		return text + " (there are no fields)"
	}
	return text + " (valid fields: " + strings.Join(valid, ", ") + ")"
}

// order returns the place of a problem's field in the struct, -1 for unknown fields and the arguments as a whole.
func (s *schema) order(path []string) int {
	if len(path) == 0 {
		return -1
	}
	return slices.Index(s.fields, path[0])
}

// required reports whether null is no way to leave the field out: it is required, or not at the top level.
func (s *schema) required(path []string) bool {
	return len(path) != 1 || slices.Contains(s.compiled.Required, path[0])
}

// child is the schema of a field or an array's element, nil if it has none of its own.
func child(s *jsonschema.Schema, token string) *jsonschema.Schema {
	if s == nil {
		return nil
	}
	if field, ok := s.Properties[token]; ok {
		return field
	}
	if s.Items2020 != nil {
		return s.Items2020
	}
	other, _ := s.AdditionalProperties.(*jsonschema.Schema)
	return other
}

// element returns the value of a field or an array's element, nil if it is missing.
func element(value any, token string) any {
	switch v := value.(type) {
	case map[string]any:
		return v[token]
	case []any:
		if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(v) {
			return v[i]
		}
	}
	return nil
}

// place writes a path as tags[2] or filter.since.
func place(path []string) string {
	if len(path) == 0 {
		return "arguments"
	}
	var b strings.Builder
	for i, token := range path {
		_, err := strconv.Atoi(token)
		switch {
		case i == 0:
			b.WriteString(short(token))
		case err == nil:
			b.WriteString("[" + token + "]")
		default:
			b.WriteString("." + short(token))
		}
	}
	return b.String()
}

// short keeps a name that the caller chose from flooding the answer.
func short(name string) string {
	return text.Shorten(name, 64)
}

// allowed describes in words what a schema accepts.
func allowed(s *jsonschema.Schema) string {
	switch {
	case s == nil || s.Types == nil || len(s.Types.ToStrings()) != 1:
		return "a value of another kind (see the schema)"
	case s.Enum != nil:
		values := make([]string, len(s.Enum.Values))
		for i, v := range s.Enum.Values {
			values[i] = fmt.Sprint(v)
		}
		return "one of " + strings.Join(values, ", ")
	}
	switch s.Types.ToStrings()[0] {
	case "string":
		return allowedString(s)
	case "integer":
		return "an integer" + span(number(s.Minimum), number(s.Maximum), "")
	case "number":
		return "a number" + span(number(s.Minimum), number(s.Maximum), "")
	case "boolean":
		return "true or false"
	case "array":
		text := "an array" + span(count(s.MinItems), count(s.MaxItems), " items")
		if s.UniqueItems {
			text += " without duplicates"
		}
		return text
	default:
		return "an object"
	}
}

// allowedString describes the strings that a schema allows.
func allowedString(s *jsonschema.Schema) string {
	switch {
	case s.Format != nil && s.Format.Name == "date-time":
		return "a date and time such as 2026-01-31T09:30:00Z"
	case s.Format != nil && s.Format.Name == "date":
		return "a date such as 2026-01-31"
	case s.Pattern != nil:
		return "a string that matches " + s.Pattern.String()
	case s.MinLength != nil && *s.MinLength == 1 && s.MaxLength == nil:
		return "a non-empty string"
	default:
		return "a string" + span(count(s.MinLength), count(s.MaxLength), " characters")
	}
}

// span describes a range whose bounds are numbers in words, "" without bounds.
func span(low, high, unit string) string {
	switch {
	case low != "" && high != "" && unit == "":
		return " from " + low + " to " + high
	case low != "" && high != "":
		return " of " + low + " to " + high + unit
	case low != "":
		return " of at least " + low + unit
	case high != "":
		return " of at most " + high + unit
	default:
		return ""
	}
}

// count writes a limit, "" if it is not set.
func count(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}

// number writes a bound without an exponent, "" if it is not set: 8760, not 8.76e+03.
func number(r *big.Rat) string {
	if r == nil {
		return ""
	}
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// token is what is short and plain enough to be told back.
var token = regexp.MustCompile(`^[A-Za-z0-9_.:+-]{1,32}$`)

// came describes what the caller sent without repeating it.
func came(value any, s *jsonschema.Schema, found jsonschema.ErrorKind) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case json.Number:
		if token.MatchString(v.String()) {
			return v.String()
		}
		return "a number"
	case string:
		// SECURITY: values can be secrets or content; only a short word where a word was asked for is repeated.
		if s != nil && s.Enum != nil && token.MatchString(v) {
			return strconv.Quote(v)
		}
		switch found.(type) {
		case *kind.MinLength, *kind.MaxLength:
			if v == "" {
				return "an empty one"
			}
			return strconv.Itoa(utf8.RuneCountInString(v)) + " characters"
		case *kind.Pattern, *kind.Format:
			return "another string"
		}
		return "a string"
	case []any:
		if same, ok := found.(*kind.UniqueItems); ok {
			return fmt.Sprintf("the same at %d and %d", same.Duplicates[0], same.Duplicates[1])
		}
		if s == nil || s.Types == nil || !slices.Contains(s.Types.ToStrings(), "array") {
			return "an array"
		}
		return fmt.Sprintf("%d items", len(v))
	default:
		return "an object"
	}
}
