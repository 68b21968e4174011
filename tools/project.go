package tools

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

const (
	// rootsPatience is the maximum time for a client to name its roots. It is asked once a session.
	rootsPatience = time.Second
	// knownSessions is the maximum number of sessions whose projects are kept.
	knownSessions = 1_000
)

// Projects finds the project of each session: that of the client's roots, or else of the folder that the process runs
// in. It is safe for concurrent use.
type Projects struct {
	roots func(uris []string) string
	here  func() string

	mu    sync.Mutex
	known *simplelru.LRU[string, string] // by session id
}

// NewProjects returns the projects of the sessions of one server. roots returns the identity of the first root that is
// a project, here that of the process's folder; nil where it says nothing, as over HTTP.
func NewProjects(roots func(uris []string) string, here func() string) *Projects {
	known, err := simplelru.NewLRU[string, string](knownSessions, nil)
	if err != nil {
		panic(err) // the size is positive
	}
	if here == nil {
		here = func() string { return "" }
	}
	return &Projects{roots: roots, here: sync.OnceValue(here), known: known}
}

// Follow makes the server ask a client again that has announced other roots.
func (p *Projects) Follow(srv *server.MCPServer) {
	changed := mcp.MethodNotificationRootsListChanged
	srv.AddNotificationHandler(changed, func(ctx context.Context, _ mcp.JSONRPCNotification) {
		if session := server.ClientSessionFromContext(ctx); session != nil {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.known.Remove(session.SessionID())
		}
	})
}

// project returns the project of the session of a call.
func (p *Projects) project(ctx context.Context, c *caller) string {
	session := server.ClientSessionFromContext(ctx)
	// Revision 2026-07-28 has no sessions: a client would have to be asked in each call.
	if session == nil || c.srv == nil || c.repeats || c.can.Roots == nil {
		return p.here()
	}
	p.mu.Lock()
	project, ok := p.known.Get(session.SessionID())
	p.mu.Unlock()
	if ok {
		return project
	}
	project = p.ask(ctx, c)
	if project == "" {
		project = p.here()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known.Add(session.SessionID(), project)
	return project
}

// ask asks the client for its roots and returns their project, "" if it does not answer in time: no call waits longer.
func (p *Projects) ask(ctx context.Context, c *caller) string {
	ctx, cancel := context.WithTimeout(ctx, rootsPatience)
	defer cancel()
	answer := make(chan *mcp.ListRootsResult, 1)
	go func() {
		result, err := c.srv.RequestRoots(ctx, mcp.ListRootsRequest{
			Request: mcp.Request{Method: string(mcp.MethodListRoots)},
		})
		if err != nil {
			result = nil
		}
		answer <- result
	}()
	select {
	case result := <-answer:
		if result == nil {
			return ""
		}
		uris := make([]string, len(result.Roots))
		for i, root := range result.Roots {
			uris[i] = root.URI
		}
		return p.roots(uris)
	case <-ctx.Done():
		return ""
	}
}
