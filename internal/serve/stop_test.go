package serve

import (
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/serve/auth"
	"github.com/yamo-protocol/yamo-mcp/internal/serve/servetest"
)

// ended is what HTTP has returned.
func (h *house) ended() error {
	h.t.Helper()
	select {
	case err := <-h.done:
		h.done <- nil // for the cleanup
		return err
	case <-time.After(servetest.Soon):
		h.t.Fatal("the server did not stop")
		return nil
	}
}

// Streams that clients keep open do not hold the end.
func TestStopClosesStreams(t *testing.T) {
	t.Parallel()
	h := serveHouse(t, func(o *HTTPOptions) { o.Drain = servetest.Drain })
	session := h.session("dm")
	listening := h.events(h.send(http.MethodGet, "/mcp", "dm", "", inSession(session)))
	events, _ := h.stream("club")
	body, headers := modernMessage("l", "subscriptions/listen", `{"notifications":{"resourcesListChanged":true}}`)
	modern := h.events(h.send(http.MethodPost, "/mcp", "hiking", body, headers...))
	modern.next()
	h.stop()
	for _, stream := range []*eventReader{listening, events, modern} {
		stream.rest()
	}
	if err := h.ended(); err != nil {
		t.Error(err)
	}
	if h.closed != 3 {
		t.Errorf("%d of 3 servers were closed", h.closed)
	}
	if _, err := net.Dial("tcp", strings.TrimPrefix(h.url, "http://")); err == nil {
		t.Error("it still listens")
	}
}

// Calls under way finish and are answered, on each transport; new ones are refused meanwhile.
func TestStopLetsCallsFinish(t *testing.T) {
	t.Parallel()
	h := serveHouse(t, func(o *HTTPOptions) { o.Drain = servetest.Drain })
	session := h.session("dm")
	events, route := h.stream("dm")
	modernCall, modernHeaders := modernMessage(3, "tools/call", `{"name":"say","arguments":{"word":"wait"}}`)
	calls := []chan answer{
		h.background(http.MethodPost, "/mcp", "dm", servetest.CallSay(1, "wait"), inSession(session)),
		h.background(http.MethodPost, "/mcp", "club", modernCall, modernHeaders...),
	}
	h.ask(http.MethodPost, route, "dm", servetest.CallSay(2, "wait"))
	for range 3 {
		h.hold()
	}
	h.stop()
	later(t, "it accepts nothing new", func() bool {
		_, err := net.Dial("tcp", strings.TrimPrefix(h.url, "http://"))
		return err != nil
	})
	select {
	case err := <-h.done:
		t.Fatalf("it has ended with calls under way: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	close(h.release)
	for _, call := range calls {
		if got := wait(t, call); !strings.Contains(got.body, `"said":"wait"`) {
			t.Errorf("%+v", got)
		}
	}
	if _, data, _ := events.next(); !strings.Contains(data, `"said":"wait"`) {
		t.Errorf("SSE: %s", data)
	}
	if err := h.ended(); err != nil {
		t.Error(err)
	}
}

// Calls that go on past the time they are given are cancelled.
func TestStopCancelsLongCalls(t *testing.T) {
	t.Parallel()
	h := serveHouse(t, func(o *HTTPOptions) { o.Drain = 20 * time.Millisecond })
	call := h.background(http.MethodPost, "/mcp", "dm", servetest.CallSay(1, "wait"), inSession(h.session("dm")))
	_, route := h.stream("dm")
	h.ask(http.MethodPost, route, "dm", servetest.CallSay(2, "wait"))
	h.hold()
	h.hold()
	h.stop()
	if err := h.ended(); err != nil {
		t.Error(err)
	}
	if got := wait(t, call); strings.Contains(got.body, `"said"`) {
		t.Errorf("%+v", got)
	}
	if !strings.Contains(h.logs.String(), "calls under way are cancelled") {
		t.Errorf("log: %s", h.logs)
	}
}

// A call that does not look at its context must not keep the process; what it uses stays open under it.
func TestStopAbandonsStubbornCalls(t *testing.T) {
	t.Parallel()
	h := serveHouse(t, func(o *HTTPOptions) { o.Drain = time.Millisecond })
	h.background(http.MethodPost, "/mcp", "dm", servetest.CallSay(1, "stubborn"), inSession(h.session("dm")))
	h.hold()
	h.stop()
	if err := h.ended(); err == nil || !strings.Contains(err.Error(), "1 calls did not stop") {
		t.Errorf("%v", err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed != 0 {
		t.Error("its server was closed under it")
	}
}

// While the server stops, connections that are open already get no more out of it.
func TestStoppingRefusesRequests(t *testing.T) {
	t.Parallel()
	f := newFront(
		HTTPOptions{Listener: listener(t), Logger: slog.New(slog.DiscardHandler), Anonymous: &auth.Client{Key: "k"}},
	)
	f.end()
	direct := func(method, path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		f.ServeHTTP(w, httptest.NewRequest(method, "http://localhost"+path, nil))
		return w
	}
	got := direct(http.MethodPost, "/mcp")
	if got.Code != http.StatusServiceUnavailable || got.Header().Get("Retry-After") == "" {
		t.Errorf("%d %v", got.Code, got.Header())
	}
	if got := direct(http.MethodGet, "/healthz"); !strings.Contains(got.Body.String(), "stopping") {
		t.Errorf("%s", got.Body)
	}
}
