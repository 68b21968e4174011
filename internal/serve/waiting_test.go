package serve

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/serve/servetest"
)

// end is a connection of which only the address matters, and whether it was closed.
type end struct {
	net.Conn
	address string
	closed  bool
}

func (e *end) RemoteAddr() net.Addr { a, _ := net.ResolveTCPAddr("tcp", e.address); return a }

func (e *end) Close() error { e.closed = true; return nil }

// A client has a limited number of connections that serve nothing, and strangers at one address shut out no others.
func TestWaitingConnections(t *testing.T) {
	t.Parallel()
	s := newWaiting(4, 2)
	connect := func(client, address string) *end {
		e := &end{address: address}
		s.add(e, client)
		return e
	}
	other := connect("", "192.0.2.7:1000")
	var many []*end
	for i := range 6 {
		many = append(many, connect("", fmt.Sprintf("192.0.2.1:%d", 1000+i)))
	}
	if other.closed || !many[0].closed || !many[2].closed || many[3].closed {
		t.Errorf("the other address is closed: %v; of the many: %v, %v, %v", other.closed, many[0].closed,
			many[2].closed, many[3].closed)
	}
	a, b := connect("ana", "192.0.2.9:1"), connect("rui", "192.0.2.9:2")
	connect("ana", "192.0.2.9:3")
	connect("ana", "192.0.2.9:4")
	if !a.closed || b.closed || other.closed {
		t.Errorf("closed: Ana's oldest %v, Rui's %v, the stranger %v", a.closed, b.closed, other.closed)
	}
	s.remove(b)
	s.remove(b)
	if _, ok := s.byClient["rui"]; ok {
		t.Error("a client without connections is kept")
	}
}

// A refused request leaves no open connection.
func TestTooManyCloses(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	tooMany(w, time.Second, "too many")
	if w.Code != http.StatusTooManyRequests || w.Header().Get("Connection") != "close" {
		t.Errorf("%d, %v", w.Code, w.Header())
	}
}

// Connections that send no token are limited: the oldest is closed. One that has sent a token is not among them.
func TestStrangersAreLimited(t *testing.T) {
	t.Parallel()
	// Nothing but the limit closes a connection while the test looks.
	h := serveHouse(t, func(o *HTTPOptions) { o.Strangers, o.Arrival = 4, 2*servetest.Soon })
	address := strings.TrimPrefix(h.url, "http://")
	dial := func() net.Conn {
		t.Helper()
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	ask := func(c net.Conn, token string) string {
		t.Helper()
		if _, err := fmt.Fprintf(c, "GET /healthz HTTP/1.1\r\nHost: %s\r\n%s\r\n", address, token); err != nil {
			return err.Error()
		}
		if err := c.SetReadDeadline(time.Now().Add(servetest.Soon)); err != nil {
			t.Fatal(err)
		}
		answer := make([]byte, 4096)
		n, err := c.Read(answer)
		if err != nil {
			return err.Error()
		}
		return string(answer[:n])
	}
	known := dial()
	if got := ask(known, "Authorization: Bearer dm\r\n"); !strings.HasPrefix(got, "HTTP/1.1 200") {
		t.Fatalf("with a token: %q", got)
	}
	var idle []net.Conn
	for range 12 {
		idle = append(idle, dial())
	}
	deadline := time.Now().Add(servetest.Soon / 4)
	for i, c := range idle[:8] {
		if err := c.SetReadDeadline(deadline); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("idle connection %d of 12 is still open: %v", i+1, err)
		}
	}
	if got := ask(idle[11], ""); !strings.HasPrefix(got, "HTTP/1.1 200") {
		t.Errorf("the newest connection: %q", got)
	}
	if got := ask(known, "Authorization: Bearer dm\r\n"); !strings.HasPrefix(got, "HTTP/1.1 200") {
		t.Errorf("the connection of the client with a token: %q", got)
	}
	if got := h.ask(http.MethodGet, "/healthz", "dm", ""); got.status != http.StatusOK {
		t.Errorf("a new client: %+v", got)
	}
}
