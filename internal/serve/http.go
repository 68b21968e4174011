package serve

import (
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
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/serve/auth"
)

const (
	// DefaultMaxBody is the length of a message that is still read, in bytes.
	DefaultMaxBody = 4 << 20
	maxHeader      = 32 << 10
	// DefaultArrival is how long the headers of a request may take to arrive, and then its body.
	DefaultArrival = 20 * time.Second
	keepOpen       = 2 * time.Minute // a connection that nobody uses
	tick           = time.Second     // how soon a revoked token loses what it has opened
	// DefaultDrain is how long calls under way may continue after the server was told to stop.
	DefaultDrain = 10 * time.Second
	// abandon is how long a cancelled call may take to stop.
	abandon = 2 * time.Second
)

// HTTPOptions are the settings of HTTP.
type HTTPOptions struct {
	Logger   *slog.Logger
	Version  string
	Listener net.Listener // closed by HTTP
	TLS      *tls.Config  // nil: none

	// Hosts are the names this server is reached by, without port, besides those of the loopback interface
	// when it listens there alone. Origins are those of web pages that may use it, besides its own.
	Hosts, Origins []string
	// PublicURL is where clients find the server from outside, nil if that is where it listens. Its path is
	// what a proxy takes off.
	PublicURL *url.URL
	// AuthorizationServers are where clients get tokens (RFC 9728); without one nothing is said about it.
	AuthorizationServers []string

	// Authenticate says whose a token is; its errors are auth.ErrUnauthorized, auth.ErrForbidden, and what goes wrong.
	Authenticate func(ctx context.Context, token string) (auth.Client, error)
	// Anonymous is who comes without a token, nil if nobody may.
	Anonymous *auth.Client
	// Lowered is what a DM becomes that asks to be a group.
	Lowered audience.Audience
	// Open makes the server of a tenant, with a function that closes what it is made of.
	Open func(auth.Tenant) (*server.MCPServer, func() error, error)

	CallsPerMinute  int           // of one token; 0: DefaultCallsPerMinute
	ConcurrentCalls int           // of one token; 0: DefaultConcurrentCalls
	MaxBody         int64         // 0: DefaultMaxBody
	Drain           time.Duration // 0: DefaultDrain
	Arrival         time.Duration // 0: DefaultArrival
	Heartbeat       time.Duration // 0: DefaultHeartbeat
}

// HTTP serves clients over Streamable HTTP (/mcp) and over the transport before it (/sse and /message), each
// with the server of its own tenant, until ctx is done. Then nothing new is taken in, calls under way may go
// on for up to Drain, what still runs is cancelled, and streams are closed. It returns nil after that, an error
// if calls do not stop.
func HTTP(ctx context.Context, o HTTPOptions) error {
	f := newFront(o)
	srv := &http.Server{
		Handler:           f,
		TLSConfig:         o.TLS,
		ReadHeaderTimeout: f.options.Arrival,
		IdleTimeout:       keepOpen,
		MaxHeaderBytes:    maxHeader,
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
		f.cancel()
		return errors.Join(fmt.Errorf("serve http: %w", err), f.sites.close())
	case <-ctx.Done():
		return f.stop(srv)
	}
}

// front is what is before the servers: it lets requests in, decides whose they are and takes them there.
type front struct {
	options  HTTPOptions
	gate     gate
	quotas   *quotas
	leases   *leases
	sites    *sites
	metadata string // the URL of the OAuth metadata, "" if there is none
	routes   map[string]route
	stopping atomic.Bool

	base   context.Context // ends all that is under way
	cancel context.CancelFunc
}

// route is what a path does.
type route struct {
	methods map[string]func(*recorder, *http.Request, *site, auth.Client) // for clients that were let in
	open    http.HandlerFunc                                              // for everybody, instead
}

func newFront(o HTTPOptions) *front {
	if o.CallsPerMinute == 0 {
		o.CallsPerMinute = DefaultCallsPerMinute
	}
	if o.ConcurrentCalls == 0 {
		o.ConcurrentCalls = DefaultConcurrentCalls
	}
	if o.MaxBody == 0 {
		o.MaxBody = DefaultMaxBody
	}
	if o.Drain == 0 {
		o.Drain = DefaultDrain
	}
	if o.Arrival == 0 {
		o.Arrival = DefaultArrival
	}
	if o.Heartbeat == 0 {
		o.Heartbeat = DefaultHeartbeat
	}
	f := &front{
		options: o,
		gate:    gate{loopback: listensOnLoopback(o.Listener), origins: o.Origins},
		quotas:  newQuotas(o.CallsPerMinute, o.ConcurrentCalls),
		leases:  newLeases(),
	}
	for _, host := range o.Hosts {
		f.gate.hosts = append(f.gate.hosts, hostName(host))
	}
	prefix := ""
	if o.PublicURL != nil {
		prefix = strings.TrimSuffix(o.PublicURL.Path, "/")
		f.gate.hosts = append(f.gate.hosts, hostName(o.PublicURL.Host))
	}
	f.base, f.cancel = context.WithCancel(context.Background())
	f.sites = &sites{
		open: o.Open, of: map[auth.Tenant]*opening{},
		make: func(srv *server.MCPServer, release func() error) (*site, error) {
			return newSite(srv, release, prefix, o.Heartbeat, o.Logger)
		},
	}
	type methods = map[string]func(*recorder, *http.Request, *site, auth.Client)
	f.routes = map[string]route{
		"/mcp":       {methods: methods{http.MethodPost: f.post, http.MethodGet: f.listen, http.MethodDelete: f.hangUp}},
		"/sse":       {methods: methods{http.MethodGet: f.openSSE}},
		messageRoute: {methods: methods{http.MethodPost: f.messageSSE}},
		"/healthz":   {open: f.health},
	}
	f.mountMetadata(prefix)
	return f
}

// listensOnLoopback reports whether only this machine reaches the listener.
func listensOnLoopback(l net.Listener) bool {
	address, ok := l.Addr().(*net.TCPAddr)
	return ok && address.IP.IsLoopback()
}

// ServeHTTP implements http.Handler. The order is: is it meant for us, may it be here, who is it, how much has
// it had, and only then what it wants.
func (f *front) ServeHTTP(writer http.ResponseWriter, r *http.Request) {
	w := record(writer)
	start := time.Now()
	defer f.recovered(r.Context())
	if r.ContentLength != 0 { // or not known
		// SECURITY: whatever is answered, net/http first waits for the rest of a body, and by itself for ever.
		_ = w.control.SetReadDeadline(start.Add(f.options.Arrival)) // a writer without deadlines is a test's
	}
	path := "unknown" // SECURITY: what a client has put into a URL is not logged.
	if _, ok := f.routes[r.URL.Path]; ok {
		path = r.URL.Path
	}
	defer func() {
		f.options.Logger.DebugContext(r.Context(), "request", slog.String("route", path), slog.Int("status", w.code()), slog.Duration("took", time.Since(start)))
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
		refuse(w, http.StatusNotFound, "there is nothing here: MCP is at /mcp and /sse")
		return
	}
	if to.open != nil {
		to.open(w, r)
		return
	}
	handle, ok := to.methods[r.Method]
	if !ok {
		refuse(w, http.StatusMethodNotAllowed, "the method is not one of this route", header{"Allow", allowed(to.methods)})
		return
	}
	if r.Method != http.MethodPost && r.ContentLength != 0 {
		refuse(w, http.StatusBadRequest, "only a POST has a body")
		return
	}
	c, ok := f.admit(w, r)
	if !ok {
		return
	}
	if wait := f.quotas.pace(c.Key, time.Now()); wait > 0 {
		tooMany(w, wait, fmt.Sprintf("more than %d requests a minute with this token: wait", f.options.CallsPerMinute))
		return
	}
	if f.stopping.Load() {
		refuse(w, http.StatusServiceUnavailable, "the server is stopping", retryAfter(time.Second))
		return
	}
	s, err := f.sites.get(c.Tenant)
	if err != nil {
		f.options.Logger.ErrorContext(r.Context(), "open a session", slog.String("audience", c.Tenant.Audience.String()), slog.Any("error", err))
		refuse(w, http.StatusInternalServerError, "internal error")
		return
	}
	handle(w, r.WithContext(withClient(r.Context(), c)), s, c)
}

// admit finds out who sends a request, or refuses it.
func (f *front) admit(w http.ResponseWriter, r *http.Request) (auth.Client, bool) {
	token, problem := bearer(r)
	switch {
	case problem != "":
		refuse(w, http.StatusUnauthorized, "the header Authorization is not Bearer and one token", challenge(problem, "", f.metadata))
		return auth.Client{}, false
	case token == "" && f.options.Anonymous == nil:
		refuse(w, http.StatusUnauthorized, "a token is needed: `yamo-mcp token create` makes one", challenge("", "", f.metadata))
		return auth.Client{}, false
	case token == "":
		return *f.options.Anonymous, true
	}
	c, err := f.options.Authenticate(r.Context(), token)
	switch {
	case errors.Is(err, auth.ErrForbidden):
		refuse(w, http.StatusForbidden, "the token has no scope for this server", challenge("insufficient_scope", scopes, f.metadata))
		return auth.Client{}, false
	case errors.Is(err, auth.ErrUnauthorized):
		refuse(w, http.StatusUnauthorized, "the token is unknown, revoked or expired", challenge("invalid_token", "", f.metadata))
		return auth.Client{}, false
	case err != nil:
		f.options.Logger.ErrorContext(r.Context(), "verify a token", slog.Any("error", err))
		refuse(w, http.StatusServiceUnavailable, "tokens cannot be verified at the moment", retryAfter(10*time.Second))
		return auth.Client{}, false
	}
	return c.Lowered(r.Header, f.options.Lowered), true
}

// health says that the server runs; more only to those who may know.
func (f *front) health(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		refuse(w, http.StatusMethodNotAllowed, "the method is not one of this route", header{"Allow", "GET, HEAD"})
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
	if f.stopping.Load() {
		answer["status"] = "stopping"
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // the client may have gone
}

// watch ends what has lost its right to be, until all ends.
func (f *front) watch() {
	ticker := time.NewTicker(tick)
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

// sweep ends streams, calls and sessions of tokens that are revoked or expired, and sessions nobody uses.
func (f *front) sweep(now time.Time) {
	known := map[string]bool{}
	// SECURITY: a stream outlives the request whose token was checked, so the token is checked as long as it
	// is open. A store of tokens that cannot be read counts as one without them.
	stale := func(c auth.Client) bool {
		if !c.Expires.IsZero() && !now.Before(c.Expires) {
			return true
		}
		good, ok := known[c.Key]
		if !ok {
			good = c.Active(now)
			known[c.Key] = good
		}
		return !good
	}
	f.leases.cancel(stale)
	for _, s := range f.sites.all() {
		for _, each := range s.sessions.over(now, stale) {
			s.endSession(each.id)
		}
	}
	f.quotas.prune(now)
}

// stop ends the server.
func (f *front) stop(srv *http.Server) error {
	f.stopping.Store(true)
	closed := make(chan struct{})
	bound, cancel := context.WithTimeout(context.Background(), f.options.Drain+2*abandon)
	defer cancel()
	go func() {
		defer close(closed)
		_ = srv.Shutdown(bound) // no new connections from here on; what is left at its end is closed below
	}()

	drain, cancelDrain := context.WithTimeout(context.Background(), f.options.Drain)
	left := f.leases.wait(drain)
	cancelDrain()
	if left > 0 {
		f.options.Logger.Warn("calls under way are cancelled", slog.Int("calls", left), slog.Duration("after", f.options.Drain))
	}
	f.cancel() // streams and what is left
	end, cancelEnd := context.WithTimeout(context.Background(), abandon)
	defer cancelEnd()
	left = f.leases.wait(end)
	select {
	case <-closed:
	case <-end.Done():
	}
	errs := []error{srv.Close()}
	if left > 0 {
		// What they use must not be closed under them; the process ends.
		return errors.Join(append(errs, fmt.Errorf("serve http: %d calls did not stop", left))...)
	}
	return errors.Join(append(errs, f.sites.close())...)
}

// recovered keeps a panic from ending the process. Its value may have contents in it and is not logged.
func (f *front) recovered(ctx context.Context) {
	if value := recover(); value != nil {
		if value == http.ErrAbortHandler { //nolint:errorlint // it is panicked with as it is
			panic(value)
		}
		f.options.Logger.ErrorContext(ctx, "panic while serving a request", slog.String("stack", string(debug.Stack())))
	}
}

// allowed are the methods of a route.
func allowed[T any](methods map[string]T) string {
	var names []string
	for _, name := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		if _, ok := methods[name]; ok {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// size is a number of bytes, for people.
func size(n int64) string {
	if n >= 1<<20 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}
