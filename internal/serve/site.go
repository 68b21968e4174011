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

// site is one tenant's server with its transports. Sites share nothing but the listener.
type site struct {
	server     *server.MCPServer
	streamable *server.StreamableHTTPServer
	sse        *server.SSEServer
	sessions   *sessions
	events     *events
	release    func() error
}

// newSite mounts the transports of a server. prefix is the path that a proxy puts before the routes.
func newSite(srv *server.MCPServer, release func() error, prefix string, heartbeat time.Duration, logger *slog.Logger) (*site, error) {
	hooks := srv.GetHooks()
	if hooks == nil {
		return nil, errors.New("serve http: the server was made without hooks")
	}
	s := &site{server: srv, sessions: newSessions(), events: newEvents(), release: release}
	hooks.AddOnRegisterSession(func(_ context.Context, session server.ClientSession) { s.sessions.registered(session) })
	s.streamable = server.NewStreamableHTTPServer(srv,
		server.WithSessionIdManagerResolver(issuer{s.sessions}),
		server.WithEventStore(s.events),
		server.WithHeartbeatInterval(heartbeat),
		server.WithHTTPContextFunc(s.inContext),
		server.WithDisableLocalhostProtection(true), // gate checks every Host, not loopback's alone
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

// roomFor says whether a client may have one more session, for which it may lose one that it has forsaken.
func (s *site) roomFor(key string, now time.Time) bool {
	if s.sessions.count(key) < maxSessions {
		return true
	}
	forsaken := s.sessions.longest(key, now)
	if forsaken == nil {
		return false
	}
	s.endSession(forsaken.id)
	return true
}

// endSession ends a session and frees what mcp-go has of it.
func (s *site) endSession(id string) {
	ended, ok := s.sessions.remove(id)
	if !ok || ended.transport != streamable {
		return // a stream of SSE frees its session when it ends
	}
	ended.mu.Lock()
	posts := ended.resumes
	ended.resumes = nil
	ended.mu.Unlock()
	for _, post := range append(posts, id) {
		s.forget(post)
	}
}

// forget frees what mcp-go has of one of its sessions. It has no other way to be told than by a request.
func (s *site) forget(id string) {
	request, err := http.NewRequestWithContext(context.Background(), http.MethodDelete, "/", nil)
	if err != nil {
		return // the URL is a constant
	}
	request.Header.Set(server.HeaderKeySessionID, id)
	s.streamable.ServeHTTP(hold(), request)
}

// close ends every session.
func (s *site) close() error {
	for _, each := range s.sessions.all() {
		s.endSession(each.id)
	}
	return s.release()
}

// all are the sessions there are.
func (s *sessions) all() []*session {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*session, 0, len(s.byID))
	for _, each := range s.byID {
		list = append(list, each)
	}
	return list
}

// issuer makes session ids for mcp-go, which calls it for an initialize that has been let in. Everything
// else about sessions has been decided when mcp-go gets a request.
type issuer struct{ sessions *sessions }

// ResolveSessionIdManager implements server.SessionIdManagerResolver.
func (i issuer) ResolveSessionIdManager(r *http.Request) server.SessionIdManager { //nolint:revive // the name is the interface's
	if r == nil {
		return issuing{}
	}
	return issuing{i.sessions, r.Context()}
}

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

// Validate implements server.SessionIdManager: the id is this package's own.
func (issuing) Validate(string) (isTerminated bool, err error) { return false, nil }

// Terminate implements server.SessionIdManager: see site.endSession.
func (issuing) Terminate(string) (isNotAllowed bool, err error) { return false, nil }

// sites are the servers of all tenants, each made when its first client comes.
type sites struct {
	open func(auth.Tenant) (*server.MCPServer, func() error, error)
	make func(*server.MCPServer, func() error) (*site, error)

	mu     sync.Mutex
	of     map[auth.Tenant]*opening
	made   []*site
	closed bool
}

// opening is a site that is there or being made.
type opening struct {
	once sync.Once
	site *site
	err  error
}

var errStopping = errors.New("the server is stopping")

// get returns the tenant's site. One that could not be made is tried again by the next request.
func (s *sites) get(t auth.Tenant) (*site, error) {
	s.mu.Lock()
	o, ok := s.of[t]
	if !ok {
		o = &opening{}
		s.of[t] = o
	}
	s.mu.Unlock()
	o.once.Do(func() { o.site, o.err = s.build(t) })
	if o.err != nil {
		s.mu.Lock()
		if s.of[t] == o {
			delete(s.of, t)
		}
		s.mu.Unlock()
	}
	return o.site, o.err
}

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
	if closed {
		return nil, errors.Join(errStopping, made.close())
	}
	return made, nil
}

// all are the sites there are.
func (s *sites) all() []*site {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.made)
}

// close closes them; none is made any more.
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

// terse is a log handler that keeps what happened and drops to whom: mcp-go logs session ids and errors with
// contents in them.
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

type clientKey struct{}

// withClient adds the request's client to its context.
//
// SECURITY: ServeHTTP does this before anything else runs, because mcp-go calls its own context functions for some
// routes only.
func withClient(ctx context.Context, c auth.Client) context.Context {
	return context.WithValue(ctx, clientKey{}, c)
}

func clientFrom(ctx context.Context) (auth.Client, bool) {
	c, ok := ctx.Value(clientKey{}).(auth.Client)
	return c, ok
}
