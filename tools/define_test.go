package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"

	"gotest.tools/v3/golden"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
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

func TestWhatTheClientAndTheLogHearOfErrors(t *testing.T) {
	t.Parallel()
	const secret = "canary-7f3a"
	tests := []struct {
		name      string
		handle    func(context.Context, sampleIn) (sampleOut, error)
		ready     func(context.Context) error
		want      string
		wantInLog string
	}{
		{
			name: "fault",
			handle: func(context.Context, sampleIn) (sampleOut, error) {
				return sampleOut{}, fault.New("no memory %q", "m1")
			},
			want: `no memory "m1"`,
		},
		{
			name: "wrapped fault keeps only its own text",
			handle: func(context.Context, sampleIn) (sampleOut, error) {
				return sampleOut{}, fmt.Errorf("open /home/%s: %w", secret, fault.New("try later"))
			},
			want: "try later",
		},
		{
			name:      "internal",
			handle:    func(context.Context, sampleIn) (sampleOut, error) { return sampleOut{}, errors.New("disk on fire") },
			want:      "internal error",
			wantInLog: "disk on fire",
		},
		{
			name: "the folders of a file error stay out of the log",
			handle: func(context.Context, sampleIn) (sampleOut, error) {
				return sampleOut{}, fmt.Errorf("read: %w",
					&fs.PathError{Op: "open", Path: "/home/" + secret + "/ledger.ndjson", Err: fs.ErrPermission})
			},
			want:      "internal error",
			wantInLog: "read: open ledger.ndjson: permission denied",
		},
		{
			name: "a read-only disk",
			handle: func(context.Context, sampleIn) (sampleOut, error) {
				return sampleOut{}, &fs.PathError{Op: "write", Path: "workspace", Err: syscall.EROFS}
			},
			want:      "nothing was written: the workspace is read-only. Ask its owner to change that; reading still works",
			wantInLog: "read-only file system",
		},
		{
			name: "a full disk",
			handle: func(context.Context, sampleIn) (sampleOut, error) {
				return sampleOut{}, fmt.Errorf("append: %w", syscall.ENOSPC)
			},
			want: "nothing was written: the disk is full or over quota. " +
				"Ask the workspace owner to free space, then try again",
			wantInLog: "append: no space left on device",
		},
		{
			name: "a file that the program may not open",
			handle: func(context.Context, sampleIn) (sampleOut, error) {
				return sampleOut{}, fmt.Errorf("open: %w", syscall.EACCES)
			},
			want: "the system denies access to a file or folder of the workspace. " +
				"Ask the workspace owner to correct its owner or mode; " +
				"the server's log names it",
			wantInLog: "open: permission denied",
		},
		{
			name:      "panic with content",
			handle:    func(context.Context, sampleIn) (sampleOut, error) { panic(secret) },
			want:      "internal error",
			wantInLog: "panic with a string",
		},
		{
			name: "runtime panic",
			handle: func(_ context.Context, in sampleIn) (sampleOut, error) {
				return sampleOut{Notes: in.Tags[3:]}, nil
			},
			want:      "internal error",
			wantInLog: "slice bounds out of range",
		},
		{
			name: "result that breaks its schema",
			handle: func(context.Context, sampleIn) (sampleOut, error) {
				return sampleOut{Notes: nil, In: sampleIn{Query: secret, Metadata: map[string]any{secret: 1}}}, nil
			},
			want:      "internal error",
			wantInLog: "/properties/notes/type",
		},
		{
			name:   "not ready comes before the arguments",
			handle: echo,
			ready:  func(context.Context) error { return fault.New("run bootstrap first") },
			want:   "run bootstrap first",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var log bytes.Buffer
			env := Env{
				Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
				Ready:  test.ready,
			}
			arguments := `{"query":"` + secret + `"}`
			if test.ready != nil {
				arguments = `{"nonsense":1}`
			}
			result := call(t, sample(test.handle), env, arguments)
			if !result.IsError {
				t.Error("isError is not set")
			}
			if got := resultText(t, result); got != test.want {
				t.Errorf("the client hears %q, want %q", got, test.want)
			}
			if !strings.Contains(log.String(), test.wantInLog) || (test.wantInLog == "") != (log.Len() == 0) {
				t.Errorf("the log is %q, want %q in it", log.String(), test.wantInLog)
			}
			if strings.Contains(log.String(), secret) {
				t.Errorf("content reached the log: %s", log.String())
			}
		})
	}
}

func TestCancelledCallIsNotAnInternalError(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	tool := sample(func(ctx context.Context, _ sampleIn) (sampleOut, error) {
		cancel()
		return sampleOut{}, fmt.Errorf("search: %w", ctx.Err())
	})
	var request mcp.CallToolRequest
	request.Params.Arguments = map[string]any{"query": "a"}
	result, err := tool.Server(Env{Logger: slog.New(slog.NewTextHandler(&log, nil))}).Handler(ctx, request)
	if err != nil {
		t.Fatal(err)
	}
	if got := resultText(t, result); got != "the call was cancelled" || log.Len() != 0 {
		t.Errorf("got %q, log %q", got, log.String())
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
