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
	// DefaultHeartbeat is how often an open stream is written to, so that proxies keep it and lost ones are noticed.
	DefaultHeartbeat = 25 * time.Second
	// maxResumes is how many POSTs of a session keep their events for a client that lost the connection.
	maxResumes = 16
)

// exchange is one POST on its way through mcp-go.
type exchange struct {
	client  auth.Client
	session *session // nil for protocol 2026-07-28, and for initialize
	answer  *recorder
	opens   bool // it is an initialize
}

type exchangeKey struct{}

// post serves a message sent to the Streamable HTTP route.
func (f *front) post(w *recorder, r *http.Request, s *site, c auth.Client) {
	message, ok := f.receive(w, r, c)
	if !ok {
		return
	}
	opens := message.method == string(mcp.MethodInitialize) && !message.modern
	if message.modern && message.method == string(mcp.MethodNotificationCancelled) {
		// SECURITY: mcp-go keeps the requests of all modern clients under the ids that these chose, so this
		// would cancel whoever's is under that id. A modern client cancels by closing the request's stream.
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if opens && !s.roomFor(c.Key, time.Now()) {
		tooMany(w, time.Minute, "too many sessions are open with this token: end one with DELETE, or wait until one is forgotten")
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

	x := &exchange{client: c, session: in, answer: w, opens: opens}
	request := r.Clone(context.WithValue(call.ctx, exchangeKey{}, x))
	request.Body = io.NopCloser(bytes.NewReader(message.data))
	request.Header.Del(server.HeaderKeySessionID)
	switch {
	case opens:
		// The client may use its session as soon as it hears of it; until this returns, mcp-go does not know it.
		answer := hold()
		s.streamable.ServeHTTP(answer, request)
		answer.release(w)
		return
	case in != nil && message.answer:
		request.Header.Set(server.HeaderKeySessionID, in.id)
	case in != nil:
		id := in.nextPost()
		request.Header.Set(server.HeaderKeySessionID, id)
		defer s.keep(in, id)
	}
	defer w.beat(f.options.Heartbeat)()
	s.streamable.ServeHTTP(w, request)
	if w.code() == 0 && call.ctx.Err() != nil && r.Context().Err() == nil {
		// mcp-go says nothing when the context has ended, because it takes the client for gone.
		refuse(w, http.StatusServiceUnavailable, "the call was cancelled, because its session, its token or the server has ended")
	}
}

// existing is the session that a request names, or refuses the request.
func (f *front) existing(w http.ResponseWriter, r *http.Request, s *site, c auth.Client) (*session, bool) {
	ids := r.Header.Values(server.HeaderKeySessionID)
	if len(ids) != 1 || ids[0] == "" {
		refuse(w, http.StatusBadRequest, "the header Mcp-Session-Id is missing: begin with initialize, or speak protocol 2026-07-28")
		return nil, false
	}
	found := s.sessions.get(ids[0], c, streamable)
	if found == nil {
		// SECURITY: a session of somebody else, of another audience or of nobody: it makes no difference.
		refuse(w, http.StatusNotFound, "there is no such session: begin a new one with initialize")
		return nil, false
	}
	return found, true
}

// nextPost is mcp-go's id for another POST of the session.
func (s *session) nextPost() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.posts++
	return postID(s.id, s.posts)
}

// keep decides whether a client may want to hear the end of a POST again.
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
		s.forget(post) // the session has ended meanwhile
	}
}

// listen serves a GET of the Streamable HTTP route: the session's stream, or the rest of a stream that was lost.
func (f *front) listen(w *recorder, r *http.Request, s *site, c auth.Client) {
	if mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion)) {
		refuse(w, http.StatusMethodNotAllowed, "since protocol 2026-07-28 there is no such stream: use subscriptions/listen", header{"Allow", "POST"})
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
	s.streamable.ServeHTTP(w, request)
}

// hangUp serves a DELETE of the Streamable HTTP route: the client ends its session.
func (f *front) hangUp(w *recorder, r *http.Request, s *site, c auth.Client) {
	if mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion)) {
		refuse(w, http.StatusMethodNotAllowed, "since protocol 2026-07-28 there are no sessions", header{"Allow", "POST"})
		return
	}
	in, ok := f.existing(w, r, s, c)
	if !ok {
		return
	}
	s.endSession(in.id)
	w.WriteHeader(http.StatusNoContent)
}

// inContext puts a request's own session in the place of mcp-go's. mcp-go calls it for every POST.
func (s *site) inContext(ctx context.Context, r *http.Request) context.Context {
	x, ok := r.Context().Value(exchangeKey{}).(*exchange)
	raw, streams := server.ClientSessionFromContext(ctx).(httpSession)
	if !ok || !streams || x.opens {
		return ctx
	}
	call := &callSession{httpSession: raw, id: x.client.Key}
	written := x.written(ctx)
	if x.session != nil {
		call.id = x.session.id
		call.peer, _ = x.session.peer().(httpSession)
		written = nil // the event store has what was delivered, and mcp-go sends all of it before the answer
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

// written waits until so many events are on the wire.
func (x *exchange) written(ctx context.Context) func(int) {
	return func(n int) {
		for {
			events, changed := x.answer.wrote()
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

// httpSession is what mcp-go's sessions of this transport can do.
type httpSession interface {
	server.SessionWithLogging
	server.SessionWithClientInfo
	server.SessionWithSampling
	server.SessionWithElicitation
	server.SessionWithRoots
	server.SessionWithSubscriptionFilter
	server.SessionWithStreamableHTTPConfig
}

// callSession is the session that a request's handlers see. To mcp-go each request is a session of its own
// with its own notifications; to handlers it is the client's.
type callSession struct {
	httpSession
	*outbox
	id   string
	peer httpSession // the client's, nil for protocol 2026-07-28
}

// SessionID implements server.ClientSession. Cancellations and subscriptions go by it.
func (c *callSession) SessionID() string { return c.id }

// NotificationChannel implements server.ClientSession.
func (c *callSession) NotificationChannel() chan<- mcp.JSONRPCNotification {
	return c.outbox.NotificationChannel()
}

func (c *callSession) of() httpSession {
	if c.peer != nil {
		return c.peer
	}
	return c.httpSession
}

// GetClientInfo implements server.SessionWithClientInfo, as the rest of what initialize has settled.
func (c *callSession) GetClientInfo() mcp.Implementation { return c.of().GetClientInfo() }

// SetClientInfo implements server.SessionWithClientInfo.
func (c *callSession) SetClientInfo(i mcp.Implementation) { c.of().SetClientInfo(i) }

// GetClientCapabilities implements server.SessionWithClientInfo.
func (c *callSession) GetClientCapabilities() mcp.ClientCapabilities {
	return c.of().GetClientCapabilities()
}

// SetClientCapabilities implements server.SessionWithClientInfo.
func (c *callSession) SetClientCapabilities(capabilities mcp.ClientCapabilities) {
	c.of().SetClientCapabilities(capabilities)
}

// SetLogLevel implements server.SessionWithLogging.
func (c *callSession) SetLogLevel(level mcp.LoggingLevel) { c.of().SetLogLevel(level) }

// GetLogLevel implements server.SessionWithLogging.
func (c *callSession) GetLogLevel() mcp.LoggingLevel { return c.of().GetLogLevel() }

// RequestSampling implements server.SessionWithSampling: the client's answer comes in its session.
func (c *callSession) RequestSampling(ctx context.Context, request mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	return c.of().RequestSampling(ctx, request)
}

// RequestElicitation implements server.SessionWithElicitation.
func (c *callSession) RequestElicitation(ctx context.Context, request mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	return c.of().RequestElicitation(ctx, request)
}

// ListRoots implements server.SessionWithRoots.
func (c *callSession) ListRoots(ctx context.Context, request mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	return c.of().ListRoots(ctx, request)
}
