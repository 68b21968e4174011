// Package serve builds the MCP server of one audience and runs it over a transport.
//
// The invariant: a server is built for exactly one audience and holds only what that audience may see.
// Nothing is filtered later, because mcp-go's filters do not cover resources and its errors tell the
// hidden from the absent. What goes wrong inside stays inside: clients hear faults and "internal
// error", the log hears the rest.
package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/prompts"
	"github.com/yamo-protocol/yamo-mcp/tools"
)

// Name is what the server calls itself.
const Name = "yamo-mcp"

// Deps are what one audience's server is made of. The caller has chosen them for Audience: Build
// registers all it gets.
type Deps struct {
	Audience     audience.Audience
	Version      string
	Instructions string // see Instructions; at most 2,000 characters, the first 512 complete in themselves
	Logger       *slog.Logger

	Tools []tools.Tool
	// Ready is asked before each tool call; its error is the answer. Nil: always ready.
	Ready func(context.Context) error

	Prompts []prompts.Prompt // their arguments are completed

	// Resources registers them on the server, which has hooks; nil registers none.
	Resources func(*server.MCPServer) error
	// Completions are those of resource templates; nil: there are none.
	Completions server.ResourceCompletionProvider

	// Options are applied last: subscriptions, pagination.
	Options []server.ServerOption
}

// Build returns the server of one audience.
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

	env := tools.Env{Logger: d.Logger, Ready: d.Ready}
	seen := map[string]bool{}
	for _, tool := range d.Tools {
		// SECURITY: AddTool replaces a tool of the same name without a word.
		if seen[tool.Name()] {
			return nil, fmt.Errorf("build server: tool %s twice", tool.Name())
		}
		seen[tool.Name()] = true
		srv.AddTools(tool.Server(env))
	}
	for i, prompt := range d.Prompts {
		if slices.ContainsFunc(d.Prompts[:i], func(p prompts.Prompt) bool { return p.Name == prompt.Name }) {
			return nil, fmt.Errorf("build server: prompt %s twice", prompt.Name)
		}
		srv.AddPrompts(prompt.Server())
	}
	if d.Resources != nil {
		if err := d.Resources(srv); err != nil {
			return nil, fmt.Errorf("build server: resources: %w", err)
		}
	}
	return srv, nil
}

func options(d Deps) []server.ServerOption {
	return []server.ServerOption{
		server.WithTitle("YAMO memory"),
		server.WithDescription("A workspace's files as resources, its memory as tools, its rituals as prompts."),
		server.WithInstructions(d.Instructions),
		server.WithToolCapabilities(false), // the list is fixed for the life of a server
		server.WithLogging(),               // tools tell what went wrong, in fixed words
		server.WithHooks(&server.Hooks{}),  // for Resources to add to
		server.WithCacheHints(0, mcp.CacheScopePrivate),
		// The recoveries are a second net: theirs would tell the client the value of the panic.
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

// logCalls writes a line at debug level for each tool call, without arguments and result.
func logCalls(logger *slog.Logger) server.ToolHandlerMiddleware {
	return func(next server.ToolHandlerFunc) server.ToolHandlerFunc {
		return func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			start := time.Now()
			result, err := next(ctx, request)
			logger.DebugContext(ctx, "tool called",
				slog.String("tool", request.Params.Name), // a registered one, as no other gets here
				slog.Duration("took", time.Since(start)),
				slog.Bool("failed", err != nil || result == nil || result.IsError))
			return result, err
		}
	}
}

// guardResources keeps what resource handlers return and panic with from the client.
func guardResources(logger *slog.Logger) server.ResourceHandlerMiddleware {
	return func(next server.ResourceHandlerFunc) server.ResourceHandlerFunc {
		return func(ctx context.Context, request mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			return tools.Guard(ctx, logger, "resource", func() ([]mcp.ResourceContents, error) { return next(ctx, request) })
		}
	}
}

// guardPrompts does the same for prompts, for which mcp-go has no recovery either.
func guardPrompts(logger *slog.Logger) server.PromptHandlerMiddleware {
	return func(next server.PromptHandlerFunc) server.PromptHandlerFunc {
		return func(ctx context.Context, request mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return tools.Guard(ctx, logger, "prompt", func() (*mcp.GetPromptResult, error) { return next(ctx, request) })
		}
	}
}

// promptCompletions does it for completions, which are answered outside of all middleware.
type promptCompletions struct {
	prompts.Completer
	logger *slog.Logger
}

func (c promptCompletions) CompletePromptArgument(ctx context.Context, prompt string, argument mcp.CompleteArgument, given mcp.CompleteContext) (*mcp.Completion, error) {
	return tools.Guard(ctx, c.logger, "completion", func() (*mcp.Completion, error) {
		return c.Completer.CompletePromptArgument(ctx, prompt, argument, given)
	})
}

// resourceCompletions does it for the completions of resource templates.
type resourceCompletions struct {
	server.ResourceCompletionProvider
	logger *slog.Logger
}

func (c resourceCompletions) CompleteResourceArgument(ctx context.Context, uri string, argument mcp.CompleteArgument, given mcp.CompleteContext) (*mcp.Completion, error) {
	return tools.Guard(ctx, c.logger, "completion", func() (*mcp.Completion, error) {
		return c.ResourceCompletionProvider.CompleteResourceArgument(ctx, uri, argument, given)
	})
}

// checkInstructions enforces what hosts do to instructions: Claude Code cuts them at 2,048
// characters, Codex shows the first 512 before the rest.
func checkInstructions(text string) error {
	const most, head = 2000, 512
	if n := utf8.RuneCountInString(text); n > most {
		return fmt.Errorf("instructions have %d characters, %d are allowed", n, most)
	} else if n <= head {
		return nil
	}
	if !strings.Contains(string([]rune(text)[:head]), "\n\n") {
		return fmt.Errorf("instructions have no paragraph that ends within the first %d characters", head)
	}
	return nil
}
