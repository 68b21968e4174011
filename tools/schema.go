package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strings"

	reflection "github.com/invopop/jsonschema"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
)

// schema is the JSON schema of a struct, as sent to clients and as compiled. It is derived once, at start, so a call
// only validates.
type schema struct {
	raw      json.RawMessage // JSON Schema 2020-12, inline
	listed   json.RawMessage // the same without what only an error needs to tell
	compiled *jsonschema.Schema
	fields   []string        // the top-level fields in the struct's order
	defaults json.RawMessage // an object with the defaults of the top-level fields
}

// schemaOf derives and compiles the schema of T. Its errors are mistakes of the definition: T is no struct, a tag is
// not known, the schema does not compile, or a default does not fit it.
func schemaOf[T any]() (*schema, error) {
	t := reflect.TypeFor[T]()
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("%s is not a struct", t)
	}
	if err := checkTags(t, nil); err != nil {
		return nil, err
	}
	// Without $ref and $id: some hosts do not resolve references, and an ID would be an address that leads nowhere.
	reflector := reflection.Reflector{DoNotReference: true, Anonymous: true}
	reflected := reflector.ReflectFromType(t)
	reflected.Version = "" // JSON Schema 2020-12 is what MCP assumes

	s := &schema{}
	defaults := map[string]any{}
	for pair := reflected.Properties.Oldest(); pair != nil; pair = pair.Next() {
		s.fields = append(s.fields, pair.Key)
		if pair.Value.Default != nil {
			defaults[pair.Key] = pair.Value.Default
		}
	}
	var err error
	if s.defaults, err = json.Marshal(defaults); err != nil {
		return nil, fmt.Errorf("encode defaults: %w", err)
	}
	if s.raw, err = json.Marshal(reflected); err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	if s.compiled, err = compile(s.raw); err != nil {
		return nil, err
	}
	shorten(reflected)
	if s.listed, err = json.Marshal(reflected); err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return s, s.checkDefaults()
}

// plainNames are arguments whose names tell a model what they are. Their descriptions are in docs/tools.md only.
var plainNames = map[string]bool{
	"rationale": true, "hypothesis": true, "agent_id": true, "skill_name": true, "min_importance": true, "topic": true,
	"situation": true, "oversight": true, "fix": true, "include_lessons": true, "offset": true,
	"idempotency_key": true, "max_chars": true, "metadata": true, "importance": true, "heading": true,
	"create": true,
}

// shorten removes from a schema, at every depth, limits, defaults and the ban on unknown fields. The listing of
// tools leaves them out: every conversation pays for it, a model hardly ever breaks these rules, and an error names the
// rule that was broken.
func shorten(s *reflection.Schema) {
	if s == nil {
		return
	}
	s.MinLength, s.MaxLength, s.MinItems, s.MaxItems, s.UniqueItems = nil, nil, nil, nil, false
	s.Minimum, s.Maximum, s.Default = "", "", nil
	if s.AdditionalProperties == reflection.FalseSchema {
		s.AdditionalProperties = nil
	}
	shorten(s.Items)
	shorten(s.AdditionalProperties)
	if s.Properties != nil {
		for pair := s.Properties.Oldest(); pair != nil; pair = pair.Next() {
			shorten(pair.Value)
			if plainNames[pair.Key] {
				pair.Value.Description = ""
			}
		}
	}
}

// compile compiles a schema with formats asserted, which JSON Schema leaves open: date-time and date are checked here,
// not in each handler.
func compile(raw json.RawMessage) (*jsonschema.Schema, error) {
	const location = "mem:///schema.json"
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource(location, doc); err != nil {
		return nil, fmt.Errorf("compile: %w", err)
	}
	compiled, err := compiler.Compile(location)
	if err != nil {
		return nil, fmt.Errorf("compile: %w", err)
	}
	return compiled, nil
}

// keywords are the keys a jsonschema tag may have here; the reflector ignores the others silently.
var keywords = map[string]bool{
	"enum": true, "default": true, "example": true, "title": true, "required": true, "nullable": true,
	"minimum": true, "maximum": true, "exclusiveMinimum": true, "exclusiveMaximum": true, "multipleOf": true,
	"minLength": true, "maxLength": true, "pattern": true, "format": true,
	"minItems": true, "maxItems": true, "uniqueItems": true,
}

// checkTags refuses what the reflector would drop or loop over without a word: a misspelt keyword, a
// description in the jsonschema tag (it ends at the first comma), a type that contains itself.
func checkTags(t reflect.Type, above []reflect.Type) error {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Array || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	if slices.Contains(above, t) {
		return fmt.Errorf("%s contains itself", t)
	}
	for field := range t.Fields() {
		tag := field.Tag.Get("jsonschema")
		for part := range strings.SplitSeq(strings.ReplaceAll(tag, `\,`, ""), ",") {
			key, _, _ := strings.Cut(part, "=")
			if part == "" || part == "-" || keywords[key] {
				continue
			}
			return fmt.Errorf("%s.%s: jsonschema tag %q is not known (describe sets descriptions)",
				t, field.Name, key)
		}
		if err := checkTags(field.Type, append(above, t)); err != nil {
			return err
		}
	}
	return nil
}

// checkDefaults makes sure that each default is valid and belongs to an optional field: a required one would never use
// it, and a client would wonder.
func (s *schema) checkDefaults() error {
	var defaults map[string]any
	if err := decode(s.defaults, &defaults); err != nil {
		return fmt.Errorf("decode defaults: %w", err)
	}
	for name, value := range defaults {
		if err := s.compiled.Properties[name].Validate(value); err != nil {
			return fmt.Errorf("the default of %s does not fit its schema: %w", name, err)
		}
	}
	for _, name := range s.compiled.Required {
		if _, ok := defaults[name]; ok {
			return fmt.Errorf("%s has a default and is required", name)
		}
	}
	return nil
}

// requireDescriptions makes sure that each field, at any depth, is described. It is called for arguments only: a model
// has to fill these in, while a result mostly explains itself.
func (s *schema) requireDescriptions() error {
	return describedBelow(s.compiled, "")
}

// describedBelow checks the fields below s, whose place is path.
func describedBelow(s *jsonschema.Schema, path string) error {
	if s.Items2020 != nil {
		return describedBelow(s.Items2020, path+"[]")
	}
	for name, field := range s.Properties {
		if field.Description == "" {
			return fmt.Errorf("field %s has no description; see describe", strings.TrimPrefix(path+"."+name, "."))
		}
		if err := describedBelow(field, path+"."+name); err != nil {
			return err
		}
	}
	return nil
}

// arguments checks the arguments of a call against the schema and returns them ready to be decoded.
// Its errors are faults that name every problem at once, so that a model needs one more attempt and not several.
func (s *schema) arguments(tool string, raw []byte) ([]byte, error) {
	// The validator's own decoder keeps numbers as json.Number, as decode does.
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, fault.New("invalid arguments for %s: they are not JSON", tool)
	}
	if err := s.compiled.Validate(value); err != nil {
		invalid, ok := errors.AsType[*jsonschema.ValidationError](err)
		if !ok {
			return nil, fmt.Errorf("validate arguments: %w", err)
		}
		return nil, s.explain(tool, value, invalid)
	}
	normalized, err := json.Marshal(plainIntegers(value))
	if err != nil {
		return nil, fmt.Errorf("encode arguments: %w", err)
	}
	return normalized, nil
}

// plainIntegers rewrites whole numbers such as 5.0 and 1e2, which JSON Schema takes for integers and
// encoding/json does not, as 5 and 100.
func plainIntegers(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key := range v {
			v[key] = plainIntegers(v[key])
		}
	case []any:
		for i := range v {
			v[i] = plainIntegers(v[i])
		}
	case json.Number:
		if !strings.ContainsAny(v.String(), ".eE") {
			return v
		}
		// A float64 would round integers above 2^53, and 1e308 as an integer would be 309 digits: what does not fit into an
		// int64 stays as it is, and decoding reports it.
		if rat, ok := new(big.Rat).SetString(v.String()); ok && rat.IsInt() && rat.Num().IsInt64() {
			return json.Number(rat.Num().String())
		}
	}
	return value
}

// result returns the JSON of a result after checking it against the schema: a client may refuse a structured result
// that does not match what was announced. The error names the broken rules.
func (s *schema) result(out any) (string, error) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false) // a model reads this
	if err := enc.Encode(out); err != nil {
		return "", fmt.Errorf("encode: %w", err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text.Bytes()))
	if err != nil {
		return "", fmt.Errorf("decode: %w", err)
	}
	if err := s.compiled.Validate(value); err != nil {
		// SECURITY: the validator quotes values; the rule that was broken suffices.
		if invalid, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
			return "", fmt.Errorf("does not fit its schema: %s", strings.Join(rules(invalid), ", "))
		}
		return "", errors.New("does not fit its schema")
	}
	return strings.TrimSuffix(text.String(), "\n"), nil
}
