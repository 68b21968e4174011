package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"
)

func TestInvalidArguments(t *testing.T) {
	t.Parallel()
	const fields = "query, limit, format, weight, tags, lessons, since, day, session, range, metadata"
	tests := []struct{ name, arguments, want string }{
		{"missing", `{}`, "query is required: a string of 1 to 20 characters"},
		{"no arguments at all", `null`, "query is required: a string of 1 to 20 characters"},
		{"unknown", `{"query":"a","qurey":"b"}`, `unknown field "qurey" (valid fields: ` + fields + `)`},
		{"case matters", `{"query":"a","Limit":3}`, `unknown field "Limit" (valid fields: ` + fields + `)`},
		{"long unknown name is cut", `{"query":"a","` + strings.Repeat("é", 90) + `":1}`, `unknown field "` +
			strings.Repeat("é", 64) + `…" (valid fields: ` + fields + `)`},
		{"wrong type", `{"query":7}`, "query must be a string of 1 to 20 characters, got 7"},
		{
			"string for a number", `{"query":"a","limit":"ten thousand secrets"}`,
			"limit must be an integer from 1 to 50, got a string",
		},
		{"fraction", `{"query":"a","limit":2.5}`, "limit must be an integer from 1 to 50, got 2.5"},
		{"too small", `{"query":"a","limit":0}`, "limit must be an integer from 1 to 50, got 0"},
		{"too large", `{"query":"a","limit":51}`, "limit must be an integer from 1 to 50, got 51"},
		{
			"null for an optional field", `{"query":"a","limit":null}`,
			"limit must be an integer from 1 to 50, got null (leave it out instead)",
		},
		{"null for a required field", `{"query":null}`, "query must be a string of 1 to 20 characters, got null"},
		{"not in enum", `{"query":"a","format":"full"}`, `format must be one of concise, detailed, got "full"`},
		{
			"not in enum and not a word", `{"query":"a","format":"my password is"}`,
			"format must be one of concise, detailed, got a string",
		},
		{
			"not in enum and long", `{"query":"a","format":"` + strings.Repeat("x", 33) + `"}`,
			"format must be one of concise, detailed, got a string",
		},
		{"empty", `{"query":""}`, "query must be a string of 1 to 20 characters, got an empty one"},
		{
			"too long counts characters", `{"query":"` + strings.Repeat("é", 21) + `"}`,
			"query must be a string of 1 to 20 characters, got 21 characters",
		},
		{"weight", `{"query":"a","weight":1.5}`, "weight must be a number from 0 to 1, got 1.5"},
		{"boolean", `{"query":"a","lessons":"yes"}`, "lessons must be true or false, got a string"},
		{
			"too many items", `{"query":"a","tags":["a","b","c","d"]}`,
			"tags must be an array of at most 3 items without duplicates, got 4 items",
		},
		{
			"duplicates", `{"query":"a","tags":["a","b","a"]}`,
			"tags must be an array of at most 3 items without duplicates, got the same at 0 and 2",
		},
		{"item", `{"query":"a","tags":["a",{}]}`, "tags[1] must be a string of at most 8 characters, got an object"},
		{
			"item too long", `{"query":"a","tags":["123456789"]}`,
			"tags[0] must be a string of at most 8 characters, got 9 characters",
		},
		{
			"date-time", `{"query":"a","since":"yesterday"}`,
			"since must be a date and time such as 2026-01-31T09:30:00Z, got another string",
		},
		{"date", `{"query":"a","day":"2026-02-30"}`, "day must be a date such as 2026-01-31, got another string"},
		{"pattern", `{"query":"a","session":"x"}`, "session must be a string that matches ^s[0-9]+$, got another string"},
		{"nested type", `{"query":"a","range":3}`, "range must be an object, got 3"},
		{"nested missing", `{"query":"a","range":{}}`, "range.from is required: an integer of at least 0"},
		{
			"nested unknown", `{"query":"a","range":{"from":1,"till":2}}`,
			`unknown field "till" in range (valid fields: from, to)`,
		},
		{"not an object", `[1,2]`, "arguments must be an object, got an array"},
		{
			"many unknown", `{"query":"a","b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1,"k":1,"l":1}`,
			`unknown field "b", "c", "d", "e", "f", "g", "h", "i", "j", "k" and 1 more (valid fields: ` + fields + `)`,
		},
		{
			"several in the fields' order", `{"zeta":1,"limit":99,"alpha":2,"format":"x"}`,
			`query is required: a string of 1 to 20 characters; limit must be an integer from 1 to 50, got 99; ` +
				`format must be one of concise, detailed, got "x"; unknown field "alpha", "zeta" (valid fields: ` + fields + `)`,
		},
	}
	tool := sample(func(context.Context, sampleIn) (sampleOut, error) {
		t.Error("the tool was called with invalid arguments")
		return sampleOut{}, nil
	})
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			result := call(t, tool, quiet(), test.arguments)
			if !result.IsError {
				t.Error("isError is not set")
			}
			want := "invalid arguments for sample: " + test.want + ". Correct this and call again."
			if diff := cmp.Diff(want, resultText(t, result)); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
		})
	}
}

func TestToolWithoutFieldsNamesNone(t *testing.T) {
	t.Parallel()
	tool := Define(Spec{Name: "bare", Title: "Bare", Description: "Takes nothing."},
		func(context.Context, struct{}) (sampleRange, error) { return sampleRange{From: 1}, nil })
	got := resultText(t, call(t, tool, quiet(), `{"x":1}`))
	want := `invalid arguments for bare: unknown field "x" (there are no fields). Correct this and call again.`
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if result := call(t, tool, quiet(), `{}`); result.IsError {
		t.Errorf("no arguments were refused: %s", resultText(t, result))
	}
}

func TestArgumentsReachTheHandler(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, arguments string
		want            sampleIn
	}{
		{"defaults", `{"query":"a"}`, sampleIn{Query: "a", Limit: 10, Format: "concise", Lessons: true}},
		{
			"explicit values win over defaults", `{"query":"a","limit":3,"format":"detailed","lessons":false}`,
			sampleIn{Query: "a", Limit: 3, Format: "detailed"},
		},
		{
			"whole numbers in any notation", `{"query":"a","limit":2e1,"range":{"from":5.0}}`,
			sampleIn{Query: "a", Limit: 20, Format: "concise", Lessons: true, Range: &sampleRange{From: 5}},
		},
		{
			"limits in characters, not bytes", `{"query":"éééééééééééééééééééé"}`,
			sampleIn{Query: strings.Repeat("é", 20), Limit: 10, Format: "concise", Lessons: true},
		},
		{
			"large numbers stay exact", `{"query":"a","metadata":{"n":9007199254740993}}`,
			sampleIn{
				Query: "a", Limit: 10, Format: "concise", Lessons: true,
				Metadata: map[string]any{"n": json.Number("9007199254740993")},
			},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got sampleIn
			tool := sample(func(ctx context.Context, in sampleIn) (sampleOut, error) {
				got = in
				return echo(ctx, in)
			})
			if result := call(t, tool, quiet(), test.arguments); result.IsError {
				t.Fatalf("refused: %s", resultText(t, result))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("input (-want +got):\n%s", diff)
			}
		})
	}
}

// Calls made inside the process carry arguments that were never JSON.
func TestArgumentsFromGo(t *testing.T) {
	t.Parallel()
	var request mcp.CallToolRequest
	request.Params.Arguments = map[string]any{"query": "a", "limit": 4}
	result, err := sample(echo).Server(quiet()).Handler(t.Context(), request)
	if err != nil || result.IsError {
		t.Fatalf("got %+v, %v", result, err)
	}
	if got := result.StructuredContent.(sampleOut).In.Limit; got != 4 {
		t.Errorf("limit is %d, want 4", got)
	}
}

// FuzzArguments looks for arguments that break the explanation or pass the schema and not the decoder.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{
		`{"query":"a"}`, `{}`, `[]`, `null`, `{"query":"a","limit":1e2}`, `{"query":"a","tags":["a","a",1,null]}`,
		`{"query":"a","limit":1e308}`,
		`{"query":"a","range":{"from":-1,"x":{}}}`, `{"query":"\ud800","":0}`,
		`{"query":"a","limit":50.000000000000000000000001}`,
	} {
		f.Add(seed)
	}
	tool := sample(echo)
	f.Fuzz(func(t *testing.T, arguments string) {
		var request mcp.CallToolRequest
		if json.Unmarshal(fmt.Appendf(nil, `{"params":{"name":"sample","arguments":%s}}`, arguments), &request) != nil {
			return // refused before any tool sees it
		}
		result, err := tool.Server(quiet()).Handler(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		if got := resultText(t, result); got == "internal error" {
			t.Errorf("arguments %s: internal error", arguments)
		}
	})
}
