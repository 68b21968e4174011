package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/mark3labs/mcp-go/server"
	"github.com/spf13/pflag"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/serve"
	"github.com/yamo-protocol/yamo-mcp/internal/token"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
)

// httpOptions are how the server is reached over HTTP, and by whom.
type httpOptions struct {
	listen          string
	tokens          string
	tlsCert, tlsKey string
	behindProxy     bool
	publicURL       string
	hosts, origins  []string
	anonymousGroup  bool
	oauthIssuer     string
	oauthAudience   string
	oauthJWKS       string
	callsPerMinute  int
	concurrentCalls int
}

var httpSettings = []setting{
	"listen", "tokens", "tls-cert", "tls-key", "behind-proxy", "public-url", "allow-host", "allow-origin", "allow-anonymous-group",
	"oauth-issuer", "oauth-audience", "oauth-jwks", "calls-per-minute", "concurrent-calls",
}

func (o *httpOptions) addTo(flags *pflag.FlagSet) {
	flags.StringVar(&o.listen, "listen", "127.0.0.1:7420", "http: the address and port; not a loopback address only with TLS or behind a proxy")
	flags.StringVar(&o.tokens, "tokens", "", "http: the file of tokens (default tokens.json in the user's configuration folder)")
	flags.StringVar(&o.tlsCert, "tls-cert", "", "http: the certificate file, PEM")
	flags.StringVar(&o.tlsKey, "tls-key", "", "http: the key file, PEM")
	flags.BoolVar(&o.behindProxy, "behind-proxy", false, "http: a proxy before this server does TLS")
	flags.StringVar(&o.publicURL, "public-url", "", "http: where clients find this server from outside, as https://memory.example.org")
	flags.StringSliceVar(&o.hosts, "allow-host", nil, "http: names this server is reached by, besides localhost and that of --public-url")
	flags.StringSliceVar(&o.origins, "allow-origin", nil, "http: web pages that may use this server, as https://app.example.org")
	flags.BoolVar(&o.anonymousGroup, "allow-anonymous-group", false, "http, loopback only: who comes without a token is the group's")
	flags.StringVar(&o.oauthIssuer, "oauth-issuer", "", "http: the authorization server whose tokens are accepted too")
	flags.StringVar(&o.oauthAudience, "oauth-audience", "", "http: what stands in its tokens for this server, else the public URL with /mcp")
	flags.StringVar(&o.oauthJWKS, "oauth-jwks", "", "http: where its keys are, else it is asked")
	flags.IntVar(&o.callsPerMinute, "calls-per-minute", serve.DefaultCallsPerMinute, "http: how many requests a minute one token may send")
	flags.IntVar(&o.concurrentCalls, "concurrent-calls", serve.DefaultConcurrentCalls, "http: how many calls of one token may be under way")
}

// serveHTTP serves all tenants until ctx is done.
func serveHTTP(ctx context.Context, o serveOptions, getenv func(string) string, logger *slog.Logger) (err error) {
	settings, err := o.http.resolve(ctx, getenv, logger)
	if err != nil {
		return err
	}
	// SECURITY: whoever has no token, or does without what it gives, is a group, whatever the connection is.
	group, err := audience.Group(o.group)
	if err != nil {
		return setting("group").wrong("%w", err)
	}
	if o.workspace, err = filepath.Abs(o.workspace); err != nil {
		return err
	}
	var closeEmbedder func() error
	if o.shared, closeEmbedder, err = o.embedder.connect(getenv, logger); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeEmbedder()) }()
	loaded := o.loadModel(ctx, logger)
	defer func() { <-loaded }()

	settings.Logger, settings.Version, settings.Lowered = logger, programVersion(), group
	settings.CallsPerMinute, settings.ConcurrentCalls = o.http.callsPerMinute, o.http.concurrentCalls
	// Tokens that name what is served anyway, and those that name nothing, share a server.
	served := serve.Tenant{Workspace: o.workspace, AgentID: o.agentID, Audience: group}
	if o.http.anonymousGroup {
		settings.Anonymous = &serve.Client{Key: "anonymous", Tenant: served}
	}
	authenticate := settings.Authenticate
	if o.http.oauthIssuer != "" {
		resource := settings.PublicURL.JoinPath("mcp").String()
		oauth, err := serve.NewOAuth(ctx, serve.OAuthOptions{
			Issuer: o.http.oauthIssuer, Audience: cmp.Or(o.http.oauthAudience, resource), JWKS: o.http.oauthJWKS, Logger: logger, Tenant: served,
		})
		if err != nil {
			return fmt.Errorf("%w (--oauth-issuer and --oauth-jwks)", err)
		}
		settings.AuthorizationServers = []string{o.http.oauthIssuer}
		own := authenticate
		authenticate = func(ctx context.Context, text string) (serve.Client, error) {
			if strings.HasPrefix(text, token.Prefix) {
				return own(ctx, text)
			}
			return oauth.Authenticate(ctx, text)
		}
	}
	settings.Authenticate = func(ctx context.Context, token string) (serve.Client, error) {
		c, err := authenticate(ctx, token)
		c.Tenant.Workspace = cmp.Or(c.Tenant.Workspace, served.Workspace)
		c.Tenant.AgentID = cmp.Or(c.Tenant.AgentID, served.AgentID)
		return c, err
	}
	settings.Open = func(t serve.Tenant) (*server.MCPServer, func() error, error) {
		return openTenant(o, t, getenv, logger)
	}
	if settings.Listener, err = new(net.ListenConfig).Listen(ctx, "tcp", o.http.listen); err != nil {
		return setting("listen").wrong("listen on %s: %w", o.http.listen, reasonOf(err))
	}
	logger.InfoContext(ctx, "serving", slog.String("transport", "http"), slog.String("address", settings.Listener.Addr().String()),
		slog.Bool("tls", settings.TLS != nil), slog.String("version", settings.Version))
	return serve.HTTP(ctx, settings)
}

// loadModel begins to load the local model, and returns a channel that is closed when that is over.
//
// SECURITY: all audiences share the model. Were it loaded by the first search, how long its own takes would tell a group
// whether a DM has searched before. A remote provider has nothing to load, and is asked nothing unasked.
func (o serveOptions) loadModel(ctx context.Context, logger *slog.Logger) <-chan struct{} {
	over := make(chan struct{})
	go func() {
		defer close(over)
		if o.embedder.provider != localProvider {
			return
		}
		_, err := o.shared.Embed(ctx, []string{"memory"})
		if err != nil && ctx.Err() == nil && !errors.Is(err, embed.ErrNoAssets) {
			logger.WarnContext(ctx, "load the embedding model", slog.Any("error", err))
		}
	}()
	return over
}

// openTenant makes the server of one tenant.
func openTenant(o serveOptions, t serve.Tenant, getenv func(string) string, logger *slog.Logger) (*server.MCPServer, func() error, error) {
	o.agentID = t.AgentID
	if t.Workspace != o.workspace {
		if err := o.moveTo(t.Workspace, getenv); err != nil {
			return nil, nil, err
		}
	}
	deps, release, err := openSession(o, t.Audience, getenv, logger)
	if err != nil {
		return nil, nil, err
	}
	srv, err := serve.Build(deps)
	if err != nil {
		return nil, nil, errors.Join(err, release())
	}
	logger.Info("opened", slog.String("audience", t.Audience.String()))
	return srv, release, nil
}

// moveTo makes the options those of another workspace. What that says of itself in its config file holds; what was
// said of the first one's session logs does not.
func (o *serveOptions) moveTo(workspace string, getenv func(string) string) error {
	if err := checkWorkspace(workspace); err != nil {
		return err
	}
	file, err := readConfig(workspace)
	if err != nil {
		return err
	}
	o.workspace, o.transcripts = workspace, expand(file["transcripts"], getenv)
	if list := file["toolsets"]; list != "" {
		if o.toolsets, err = parseToolsets(list); err != nil {
			return err
		}
	}
	if ranking := file["ranking"]; ranking != "" {
		o.ranking = ranking
	}
	// What the first one commits is nothing that was said of this one.
	if o.git, err = gitFrom(func(string) string { return "" }, file); err != nil {
		return err
	}
	return o.checkMemory()
}

// resolve checks the options and opens what they name, except for the listener.
func (o httpOptions) resolve(ctx context.Context, getenv func(string) string, logger *slog.Logger) (serve.HTTPOptions, error) {
	var settings serve.HTTPOptions
	host, _, err := net.SplitHostPort(o.listen)
	if err != nil {
		return settings, setting("listen").wrong("listen %q: an address and a port, as 127.0.0.1:7420", o.listen)
	}
	// SECURITY: what goes over a network is encrypted, or the operator has said who does it.
	loopback := host == "localhost" || net.ParseIP(host) != nil && net.ParseIP(host).IsLoopback()
	switch {
	case (o.tlsCert == "") != (o.tlsKey == ""):
		return settings, errors.New("TLS takes both --tls-cert and --tls-key")
	case !loopback && o.tlsCert == "" && !o.behindProxy:
		return settings, fmt.Errorf("listen %q: others than this machine reach this address, so it takes --tls-cert and --tls-key, or --behind-proxy if a proxy does TLS", o.listen)
	case !loopback && o.publicURL == "" && len(o.hosts) == 0:
		return settings, fmt.Errorf("listen %q: name the host that clients reach this server by with --public-url or --allow-host", o.listen)
	case o.anonymousGroup && (!loopback || o.behindProxy):
		return settings, errors.New("--allow-anonymous-group is for this machine alone: not with another address than a loopback one, and not behind a proxy")
	case o.oauthIssuer != "" && o.publicURL == "":
		return settings, errors.New("--oauth-issuer takes --public-url: it is what clients ask tokens for")
	case o.oauthIssuer == "" && (o.oauthAudience != "" || o.oauthJWKS != ""):
		return settings, errors.New("--oauth-audience and --oauth-jwks take --oauth-issuer")
	case o.callsPerMinute < 1 || o.concurrentCalls < 1:
		return settings, errors.New("--calls-per-minute and --concurrent-calls are at least 1")
	}
	if o.tlsCert != "" {
		o.tlsCert, o.tlsKey = expand(o.tlsCert, getenv), expand(o.tlsKey, getenv)
		pair, err := tls.LoadX509KeyPair(o.tlsCert, o.tlsKey)
		if err != nil {
			return settings, fmt.Errorf("TLS: %w (--tls-cert and --tls-key are a certificate and its key, PEM)", err)
		}
		settings.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	}
	if o.publicURL != "" {
		settings.PublicURL, err = url.Parse(o.publicURL)
		if err != nil || settings.PublicURL.Host == "" || settings.PublicURL.RawQuery != "" || settings.PublicURL.User != nil ||
			settings.PublicURL.Scheme != "https" && settings.PublicURL.Scheme != "http" {
			return settings, setting("public-url").wrong("public URL %q: as https://memory.example.org, without a query", o.publicURL)
		}
	}
	for _, origin := range o.origins {
		u, err := url.Parse(origin)
		if err != nil || u.Host == "" || u.Scheme == "" || u.Path != "" {
			return settings, setting("allow-origin").wrong("origin %q: as https://app.example.org, without a path", origin)
		}
	}
	for _, name := range o.hosts {
		if strings.ContainsAny(name, "/* ") {
			return settings, setting("allow-host").wrong("host %q: a name, as memory.example.org", name)
		}
	}
	settings.Hosts, settings.Origins = o.hosts, o.origins
	path, err := tokenFile(o.tokens, getenv)
	if err != nil {
		return settings, err
	}
	store := token.Open(path)
	tokens, err := store.List()
	if err != nil {
		return settings, fmt.Errorf("%w (%s)", err, path)
	}
	if len(tokens) == 0 && o.oauthIssuer == "" && !o.anonymousGroup {
		logger.WarnContext(ctx, "there are no tokens, so that nobody can connect: make one with yamo-mcp token create", slog.String("tokens", path))
	}
	settings.Authenticate = serve.Tokens(store)
	return settings, nil
}

// reasonOf is a network error without what the message has said already.
func reasonOf(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Err
	}
	return err
}
