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

// messageRoute is where clients of the old transport send their messages.
const messageRoute = "/message"

type streamKey struct{}

// newStream makes the session of a stream that is being opened.
func (s *site) newStream(ctx context.Context, _ *http.Request) (string, error) {
	client, known := clientFrom(ctx)
	id, ok := ctx.Value(streamKey{}).(*string)
	if !known || !ok {
		return "", errors.New("a stream was opened past its route")
	}
	*id = s.sessions.add(client, sse).id
	return *id, nil
}

// openSSE serves a GET of the old transport: the stream that answers and notifications come on. Its session
// lasts as long as it does.
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

// messageSSE serves a message of the old transport. Its answer comes on the stream.
func (f *front) messageSSE(w *recorder, r *http.Request, s *site, c auth.Client) {
	message, ok := f.receive(w, r, c)
	if !ok {
		return
	}
	ids := r.URL.Query()["sessionId"]
	if len(ids) != 1 {
		refuse(w, http.StatusBadRequest, "the query has to be the one that the stream has named: ?sessionId=…")
		return
	}
	in := s.sessions.get(ids[0], c, sse)
	if in == nil || in.peer() == nil {
		refuse(w, http.StatusNotFound, "there is no such stream: open one with GET")
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
		// The queue of a stream is short. A client that does not read keeps its own calls waiting.
		for s.sse.SendEventToSession(in.id, event) != nil {
			select {
			case <-call.ctx.Done():
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}
	// mcp-go's own handler would go on without the client, and nothing could stop it.
	session := &streamSession{sseSession: peer, outbox: newOutbox(call.ctx, func(n mcp.JSONRPCNotification) { send(n) }, nil)}
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

// sseSession is what mcp-go's sessions of the old transport can do.
type sseSession interface {
	server.SessionWithLogging
	server.SessionWithClientInfo
}

// streamSession is the session of a stream, with the notifications of one request.
type streamSession struct {
	sseSession
	*outbox
}

// NotificationChannel implements server.ClientSession.
func (s *streamSession) NotificationChannel() chan<- mcp.JSONRPCNotification {
	return s.outbox.NotificationChannel()
}
