package serve

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"github.com/yamo-protocol/yamo-mcp/internal/serve/auth"
)

// site is one tenant's MCP server with its transports. Sites share only the listener.
type site struct {
	server     *server.MCPServer
	streamable *server.StreamableHTTPServer
	sse        *server.SSEServer
	sessions   *sessions
	events     *events
	release    func() error
}

// newSite creates the transports of a server. prefix is the path that a proxy adds to the routes.
func newSite(
	srv *server.MCPServer, release func() error, prefix string, heartbeat time.Duration, logger *slog.Logger,
) (*site, error) {
	hooks := srv.GetHooks()
	if hooks == nil {
		return nil, errors.New("serve http: the server has no hooks")
	}
	s := &site{server: srv, sessions: newSessions(), events: newEvents(), release: release}
	hooks.AddOnRegisterSession(func(_ context.Context, session server.ClientSession) {
		s.sessions.registered(session)
	})
	s.streamable = server.NewStreamableHTTPServer(srv,
		server.WithSessionIdManagerResolver(issuer{s.sessions}),
		server.WithEventStore(s.events),
		server.WithHeartbeatInterval(heartbeat),
		server.WithHTTPContextFunc(s.inContext),
		server.WithDisableLocalhostProtection(true), // gate checks the Host of every request
		server.WithStreamableHTTPLogger(slog.New(terse{logger.Handler()})),
	)
	s.sse = server.NewSSEServer(srv,
		server.WithStaticBasePath(prefix),
		server.WithMessageEndpoint(messageRoute),
		server.WithUseFullURLForMessageEndpoint(false),
		server.WithKeepAliveInterval(heartbeat),
		server.WithSSEDisableLocalhostProtection(true),
		server.WithSessionIDGenerator(s.newStream),
	)
	return s, nil
}

// roomFor reports whether a client may start another session. At the limit it ends the client's longest idle one.
func (s *site) roomFor(key string, now time.Time) bool {
	if s.sessions.count(key) < maxSessions {
		return true
	}
	idle := s.sessions.evictable(key, now)
	if idle == nil {
		return false
	}
	s.endSession(idle.id)
	return true
}

// endSession ends a session and frees mcp-go's state of it.
func (s *site) endSession(id string) {
	ended, ok := s.sessions.remove(id)
	if !ok || ended.transport != streamable {
		return // an SSE stream frees its session when it ends
	}
	ended.mu.Lock()
	posts := ended.resumes
	ended.resumes = nil
	ended.mu.Unlock()
	for _, post := range append(posts, id) {
		s.forget(post)
	}
}

// forget frees mcp-go's state of one of its sessions. The only way to do so is a DELETE request.
func (s *site) forget(id string) {
	request, err := http.NewRequestWithContext(context.Background(), http.MethodDelete, "/", nil)
	if err != nil {
		return // the URL is a constant
	}
	request.Header.Set(server.HeaderKeySessionID, id)
	s.streamable.ServeHTTP(newBuffered(), request)
}

// close ends every session.
func (s *site) close() error {
	for _, each := range s.sessions.list() {
		s.endSession(each.id)
	}
	return s.release()
}

// list returns all sessions.
func (s *sessions) list() []*session {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*session, 0, len(s.byID))
	for _, each := range s.byID {
		list = append(list, each)
	}
	return list
}

// issuer creates session IDs for mcp-go, which asks for one when it gets an initialize. IDs of other requests were
// checked before mcp-go gets them.
type issuer struct{ sessions *sessions }

// ResolveSessionIdManager implements server.SessionIdManagerResolver.
//
//nolint:revive // the name is the interface's
func (i issuer) ResolveSessionIdManager(r *http.Request) server.SessionIdManager {
	if r == nil {
		return issuing{}
	}
	return issuing{i.sessions, r.Context()}
}

// issuing gives new sessions their IDs, bound to the client of the request.
type issuing struct {
	sessions *sessions
	ctx      context.Context //nolint:containedctx // the request's, for the length of one call
}

// Generate implements server.SessionIdManager.
func (i issuing) Generate() string {
	client, ok := clientFrom(i.ctx)
	if !ok {
		return ""
	}
	return i.sessions.add(client, streamable).id
}

// Validate implements server.SessionIdManager. The ID is always one of this package.
func (issuing) Validate(string) (isTerminated bool, err error) { return false, nil }

// Terminate implements server.SessionIdManager. See site.endSession.
func (issuing) Terminate(string) (isNotAllowed bool, err error) { return false, nil }

// sites are the sites of all tenants. Each is created for the tenant's first request.
type sites struct {
	open func(auth.Tenant) (*server.MCPServer, func() error, error)
	make func(*server.MCPServer, func() error) (*site, error)

	mu       sync.Mutex
	byTenant map[auth.Tenant]*opening
	made     []*site
	closed   bool
}

// opening is a site that exists or is being created.
type opening struct {
	once sync.Once
	site *site
	err  error
}

var errStopping = errors.New("the server is stopping")

// get returns the tenant's site and creates it if necessary. After a failure the next request tries again.
func (s *sites) get(t auth.Tenant) (*site, error) {
	s.mu.Lock()
	o, ok := s.byTenant[t]
	if !ok {
		o = &opening{}
		s.byTenant[t] = o
	}
	s.mu.Unlock()
	o.once.Do(func() { o.site, o.err = s.build(t) })
	if o.err != nil {
		s.mu.Lock()
		if s.byTenant[t] == o {
			delete(s.byTenant, t)
		}
		s.mu.Unlock()
	}
	return o.site, o.err
}

// build creates a tenant's site, unless the sites were closed meanwhile.
func (s *sites) build(t auth.Tenant) (*site, error) {
	srv, release, err := s.open(t)
	if err != nil {
		return nil, err
	}
	made, err := s.make(srv, release)
	if err != nil {
		return nil, errors.Join(err, release())
	}
	s.mu.Lock()
	closed := s.closed
	if !closed {
		s.made = append(s.made, made)
	}
	s.mu.Unlock()
	// The server stopped while this one was opened: no other code would close it.
	if closed {
		return nil, errors.Join(errStopping, made.close())
	}
	return made, nil
}

// list returns all sites.
func (s *sites) list() []*site {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.made)
}

// close closes all sites, and prevents new ones.
func (s *sites) close() error {
	s.mu.Lock()
	s.closed = true
	made := s.made
	s.mu.Unlock()
	var errs []error
	for _, each := range made {
		errs = append(errs, each.close())
	}
	return errors.Join(errs...)
}

// terse is a log handler that keeps a record's message and drops its attributes: mcp-go logs session IDs, and
// errors that quote contents.
type terse struct{ slog.Handler }

// Handle implements slog.Handler.
func (t terse) Handle(ctx context.Context, r slog.Record) error {
	bare := slog.NewRecord(r.Time, min(r.Level, slog.LevelDebug), r.Message, r.PC)
	if !t.Enabled(ctx, bare.Level) {
		return nil
	}
	return t.Handler.Handle(ctx, bare)
}

// WithAttrs implements slog.Handler.
func (t terse) WithAttrs([]slog.Attr) slog.Handler { return t }

// WithGroup implements slog.Handler.
func (t terse) WithGroup(string) slog.Handler { return t }

// clientKey is the key of the request's client in its context.
type clientKey struct{}

// withClient adds the request's client to its context.
//
// SECURITY: ServeHTTP does this before anything else runs, because mcp-go calls its own context functions for some
// routes only.
func withClient(ctx context.Context, c auth.Client) context.Context {
	return context.WithValue(ctx, clientKey{}, c)
}

// clientFrom returns the client that withClient put into ctx.
func clientFrom(ctx context.Context) (auth.Client, bool) {
	c, ok := ctx.Value(clientKey{}).(auth.Client)
	return c, ok
}
