package serve

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"
)

// maxStrangers is the maximum number of open connections that have sent no token yet. One more closes the oldest.
const maxStrangers = 128

// strangers are the open connections on which no token was accepted, oldest first. Those that serve a request are not
// among them.
//
// SECURITY: anyone can open connections and send nothing. Without a limit they take every file descriptor of the
// process, so that clients with a token cannot connect and the workspace's files cannot be opened.
type strangers struct {
	mu   sync.Mutex
	list *list.List // of net.Conn
	most int
	at   map[net.Conn]*list.Element
}

func newStrangers(most int) *strangers {
	return &strangers{list: list.New(), most: most, at: map[net.Conn]*list.Element{}}
}

// watch is the server's ConnState.
func (s *strangers) watch(c net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.add(c)
	case http.StateClosed, http.StateHijacked:
		s.remove(c)
	case http.StateActive, http.StateIdle: // a request that has begun has not shown a token
	}
}

// add registers a connection, and closes the oldest if there are too many: the newest may be that of a client with a
// token.
func (s *strangers) add(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at[c] != nil {
		return
	}
	s.at[c] = s.list.PushBack(c)
	for s.list.Len() > s.most {
		oldest, _ := s.list.Remove(s.list.Front()).(net.Conn)
		delete(s.at, oldest)
		_ = oldest.Close() // it may have gone already
	}
}

// remove forgets a connection that was closed or has shown a token.
func (s *strangers) remove(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.at[c]; e != nil {
		s.list.Remove(e)
		delete(s.at, c)
	}
}

// connection is a connection of the server, as a request's context has it.
type connection struct {
	net.Conn
	known bool // a token was accepted on it; requests of one connection that run at a time may all set it
	mu    sync.Mutex
}

type connectionKey struct{}

// withConnection is the server's ConnContext.
func withConnection(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, &connection{Conn: c})
}

// meet notes that a token was accepted on the connection of a request.
func meet(ctx context.Context) {
	if c, ok := ctx.Value(connectionKey{}).(*connection); ok {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.known = true
	}
}

// serve takes the connection of a request from the strangers. The result puts it back unless its client is known now.
func (s *strangers) serve(ctx context.Context) (done func()) {
	c, ok := ctx.Value(connectionKey{}).(*connection)
	if !ok {
		return func() {}
	}
	s.remove(c.Conn)
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if !c.known && ctx.Err() == nil {
			s.add(c.Conn)
		}
	}
}
