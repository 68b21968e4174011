package serve

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/serve/servetest"
)

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
