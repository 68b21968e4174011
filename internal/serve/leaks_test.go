package serve

import (
	"fmt"
	"net/http"
	"runtime"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/serve/servetest"
)

// Sessions that were ended, and streams that clients left, leave no goroutine. It runs alone: goroutines are the
// process's.
func TestSessionsLeaveNoGoroutine(t *testing.T) { //nolint:paralleltest // it counts goroutines
	h := serveHouse(t, nil)
	visit := func() {
		id := h.session("dm")
		h.ask(http.MethodPost, "/mcp", "dm", servetest.CallSay(1, "once"), inSession(id))
		listening := h.send(http.MethodGet, "/mcp", "dm", "", inSession(id), "Accept: text/event-stream")
		if got := h.ask(http.MethodDelete, "/mcp", "dm", "", inSession(id)); got.status >= http.StatusBadRequest {
			t.Fatalf("end a session: %+v", got)
		}
		_ = listening.Body.Close()
		events, route := h.stream("club")
		h.ask(http.MethodPost, route, "club", fmt.Sprintf(initializeMessage, "club"))
		if _, _, ok := events.next(); !ok {
			t.Fatal("no answer on the stream")
		}
		_ = events.body.Close()
	}
	few := func(most int) func() bool {
		return func() bool {
			http.DefaultTransport.(*http.Transport).CloseIdleConnections()
			return runtime.NumGoroutine() <= most
		}
	}
	before := runtime.NumGoroutine()
	visit() // which also opens the tenants' servers
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	const visits = 40
	for range visits {
		visit()
	}
	// A server of a tenant has a few of its own; a leak of a visit would be at least as many as the visits.
	later(t, "no goroutine of a visit is left", few(before+visits/2))
}
