package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"

	"gotest.tools/v3/golden"
)

// The tool that the tests define has every kind of field.
type (
	sampleIn struct {
		Query    string         `json:"query" jsonschema:"minLength=1,maxLength=20"`
		Limit    int            `json:"limit,omitempty" jsonschema:"minimum=1,maximum=50,default=10"`
		Format   string         `json:"format,omitempty" jsonschema:"enum=concise,enum=detailed,default=concise"`
		Weight   float64        `json:"weight,omitempty" jsonschema:"minimum=0,maximum=1"`
		Tags     []string       `json:"tags,omitempty" jsonschema:"maxItems=3,uniqueItems=true,maxLength=8"`
		Lessons  bool           `json:"lessons,omitempty" jsonschema:"default=true"`
		Since    string         `json:"since,omitempty" jsonschema:"format=date-time"`
		Day      string         `json:"day,omitempty" jsonschema:"format=date"`
		Session  string         `json:"session,omitempty" jsonschema:"pattern=^s[0-9]+$"`
		Range    *sampleRange   `json:"range,omitempty"`
		Metadata map[string]any `json:"metadata,omitempty"`
	}
	sampleRange struct {
		From int `json:"from" jsonschema:"minimum=0"`
		To   int `json:"to,omitempty"`
	}
	sampleOut struct {
		In    sampleIn  `json:"in"`
		Notes []string  `json:"notes"`
		At    time.Time `json:"at"`
	}
)

func (sampleIn) JSONSchemaExtend(s *jsonSchema) {
	describe(s, map[string]string{
		"query":    "What to look for, in words.",
		"limit":    "How many.",
		"format":   "How much of each.",
		"weight":   "From 0 to 1.",
		"tags":     "Labels.",
		"lessons":  "Lessons too.",
		"since":    "Not before.",
		"day":      "On this day.",
		"session":  "In this session.",
		"range":    "A nested object, with a comma.",
		"metadata": "Anything.",
	})
}

func (sampleRange) JSONSchemaExtend(s *jsonSchema) {
	describe(s, map[string]string{"from": "First.", "to": "Last."})
}

var sampleSpec = Spec{
	Name: "sample", Title: "Sample", Description: "A tool for tests.", ReadOnly: true,
	Idempotent: true,
}

func sample(handle func(context.Context, sampleIn) (sampleOut, error)) Tool {
	return Define(sampleSpec, handle)
}

func echo(_ context.Context, in sampleIn) (sampleOut, error) {
	return sampleOut{In: in, Notes: []string{}, At: time.Date(2026, 1, 31, 9, 30, 0, 0, time.UTC)}, nil
}

// call calls the tool the way the server does, with arguments as they come off the wire.
func call(t *testing.T, tool Tool, env Env, arguments string) *mcp.CallToolResult {
	t.Helper()
	var request mcp.CallToolRequest
	if err := json.Unmarshal(fmt.Appendf(nil, `{"params":{"name":"sample","arguments":%s}}`, arguments),
		&request); err != nil {
		t.Fatal(err)
	}
	result, err := tool.Server(env).Handler(t.Context(), request)
	if err != nil {
		t.Fatalf("the handler returned an error, which mcp-go would show: %v", err)
	}
	return result
}

func resultText(t *testing.T, result *mcp.CallToolResult) string {
	t.Helper()
	if len(result.Content) != 1 {
		t.Fatalf("got %d content parts, want 1", len(result.Content))
	}
	content, ok := result.Content[0].(mcp.TextContent)
	if !ok {
		t.Fatalf("got %T, want text", result.Content[0])
	}
	return content.Text
}

func quiet() Env { return Env{Logger: slog.New(slog.DiscardHandler)} }

func TestStructuredContentEqualsText(t *testing.T) {
	t.Parallel()
	result := call(t, sample(echo), quiet(), `{"query":"<a> & b"}`)
	wire, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		StructuredContent any
		Content           []struct{ Text string }
	}
	if err := json.Unmarshal(wire, &got); err != nil {
		t.Fatal(err)
	}
	var fromText any
	if err := json.Unmarshal([]byte(got.Content[0].Text), &fromText); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got.StructuredContent, fromText); diff != "" {
		t.Errorf("structured content and text differ:\n%s", diff)
	}
	if !strings.Contains(got.Content[0].Text, "<a> & b") {
		t.Errorf("the text is escaped for HTML: %s", got.Content[0].Text)
	}
}

func TestDefinitionGolden(t *testing.T) {
	t.Parallel()
	got, err := json.MarshalIndent(sample(echo).Definition(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	golden.Assert(t, string(got), "define_sample.json")
}

func TestDefineRefuses(t *testing.T) {
	t.Parallel()
	type described struct {
		A string `json:"a" jsonschema_description:"A."`
	}
	type undescribed struct {
		A []struct {
			B string `json:"b"`
		} `json:"a" jsonschema_description:"A."`
	}
	type commaTrap struct {
		A string `json:"a" jsonschema:"description=One, two"`
	}
	type misspelt struct {
		A int `json:"a" jsonschema:"min=1" jsonschema_description:"A."`
	}
	type badPattern struct {
		A string `json:"a" jsonschema:"pattern=([" jsonschema_description:"A."`
	}
	type badDefault struct {
		A int `json:"a,omitempty" jsonschema:"minimum=1,default=0" jsonschema_description:"A."`
	}
	type requiredDefault struct {
		A int `json:"a" jsonschema:"default=1" jsonschema_description:"A."`
	}
	type recursive struct {
		A *recursive `json:"a,omitempty" jsonschema_description:"A."`
	}
	ok := Spec{Name: "ok", Title: "T", Description: "D"}
	tests := []struct {
		name   string
		define func() (Tool, error)
		want   string
	}{
		{"name", defining[described](Spec{Name: "Not OK", Title: "T", Description: "D"}), "the name does not match"},
		{"title", defining[described](Spec{Name: "ok", Description: "D"}), "title and description are required"},
		{
			"hints", defining[described](Spec{Name: "ok", Title: "T", Description: "D", ReadOnly: true, Destructive: true}),
			"a read-only tool is not destructive",
		},
		{"input that is no struct", defining[string](ok), "string is not a struct"},
		{"no description", defining[undescribed](ok), "field a[].b has no description"},
		{
			"description cut at a comma", defining[commaTrap](ok),
			`tag "description" is not known (describe sets descriptions)`,
		},
		{"misspelt keyword", defining[misspelt](ok), `tag "min" is not known`},
		{"pattern", defining[badPattern](ok), "compile: "},
		{"default out of range", defining[badDefault](ok), "the default of a does not fit its schema"},
		{"default of a required field", defining[requiredDefault](ok), "a has a default and is required"},
		{"recursion", defining[recursive](ok), "contains itself"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := test.define()
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
	defer func() {
		if r := recover(); r == nil || !strings.Contains(fmt.Sprint(r), `tools: define "Not OK"`) {
			t.Errorf("Define panicked with %v", r)
		}
	}()
	Define(Spec{Name: "Not OK"}, func(context.Context, described) (described, error) { return described{}, nil })
}

// misdescribed describes a property that it does not have.
type misdescribed struct {
	A string `json:"a"`
}

func (misdescribed) JSONSchemaExtend(s *jsonSchema) {
	describe(s, map[string]string{"a": "A.", "b": "B."})
}

func TestDefineRefusesStrayDescriptions(t *testing.T) {
	t.Parallel()
	want := `a description of "b", which is no property of the struct`
	defer func() {
		if r := recover(); r == nil || !strings.Contains(fmt.Sprint(r), want) {
			t.Errorf("Define panicked with %v, want %q", r, want)
		}
	}()
	spec := Spec{Name: "ok", Title: "T", Description: "D"}
	Define(spec, func(context.Context, misdescribed) (sampleRange, error) { return sampleRange{}, nil })
}

func defining[In any](spec Spec) func() (Tool, error) {
	return func() (Tool, error) {
		return define(spec, func(context.Context, In) (sampleRange, error) { return sampleRange{}, nil })
	}
}
