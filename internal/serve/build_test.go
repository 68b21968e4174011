package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/serve/servetest"
	"github.com/yamo-protocol/yamo-mcp/prompts"
	"github.com/yamo-protocol/yamo-mcp/tools"
)

func deps(t *testing.T, logs *bytes.Buffer) Deps {
	t.Helper()
	return Deps{
		Audience:     audience.DM(),
		Version:      "v0.0.0-test",
		Instructions: "Say words.",
		Logger:       slog.New(slog.NewTextHandler(logs, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Tools:        []tools.Tool{servetest.Say(nil, nil)},
		Options:      []server.ServerOption{server.WithResourceCapabilities(true, false)},
		Resources: func(srv *server.MCPServer) error {
			for uri, handle := range map[string]func() ([]mcp.ResourceContents, error){
				"test://ok":    func() ([]mcp.ResourceContents, error) { return []mcp.ResourceContents{}, nil },
				"test://panic": func() ([]mcp.ResourceContents, error) { panic("canary") },
				"test://error": func() ([]mcp.ResourceContents, error) { return nil, errors.New("canary") },
				"test://fault": func() ([]mcp.ResourceContents, error) { return nil, fault.New("read the other one") },
			} {
				srv.AddResource(
					mcp.NewResource(uri, uri),
					func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
						return handle()
					},
				)
			}
			return nil
		},
		Completions: panics{},
		Prompts: []prompts.Prompt{{
			Name:      "panic",
			Arguments: []prompts.Argument{{Name: "when", Values: func(context.Context) ([]string, error) { panic("canary") }}},
			Render:    func(context.Context, map[string]string) (string, error) { panic("canary") },
		}},
	}
}

// panics completes nothing.
type panics struct{}

func (panics) CompleteResourceArgument(
	context.Context,
	string,
	mcp.CompleteArgument,
	mcp.CompleteContext,
) (*mcp.Completion, error) {
	panic("canary")
}

func build(t *testing.T, d Deps) *server.MCPServer {
	t.Helper()
	srv, err := Build(d)
	if err != nil {
		t.Fatal(err)
	}
	return srv
}

// ask sends one message in process and returns the answer as it would be on the wire.
func ask(t *testing.T, srv *server.MCPServer, method, params string) string {
	t.Helper()
	message := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params)
	answer, err := json.Marshal(srv.HandleMessage(t.Context(), message))
	if err != nil {
		t.Fatal(err)
	}
	return string(answer)
}

func TestNothingInsideReachesTheClient(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, method, params, want string }{
		{
			"tool panic",
			"tools/call",
			`{"name":"say","arguments":{"word":"panic"}}`,
			`"text":"internal error"}],"isError":true`,
		},
		{"resource panic", "resources/read", `{"uri":"test://panic"}`, `"error":{"code":-32603,"message":"internal error"}`},
		{"resource error", "resources/read", `{"uri":"test://error"}`, `"error":{"code":-32603,"message":"internal error"}`},
		{"resource fault", "resources/read", `{"uri":"test://fault"}`, `"message":"read the other one"`},
		{
			"completion panic",
			"completion/complete",
			`{"ref":{"type":"ref/prompt","name":"panic"},"argument":{"name":"when","value":""}}`,
			`"error":{"code":-32603,"message":"internal error"}`,
		},
		{
			"template completion panic",
			"completion/complete",
			`{"ref":{"type":"ref/resource","uri":"test://{x}"},"argument":{"name":"x","value":""}}`,
			`"error":{"code":-32603,"message":"internal error"}`,
		},
		{
			"prompt with a wrong argument", "prompts/get", `{"name":"panic","arguments":{"wen":"now"}}`,
			`"error":{"code":-32602,"message":"wen: unknown argument of the prompt panic; valid arguments: when"}`,
		},
		{"prompt panic", "prompts/get", `{"name":"panic"}`, `"error":{"code":-32603,"message":"internal error"}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var logs bytes.Buffer
			got := ask(t, build(t, deps(t, &logs)), test.method, test.params)
			if !strings.Contains(got, test.want) {
				t.Errorf("got %s, want %s in it", got, test.want)
			}
			if strings.Contains(got, "canary") {
				t.Errorf("the client sees what happened inside: %s", got)
			}
			if strings.Contains(test.name, "panic") &&
				(!strings.Contains(logs.String(), "panic") || strings.Contains(logs.String(), "canary")) {
				t.Errorf("the log tells nothing or too much: %s", logs.String())
			}
		})
	}
}

func TestCallsAreLoggedWithoutTheirContent(t *testing.T) {
	t.Parallel()
	var logs bytes.Buffer
	got := ask(t, build(t, deps(t, &logs)), "tools/call", `{"name":"say","arguments":{"word":"canary"}}`)
	if !strings.Contains(got, "canary") {
		t.Fatalf("the tool did not answer: %s", got)
	}
	if !strings.Contains(logs.String(), "tool=say") || strings.Contains(logs.String(), "canary") {
		t.Errorf("log: %s", logs.String())
	}
}

func TestUninitializedWorkspaceAnswersEveryTool(t *testing.T) {
	t.Parallel()
	var logs bytes.Buffer
	d := deps(t, &logs)
	d.Ready = func(context.Context) error { return fault.New("not initialized: create SOUL.md") }
	srv := build(t, d)
	got := ask(t, srv, "tools/call", `{"name":"say","arguments":{"word":"hi"}}`)
	if !strings.Contains(got, `"text":"not initialized: create SOUL.md"}],"isError":true`) {
		t.Errorf("got %s", got)
	}
	if got := ask(t, srv, "tools/list", `{}`); !strings.Contains(got, `"name":"say"`) {
		t.Errorf("a host cannot list the tools: %s", got)
	}
}

func TestServersOfTwoAudiencesShareNothing(t *testing.T) {
	t.Parallel()
	var logs bytes.Buffer
	dm := build(t, deps(t, &logs))
	group := build(t, Deps{Version: "v0.0.0-test", Logger: slog.New(slog.DiscardHandler)})
	for _, method := range []string{
		"tools/call", "resources/read", "prompts/get", "tools/list", "resources/list",
		"prompts/list",
	} {
		got := ask(t, group, method, `{"name":"say","uri":"test://ok"}`)
		if strings.Contains(got, `"say"`) || strings.Contains(got, `"contents"`) {
			t.Errorf("%s on the group's server: %s", method, got)
		}
	}
	if got := ask(t, dm, "resources/read", `{"uri":"test://ok"}`); !strings.Contains(got, `"contents"`) {
		t.Errorf("the DM's server does not have it either: %s", got)
	}
}

func TestBuildRefuses(t *testing.T) {
	t.Parallel()
	var logs bytes.Buffer
	tests := []struct {
		name   string
		change func(*Deps)
		want   string
	}{
		{"no logger", func(d *Deps) { d.Logger = nil }, "no logger"},
		{"a tool twice", func(d *Deps) { d.Tools = append(d.Tools, d.Tools...) }, "duplicate tool say"},
		{"a prompt twice", func(d *Deps) { d.Prompts = append(d.Prompts, d.Prompts...) }, "duplicate prompt panic"},
		{
			"long instructions",
			func(d *Deps) { d.Instructions = strings.Repeat("é", 2001) },
			"instructions have 2001 characters",
		},
		{
			"no head",
			func(d *Deps) { d.Instructions = strings.Repeat("word ", 120) + "\n\nend" },
			"no paragraph that ends within",
		},
		{
			"resources",
			func(d *Deps) { d.Resources = func(*server.MCPServer) error { return errors.New("no SOUL.md") } },
			"resources: no SOUL.md",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := deps(t, &logs)
			test.change(&d)
			if _, err := Build(d); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestInstructions(t *testing.T) {
	t.Parallel()
	group, err := audience.Group(strings.Repeat("g", 64))
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []audience.Audience{audience.DM(), group} {
		text := Instructions(a, strings.Repeat("a", 64), strings.Repeat("u", 64))
		if err := checkInstructions(text); err != nil {
			t.Errorf("%s: %v (%d characters)", a, err, utf8.RuneCountInString(text))
		}
		head, _, _ := strings.Cut(text, "\n\n")
		for _, name := range []string{"who_am_i", "memory_search", "memory_store", "distill_lesson", "You are aaa"} {
			if !strings.Contains(head, name) {
				t.Errorf("%s: the first paragraph does not mention %s", a, name)
			}
		}
		if got := strings.Contains(head, "uuu"); got != a.IsDM() {
			t.Errorf("%s: the user is named: %t", a, got)
		}
	}
}

// The time from building a server to its answer to initialize is part of a promise to users.
func BenchmarkBuildAndInitialize(b *testing.B) {
	for b.Loop() {
		srv, err := Build(Deps{
			Version:      "v",
			Logger:       slog.New(slog.DiscardHandler),
			Tools:        []tools.Tool{servetest.Say(nil, nil)},
			Instructions: dmInstructions,
		})
		if err != nil {
			b.Fatal(err)
		}
		message := []byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`)
		if srv.HandleMessage(b.Context(), message) == nil {
			b.Fatal("no answer")
		}
	}
}
