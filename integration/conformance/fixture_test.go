package conformance

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/mark3labs/mcp-go/server"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/serve"
	"github.com/yamo-protocol/yamo-mcp/internal/serve/auth"
)

const fixtureToken = "fixture"

// startFixture serves what the suite's scenarios expect, through the same doors as the program does, and returns the
// address.
func startFixture(t *testing.T) string {
	t.Helper()
	logger := slog.New(slog.DiscardHandler)
	listener := listen(t)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- serve.HTTP(ctx, serve.HTTPOptions{
			Logger: logger, Version: "v0.0.0-test", Listener: listener, CallsPerMinute: 100_000, ConcurrentCalls: 100,
			Authenticate: func(_ context.Context, token string) (auth.Client, error) {
				if token != fixtureToken {
					return auth.Client{}, auth.ErrUnauthorized
				}
				return auth.Client{Key: "suite", Tenant: auth.Tenant{Audience: audience.DM()}}, nil
			},
			Open: func(auth.Tenant) (*server.MCPServer, func() error, error) {
				srv, err := serve.Build(serve.Deps{
					Audience: audience.DM(), Version: "v0.0.0-test", Instructions: "Fixtures of the conformance suite.",
					Logger: logger,
					Options: []server.ServerOption{
						server.WithResourceCapabilities(true, true), server.WithPromptCapabilities(true),
						server.WithToolCapabilities(true), server.WithElicitation(),
					},
					Resources: register,
				})
				return srv, func() error { return nil }, err
			},
		})
	}()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("the fixture server ended with %v", err)
		}
	})
	return listener.Addr().String()
}

// register puts the suite's fixtures on a server.
func register(srv *server.MCPServer) error {
	srv.EnableSampling()
	addContents(srv)
	addQuestions(srv)
	addRounds(srv)
	addResources(srv)
	addPrompts(srv)
	return nil
}
