package serve

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/serve/auth"
)

// Two thousand authenticated sessions are open at once. One more of a client is refused and does not take another
// client's room; each answers; each ends, by its client or because its token was revoked, and leaves nothing behind. It
// runs alone: goroutines are the process's.
func TestManySessions(t *testing.T) { //nolint:paralleltest // it counts goroutines
	const clients = 32
	var issue atomic.Int64 // tokens of an earlier one are revoked
	h := serveHouse(t, func(o *HTTPOptions) {
		o.Authenticate = func(_ context.Context, token string) (auth.Client, error) {
			c := auth.Client{Key: "token:" + token, Tenant: auth.Tenant{Audience: audience.DM()}}
			mine := issue.Load()
			c.Valid = func() error {
				if issue.Load() > mine && token != "last" {
					return auth.ErrUnauthorized
				}
				return nil
			}
			return c, nil
		}
	})
	h.session("last") // which opens the tenant's server
	before := runtime.NumGoroutine()
	ids := make([][]string, clients)
	each := func(do func(client int, token string)) {
		var wg sync.WaitGroup
		for client := range clients {
			wg.Go(func() { do(client, fmt.Sprint("client", client)) })
		}
		wg.Wait()
	}
	each(func(client int, token string) {
		for range maxSessions {
			got := h.ask(http.MethodPost, "/mcp", token, fmt.Sprintf(initializeMessage, token))
			if got.status != http.StatusOK {
				t.Errorf("%s: %+v", token, got)
				return
			}
			ids[client] = append(ids[client], got.header.Get("Mcp-Session-Id"))
		}
		got := h.ask(http.MethodPost, "/mcp", token, fmt.Sprintf(initializeMessage, token))
		if got.status != http.StatusTooManyRequests || got.header.Get("Retry-After") == "" {
			t.Errorf("%s: a session too many: %+v", token, got)
		}
	})
	h.session("last") // the others take no room of it
	seen := map[string]bool{}
	for _, list := range ids {
		for _, id := range list {
			seen[id] = true
		}
	}
	if len(seen) != clients*maxSessions {
		t.Fatalf("%d sessions, want %d", len(seen), clients*maxSessions)
	}
	status := func(token, id string) int {
		return h.ask(http.MethodPost, "/mcp", token, listTools, inSession(id)).status
	}
	each(func(client int, token string) {
		for i, id := range ids[client] {
			if got := status(token, id); got != http.StatusOK {
				t.Errorf("%s: session %d: status %d", token, i, got)
			}
			if client%2 == 0 {
				h.ask(http.MethodDelete, "/mcp", token, "", inSession(id))
				if got := status(token, id); got != http.StatusNotFound {
					t.Errorf("%s: session %d has ended: status %d", token, i, got)
				}
			}
		}
	})
	issue.Add(1)
	later(t, "sessions of revoked tokens have ended", func() bool {
		ended := true
		for client, list := range ids {
			for _, id := range list {
				ended = ended && status(fmt.Sprint("client", client), id) == http.StatusNotFound
			}
		}
		return ended
	})
	later(t, "no goroutine of a session is left", func() bool {
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		return runtime.NumGoroutine() <= before+clients/2
	})
}
