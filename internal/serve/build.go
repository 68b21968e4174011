// Package serve builds the MCP server of one audience, and serves those of all audiences over HTTP.
//
// Invariant: a server is built for exactly one audience and contains only what that audience may see.
// Nothing is filtered later, because mcp-go's filters do not cover resources and its errors distinguish
// hidden things from absent ones. Internal errors stay inside: clients get faults and "internal error", the
// log gets the details.
//
// # Workarounds for mcp-go
//
// Much of this package works around what mcp-go (v1.2.1) does. To see whether a workaround can go, remove it
// and run the test.
//
//   - It sends a notification to any open stream of the session, so a call's progress can end up elsewhere.
//     Here each POST is a session of its own to mcp-go: streamable.go, events.go, TestProgressStaysWithItsCall.
//     Handlers see the client's session instead: callSession, TestHandlersSeeTheClientsSession.
//   - It drops notifications that are still queued when the response is sent: outbox.go,
//     TestTrailingProgressArrives.
//   - Its event store keeps every event for ever: events.go, TestLostStreamIsResumed.
//   - Its session managers accept IDs that were never issued, or were issued to another client; a GET creates a
//     session: sessions.go, TestStreamsNeedASession.
//   - The SSE handler cannot cancel a call when its client goes: sse.go, TestPanicsEndOneCall.
//   - It cancels the requests of any modern client by an ID that clients choose: streamable.go, post.
//   - It allows every web page to read event streams: recorder.go, TestStreamsAreNotForEveryPage.
//   - It sends keep-alives only on streams of a GET: recorder.go, TestPostsAreKeptAlive.
//   - It sends no response when the context of a call ends: streamable.go, post.
//   - It has no recovery for prompts and completions, and its recoveries send the panic's value: build.go,
//     TestNothingInsideReachesTheClient.
//   - It answers a prompt's wrong argument with the code of an internal error: invalidParams in build.go,
//     TestNothingInsideReachesTheClient.
//   - It logs session IDs and errors that quote contents: terse in site.go.
package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
	"unsafe"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/yamo-protocol/yamo-mcp/internal/app"
	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/prompts"
	"github.com/yamo-protocol/yamo-mcp/tools"
)

// Name is the server's name in the MCP handshake and in HTTP challenges.
const Name = "yamo-mcp"

// Deps are the parts of one audience's server. The caller selects them for Audience; Build registers all of
// them.
type Deps struct {
	Audience     audience.Audience
	Version      string
	Instructions string // see Instructions; at most 2,000 characters, with a paragraph end in the first 512
	Logger       *slog.Logger

	Tools []tools.Tool
	// AppTools are called by the page that hosts with MCP Apps show (package app). Others do not have them.
	AppTools []tools.Tool
	// Ready is called before each tool call; its error becomes the result. Nil means always ready.
	Ready func(context.Context) error
	// Projects finds the project of a session. Nil: sessions have none.
	Projects *tools.Projects

	Prompts []prompts.Prompt

	// Resources registers the resources on the server, which has hooks. It may be nil.
	Resources func(*server.MCPServer) error
	// Completions completes arguments of resource templates. It may be nil.
	Completions server.ResourceCompletionProvider

	// Options are applied last, such as subscriptions.
	Options []server.ServerOption
}

// Build returns the server of one audience. It fails if the logger is missing, the instructions are too long
// for hosts, or two tools or prompts have the same name.
func Build(d Deps) (*server.MCPServer, error) {
	if d.Logger == nil {
		return nil, errors.New("build server: no logger")
	}
	if err := checkInstructions(d.Instructions); err != nil {
		return nil, fmt.Errorf("build server: %w", err)
	}
	opts := options(d)
	if d.Completions != nil {
		opts = append(opts, server.WithResourceCompletionProvider(resourceCompletions{d.Completions, d.Logger}))
	}
	srv := server.NewMCPServer(Name, d.Version, append(opts, d.Options...)...)

	env := tools.Env{Logger: d.Logger, Ready: d.Ready, Projects: d.Projects}
	if d.Projects != nil {
		d.Projects.Follow(srv)
	}
	seen := map[string]bool{}
	for _, tool := range slices.Concat(d.Tools, d.AppTools) {
		// SECURITY: AddTool would silently replace a tool of the same name.
		if seen[tool.Name()] {
			return nil, fmt.Errorf("build server: duplicate tool %s", tool.Name())
		}
		seen[tool.Name()] = true
		srv.AddTools(tool.Server(env))
	}
	for i, prompt := range d.Prompts {
		if slices.ContainsFunc(d.Prompts[:i], func(p prompts.Prompt) bool { return p.Name == prompt.Name }) {
			return nil, fmt.Errorf("build server: duplicate prompt %s", prompt.Name)
		}
		srv.AddPrompts(prompt.Server())
	}
	// Before the workspace's files, which sort the list of resources.
	if err := app.Register(srv); err != nil {
		return nil, fmt.Errorf("build server: %w", err)
	}
	if d.Resources != nil {
		if err := d.Resources(srv); err != nil {
			return nil, fmt.Errorf("build server: resources: %w", err)
		}
	}
	return srv, nil
}

// options are the server options that every audience has.
func options(d Deps) []server.ServerOption {
	return []server.ServerOption{
		server.WithTitle("YAMO memory"),
		server.WithDescription("A workspace's files as resources, its memory as tools, its rituals as prompts."),
		server.WithInstructions(d.Instructions),
		server.WithToolCapabilities(false), // the list never changes
		app.Declare(d.AppTools),
		server.WithLogging(), // tools report problems, in fixed words
		// Resources and the HTTP transport add more hooks.
		server.WithHooks(&server.Hooks{OnError: []server.OnErrorHookFunc{invalidParams}}),
		// Lists and files differ by audience and change at any time: no proxy or host may keep them.
		server.WithCacheHints(0, mcp.CacheScopePrivate),
		// mcp-go's recoveries send the panic's value to the client, so the guards below come first.
		server.WithRecovery(),
		server.WithResourceRecovery(),
		server.WithToolHandlerMiddleware(settleCalls),
		server.WithToolHandlerMiddleware(logCalls(d.Logger)),
		server.WithResourceHandlerMiddleware(guardResources(d.Logger)),
		server.WithPromptHandlerMiddleware(guardPrompts(d.Logger)),
		server.WithCompletions(),
		server.WithPromptCompletionProvider(promptCompletions{prompts.Completer(d.Prompts), d.Logger}),
	}
}

// logCalls logs each tool call at debug level, without arguments and result.
func logCalls(logger *slog.Logger) server.ToolHandlerMiddleware {
	return func(next server.ToolHandlerFunc) server.ToolHandlerFunc {
		return func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			start := time.Now()
			result, err := next(ctx, request)
			logger.DebugContext(ctx, "tool called",
				slog.String("tool", request.Params.Name), // a registered name: others do not get here
				slog.Duration("took", time.Since(start)),
				slog.Bool("failed", err != nil || result == nil || result.IsError))
			return result, err
		}
	}
}

// guardResources hides the internal errors and panics of resource handlers from the client.
func guardResources(logger *slog.Logger) server.ResourceHandlerMiddleware {
	return func(next server.ResourceHandlerFunc) server.ResourceHandlerFunc {
		return func(ctx context.Context, request mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			return tools.Guard(ctx, logger, "resource", func() ([]mcp.ResourceContents, error) { return next(ctx, request) })
		}
	}
}

// guardPrompts does the same for prompts, for which mcp-go has no recovery.
func guardPrompts(logger *slog.Logger) server.PromptHandlerMiddleware {
	return func(next server.PromptHandlerFunc) server.PromptHandlerFunc {
		return func(ctx context.Context, request mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return tools.Guard(ctx, logger, "prompt", func() (*mcp.GetPromptResult, error) { return next(ctx, request) })
		}
	}
}

// invalidParams gives the answer to prompts/get the code of invalid parameters if a fault is the reason, as the
// protocol asks for. mcp-go answers every error of a handler with the code of an internal error and lets nothing choose
// another; its hook gets the answer just before it is encoded, but its code is not exported, hence unsafe. If a release
// renames the field, the code is that of an internal error again, and the test fails.
func invalidParams(_ context.Context, _ any, method mcp.MCPMethod, _ any, err error) {
	if _, ok := fault.As(err); !ok || method != mcp.MethodPromptsGet {
		return
	}
	answer := reflect.ValueOf(err)
	if answer.Kind() != reflect.Pointer || answer.Elem().Kind() != reflect.Struct {
		return
	}
	if code := answer.Elem().FieldByName("code"); code.IsValid() && code.CanInt() {
		address := unsafe.Pointer(code.UnsafeAddr()) //nolint:gosec // of a field of the type that the line below names
		reflect.NewAt(code.Type(), address).Elem().SetInt(mcp.INVALID_PARAMS)
	}
}

// promptCompletions does the same for completions of prompt arguments, which mcp-go runs outside all
// middleware.
type promptCompletions struct {
	prompts.Completer
	logger *slog.Logger
}

// CompletePromptArgument hides internal errors, as handlers of tools do.
func (c promptCompletions) CompletePromptArgument(
	ctx context.Context, prompt string, argument mcp.CompleteArgument, given mcp.CompleteContext,
) (*mcp.Completion, error) {
	return tools.Guard(ctx, c.logger, "completion", func() (*mcp.Completion, error) {
		return c.Completer.CompletePromptArgument(ctx, prompt, argument, given)
	})
}

// resourceCompletions does the same for arguments of resource templates.
type resourceCompletions struct {
	server.ResourceCompletionProvider
	logger *slog.Logger
}

// CompleteResourceArgument hides internal errors, as handlers of tools do.
func (c resourceCompletions) CompleteResourceArgument(
	ctx context.Context, uri string, argument mcp.CompleteArgument, given mcp.CompleteContext,
) (*mcp.Completion, error) {
	return tools.Guard(ctx, c.logger, "completion", func() (*mcp.Completion, error) {
		return c.ResourceCompletionProvider.CompleteResourceArgument(ctx, uri, argument, given)
	})
}

// checkInstructions enforces the limits of hosts: Claude Code cuts instructions after 2,048 characters, Codex
// shows the first 512 before the rest.
func checkInstructions(text string) error {
	const limit, head = 2000, 512
	if n := utf8.RuneCountInString(text); n > limit {
		return fmt.Errorf("instructions have %d characters; the maximum is %d", n, limit)
	} else if n <= head {
		return nil
	}
	// The first 512 characters must be complete in themselves: more may never be read.
	if !strings.Contains(string([]rune(text)[:head]), "\n\n") {
		return fmt.Errorf("instructions have no paragraph that ends within the first %d characters", head)
	}
	return nil
}
