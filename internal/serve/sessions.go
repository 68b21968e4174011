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
	// idle is how long a session is kept that nothing happens in.
	idle = 30 * time.Minute
	// forsaken is how long nothing has happened in one that has to go if its client wants another: many clients
	// begin a session for each command and end none.
	forsaken = time.Minute
)

// transport is the way a session is reached. A session of one cannot be used over the other.
type transport int

const (
	streamable transport = iota
	sse
)

// session is one that a client of a protocol before 2026-07-28 has opened.
type session struct {
	id        string
	owner     auth.Client
	transport transport
	ctx       context.Context // ends with the session
	end       context.CancelFunc

	mu      sync.Mutex
	client  server.ClientSession // as mcp-go has registered it, nil before
	used    time.Time
	open    int // requests and streams under way
	posts   int
	resumes []string // posts whose events are kept for a client that lost them
}

// sessions are those of one tenant's server.
//
// SECURITY: this table is the only judge of session ids. mcp-go's own managers accept ids that nobody was
// given, or anybody's; here an id is good for the client it was made for, on the transport it was made for,
// with the server of the same tenant, and for nobody else: to them it does not exist.
type sessions struct {
	mu   sync.Mutex
	byID map[string]*session
}

func newSessions() *sessions { return &sessions{byID: map[string]*session{}} }

// add makes a session.
func (s *sessions) add(owner auth.Client, over transport) *session {
	ctx, cancel := context.WithCancel(context.Background())
	made := &session{id: rand.Text(), owner: owner, transport: over, ctx: ctx, end: cancel, used: time.Now()}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.byID[made.id] = made
	return made
}

// get returns a client's session, nil if it has none of that id.
func (s *sessions) get(id string, owner auth.Client, over transport) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, ok := s.byID[id]
	if !ok || found.owner.Key != owner.Key || found.owner.Tenant != owner.Tenant || found.transport != over {
		return nil
	}
	return found
}

// count is how many sessions a client has.
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

// longest is the client's session that nothing has happened in for the longest time, if that is more than forsaken.
func (s *sessions) longest(key string, now time.Time) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found *session
	since := now.Add(-forsaken)
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

// remove takes a session out. It reports whether it was there.
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

// over are the sessions that have to end: those that stale says so of, and those not used for a while.
func (s *sessions) over(now time.Time, stale func(auth.Client) bool) []*session {
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

// registered notes mcp-go's side of a session.
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

// peer is mcp-go's side of the session, nil before it has one.
func (s *session) peer() server.ClientSession {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.client
}

// enter says that something is under way in the session until leave is called.
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

func (s *session) isIdle(now time.Time) bool {
	used, busy := s.lastUsed()
	return !busy && now.Sub(used) > idle
}

// lastUsed is when something last happened in the session, and whether something does.
func (s *session) lastUsed() (at time.Time, busy bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used, s.open > 0
}
