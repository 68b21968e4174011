package serve

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/serve/servetest"
)

// The tests in this file are about what mcp-go does by itself, and this package prevents.

func callSteps(id any, n int) string {
	number, _ := json.Marshal(id)
	return fmt.Sprintf(
		`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"steps","arguments":{"n":%d},"_meta":{`+
			`"progressToken":%s}}}`,
		number,
		n,
		number,
	)
}

// checkSteps wants n notifications of a call's progress in order, then the call's answer, and nothing else.
func checkSteps(t *testing.T, id any, n int, got []string) {
	t.Helper()
	number, _ := json.Marshal(id)
	if len(got) != n+1 {
		t.Errorf("call %s: %d events, want %d: %v", number, len(got), n+1, got)
		return
	}
	for i, data := range got[:n] {
		if !strings.Contains(data, fmt.Sprintf(`"progress":%d,"progressToken":%s`, i+1, number)) {
			t.Errorf("call %s: event %d is %s", number, i, data)
		}
	}
	if !strings.Contains(got[n], fmt.Sprintf(`"id":%s,"result"`, number)) {
		t.Errorf("call %s: the last event is %s", number, got[n])
	}
}

// What a tool sends just before it ends arrives, and before its answer, whichever way the client speaks.
func TestTrailingProgressArrives(t *testing.T) {
	t.Parallel()
	h := serveHouse(t, nil)
	session := h.session("dm")
	events, route := h.stream("dm")
	h.ask(http.MethodPost, route, "dm", fmt.Sprintf(initializeMessage, "dm"))
	events.next()
	for round := range 30 {
		n := 1 + round%5*7
		response := h.send(http.MethodPost, "/mcp", "dm", callSteps(round, n), inSession(session))
		checkSteps(t, round, n, h.events(response).rest())

		body, headers := modernMessage(round, "tools/call", fmt.Sprintf(`{"name":"steps","arguments":{"n":%d}}`, n))
		body = strings.Replace(body, `"progressToken":"p"`, fmt.Sprintf(`"progressToken":%d`, round), 1)
		checkSteps(t, round, n, h.events(h.send(http.MethodPost, "/mcp", "dm", body, headers...)).rest())

		h.ask(http.MethodPost, route, "dm", callSteps(round, n))
		var got []string
		for range n + 1 {
			_, data, _ := events.next()
			got = append(got, data)
		}
		checkSteps(t, round, n, got)
	}
}

// The progress of a call is on the call's own stream, while others run and while the session's stream is open.
func TestProgressStaysWithItsCall(t *testing.T) {
	t.Parallel()
	h := serveHouse(t, nil)
	session := h.session("dm")
	listening := h.events(h.send(http.MethodGet, "/mcp", "dm", "", inSession(session)))
	var group sync.WaitGroup
	for call := range 12 {
		group.Go(func() {
			response := h.send(http.MethodPost, "/mcp", "dm", callSteps(fmt.Sprint("c", call), 40), inSession(session))
			checkSteps(t, fmt.Sprint("c", call), 40, h.events(response).rest())
		})
	}
	group.Wait()
	h.ask(http.MethodDelete, "/mcp", "dm", "", inSession(session))
	if rest := listening.rest(); len(rest) > 0 {
		t.Errorf("the session's stream has %v", rest)
	}
}

// Handlers see the client's session whatever mcp-go makes of its POSTs: what initialize settled, and the way to
// ask the client, whose answer comes in another POST.
func TestHandlersSeeTheClientsSession(t *testing.T) {
	t.Parallel()
	h := serveHouse(t, nil)
	session := h.session("dm")
	if got := h.ask(http.MethodPost, "/mcp", "dm",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"session"}}`, inSession(session)); !strings.Contains(
		got.body,
		"the client of dm",
	) {
		t.Errorf("the client's name: %+v", got)
	}
	asking := h.events(
		h.send(http.MethodPost, "/mcp", "dm", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask"}}`,
			inSession(session)),
	)
	_, data, _ := asking.next()
	var question struct {
		ID     json.RawMessage
		Method string
	}
	if err := json.Unmarshal([]byte(data), &question); err != nil || question.Method != "elicitation/create" {
		t.Fatalf("%s, %v", data, err)
	}
	reply := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"decline"}}`, question.ID)
	// SECURITY: no other client answers it.
	for token, id := range map[string]string{"dm2": h.session("dm2"), "club": h.session("club")} {
		if got := h.ask(http.MethodPost, "/mcp", token, reply, inSession(id)); got.status == http.StatusAccepted {
			t.Errorf("%s has answered the question to dm: %+v", token, got)
		}
		if got := h.ask(http.MethodPost, "/mcp", token, reply, inSession(session)); got.status != http.StatusNotFound {
			t.Errorf("%s, with the session's id: %+v", token, got)
		}
	}
	if got := h.ask(http.MethodPost, "/mcp", "dm", reply, inSession(session)); got.status != http.StatusAccepted {
		t.Fatalf("the answer: %+v", got)
	}
	if _, data, _ := asking.next(); !strings.Contains(data, "decline") {
		t.Errorf("the call ends with %s", data)
	}
}

// A call that asks the client while its session's stream is not open waits for the stream. mcp-go sends such a request
// to nobody when the client lost an earlier stream, and sometimes when the first one opens in the same moment.
func TestQuestionsWaitForTheStream(t *testing.T) {
	t.Parallel()
	h := serveHouse(t, nil)
	for _, lost := range []bool{true, false} {
		session := h.session("dm")
		if lost {
			stream := h.send(http.MethodGet, "/mcp", "dm", "", inSession(session))
			served := strings.Count(h.logs.String(), "msg=request")
			_ = stream.Body.Close()
			later(t, "the server notices the loss", func() bool {
				return strings.Count(h.logs.String(), "msg=request") > served
			})
		}
		calling := h.background(http.MethodPost, "/mcp", "dm",
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"roots"}}`, inSession(session))
		h.hold()
		stream := h.send(http.MethodGet, "/mcp", "dm", "", inSession(session))
		_, data, _ := h.events(stream).next()
		var question struct {
			ID     json.RawMessage
			Method string
		}
		if err := json.Unmarshal([]byte(data), &question); err != nil || question.Method != "roots/list" {
			t.Fatalf("an earlier stream %t: %s, %v", lost, data, err)
		}
		reply := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"roots":[{"uri":"file:///here"}]}}`, question.ID)
		if got := h.ask(http.MethodPost, "/mcp", "dm", reply, inSession(session)); got.status != http.StatusAccepted {
			t.Fatalf("the answer: %+v", got)
		}
		if got := <-calling; !strings.Contains(got.body, "file:///here") {
			t.Errorf("the call: %+v", got)
		}
		_ = stream.Body.Close()
	}
}

// A client that loses a call's stream gets the rest of it, once it has come again in the same session.
func TestLostStreamIsResumed(t *testing.T) {
	t.Parallel()
	h := serveHouse(t, nil)
	session, other := h.session("dm"), h.session("dm")
	response := h.send(http.MethodPost, "/mcp", "dm", callSteps("r", 20), inSession(session))
	lost := h.events(response)
	first, data, _ := lost.next()
	if first == "" {
		t.Fatalf("an event without id: %s", data)
	}
	_ = response.Body.Close()
	want := append(
		[]string{data},
		h.events(h.send(http.MethodGet, "/mcp", "dm", "", inSession(session), "Last-Event-ID: "+first)).rest()...)
	checkSteps(t, "r", 20, want)
	for name, try := range map[string][]string{
		"another session of the client": {inSession(other), "Last-Event-ID: " + first},
		"an id that was not given":      {inSession(session), "Last-Event-ID: 1-999999"},
		"a post that was not sent":      {inSession(session), "Last-Event-ID: 77-1"},
		"no id":                         {inSession(session), "Last-Event-ID: x"},
		"a negative one":                {inSession(session), "Last-Event-ID: -1-1"},
	} {
		if got := h.ask(http.MethodGet, "/mcp", "dm", "", try...); got.status != http.StatusBadRequest {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := h.ask(http.MethodGet, "/mcp", "dm2", "", inSession(session),
		"Last-Event-ID: "+first); got.status != http.StatusNotFound {
		t.Errorf("another client: %+v", got)
	}
}

// Before 2026-07-28 a lost connection cancels nothing: the call goes on, and its end is there for a client that comes
// again. Since then it is how calls are cancelled.
func TestLostConnections(t *testing.T) {
	t.Parallel()
	h := serveHouse(t, nil)
	session := h.session("dm")
	response := h.send(http.MethodPost, "/mcp", "dm", strings.Replace(callSteps("p", 0), `"steps"`, `"pause"`, 1),
		inSession(session))
	first, _, _ := h.events(response).next()
	h.hold()
	_ = response.Body.Close()
	body, headers := modernMessage("m", "tools/call", `{"name":"pause","arguments":{}}`)
	hungUp := h.send(http.MethodPost, "/mcp", "dm", body, headers...)
	h.hold()
	_ = hungUp.Body.Close()
	later(t, "the modern call has ended", func() bool {
		return strings.Count(h.logs.String(), "route=/mcp status=200") == 2 // initialize, and this one
	})
	rest := h.events(h.send(http.MethodGet, "/mcp", "dm", "", inSession(session), "Last-Event-ID: "+first))
	close(h.release)
	got := rest.rest()
	if len(got) != 1 {
		t.Fatalf("the legacy call ends with %v", got)
	}
	for _, want := range []string{`"id":"p","result"`, "done"} {
		if !strings.Contains(got[0], want) {
			t.Errorf("the legacy call ends with %s, want %q in it", got[0], want)
		}
	}
}

// A GET does not make a session, as it does in mcp-go, past everything that decides whose it is.
func TestStreamsNeedASession(t *testing.T) {
	t.Parallel()
	h := serveHouse(t, nil)
	if got := h.ask(http.MethodGet, "/mcp", "dm", ""); got.status != http.StatusBadRequest {
		t.Errorf("without a session: %+v", got)
	}
	modern := h.ask(http.MethodGet, "/mcp", "dm", "", "Mcp-Protocol-Version: 2026-07-28")
	if modern.status != http.StatusMethodNotAllowed || modern.header.Get("Allow") != http.MethodPost {
		t.Errorf("since 2026-07-28: %+v", modern)
	}
}

// Web pages get no leave to read streams, unless they are on the list.
func TestStreamsAreNotForEveryPage(t *testing.T) {
	t.Parallel()
	h := serveHouse(t, func(o *HTTPOptions) { o.Origins = []string{"https://app.example"} })
	session := h.session("dm")
	for _, path := range []string{"/sse", "/mcp"} {
		response := h.send(http.MethodGet, path, "dm", "", inSession(session))
		if got := response.Header.Values("Access-Control-Allow-Origin"); len(got) > 0 {
			t.Errorf("%s allows %v", path, got)
		}
		response = h.send(http.MethodGet, path, "dm", "", inSession(session), "Origin: https://app.example")
		if got := response.Header.Values("Access-Control-Allow-Origin"); !slices.Equal(got, []string{"https://app.example"}) {
			t.Errorf("%s allows a page of the list %v", path, got)
		}
	}
}

// Panics of handlers end one call, and neither the process nor the stream.
func TestPanicsEndOneCall(t *testing.T) {
	t.Parallel()
	h := serveHouse(t, nil)
	session := h.session("dm")
	for range 2 {
		if got := h.ask(http.MethodPost, "/mcp", "dm", servetest.CallSay(1, "panic"), inSession(session)); !strings.Contains(
			got.body,
			"internal error",
		) ||
			strings.Contains(got.body, "canary") {
			t.Errorf("%+v", got)
		}
	}
	events, route := h.stream("dm")
	h.ask(http.MethodPost, route, "dm", servetest.CallSay(2, "panic"))
	if _, data, _ := events.next(); !strings.Contains(data, "internal error") {
		t.Errorf("SSE: %s", data)
	}
}

// mcp-go leaves the streams of POSTs silent, so proxies would close them. A call that is answered at once, in JSON,
// hears nothing but its answer.
func TestPostsAreKeptAlive(t *testing.T) {
	t.Parallel()
	h := serveHouse(t, func(o *HTTPOptions) { o.Heartbeat = 20 * time.Millisecond })
	body, headers := modernMessage("l", "subscriptions/listen", `{"notifications":{"resourcesListChanged":true}}`)
	response := h.send(http.MethodPost, "/mcp", "dm", body, headers...)
	defer time.AfterFunc(servetest.Soon, func() { _ = response.Body.Close() }).Stop()
	defer response.Body.Close() //nolint:errcheck // it was only read
	lines, comments := bufio.NewScanner(response.Body), 0
	for comments < 3 && lines.Scan() {
		if strings.HasPrefix(lines.Text(), ":") {
			comments++
		}
	}
	if comments < 3 {
		t.Errorf("%d comments on a stream that is open: %v", comments, lines.Err())
	}
	waiting := h.background(http.MethodPost, "/mcp", "dm", servetest.CallSay(1, "wait"), inSession(h.session("dm")))
	h.hold()
	time.Sleep(100 * time.Millisecond)
	close(h.release)
	if got := wait(t, waiting); got.status != http.StatusOK || !json.Valid([]byte(got.body)) {
		t.Errorf("a call that takes a while: %+v", got)
	}
}
