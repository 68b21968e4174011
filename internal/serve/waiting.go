package serve

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"
)

const (
	// maxStrangers is the maximum number of open connections that have sent no token yet.
	maxStrangers = 128
	// maxWaiting is the maximum number of open connections of one client on which no request is served.
	maxWaiting = 64
)

// waiting are the open connections on which no request is served, by client, oldest first. Those on which no token was
// accepted are the strangers; they have no client.
//
// SECURITY: anyone can open connections and send nothing. Without limits they take every file descriptor of the
// process, so that others cannot connect and the workspace's files cannot be opened.
type waiting struct {
	mu        sync.Mutex
	strangers int                   // their maximum
	each      int                   // the maximum of a client
	byClient  map[string]*list.List // of net.Conn
	at        map[net.Conn]place
}

// place is where a connection is.
type place struct {
	client  string
	element *list.Element
}

func newWaiting(strangers, each int) *waiting {
	return &waiting{strangers: strangers, each: each, byClient: map[string]*list.List{}, at: map[net.Conn]place{}}
}

// watch is the server's ConnState.
func (s *waiting) watch(c net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.add(c, "")
	case http.StateClosed, http.StateHijacked:
		s.remove(c)
	case http.StateActive, http.StateIdle: // a request that has begun has not shown a token
	}
}

// add registers a connection, and closes one if its client has too many: the oldest, and of strangers the oldest of the
// address that has most, because the newest may be that of a client with a token.
func (s *waiting) add(c net.Conn, client string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.at[c]; ok {
		return
	}
	queue := s.byClient[client]
	if queue == nil {
		queue = list.New()
		s.byClient[client] = queue
	}
	s.at[c] = place{client, queue.PushBack(c)}
	most, victim := s.each, queue.Front()
	if client == "" {
		most = s.strangers
	}
	if queue.Len() <= most {
		return
	}
	if client == "" {
		victim = oldestOfMost(queue)
	}
	closed := victim.Value.(net.Conn) //nolint:forcetypeassert // nothing else is in a queue
	s.drop(closed)
	_ = closed.Close() // it may have gone already
}

// oldestOfMost returns the oldest connection of the address that has most.
func oldestOfMost(queue *list.List) *list.Element {
	count := map[string]int{}
	first := map[string]*list.Element{}
	most := ""
	for e := queue.Front(); e != nil; e = e.Next() {
		host := hostOf(e.Value.(net.Conn)) //nolint:forcetypeassert // nothing else is in a queue
		if count[host]++; count[host] == 1 {
			first[host] = e
		}
		if count[host] > count[most] {
			most = host
		}
	}
	return first[most]
}

// hostOf returns the address at the other end without its port.
func hostOf(c net.Conn) string {
	address := c.RemoteAddr().String()
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return host
}

// remove forgets a connection that was closed or serves a request.
func (s *waiting) remove(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(c)
}

// drop is remove with s.mu held.
func (s *waiting) drop(c net.Conn) {
	p, ok := s.at[c]
	if !ok {
		return
	}
	queue := s.byClient[p.client]
	queue.Remove(p.element)
	if queue.Len() == 0 {
		delete(s.byClient, p.client)
	}
	delete(s.at, c)
}

// connection is a connection of the server, as a request's context has it.
type connection struct {
	net.Conn
	mu     sync.Mutex
	client string // whose token was accepted on it last, "" for none; requests of one connection may run at a time
}

type connectionKey struct{}

// withConnection is the server's ConnContext.
func withConnection(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, &connection{Conn: c})
}

// meet notes whose token was accepted on the connection of a request.
func meet(ctx context.Context, client string) {
	if c, ok := ctx.Value(connectionKey{}).(*connection); ok {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.client = client
	}
}

// serve takes the connection of a request from those that wait. The result puts it back.
func (s *waiting) serve(ctx context.Context) (done func()) {
	c, ok := ctx.Value(connectionKey{}).(*connection)
	if !ok {
		return func() {}
	}
	s.remove(c.Conn)
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if ctx.Err() == nil {
			s.add(c.Conn, c.client)
		}
	}
}
