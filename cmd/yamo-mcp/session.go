package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/mark3labs/mcp-go/server"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/serve"
	"github.com/yamo-protocol/yamo-mcp/prompts"
	"github.com/yamo-protocol/yamo-mcp/resources"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/audience"
)

// openSession opens what a server for one audience is made of. release closes it again.
func openSession(o serveOptions, who audience.Audience, _ func(string) string, logger *slog.Logger) (deps serve.Deps, release func() error, err error) {
	folder, err := workspace.Open(o.workspace, workspace.WithLogger(logger))
	if err != nil {
		return serve.Deps{}, nil, fmt.Errorf("workspace %q: %w (--workspace or YAMO_WORKSPACE)", o.workspace, withoutPath(err))
	}
	// SECURITY: what is registered below gets this view, never the folder.
	view := folder.View(who)
	return serve.Deps{
		Audience:     who,
		Version:      programVersion(),
		Instructions: serve.Instructions(who),
		Logger:       logger,
		Ready: func(context.Context) error {
			if refusal := view.Refusal(); refusal != "" {
				return fault.New("%s", refusal)
			}
			return nil
		},
		Resources: func(srv *server.MCPServer) error { return resources.Register(srv, view) },
		Prompts:   func(srv *server.MCPServer) error { return prompts.Register(srv, view) },
	}, folder.Close, nil
}
