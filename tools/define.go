// Package tools offers the memory and the workspace as MCP tools, one file a tool.
//
// A tool is a Spec and a function from one struct to another. Define derives both JSON schemas from
// the structs, checks them, and gives every tool the same behaviour: strict arguments with answers a
// model can act on, structured results with the same as text (lists as lines), faults told and other errors hidden.
//
// The invariant: what is not a fault never reaches the client, and neither arguments nor results
// reach the log.
package tools

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"

	reflection "github.com/invopop/jsonschema"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/yamo-protocol/yamo-mcp/mesh"
)

// Spec describes a tool. The four hints go to the client as they are, the false ones too.
type Spec struct {
	Name        string // 1 to 64 of a-z, 0-9 and _
	Title       string // for people
	Description string // for models: what it does, when to use it, what comes back

	ReadOnly    bool // changes nothing
	Destructive bool // may remove or replace what is there
	Idempotent  bool // the same call again changes nothing more
	OpenWorld   bool // reaches beyond this machine

	// Refuse, if it is not nil, is asked about arguments that the schema refuses, before that is said: an error
	// (a fault) is the reason why it is not done at all. args is what came, of any form.
	Refuse func(args map[string]any) error
}

// Tool is a checked definition, made by Define.
type Tool struct {
	spec          Spec
	input, output *schema
	call          func(ctx context.Context, args []byte) (any, error)
}

// Env is what the tools of one server share.
type Env struct {
	// Logger receives internal errors and panics, and a line at debug level for each call. Required.
	Logger *slog.Logger
	// Ready is asked before each call, before its arguments are looked at: an error (a fault, as a
	// rule) is the answer, as it is for a workspace that has not been initialized. Nil: always ready.
	Ready func(context.Context) error
	// Projects finds the project of a session. Nil: sessions have none.
	Projects *Projects
}

var toolName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// Define returns the tool that spec describes and handle performs.
//
// The schemas are those of In and Out: json tags name the fields and, with omitempty or omitzero, make
// them optional; a JSONSchemaExtend method that calls describe gives their descriptions (required of
// every field of In); `jsonschema:"…"` takes enum=, minimum=, maximum=, minLength=, maxLength=, pattern=, format=,
// minItems=, maxItems=, uniqueItems= and default=. Unknown fields are refused at every level.
//
// handle gets arguments that satisfy the schema, with the schema's defaults for the optional
// fields of In that were left out; a number in an `any` is a json.Number. Its result must satisfy
// Out's schema, which a nil slice (null) does not. It may ask the client (see caller), report progress
// and be cancelled: ctx is done when the client cancels the call.
//
// Define panics if the definition is at fault: a wrong name, a missing description, a schema that does
// not compile, a default that its own schema refuses.
func Define[In, Out any](spec Spec, handle func(context.Context, In) (Out, error)) Tool {
	tool, err := define(spec, handle)
	if err != nil {
		panic(fmt.Sprintf("tools: define %q: %v", spec.Name, err))
	}
	return tool
}

// define is Define, with the mistakes of the definition as errors.
func define[In, Out any](spec Spec, handle func(context.Context, In) (Out, error)) (Tool, error) {
	switch {
	case !toolName.MatchString(spec.Name):
		return Tool{}, fmt.Errorf("the name does not match %s", toolName)
	case spec.Title == "" || spec.Description == "":
		return Tool{}, errors.New("title and description are required")
	case spec.ReadOnly && spec.Destructive:
		return Tool{}, errors.New("a read-only tool is not destructive")
	}
	input, err := schemaOf[In]()
	if err != nil {
		return Tool{}, fmt.Errorf("input schema: %w", err)
	}
	if err := input.requireDescriptions(); err != nil {
		return Tool{}, fmt.Errorf("input schema: %w", err)
	}
	// The defaults are decoded once here, so that a default of the wrong Go type fails at start and not in a call.
	var defaults In
	if err := decode(input.defaults, &defaults); err != nil {
		return Tool{}, fmt.Errorf("input schema: defaults: %w", err)
	}
	output, err := schemaOf[Out]()
	if err != nil {
		return Tool{}, fmt.Errorf("output schema: %w", err)
	}
	call := func(ctx context.Context, args []byte) (any, error) {
		var in In
		// Defaults first, so that the arguments overwrite them; each call needs its own value, because handlers may change
		// it.
		if err := decode(input.defaults, &in); err != nil {
			return nil, fmt.Errorf("decode defaults: %w", err)
		}
		if err := decode(args, &in); err != nil {
			return nil, fmt.Errorf("decode arguments: %w", err)
		}
		return handle(ctx, in)
	}
	return Tool{spec: spec, input: input, output: output, call: call}, nil
}

// jsonSchema is the schema that a struct's JSONSchemaExtend method completes: the reflector calls it with the schema of
// the struct. An embedded struct's method is promoted as any other; a struct with its own must call it.
type jsonSchema = reflection.Schema

// describe sets the descriptions of a struct's properties, by their JSON names. They are not in the struct's tags
// because a tag cannot be wrapped. A name that is no property panics, and so stops the
// program at start: a description that no model sees is a mistake.
func describe(s *jsonSchema, descriptions map[string]string) {
	for name, description := range descriptions {
		property(s, name).Description = description
	}
}

// enumerate sets the values that a string property takes, for lists that are too long for a tag.
func enumerate[T ~string](s *jsonSchema, name string, values ...T) {
	p := property(s, name)
	for _, value := range values {
		p.Enum = append(p.Enum, string(value))
	}
}

// property returns the schema of the property called name, and panics if it has none.
func property(s *jsonSchema, name string) *jsonSchema {
	p, ok := s.Properties.Get(name)
	if !ok {
		panic(fmt.Sprintf("tools: a description of %q, which is no property of the struct", name))
	}
	return p
}

// After returns the tool with a check before each call, whose error becomes the result.
func (t Tool) After(check func() error) Tool {
	call := t.call
	t.call = func(ctx context.Context, args []byte) (any, error) {
		if err := check(); err != nil {
			return nil, err
		}
		return call(ctx, args)
	}
	return t
}

// Name returns the tool's name, by which operators and audiences choose tools.
func (t Tool) Name() string { return t.spec.Name }

// Definition returns what a client sees in tools/list. All four hints are given, because the default of a missing
// destructiveHint is true, and hosts ask their person before such a call.
func (t Tool) Definition() mcp.Tool { return t.definition(t.input.listed, t.output.listed) }

// Contract returns the definition with the complete schemas, which calls and results are checked against.
func (t Tool) Contract() mcp.Tool { return t.definition(t.input.raw, t.output.raw) }

// definition returns the tool as it is listed. All hints are set, because the protocol's defaults assume the worst.
func (t Tool) definition(input, output json.RawMessage) mcp.Tool {
	return mcp.Tool{
		Name:            t.spec.Name,
		Title:           t.spec.Title,
		Description:     t.spec.Description,
		RawInputSchema:  input,
		RawOutputSchema: output,
		Annotations: mcp.ToolAnnotation{
			Title:           t.spec.Title,
			ReadOnlyHint:    new(t.spec.ReadOnly),
			DestructiveHint: new(t.spec.Destructive),
			IdempotentHint:  new(t.spec.Idempotent),
			OpenWorldHint:   new(t.spec.OpenWorld),
		},
	}
}

// Server returns the tool as mcp-go registers it. Its handler never returns an error: what goes wrong is a result with
// isError, so that the model sees it and can act on it. A protocol error would be shown to a person at most. Progress
// that the handler reports has left before the result does.
func (t Tool) Server(env Env) server.ServerTool {
	return server.ServerTool{
		Tool: t.Definition(),
		Handler: func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			ctx = withCaller(ctx, request)
			if c := callerOf(ctx); env.Projects != nil {
				asking := ctx
				ctx = mesh.WithProject(ctx, func() string { return env.Projects.project(asking, c) })
			}
			// The caller is set before Guard, so that a handler can report progress and ask; sent must run before the result
			// is returned, or the last notification arrives after it.
			ctx, sent := callerOf(ctx).reporter(ctx)
			result, err := Guard(ctx, env.Logger, t.spec.Name, func() (*mcp.CallToolResult, error) {
				return t.run(ctx, env, request)
			})
			sent()
			if err != nil {
				return mcp.NewToolResultError(elide(err.Error(), maxRefusal)), nil
			}
			return result, nil
		},
	}
}

// linker is a result that leads to resources: hosts that know resource links can offer them, and every host finds the
// same URIs in the result.
type linker interface {
	resourceLinks() []mcp.ResourceLink
}

const (
	// linksSince is the first protocol revision with resource links; clients of an older one may refuse them.
	linksSince = "2025-06-18"
	// maxLinks is the maximum number of links in a result: hosts show each as an attachment.
	maxLinks = 20
)

// run performs one call: it asks Ready, checks the arguments, calls the handler and checks its result. The error goes
// through Guard, so only faults reach the client. A question to the client ends the call with a result that has it.
func (t Tool) run(ctx context.Context, env Env, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	// Before the arguments: a model that is told to run the first boot must not correct arguments first.
	if env.Ready != nil {
		if err := env.Ready(ctx); err != nil {
			return nil, err
		}
	}
	raw, err := rawArguments(request)
	if err != nil {
		return nil, err
	}
	args, err := t.input.arguments(t.spec.Name, raw)
	if err != nil {
		return nil, t.refusal(raw, err)
	}
	out, err := t.call(withCallID(ctx, request), args)
	// Not an error to the client: it answers the question and calls again.
	if question, ok := errors.AsType[*inputRequired](err); ok {
		return question.result, nil
	}
	if err != nil {
		return nil, err
	}
	text, err := t.output.result(out)
	if err != nil {
		return nil, fmt.Errorf("result: %w", err)
	}
	// Both forms: hosts that know no structure show the text, others one or both. JSON, unless lines are shorter.
	if list, ok := out.(liner); ok {
		text = cmp.Or(list.lines(), text)
	}
	result := mcp.NewToolResultText(text)
	result.StructuredContent = out
	if linked, ok := out.(linker); ok && server.RequestProtocolVersion(ctx) >= linksSince {
		for _, link := range linked.resourceLinks() {
			result.Content = append(result.Content, link)
		}
	}
	return result, nil
}

// refusal returns the error for arguments that the schema refuses: the tool's own, if Refuse has one, because a rule
// ("SOUL.md is not edited") explains more than a missing field; else invalid.
func (t Tool) refusal(raw []byte, invalid error) error {
	var args map[string]any
	if t.spec.Refuse == nil || decode(raw, &args) != nil {
		return invalid
	}
	if err := t.spec.Refuse(args); err != nil {
		return err
	}
	return invalid
}

// rawArguments returns the JSON of a call's arguments. Some clients leave out an empty object or send null; both are
// taken for {}.
func rawArguments(request mcp.CallToolRequest) ([]byte, error) {
	raw, ok := request.GetRawArguments().(json.RawMessage)
	if !ok {
		var err error
		if raw, err = json.Marshal(request.GetRawArguments()); err != nil {
			return nil, fmt.Errorf("encode arguments: %w", err)
		}
	}
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || string(raw) == "null" {
		return []byte("{}"), nil
	}
	return raw, nil
}

// decode decodes one JSON value, with numbers in an `any` kept as json.Number: metadata may contain integers that a
// float64 would round.
func decode(data []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	return dec.Decode(v)
}
