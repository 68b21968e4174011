package serve

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/serve/auth"
)

const (
	// DefaultMaxBody is the maximum length of a message, in bytes.
	DefaultMaxBody = 4 << 20
	maxHeader      = 32 << 10 // bytes
	// DefaultArrival is how long the headers of a request may take to arrive, and again its body.
	DefaultArrival = 20 * time.Second
	idleTimeout    = 2 * time.Minute // of a connection
	sweepInterval  = time.Second     // how soon the streams and sessions of a revoked token end
	// DefaultDrain is how long calls under way may continue after the server was told to stop.
	DefaultDrain = 10 * time.Second
	// abandon is how long a cancelled call may take to stop.
	abandon = 2 * time.Second
)

// HTTPOptions are the settings of HTTP.
type HTTPOptions struct {
	Logger   *slog.Logger
	Version  string
	Listener net.Listener // HTTP closes it
	TLS      *tls.Config  // nil is plain HTTP

	// Hosts are valid values of the Host header, without port, besides the loopback names of a loopback listener.
	// Origins are the origins of web pages that may use the server, besides its own.
	Hosts, Origins []string
	// PublicURL is the URL that clients use, nil if it is the listener's. A proxy removes its path.
	PublicURL *url.URL
	// AuthorizationServers issue tokens for this server. If there are any, its metadata lists them (RFC 9728).
	AuthorizationServers []string

	// Authenticate returns the client of a token. Errors other than auth.ErrUnauthorized and auth.ErrForbidden mean
	// that tokens cannot be verified at the moment.
	Authenticate func(ctx context.Context, token string) (auth.Client, error)
	// Anonymous is the client of requests without a token, nil to reject them.
	Anonymous *auth.Client
	// Lowered is the group that a DM's request can ask to be. See auth.Client.Lowered.
	Lowered audience.Audience
	// Open returns the server of a tenant, and a function that releases its resources.
	Open func(auth.Tenant) (*server.MCPServer, func() error, error)

	CallsPerMinute  int           // per token; 0 is DefaultCallsPerMinute
	ConcurrentCalls int           // per token; 0 is DefaultConcurrentCalls
	Strangers       int           // open connections without a token; 0 is 128
	MaxBody         int64         // in bytes; 0 is DefaultMaxBody
	Drain           time.Duration // 0 is DefaultDrain
	Arrival         time.Duration // 0 is DefaultArrival
	Heartbeat       time.Duration // 0 is DefaultHeartbeat
}

// HTTP serves clients over Streamable HTTP (/mcp) and over the older SSE transport (/sse and /message), each
// with the server of its tenant, until ctx is done. Then it rejects new requests, lets calls under way
// continue for up to Drain, cancels the rest and closes all streams. It does not wait for clients that read nothing for
// three seconds. It returns nil, or an error if calls do not stop or the listener fails.
func HTTP(ctx context.Context, o HTTPOptions) error {
	f := newFront(o)
	srv := &http.Server{
		Handler:           f,
		TLSConfig:         o.TLS,
		ReadHeaderTimeout: f.options.Arrival,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ConnState:         f.waiting.watch,
		ConnContext:       withConnection,
		BaseContext:       func(net.Listener) context.Context { return f.base },
		ErrorLog:          slog.NewLogLogger(o.Logger.Handler(), slog.LevelDebug),
	}
	go f.watch()
	done := make(chan error, 1)
	go func() {
		if o.TLS != nil {
			done <- srv.ServeTLS(o.Listener, "", "")
		} else {
			done <- srv.Serve(o.Listener)
		}
	}()
	select {
	case err := <-done:
		f.end()
		f.cancel()
		return errors.Join(fmt.Errorf("serve http: %w", err), f.sites.close())
	case <-ctx.Done():
		return f.stop(srv)
	}
}

// front is the HTTP handler: it checks and authenticates requests, and routes each to the site of its tenant.
type front struct {
	options HTTPOptions
	gate    gate
	quotas  *quotas
	leases  *leases
	// waiting are the connections that serve no request.
	waiting  *waiting
	sites    *sites
	metadata string // the URL of the OAuth metadata, "" without it
	routes   map[string]route

	ending context.Context // done once the server is to stop
	end    context.CancelFunc
	base   context.Context // of all requests and streams
	cancel context.CancelFunc
}

// route has the handlers of a path.
type route struct {
	methods map[string]handler // for authenticated clients
	open    http.HandlerFunc   // for everyone, instead of methods
}

// handler serves a request of a client that was authenticated.
type handler func(*recorder, *http.Request, *site, auth.Client)

// newFront returns the handler of all routes, with defaults for the limits that are not set.
func newFront(o HTTPOptions) *front {
	o.CallsPerMinute = cmp.Or(o.CallsPerMinute, DefaultCallsPerMinute)
	o.ConcurrentCalls = cmp.Or(o.ConcurrentCalls, DefaultConcurrentCalls)
	o.MaxBody = cmp.Or(o.MaxBody, DefaultMaxBody)
	o.Drain = cmp.Or(o.Drain, DefaultDrain)
	o.Arrival = cmp.Or(o.Arrival, DefaultArrival)
	o.Heartbeat = cmp.Or(o.Heartbeat, DefaultHeartbeat)
	f := &front{
		options: o,
		gate:    gate{loopback: listensOnLoopback(o.Listener), origins: o.Origins},
		quotas:  newQuotas(o.CallsPerMinute, o.ConcurrentCalls),
		leases:  newLeases(),

		waiting: newWaiting(cmp.Or(o.Strangers, maxStrangers), maxWaiting),
	}
	for _, host := range o.Hosts {
		f.gate.hosts = append(f.gate.hosts, hostName(host))
	}
	prefix := ""
	if o.PublicURL != nil {
		prefix = strings.TrimSuffix(o.PublicURL.Path, "/")
		f.gate.hosts = append(f.gate.hosts, hostName(o.PublicURL.Host))
	}
	f.ending, f.end = context.WithCancel(context.Background())
	f.base, f.cancel = context.WithCancel(context.Background())
	f.sites = &sites{
		open: o.Open, byTenant: map[auth.Tenant]*opening{},
		make: func(srv *server.MCPServer, release func() error) (*site, error) {
			return newSite(srv, release, prefix, o.Heartbeat, o.Logger)
		},
	}
	f.routes = map[string]route{
		"/mcp": {methods: map[string]handler{
			http.MethodPost: f.post, http.MethodGet: f.listen, http.MethodDelete: f.deleteSession,
		}},
		"/sse":       {methods: map[string]handler{http.MethodGet: f.openSSE}},
		messageRoute: {methods: map[string]handler{http.MethodPost: f.messageSSE}},
		"/healthz":   {open: f.health},
	}
	f.mountMetadata(prefix)
	return f
}

// listensOnLoopback reports whether the listener is reachable only from this machine.
func listensOnLoopback(l net.Listener) bool {
	address, ok := l.Addr().(*net.TCPAddr)
	return ok && address.IP.IsLoopback()
}

// ServeHTTP implements http.Handler. The order of the checks matters: host and origin, route, token, rate
// limit, and only then the message.
func (f *front) ServeHTTP(writer http.ResponseWriter, r *http.Request) {
	w := record(f.ending, writer)
	start := time.Now()
	defer f.recovered(r.Context())
	defer f.waiting.serve(r.Context())()
	if r.ContentLength != 0 { // or unknown, -1
		// SECURITY: net/http waits for the rest of a body before it responds, without a limit of its own.
		_ = w.control.SetReadDeadline(start.Add(f.options.Arrival)) // fails only for writers of tests
	}
	path := "unknown" // SECURITY: URLs contain what clients choose and are not logged.
	if _, ok := f.routes[r.URL.Path]; ok {
		path = r.URL.Path
	}
	defer func() {
		f.options.Logger.DebugContext(r.Context(), "request",
			slog.String("route", path), slog.Int("status", w.code()), slog.Duration("took", time.Since(start)))
	}()
	if status, reason := f.gate.check(r); status != 0 {
		refuse(w, status, reason)
		return
	}
	if f.gate.cors(w, r) {
		return
	}
	to, ok := f.routes[r.URL.Path]
	if !ok {
		refuse(w, http.StatusNotFound, "unknown path: MCP is at /mcp and /sse")
		return
	}
	if to.open != nil {
		to.open(w, r)
		return
	}
	handle, ok := to.methods[r.Method]
	if !ok {
		refuse(w, http.StatusMethodNotAllowed, "this path does not support the method",
			header{"Allow", allowed(to.methods)})
		return
	}
	if r.Method != http.MethodPost && r.ContentLength != 0 {
		refuse(w, http.StatusBadRequest, "only a POST may have a body")
		return
	}
	c, ok := f.admit(w, r)
	if !ok {
		return
	}
	if wait := f.quotas.pace(c.Key, time.Now()); wait > 0 {
		tooMany(w, wait, fmt.Sprintf("more than %d requests per minute with this token: wait", f.options.CallsPerMinute))
		return
	}
	if f.ending.Err() != nil {
		refuse(w, http.StatusServiceUnavailable, "the server is stopping", retryAfter(time.Second))
		return
	}
	s, err := f.sites.get(c.Tenant)
	if err != nil {
		f.options.Logger.ErrorContext(r.Context(), "cannot open the server of a tenant",
			slog.String("audience", c.Tenant.Audience.String()), slog.Any("error", err))
		refuse(w, http.StatusInternalServerError, "internal error")
		return
	}
	handle(w, r.WithContext(withClient(r.Context(), c)), s, c)
}

// admit returns the client that sends a request, or rejects the request.
func (f *front) admit(w http.ResponseWriter, r *http.Request) (auth.Client, bool) {
	token, problem := bearer(r)
	switch {
	case problem != "":
		refuse(w, http.StatusUnauthorized, "the header Authorization must be Bearer and one token",
			challenge(problem, "", f.metadata))
		return auth.Client{}, false
	case token == "" && f.options.Anonymous == nil:
		refuse(w, http.StatusUnauthorized, "a token is required: `yamo-mcp token create` creates one",
			challenge("", "", f.metadata))
		return auth.Client{}, false
	case token == "":
		return *f.options.Anonymous, true
	}
	c, err := f.options.Authenticate(r.Context(), token)
	switch {
	case errors.Is(err, auth.ErrForbidden):
		refuse(w, http.StatusForbidden, "the token has no scope for this server",
			challenge("insufficient_scope", scopes, f.metadata))
		return auth.Client{}, false
	case errors.Is(err, auth.ErrUnauthorized):
		refuse(w, http.StatusUnauthorized, "the token is unknown, revoked or expired",
			challenge("invalid_token", "", f.metadata))
		return auth.Client{}, false
	case err != nil:
		f.options.Logger.ErrorContext(r.Context(), "cannot verify a token", slog.Any("error", err))
		refuse(w, http.StatusServiceUnavailable, "tokens cannot be verified at the moment", retryAfter(10*time.Second))
		return auth.Client{}, false
	}
	meet(r.Context(), c.Key)
	return c.Lowered(r.Header, f.options.Lowered), true
}

// health reports that the server runs. Only clients with a token learn the version and their connection.
func (f *front) health(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		refuse(w, http.StatusMethodNotAllowed, "this path does not support the method", header{"Allow", "GET, HEAD"})
		return
	}
	answer := map[string]any{"status": "ok"}
	if len(r.Header.Values("Authorization")) > 0 {
		c, ok := f.admit(w, r)
		if !ok {
			return
		}
		answer["version"] = f.options.Version
		answer["connection"] = c.Tenant.Audience.Connection()
	}
	if f.ending.Err() != nil {
		answer["status"] = "stopping"
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // the client may have gone
}

// watch calls sweep regularly, until the server ends.
func (f *front) watch() {
	ticker := time.NewTicker(sweepInterval)
	defer ticker.Stop()
	for {
		select {
		case <-f.base.Done():
			return
		case <-ticker.C:
			f.sweep(time.Now())
		}
	}
}

// sweep ends the streams, calls and sessions of revoked or expired tokens, and idle sessions.
func (f *front) sweep(now time.Time) {
	known := map[string]bool{}
	// SECURITY: a stream outlives the request whose token was checked, so the token is checked as long as the
	// stream is open. If the token store cannot be read, no token is valid.
	stale := func(c auth.Client) bool {
		if !c.Expires.IsZero() && !now.Before(c.Expires) {
			return true
		}
		active, ok := known[c.Key]
		if !ok {
			active = c.Active(now)
			known[c.Key] = active
		}
		return !active
	}
	f.leases.cancel(stale)
	for _, s := range f.sites.list() {
		for _, each := range s.sessions.expired(now, stale) {
			s.endSession(each.id)
		}
	}
	f.quotas.prune(now)
}

// stop shuts the server down: no new requests, then Drain for the calls under way, then cancellation.
func (f *front) stop(srv *http.Server) error {
	f.end()
	closed := make(chan struct{})
	bound, cancel := context.WithTimeout(context.Background(), f.options.Drain+2*abandon)
	defer cancel()
	go func() {
		defer close(closed)
		_ = srv.Shutdown(bound) // stops accepting connections; Close below ends the remaining ones
	}()

	drain, cancelDrain := context.WithTimeout(context.Background(), f.options.Drain)
	left := f.leases.wait(drain)
	cancelDrain()
	if left > 0 {
		f.options.Logger.Warn("calls under way are cancelled",
			slog.Int("calls", left), slog.Duration("after", f.options.Drain))
	}
	f.cancel() // ends all streams and remaining calls
	end, cancelEnd := context.WithTimeout(context.Background(), abandon)
	defer cancelEnd()
	left = f.leases.wait(end)
	select {
	case <-closed:
	case <-end.Done():
	}
	errs := []error{srv.Close()}
	if left > 0 {
		// These calls still use the workspaces, so the sites stay open; the process is about to end.
		return errors.Join(append(errs, fmt.Errorf("serve http: %d calls did not stop", left))...)
	}
	return errors.Join(append(errs, f.sites.close())...)
}

// recovered keeps a panic from ending the process. The panic's value may contain private content and is not
// logged.
func (f *front) recovered(ctx context.Context) {
	if value := recover(); value != nil {
		if value == http.ErrAbortHandler { //nolint:errorlint // it is panicked with as it is
			panic(value)
		}
		f.options.Logger.ErrorContext(ctx, "panic while serving a request", slog.String("stack", string(debug.Stack())))
	}
}

// allowed lists the methods of a route.
func allowed[T any](methods map[string]T) string {
	var names []string
	for _, name := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		if _, ok := methods[name]; ok {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// size formats a number of bytes for people.
func size(n int64) string {
	if n >= 1<<20 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}
