package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"github.com/yamo-protocol/yamo-mcp/internal/serve/auth"
	"github.com/yamo-protocol/yamo-mcp/internal/serve/servetest"
)

func TestMessagesThatAreRefused(t *testing.T) {
	t.Parallel()
	h := serveHouse(t, func(o *HTTPOptions) { o.MaxBody = 1000 })
	session := h.session("dm")
	_, route := h.stream("dm")
	long := servetest.CallSay(1, strings.Repeat("x", 2000))
	tests := []struct {
		name, body string
		headers    []string
		status     int
		says       string
	}{
		{"too long", long, nil, 413, "the maximum of 1000 bytes"},
		{"too long, length not told", long, []string{"Transfer-Encoding: chunked"}, 413, "1000 bytes"},
		{"plain text", listTools, []string{"Content-Type: text/plain"}, 415, "must be application/json"},
		{"a form", listTools, []string{"Content-Type: application/x-www-form-urlencoded"}, 415, "must be application/json"},
		{"no type", listTools, []string{"Content-Type: "}, 415, "must be application/json"},
		{"nearly the type", listTools, []string{"Content-Type: application/jsonx"}, 415, "must be application/json"},
		{"the type with a parameter", listTools, []string{"Content-Type: application/json; charset=utf-8"}, 0, ""},
		{"a batch", "[" + listTools + "," + listTools + "]", nil, 400, "one message at a time"},
		{"an empty batch", " \n[]", nil, 400, "one message at a time"},
		{"nonsense", "{nonsense", nil, 400, "not a JSON object"},
		{"two messages", listTools + listTools, nil, 400, "not a JSON object"},
		{"a number", "1", nil, 400, "not a JSON object"},
	}
	for _, test := range tests {
		for path, fine := range map[string]int{"/mcp": http.StatusOK, route: http.StatusAccepted} {
			want := test.status
			if want == 0 {
				want = fine
			}
			got := h.ask(http.MethodPost, path, "dm", test.body, append([]string{inSession(session)}, test.headers...)...)
			if got.status != want || !strings.Contains(got.body, test.says) {
				t.Errorf("%s, %s: %+v, want %d and %q", path[:4], test.name, got, want, test.says)
			}
		}
	}
	if got := h.ask(http.MethodPost, "/mcp?x="+strings.Repeat("x", maxQuery), "dm", listTools,
		inSession(session)); got.status != http.StatusRequestURITooLong {
		t.Errorf("a long query: %+v", got)
	}
	if got := h.ask(http.MethodPost, "/mcp", "dm", listTools, inSession(session),
		"X-Long: "+strings.Repeat("x", maxHeader+8<<10)); got.status != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("long headers: %+v", got)
	}
}

func TestCallsAMinute(t *testing.T) {
	t.Parallel()
	h := serveHouse(t, func(o *HTTPOptions) { o.CallsPerMinute = 40 })
	session := h.session("dm")
	var last answer
	for range 40 {
		if last = h.ask(http.MethodPost, "/mcp", "dm", listTools, inSession(session)); last.status != http.StatusOK {
			break
		}
	}
	seconds, err := strconv.Atoi(last.header.Get("Retry-After"))
	if last.status != http.StatusTooManyRequests || !strings.Contains(last.body, "40 requests per minute") {
		t.Errorf("%+v", last)
	}
	if err != nil || seconds < 1 || seconds > 2 {
		t.Errorf("Retry-After %q, want 1 or 2 seconds", last.header.Get("Retry-After"))
	}
	// SECURITY: another audience does not give a token another minute; another token has its own.
	if got := h.ask(http.MethodPost, "/mcp", "dm", listTools, inSession(session),
		auth.ConnectionHeader+": group"); got.status != http.StatusTooManyRequests {
		t.Errorf("lowered: %+v", got)
	}
	h.session("dm2")
}

func TestConcurrentCalls(t *testing.T) {
	t.Parallel()
	h := serveHouse(t, func(o *HTTPOptions) { o.ConcurrentCalls = 2 })
	session := h.session("dm")
	_, route := h.stream("dm")
	first := h.background(http.MethodPost, "/mcp", "dm", servetest.CallSay(1, "wait"), inSession(session))
	h.hold()
	h.ask(http.MethodPost, route, "dm", servetest.CallSay(2, "wait"))
	h.hold()
	body, headers := modernMessage(1, "tools/list", "")
	for name, got := range map[string]answer{
		"legacy":           h.ask(http.MethodPost, "/mcp", "dm", listTools, inSession(session)),
		"modern":           h.ask(http.MethodPost, "/mcp", "dm", body, headers...),
		"modern and lower": h.ask(http.MethodPost, "/mcp", "dm", body, append(headers, auth.ConnectionHeader+": group")...),
		"SSE":              h.ask(http.MethodPost, route, "dm", listTools),
	} {
		if got.status != http.StatusTooManyRequests || got.header.Get("Retry-After") != "1" {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := h.ask(http.MethodPost, "/mcp", "dm", cancelled(99), inSession(session)); got.status != http.StatusAccepted {
		t.Errorf("a notification: %+v", got) // it must be possible to cancel a call
	}
	if got := h.ask(http.MethodPost, "/mcp", "dm2", listTools, inSession(h.session("dm2"))); got.status != http.StatusOK {
		t.Errorf("another client: %+v", got)
	}
	close(h.release)
	wait(t, first)
	later(t, "calls have ended", func() bool {
		return h.ask(http.MethodPost, "/mcp", "dm", listTools, inSession(session)).status == http.StatusOK
	})
}

func TestStreamsAndSessionsAreLimited(t *testing.T) {
	t.Parallel()
	h := serveHouse(t, nil)
	var open []io.Closer
	for range maxStreams {
		response := h.send(http.MethodGet, "/sse", "dm", "")
		if response.StatusCode != http.StatusOK {
			t.Fatalf("status %d", response.StatusCode)
		}
		open = append(open, response.Body)
	}
	if got := h.ask(http.MethodGet, "/sse", "dm", ""); got.status != http.StatusTooManyRequests ||
		got.header.Get("Retry-After") == "" {
		t.Errorf("a stream too many: %+v", got)
	}
	for range maxSessions - maxStreams { // streams have sessions too
		h.session("dm")
	}
	if got := h.ask(http.MethodPost, "/mcp", "dm",
		fmt.Sprintf(initializeMessage, "dm")); got.status != http.StatusTooManyRequests ||
		!strings.Contains(got.body, "DELETE") {
		t.Errorf("a session too many: %+v", got)
	}
	h.session("dm2")
	for _, each := range open {
		_ = each.Close()
	}
	later(t, "there is room again", func() bool {
		response := h.send(http.MethodGet, "/sse", "dm", "")
		_ = response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
}

// A session that is not used for long is removed, one with an open stream is not.
func TestIdleSessionsEnd(t *testing.T) {
	t.Parallel()
	f := newFront(HTTPOptions{Listener: listener(t)})
	s := &site{sessions: newSessions(), events: newEvents()}
	f.sites.made = []*site{s}
	owner := auth.Client{Key: "k"}
	used, unused := s.sessions.add(owner, sse), s.sessions.add(owner, sse)
	leave := used.enter()
	f.sweep(time.Now().Add(idleLimit - time.Second))
	if s.sessions.count("k") != 2 {
		t.Error("a session has ended too soon")
	}
	f.sweep(time.Now().Add(idleLimit + time.Second))
	if s.sessions.get(unused.id, owner, sse) != nil || unused.ctx.Err() == nil {
		t.Error("the unused session has not ended")
	}
	if s.sessions.get(used.id, owner, sse) == nil || used.ctx.Err() != nil {
		t.Error("the used session has ended")
	}
	leave()
	f.sweep(time.Now().Add(2 * idleLimit))
	if s.sessions.count("k") != 0 {
		t.Error("a session stays")
	}
}

// Clients that begin a session for each command and end none do not lock themselves out; a client that uses its
// sessions keeps them.
func TestIdleSessionsMakeRoom(t *testing.T) {
	t.Parallel()
	s := &site{
		streamable: server.NewStreamableHTTPServer(server.NewMCPServer("test", "1")),
		sessions:   newSessions(),
		events:     newEvents(),
	}
	owner, other := auth.Client{Key: "k"}, s.sessions.add(auth.Client{Key: "other"}, streamable)
	busy := s.sessions.add(owner, streamable)
	defer busy.enter()()
	oldest := s.sessions.add(owner, streamable)
	oldest.used = oldest.used.Add(-time.Second)
	for range maxSessions - 2 {
		s.sessions.add(owner, streamable)
	}
	if s.roomFor("k", time.Now()) {
		t.Error("a session too many, and none is idle")
	}
	if !s.roomFor("k", time.Now().Add(evictionAge)) {
		t.Error("no room although a session was idle for long")
	}
	if n := s.sessions.count("k"); n != maxSessions-1 {
		t.Errorf("%d sessions are left, want %d", n, maxSessions-1)
	}
	if oldest.ctx.Err() == nil {
		t.Error("the oldest session has not ended")
	}
	if busy.ctx.Err() != nil || other.ctx.Err() != nil {
		t.Error("a session has ended that is used, or another client's")
	}
}

func listener(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// What was sent on a stream is kept up to a number and a size; the oldest goes first.
func TestEventsAreBounded(t *testing.T) {
	t.Parallel()
	e := newEvents()
	var ids []string
	for i := range maxEvents + 10 {
		id, err := e.StoreEvent(t.Context(), "S.3", "stream", fmt.Appendf(nil, "%d", i))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	missed := 0
	if _, err := e.ReplayEventsAfter(t.Context(), "S.3", ids[9],
		func(string, json.RawMessage) error { missed++; return nil }); err != nil ||
		missed != maxEvents {
		t.Errorf("%d events, %v", missed, err)
	}
	if _, err := e.ReplayEventsAfter(t.Context(), "S.3", ids[8],
		func(string, json.RawMessage) error { return nil }); err == nil {
		t.Error("events that are gone were replayed")
	}
	if _, err := e.ReplayEventsAfter(t.Context(), "S", ids[20],
		func(string, json.RawMessage) error { return nil }); err == nil {
		t.Error("events of another session were replayed")
	}
	for range 4 {
		if _, err := e.StoreEvent(t.Context(), "S.4", "stream", make([]byte, maxEventsBytes/2)); err != nil {
			t.Fatal(err)
		}
	}
	if kept := len(e.sessions["S.4"]["stream"].kept); kept != 2 {
		t.Errorf("%d large events are kept", kept)
	}
	_ = e.PurgeSession(t.Context(), "S.3")
	if e.any("S.3") || !e.any("S.4") {
		t.Error("purged: the wrong one")
	}
}

// A client that sends its headers or its body slowly does not keep the server, whether it is let in or not.
func TestSlowRequests(t *testing.T) {
	t.Parallel()
	h := serveHouse(t, func(o *HTTPOptions) { o.Arrival = 100 * time.Millisecond })
	const body = "Content-Length: 100\r\n\r\n{"
	const from = " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer dm\r\n"
	for name, test := range map[string]struct{ sent, status string }{
		"headers": {"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Slow: ", ""},
		"body": {
			"POST /mcp" + from + inSession(h.session("dm")) + "\r\nContent-Type: application/json\r\n" + body, "408",
		},
		"no token":       {"POST /mcp HTTP/1.1\r\nHost: localhost\r\n" + body, "401"},
		"chunks":         {"POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{", "401"},
		"another host":   {"POST /mcp HTTP/1.1\r\nHost: example.org\r\n" + body, "403"},
		"no route":       {"POST /nothing HTTP/1.1\r\nHost: localhost\r\n" + body, "404"},
		"open to all":    {"GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + body, "200"},
		"plain text":     {"POST /mcp" + from + "Content-Type: text/plain\r\n" + body, "415"},
		"body of a GET":  {"GET /sse" + from + body, "400"},
		"body of an end": {"DELETE /mcp" + from + body, "400"},
	} {
		t.Run(name, func(t *testing.T) {
			connection, err := net.Dial("tcp", strings.TrimPrefix(h.url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer connection.Close() //nolint:errcheck // it was only read
			fmt.Fprint(connection, test.sent)
			_ = connection.SetReadDeadline(time.Now().Add(servetest.Soon))
			answer, err := io.ReadAll(connection)
			if err != nil {
				t.Errorf("the connection stays: %v", err)
			}
			if test.status != "" && !strings.HasPrefix(string(answer), "HTTP/1.1 "+test.status) {
				t.Errorf("not %s: %s", test.status, answer)
			}
		})
	}
}

// Messages that come slowly take the places of the same client's others, and of no other client's.
func TestArrivingMessages(t *testing.T) {
	t.Parallel()
	h := serveHouse(t, func(o *HTTPOptions) { o.ConcurrentCalls = 2 })
	session, other := h.session("dm"), h.session("dm2")
	var slow []net.Conn
	begin := func() {
		connection, err := net.Dial("tcp", strings.TrimPrefix(h.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = connection.Close() })
		fmt.Fprint(connection, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer dm\r\nContent-Type: "+
			"application/json\r\nContent-Length: 100\r\n\r\n{")
		slow = append(slow, connection)
	}
	later(t, "two messages are arriving", func() bool {
		begin() // another one each time: the question below may have had its place
		got := h.ask(http.MethodPost, "/mcp", "dm", listTools, inSession(session))
		return got.status == http.StatusTooManyRequests && strings.Contains(got.body, "are arriving")
	})
	if got := h.ask(http.MethodPost, "/mcp", "dm2", listTools, inSession(other)); got.status != http.StatusOK {
		t.Errorf("another client: %+v", got)
	}
	for _, connection := range slow {
		_ = connection.Close()
	}
	later(t, "there is room again", func() bool {
		return h.ask(http.MethodPost, "/mcp", "dm", listTools, inSession(session)).status == http.StatusOK
	})
}

// deadlines notes the write deadline that a response has while it is written, and after.
type deadlines struct {
	*httptest.ResponseRecorder
	now    time.Time
	during []time.Time
}

func (d *deadlines) SetWriteDeadline(at time.Time) error { d.now = at; return nil }

func (d *deadlines) Write(p []byte) (int, error) {
	d.during = append(d.during, d.now)
	return d.ResponseRecorder.Write(p)
}

func (d *deadlines) FlushError() error {
	d.during = append(d.during, d.now)
	return nil
}

// blocked is a response whose client reads nothing: a write ends at the deadline that it has in the end.
type blocked struct {
	*httptest.ResponseRecorder
	writing func() // called when a write has begun
	limited chan time.Time
}

func (b *blocked) SetWriteDeadline(at time.Time) error { b.limited <- at; return nil }

func (b *blocked) Write([]byte) (int, error) {
	<-b.limited // of every write
	b.writing()
	if left := time.Until(<-b.limited); left > stall {
		return 0, fmt.Errorf("the write has %v", left)
	}
	return 0, os.ErrDeadlineExceeded
}

// A client that reads nothing does not hold the end of the server.
func TestStopShortensWrites(t *testing.T) {
	t.Parallel()
	ending, end := context.WithCancel(t.Context())
	defer end()
	b := &blocked{httptest.NewRecorder(), end, make(chan time.Time, 3)}
	w := record(ending, b)
	w.status = http.StatusOK
	for _, when := range []string{"during a write", "before a write"} {
		if _, err := w.Write([]byte("an answer")); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: %v", when, err)
		}
		<-b.limited // none, for what is idle
	}
}

// A client that reads nothing loses its stream; an idle stream stays open.
func TestWritesAreBoundedAndStreamsAreNot(t *testing.T) {
	t.Parallel()
	d := &deadlines{ResponseRecorder: httptest.NewRecorder()}
	w := record(t.Context(), d)
	if _, err := w.Write([]byte("event: message\n")); err != nil {
		t.Fatal(err)
	}
	w.Flush()
	for _, at := range d.during {
		if left := time.Until(at); left <= 0 || left > writeTimeout {
			t.Errorf("a write has %v", left)
		}
	}
	if len(d.during) != 2 || !d.now.IsZero() {
		t.Errorf("%d writes; after them the deadline is %v", len(d.during), d.now)
	}
}
