package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/mark3labs/mcp-go/server"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/config"
	"github.com/yamo-protocol/yamo-mcp/internal/serve"
	"github.com/yamo-protocol/yamo-mcp/internal/serve/auth"
	"github.com/yamo-protocol/yamo-mcp/internal/token"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
)

// ServeHTTP serves the sessions of all tokens until ctx is done.
func ServeHTTP(ctx context.Context, o Options) (err error) {
	settings, err := httpOptions(ctx, o)
	if err != nil {
		return err
	}
	group, err := o.clientGroup()
	if err != nil {
		return err
	}
	if o.Config.Workspace, err = filepath.Abs(o.Config.Workspace); err != nil {
		return err
	}
	// Each session opens the language model for itself. This reports errors before the first client connects.
	if _, err := o.Config.LLM.Open(o.Getenv); err != nil {
		return err
	}
	var closeEmbedder func() error
	if o.shared, closeEmbedder, err = o.Config.Embedder.Connect(o.Getenv, o.Logger); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeEmbedder()) }()
	loaded := o.loadModel(ctx)
	defer func() { <-loaded }()

	// Tokens that name the workspace that is served anyway, and those that name none, share a server.
	served := auth.Tenant{Workspace: o.Config.Workspace, AgentID: o.Config.Session.AgentID, Audience: group}
	settings.Lowered = group
	if o.Config.HTTP.AnonymousGroup {
		settings.Anonymous = &auth.Client{Key: "anonymous", Tenant: served}
	}
	if err := acceptOAuth(ctx, o, &settings, served); err != nil {
		return err
	}
	authenticate := settings.Authenticate
	settings.Authenticate = func(ctx context.Context, text string) (auth.Client, error) {
		c, err := authenticate(ctx, text)
		c.Tenant.Workspace = cmp.Or(c.Tenant.Workspace, served.Workspace)
		c.Tenant.AgentID = cmp.Or(c.Tenant.AgentID, served.AgentID)
		return c, err
	}
	settings.Open = func(t auth.Tenant) (*server.MCPServer, func() error, error) { return openTenant(o, t) }
	if settings.Listener, err = new(net.ListenConfig).Listen(ctx, "tcp", o.Config.HTTP.Listen); err != nil {
		return config.Name("listen").Errorf("listen on %s: %w", o.Config.HTTP.Listen, reasonOf(err))
	}
	o.Logger.InfoContext(ctx, "serving", slog.String("transport", config.OverHTTP),
		slog.String("address", settings.Listener.Addr().String()), slog.Bool("tls", settings.TLS != nil),
		slog.String("version", settings.Version))
	return serve.HTTP(ctx, settings)
}

// clientGroup is the audience of a client without a token, and of one that lowers itself.
//
// SECURITY: it is a group, whatever the connection is set to: the server and the DM's stdio session may share an
// environment with YAMO_CONNECTION=dm.
func (o Options) clientGroup() (audience.Audience, error) {
	group, err := audience.Group(o.Config.Session.Group)
	if err != nil {
		return audience.Audience{}, config.Name("group").Errorf("%w", err)
	}
	return group, nil
}

// httpOptions checks the settings of HTTP and opens the token file and the certificate.
func httpOptions(ctx context.Context, o Options) (serve.HTTPOptions, error) {
	h := o.Config.HTTP
	settings := serve.HTTPOptions{
		Logger: o.Logger, Version: o.Version, Hosts: h.Hosts, Origins: h.Origins,
		CallsPerMinute: h.CallsPerMinute, ConcurrentCalls: h.ConcurrentCalls,
	}
	err := h.Check()
	if err != nil {
		return settings, err
	}
	if settings.TLS, err = h.Certificate(o.Getenv); err != nil {
		return settings, err
	}
	if h.PublicURL != "" {
		if settings.PublicURL, err = url.Parse(h.PublicURL); err != nil {
			return settings, err
		}
	}
	path, err := config.TokenFile(h.Tokens, o.Getenv)
	if err != nil {
		return settings, err
	}
	store := token.Open(path)
	tokens, err := store.List()
	if err != nil {
		return settings, fmt.Errorf("%w (%s)", err, path)
	}
	// A warning only: a token that is created later works without a restart.
	if len(tokens) == 0 && h.OAuthIssuer == "" && !h.AnonymousGroup {
		o.Logger.WarnContext(ctx, "no client can connect: there are no tokens; create one with yamo-mcp token create",
			slog.String("tokens", path))
	}
	settings.Authenticate = auth.Tokens(store)
	return settings, nil
}

// acceptOAuth makes the server accept the tokens of the authorization server that the operator named, if any, besides
// its own.
func acceptOAuth(ctx context.Context, o Options, settings *serve.HTTPOptions, served auth.Tenant) error {
	h := o.Config.HTTP
	if h.OAuthIssuer == "" {
		return nil
	}
	oauth, err := auth.NewOAuth(ctx, auth.OAuthOptions{
		Issuer: h.OAuthIssuer, Audience: cmp.Or(h.OAuthAudience, settings.PublicURL.JoinPath("mcp").String()),
		JWKS: h.OAuthJWKS, Subjects: h.OAuthSubjects, Logger: o.Logger, Tenant: served,
	})
	if err != nil {
		return fmt.Errorf("%w (--oauth-issuer and --oauth-jwks)", err)
	}
	settings.AuthorizationServers = []string{h.OAuthIssuer}
	own := settings.Authenticate
	settings.Authenticate = func(ctx context.Context, text string) (auth.Client, error) {
		// By its prefix: a token of ours is never sent to the other check, which may log or fetch keys for it.
		if strings.HasPrefix(text, token.Prefix) {
			return own(ctx, text)
		}
		return oauth.Authenticate(ctx, text)
	}
	return nil
}

// loadModel starts to load the local model and returns a channel that is closed when it has finished.
//
// SECURITY: all audiences share the model. If the first search loaded it, a group could tell from the time of its own
// search whether a DM has searched before. A remote provider has nothing to load and gets no request of the server's
// own.
func (o Options) loadModel(ctx context.Context) <-chan struct{} {
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		if o.Config.Embedder.Provider != config.Local {
			return
		}
		_, err := o.shared.Embed(ctx, []string{"memory"})
		if err != nil && ctx.Err() == nil && !errors.Is(err, embed.ErrNoAssets) {
			o.Logger.WarnContext(ctx, "load the embedding model", slog.Any("error", err))
		}
	}()
	return finished
}

// openTenant makes the server of one tenant. A tenant with another workspace has that workspace's settings.
func openTenant(o Options, t auth.Tenant) (*server.MCPServer, func() error, error) {
	if t.Workspace != o.Config.Workspace {
		var err error
		if o.Config, err = o.Config.For(t.Workspace, o.Getenv); err != nil {
			return nil, nil, err
		}
		if o.Config.Ignored != "" {
			o.Logger.Warn("config file ignored", slog.String("notice", o.Config.Ignored))
		}
	}
	// o is a copy of this call: tenants do not see each other's agent.
	o.Config.Session.AgentID = t.AgentID
	deps, release, err := Open(o, t.Audience)
	if err != nil {
		return nil, nil, err
	}
	srv, err := serve.Build(deps)
	if err != nil {
		return nil, nil, errors.Join(err, release())
	}
	o.Logger.Info("opened", slog.String("audience", t.Audience.String()))
	return srv, release, nil
}

// reasonOf returns the reason of a network error without the operation and address, which the caller's message names.
func reasonOf(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Err
	}
	return err
}
