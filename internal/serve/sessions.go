package serve

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"github.com/yamo-protocol/yamo-mcp/internal/serve/auth"
)

const (
	// idleLimit is how long a session may be idle before it ends.
	idleLimit = 30 * time.Minute
	// evictionAge is how long a session must be idle before it can make room for another one of its client. Many
	// clients start a session for each command and end none.
	evictionAge = time.Minute
)

// transport is the transport of a session. A session cannot be used over the other one.
type transport int

const (
	streamable transport = iota
	sse
)

// session is an MCP session, which exist only in protocols before 2026-07-28.
type session struct {
	id        string
	owner     auth.Client
	transport transport
	ctx       context.Context // ends with the session
	end       context.CancelFunc

	mu      sync.Mutex
	client  server.ClientSession // mcp-go's session, nil until it is registered
	used    time.Time
	open    int           // requests and streams under way
	streams int           // streams of GET that are open
	heard   chan struct{} // closed while streams is not 0
	posts   int           // number of POSTs so far
	resumes []string      // mcp-go's IDs of POSTs whose events are kept for a client that reconnects
}

// sessions are the sessions of one tenant's server.
//
// SECURITY: only this table decides which session IDs are valid. mcp-go's own managers accept IDs that were never
// issued, or were issued to other clients. Here an ID is valid only for the client, the transport and the tenant
// it was issued to. For all others the session does not exist.
type sessions struct {
	mu   sync.Mutex
	byID map[string]*session
}

func newSessions() *sessions { return &sessions{byID: map[string]*session{}} }

// add creates a session.
func (s *sessions) add(owner auth.Client, over transport) *session {
	// Not the context of the request that creates it: the session outlives that.
	ctx, cancel := context.WithCancel(context.Background())
	made := &session{id: rand.Text(), owner: owner, transport: over, ctx: ctx, end: cancel, used: time.Now()}
	made.heard = make(chan struct{})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.byID[made.id] = made
	return made
}

// get returns a client's session, nil if it has none with the ID.
func (s *sessions) get(id string, owner auth.Client, over transport) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, ok := s.byID[id]
	if !ok || found.owner.Key != owner.Key || found.owner.Tenant != owner.Tenant || found.transport != over {
		return nil
	}
	return found
}

// count returns the number of a client's sessions.
func (s *sessions) count(key string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, each := range s.byID {
		if each.owner.Key == key {
			n++
		}
	}
	return n
}

// evictable returns the client's session that has been idle for the longest time, nil if none has been idle for
// evictionAge.
func (s *sessions) evictable(key string, now time.Time) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found *session
	since := now.Add(-evictionAge)
	for _, each := range s.byID {
		if each.owner.Key != key {
			continue
		}
		if used, busy := each.lastUsed(); !busy && used.Before(since) {
			found, since = each, used
		}
	}
	return found
}

// remove removes and ends a session. It reports whether there was one with the ID.
func (s *sessions) remove(id string) (*session, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, ok := s.byID[id]
	if !ok {
		return nil, false
	}
	delete(s.byID, id)
	found.end()
	return found, true
}

// expired returns the sessions that must end: those of stale clients and those that are idle.
func (s *sessions) expired(now time.Time, stale func(auth.Client) bool) []*session {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []*session
	for _, each := range s.byID {
		if each.isIdle(now) || stale(each.owner) {
			list = append(list, each)
		}
	}
	return list
}

// registered stores mcp-go's session in the session with its ID.
func (s *sessions) registered(client server.ClientSession) {
	s.mu.Lock()
	found, ok := s.byID[client.SessionID()]
	s.mu.Unlock()
	if ok {
		found.mu.Lock()
		found.client = client
		found.mu.Unlock()
	}
}

// peer returns mcp-go's session, nil before it is registered.
func (s *session) peer() server.ClientSession {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.client
}

// enter marks the session as busy until leave is called.
func (s *session) enter() (leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open++
	s.used = time.Now()
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.open--
		s.used = time.Now()
	}
}

// listens marks a stream of GET as open until stop is called.
func (s *session) listens() (stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.streams++; s.streams == 1 {
		close(s.heard)
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.streams--; s.streams == 0 {
			s.heard = make(chan struct{})
		}
	}
}

// awaitStream waits until a stream of GET is open. The error is ctx's.
func (s *session) awaitStream(ctx context.Context) error {
	s.mu.Lock()
	heard := s.heard
	s.mu.Unlock()
	select {
	case <-heard:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// isIdle reports whether nothing has used the session for idleLimit.
func (s *session) isIdle(now time.Time) bool {
	used, busy := s.lastUsed()
	return !busy && now.Sub(used) > idleLimit
}

// lastUsed returns when the session was last used, and whether it is in use.
func (s *session) lastUsed() (at time.Time, busy bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used, s.open > 0
}
