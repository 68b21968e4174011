package serve

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/yamo-protocol/yamo-mcp/internal/serve/auth"
)

const (
	// DefaultHeartbeat is the interval of keep-alive comments on open streams. They keep proxies from closing a
	// stream and reveal lost connections.
	DefaultHeartbeat = 25 * time.Second
	// maxResumes is the number of POSTs per session whose events are kept for a client that reconnects.
	maxResumes = 16
)

// exchange is a POST that mcp-go handles.
type exchange struct {
	client   auth.Client
	session  *session // nil for protocol 2026-07-28, and for initialize
	response *recorder
	opens    bool // it is an initialize
}

// exchangeKey is the key of the exchange in a request's context.
type exchangeKey struct{}

// post serves a message sent to the Streamable HTTP route.
func (f *front) post(w *recorder, r *http.Request, s *site, c auth.Client) {
	message, ok := f.receive(w, r, c)
	if !ok {
		return
	}
	opens := message.method == string(mcp.MethodInitialize) && !message.modern
	if message.modern && message.method == string(mcp.MethodNotificationCancelled) {
		// SECURITY: mcp-go finds requests of modern clients by an ID that each client chooses, so this would cancel
		// another client's request with the same ID. A modern client cancels by closing the request's stream.
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if opens && !s.roomFor(c.Key, time.Now()) {
		tooMany(w, time.Minute, "too many sessions are open with this token: end one with DELETE, or wait until one expires")
		return
	}
	var in *session
	if !message.modern && !opens {
		if in, ok = f.existing(w, r, s, c); !ok {
			return
		}
		defer in.enter()()
	}
	call, ok := f.begin(w, r, c, message, in)
	if !ok {
		return
	}
	defer call.end()

	x := &exchange{client: c, session: in, response: w, opens: opens}
	request := r.Clone(context.WithValue(call.ctx, exchangeKey{}, x))
	request.Body = io.NopCloser(bytes.NewReader(message.data))
	// mcp-go must see only the ID that is set below, never the client's.
	request.Header.Del(server.HeaderKeySessionID)
	switch {
	case opens:
		// A client may use its session at once, but mcp-go registers it only after it has written the response.
		response := newBuffered()
		s.streamable.ServeHTTP(response, request)
		response.writeTo(w)
		return
	// An answer belongs to the session: there mcp-go waits for it, not in a POST of its own.
	case in != nil && message.answer:
		request.Header.Set(server.HeaderKeySessionID, in.id)
	case in != nil:
		id := in.nextPost()
		request.Header.Set(server.HeaderKeySessionID, id)
		defer s.keep(in, id)
	}
	defer w.keepAlive(f.options.Heartbeat)()
	s.streamable.ServeHTTP(w, request)
	if w.code() == 0 && call.ctx.Err() != nil && r.Context().Err() == nil {
		// mcp-go sends no response when the context has ended, because it assumes that the client has gone.
		refuse(w, http.StatusServiceUnavailable,
			"the call was cancelled because its session, its token or the server has ended")
	}
}

// existing returns the session that a request names, or rejects the request.
func (f *front) existing(w http.ResponseWriter, r *http.Request, s *site, c auth.Client) (*session, bool) {
	ids := r.Header.Values(server.HeaderKeySessionID)
	if len(ids) != 1 || ids[0] == "" {
		refuse(w, http.StatusBadRequest,
			"the header Mcp-Session-Id is missing: begin with initialize, or use protocol 2026-07-28")
		return nil, false
	}
	found := s.sessions.get(ids[0], c, streamable)
	if found == nil {
		// SECURITY: the response is the same for sessions of other clients, of other audiences, and for none.
		refuse(w, http.StatusNotFound, "unknown session: begin a new one with initialize")
		return nil, false
	}
	return found, true
}

// nextPost returns mcp-go's ID for the session's next POST.
func (s *session) nextPost() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.posts++
	return postID(s.id, s.posts)
}

// keep keeps the events of a finished POST for a client that reconnects, and drops the oldest ones.
func (s *site) keep(in *session, post string) {
	if !s.events.any(post) {
		return
	}
	in.mu.Lock()
	in.resumes = append(in.resumes, post)
	var old []string
	if n := len(in.resumes) - maxResumes; n > 0 {
		old = slices.Clone(in.resumes[:n])
		in.resumes = in.resumes[n:]
	}
	in.mu.Unlock()
	for _, id := range old {
		s.forget(id)
	}
	if in.ctx.Err() != nil {
		s.forget(post) // the session ended meanwhile
	}
}

// listen serves a GET of the Streamable HTTP route: the session's stream, or the rest of a stream after a lost
// connection.
func (f *front) listen(w *recorder, r *http.Request, s *site, c auth.Client) {
	if mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion)) {
		refuse(w, http.StatusMethodNotAllowed,
			"protocol 2026-07-28 does not have this stream: use subscriptions/listen", header{"Allow", "POST"})
		return
	}
	in, ok := f.existing(w, r, s, c)
	if !ok {
		return
	}
	id := in.id
	if last := r.Header.Get(mcp.HeaderLastEventID); last != "" {
		var err error
		if id, err = resumed(in.id, last); err != nil {
			refuse(w, http.StatusBadRequest, "the header Last-Event-ID is unknown")
			return
		}
	}
	defer in.enter()()
	stream, ok := f.stream(w, r, c, in)
	if !ok {
		return
	}
	defer stream.end()
	request := r.Clone(stream.ctx)
	request.Header.Set(server.HeaderKeySessionID, id)
	if id == in.id {
		stop := func() {}
		w.begun = func() { stop = in.listens() } // by now mcp-go delivers to this stream
		defer func() { stop() }()
	}
	s.streamable.ServeHTTP(w, request)
}

// deleteSession serves a DELETE of the Streamable HTTP route: the client ends its session.
func (f *front) deleteSession(w *recorder, r *http.Request, s *site, c auth.Client) {
	if mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion)) {
		refuse(w, http.StatusMethodNotAllowed, "protocol 2026-07-28 does not have sessions", header{"Allow", "POST"})
		return
	}
	in, ok := f.existing(w, r, s, c)
	if !ok {
		return
	}
	s.endSession(in.id)
	w.WriteHeader(http.StatusNoContent)
}

// inContext replaces mcp-go's session of a POST with a callSession. mcp-go calls it for every POST.
func (s *site) inContext(ctx context.Context, r *http.Request) context.Context {
	x, ok := r.Context().Value(exchangeKey{}).(*exchange)
	raw, streams := server.ClientSessionFromContext(ctx).(httpSession)
	if !ok || !streams || x.opens {
		return ctx
	}
	call := &callSession{httpSession: raw, id: x.client.Key, in: x.session}
	written := x.written(ctx)
	if x.session != nil {
		call.id = x.session.id
		call.peer, _ = x.session.peer().(httpSession)
		written = nil // the event store has what was delivered; mcp-go sends all of it before the response
	}
	queue := raw.NotificationChannel()
	call.outbox = newOutbox(ctx, func(n mcp.JSONRPCNotification) {
		select {
		case queue <- n:
		case <-ctx.Done():
		}
	}, written)
	return s.server.WithContext(ctx, call)
}

// written returns a function that waits until n events are on the wire, or ctx is done.
func (x *exchange) written(ctx context.Context) func(int) {
	return func(n int) {
		for {
			events, changed := x.response.wrote()
			if events >= n {
				return
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	}
}

// httpSession is the set of interfaces that mcp-go's Streamable HTTP sessions implement.
type httpSession interface {
	server.SessionWithLogging
	server.SessionWithClientInfo
	server.SessionWithSampling
	server.SessionWithElicitation
	server.SessionWithRoots
	server.SessionWithSubscriptionFilter
	server.SessionWithStreamableHTTPConfig
}

// callSession is the session that a request's handlers see. To mcp-go each POST is a session of its own, with its own
// notifications (TestProgressStaysWithItsCall). Handlers need the client's: its name, its capabilities, and the way
// to send it requests (TestHandlersSeeTheClientsSession).
type callSession struct {
	httpSession
	*outbox
	id   string
	in   *session    // nil for protocol 2026-07-28
	peer httpSession // mcp-go's session of in, nil with in
}

// SessionID implements server.ClientSession. It identifies cancellations and subscriptions.
func (c *callSession) SessionID() string { return c.id }

// NotificationChannel implements server.ClientSession.
func (c *callSession) NotificationChannel() chan<- mcp.JSONRPCNotification {
	return c.outbox.NotificationChannel()
}

// shared returns the session with the state that initialize has set.
func (c *callSession) shared() httpSession {
	if c.peer != nil {
		return c.peer
	}
	return c.httpSession
}

// GetClientInfo implements server.SessionWithClientInfo.
func (c *callSession) GetClientInfo() mcp.Implementation { return c.shared().GetClientInfo() }

// SetClientInfo implements server.SessionWithClientInfo.
func (c *callSession) SetClientInfo(i mcp.Implementation) { c.shared().SetClientInfo(i) }

// GetClientCapabilities implements server.SessionWithClientInfo.
func (c *callSession) GetClientCapabilities() mcp.ClientCapabilities {
	return c.shared().GetClientCapabilities()
}

// SetClientCapabilities implements server.SessionWithClientInfo.
func (c *callSession) SetClientCapabilities(capabilities mcp.ClientCapabilities) {
	c.shared().SetClientCapabilities(capabilities)
}

// SetLogLevel implements server.SessionWithLogging.
func (c *callSession) SetLogLevel(level mcp.LoggingLevel) { c.shared().SetLogLevel(level) }

// GetLogLevel implements server.SessionWithLogging.
func (c *callSession) GetLogLevel() mcp.LoggingLevel { return c.shared().GetLogLevel() }

// awaitStream waits until the client can receive a request on the session's stream. mcp-go delivers a request that is
// queued earlier to nobody if the stream opens at the wrong moment (TestQuestionsWaitForTheStream).
func (c *callSession) awaitStream(ctx context.Context) error {
	if c.in == nil {
		return nil
	}
	return c.in.awaitStream(ctx)
}

// RequestSampling implements server.SessionWithSampling. The client responds in its session.
func (c *callSession) RequestSampling(
	ctx context.Context, request mcp.CreateMessageRequest,
) (*mcp.CreateMessageResult, error) {
	if err := c.awaitStream(ctx); err != nil {
		return nil, err
	}
	return c.shared().RequestSampling(ctx, request)
}

// RequestElicitation implements server.SessionWithElicitation. Its request is sent on the stream of its own POST.
func (c *callSession) RequestElicitation(
	ctx context.Context, request mcp.ElicitationRequest,
) (*mcp.ElicitationResult, error) {
	return c.shared().RequestElicitation(ctx, request)
}

// ListRoots implements server.SessionWithRoots.
func (c *callSession) ListRoots(ctx context.Context, request mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	if err := c.awaitStream(ctx); err != nil {
		return nil, err
	}
	return c.shared().ListRoots(ctx, request)
}
