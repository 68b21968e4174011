// Package viewer shows a person in the browser what the agent remembers, and lets them correct, forget, share, undo and
// decide (docs/viewer.md).
//
// The invariant: it reads and changes only through the views of one audience, as a session does. A page of what a group
// sees is made of the group's own views, and opens nothing of the person's.
package viewer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/dream"
	"github.com/yamo-protocol/yamo-mcp/internal/viewer/page"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
	"github.com/yamo-protocol/yamo-mcp/workspace/transcript"
)

// Member is what one audience has.
type Member struct {
	Audience  audience.Audience
	Workspace *workspace.View
	Memory    *mesh.View
	Logs      *transcript.View  // nil without session logs
	Editor    *edit.Editor      // nil in a group
	Dreams    *dream.Sweeper    // nil in a group
	Server    *server.MCPServer // of a group: what its sessions talk to; nil in a DM
}

// Finding is the result of one check of `yamo-mcp doctor`.
type Finding struct{ Check, State, Text, Fix string }

// Options are a viewer's settings. All are required.
type Options struct {
	// Open opens what an audience has, and returns a function that closes it.
	Open func(who audience.Audience) (Member, func() error, error)
	// Doctor checks the installation.
	Doctor  func(ctx context.Context) ([]Finding, error)
	Actor   string // who changes workspace files, in the record of edits
	Logger  *slog.Logger
	Version string // of the program
}

// Site serves the pages. It is safe for concurrent use. The caller closes it.
type Site struct {
	Options
	own, guest *page.Templates // of the person's pages, and of those as a group sees them
	mux        *http.ServeMux
	calendar   atomic.Pointer[workspace.View] // the person's, which has their time zone; nil until it is opened
	editor     atomic.Pointer[edit.Editor]    // the person's, nil until it is opened

	correcting sync.Mutex
	preparing  sync.WaitGroup

	mu      sync.Mutex
	members map[audience.Audience]*opened
	closed  bool
}

// opened is a member that is opened once.
type opened struct {
	once    sync.Once
	member  Member
	release func() error
	err     error
}

// New returns the pages. Nothing of the workspace is opened before a page needs it.
func New(o Options) (*Site, error) {
	s := &Site{Options: o, mux: http.NewServeMux(), members: map[audience.Audience]*opened{}}
	var err error
	if s.own, err = page.Parse(s.zone); err != nil {
		return nil, err
	}
	// SECURITY: the person's time zone is in USER.md, which a group does not read.
	if s.guest, err = page.Parse(func() *time.Location { return time.Local }); err != nil {
		return nil, err
	}
	s.mux.Handle("GET /assets/", page.Assets())
	s.routeMemories()
	s.routeFiles()
	s.routeDecisions()
	s.routeGuests()
	s.get("/sessions", s.sessions)
	s.get("/sessions/{id}", s.session)
	s.get("/health", s.health)
	return s, nil
}

// ServeHTTP implements http.Handler. A guard.Guard must be in front of it.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// zone is the time zone of the person.
func (s *Site) zone() *time.Location {
	if view := s.calendar.Load(); view != nil {
		return view.Now().Location()
	}
	return time.Local
}

// errClosed is returned after Close.
var errClosed = errors.New("the viewer is closed")

// person returns what the person has, a DM.
func (s *Site) person() (Member, error) {
	m, err := s.member(audience.DM())
	if err == nil {
		s.calendar.Store(m.Workspace)
		s.editor.Store(m.Editor)
	}
	return m, err
}

// Prepare opens the person's memory in the background, so that it is open when the browser asks for their first page.
// It closes the channel that it returns when that is done. An error is left for that page to report.
func (s *Site) Prepare(ctx context.Context) <-chan struct{} {
	done := make(chan struct{})
	s.preparing.Go(func() {
		defer close(done)
		if m, err := s.person(); err == nil {
			_, _ = m.Memory.List(ctx, filter{}.request(record.Private), "")
		}
	})
	return done
}

// Path returns the path of the first page of an audience: of a DM the timeline, of a group what its sessions start
// with.
func Path(who audience.Audience) string {
	if who.IsDM() {
		return "/"
	}
	return guestPath(who.Group())
}

// member returns what an audience has, and opens it if no page has needed it before.
func (s *Site) member(who audience.Audience) (Member, error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return Member{}, errClosed
	}
	o := s.members[who]
	if o == nil {
		o = &opened{}
		s.members[who] = o
	}
	s.mu.Unlock()
	o.once.Do(func() { o.member, o.release, o.err = s.Open(who) })
	if o.err != nil {
		s.mu.Lock()
		if s.members[who] == o { // the next request tries again
			delete(s.members, who)
		}
		s.mu.Unlock()
		return Member{}, fmt.Errorf("open the workspace: %w", o.err)
	}
	return o.member, nil
}

// Close closes what was opened. Requests must have ended.
func (s *Site) Close() error {
	s.preparing.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	var errs []error
	for _, o := range s.members {
		if o.release != nil {
			errs = append(errs, o.release())
		}
	}
	return errors.Join(errs...)
}
