package serve

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/yamo-protocol/yamo-mcp/internal/serve/auth"
)

// messageRoute is the path to which clients of the SSE transport send their messages.
const messageRoute = "/message"

// streamKey is the context key of a pointer to the ID of the stream that is being opened.
type streamKey struct{}

// newStream creates the session of a stream that is being opened. mcp-go calls it for an ID.
func (s *site) newStream(ctx context.Context, _ *http.Request) (string, error) {
	client, known := clientFrom(ctx)
	id, ok := ctx.Value(streamKey{}).(*string)
	if !known || !ok {
		return "", errors.New("the stream was not opened by openSSE")
	}
	*id = s.sessions.add(client, sse).id
	return *id, nil
}

// openSSE serves a GET of the SSE transport: the stream of responses and notifications. Its session ends with it.
func (f *front) openSSE(w *recorder, r *http.Request, s *site, c auth.Client) {
	stream, ok := f.stream(w, r, c, nil)
	if !ok {
		return
	}
	defer stream.end()
	if !s.roomFor(c.Key, time.Now()) {
		tooMany(w, time.Minute, "too many sessions are open with this token: close one")
		return
	}
	var id string
	defer func() { s.sessions.remove(id) }()
	s.sse.SSEHandler().ServeHTTP(w, r.WithContext(context.WithValue(stream.ctx, streamKey{}, &id)))
}

// messageSSE serves a POST of the SSE transport. The response is sent on the stream.
func (f *front) messageSSE(w *recorder, r *http.Request, s *site, c auth.Client) {
	message, ok := f.receive(w, r, c)
	if !ok {
		return
	}
	ids := r.URL.Query()["sessionId"]
	if len(ids) != 1 {
		refuse(w, http.StatusBadRequest, "use the URL that the stream has sent, with ?sessionId=…")
		return
	}
	in := s.sessions.get(ids[0], c, sse)
	if in == nil || in.peer() == nil {
		refuse(w, http.StatusNotFound, "unknown stream: open one with GET")
		return
	}
	peer, ok := in.peer().(sseSession)
	if !ok {
		refuse(w, http.StatusInternalServerError, "internal error")
		return
	}
	leave := in.enter()
	call, ok := f.begin(w, r, c, message, in)
	if !ok {
		leave()
		return
	}
	send := func(event any) {
		// The queue of a stream is short: a client that does not read blocks its own calls. mcp-go has no way to
		// wait for space in it.
		for s.sse.SendEventToSession(in.id, event) != nil {
			select {
			case <-call.ctx.Done():
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}
	// mcp-go's own handler would continue without the client and could not be cancelled.
	session := &streamSession{peer, newOutbox(call.ctx, func(n mcp.JSONRPCNotification) { send(n) }, nil)}
	// Before the call: the response comes on the stream, and a client that waits for this one must not wait for the
	// call.
	w.WriteHeader(http.StatusAccepted)
	go func() {
		defer leave()
		defer call.end()
		defer f.recovered(call.ctx)
		if answer := s.server.HandleMessage(s.server.WithContext(call.ctx, session), message.data); answer != nil {
			send(answer)
		}
	}()
}

// sseSession is the set of interfaces that mcp-go's SSE sessions implement.
type sseSession interface {
	server.SessionWithLogging
	server.SessionWithClientInfo
}

// streamSession is a stream's session that delivers the notifications of one request through an outbox.
type streamSession struct {
	sseSession
	*outbox
}

// NotificationChannel implements server.ClientSession.
func (s *streamSession) NotificationChannel() chan<- mcp.JSONRPCNotification {
	return s.outbox.NotificationChannel()
}
