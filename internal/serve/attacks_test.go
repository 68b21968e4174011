package serve

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/serve/auth"
	"github.com/yamo-protocol/yamo-mcp/internal/serve/servetest"
)

const listTools = `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`

// What belongs to one client does not exist for another: the answers to another client's session id
// and to an unknown one are the same, byte for byte.
func TestSessionsOfOthersDoNotExist(t *testing.T) {
	t.Parallel()
	h := serveHouse(t, nil)
	sessions := map[string]string{}
	for _, token := range []string{"dm", "dm2", "club", "hiking"} {
		sessions[token] = h.session(token)
	}
	lowered := h.session("dm", auth.ConnectionHeader+": group")
	_, route := h.stream("dm")
	_, streamID, _ := strings.Cut(route, "sessionId=")
	forged := "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	absent := map[string]answer{}
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
		body := ""
		if method == http.MethodPost {
			body = listTools
		}
		absent[method] = h.ask(method, "/mcp", "dm", body, inSession(forged))
		if absent[method].status != http.StatusNotFound {
			t.Fatalf("%s: %+v", method, absent[method])
		}
	}
	tests := []struct {
		name, token, session string
		headers              []string
	}{
		{"a group's session with a DM token", "dm", sessions["club"], nil},
		{"a DM's session with a group token", "club", sessions["dm"], nil},
		{"another group's session", "club", sessions["hiking"], nil},
		{"another client's session of the same audience", "dm2", sessions["dm"], nil},
		{"a DM's session, lowered", "dm", sessions["dm"], []string{auth.ConnectionHeader + ": group"}},
		{"a lowered session, as DM", "dm", lowered, nil},
		{"a session of the other transport", "dm", streamID, nil},
		{"mcp-go's own form of id", "dm", "mcp-session-8ee3d1ad-5e9b-4d7e-8a0c-4f2f0b8b5a11", nil},
		{"this package's inner form of id", "dm", sessions["dm"] + ".1", nil},
		{"another letter case", "dm", strings.ToLower(sessions["dm"]), nil},
	}
	for _, test := range tests {
		for method, want := range absent {
			body := ""
			if method == http.MethodPost {
				body = listTools
			}
			got := h.ask(method, "/mcp", test.token, body, append(test.headers, inSession(test.session))...)
			if got.status != want.status || got.body != want.body {
				t.Errorf("%s %s: %+v, want %+v", method, test.name, got, want)
			}
		}
	}
	for token, id := range sessions { // no session has ended by that
		if got := h.ask(http.MethodPost, "/mcp", token, listTools, inSession(id)); got.status != http.StatusOK {
			t.Errorf("%s: %+v", token, got)
		}
	}
	for _, ids := range [][]string{{inSession("")}, {inSession(sessions["dm"]), inSession(sessions["dm"])}} {
		if got := h.ask(http.MethodPost, "/mcp", "dm", listTools, ids...); got.status != http.StatusBadRequest &&
			len(ids) == 1 {
			t.Errorf("%v: %+v", ids, got)
		}
	}
}

// Only its client can use a stream's message route.
func TestMessagesOfOthersAreNotTaken(t *testing.T) {
	t.Parallel()
	h := serveHouse(t, nil)
	events, route := h.stream("dm")
	if !strings.HasPrefix(route, "/message?sessionId=") {
		t.Fatalf("route %q", route)
	}
	streamable := h.session("dm")
	absent := h.ask(http.MethodPost, "/message?sessionId=UNKNOWN", "dm", servetest.CallSay(1, "hi"))
	for name, try := range map[string]struct {
		route, token string
		headers      []string
	}{
		"a group":             {route, "club", nil},
		"another DM":          {route, "dm2", nil},
		"lowered":             {route, "dm", []string{auth.ConnectionHeader + ": group"}},
		"the other transport": {"/message?sessionId=" + streamable, "dm", nil},
	} {
		if got := h.ask(http.MethodPost, try.route, try.token, servetest.CallSay(1, "hi"),
			try.headers...); got.status != http.StatusNotFound ||
			got.body != absent.body {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := h.ask(http.MethodPost, route+"&sessionId=x", "dm",
		servetest.CallSay(1, "hi")); got.status != http.StatusBadRequest {
		t.Errorf("two ids: %+v", got)
	}
	if got := h.ask(http.MethodPost, route, "dm", servetest.CallSay(2, "mine")); got.status != http.StatusAccepted {
		t.Fatalf("the client itself: %+v", got)
	}
	if _, data, _ := events.next(); !strings.Contains(data, `"id":2`) || !strings.Contains(data, `"said":"mine"`) {
		t.Errorf("the stream has %s", data)
	}
}

func cancelled(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id)
}

// No client can cancel another client's call in any way.
func TestCallsOfOthersAreNotCancelled(t *testing.T) {
	t.Parallel()
	h := serveHouse(t, nil)
	const victim = 5
	modernCall, modernHeaders := modernMessage(victim, "tools/call", `{"name":"say","arguments":{"word":"wait"}}`)
	mine := h.session("dm")
	events, route := h.stream("dm")
	calls := map[string]chan answer{
		"modern": h.background(http.MethodPost, "/mcp", "dm", modernCall, modernHeaders...),
		"legacy": h.background(http.MethodPost, "/mcp", "dm", servetest.CallSay(victim, "wait"), inSession(mine)),
	}
	h.ask(http.MethodPost, route, "dm", servetest.CallSay(victim, "wait"))
	for range 3 {
		h.hold()
	}
	modern := []string{"Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: notifications/cancelled"}
	for _, token := range []string{"dm", "dm2", "club"} {
		own := h.session(token)
		otherEvents, otherRoute := h.stream(token)
		h.ask(http.MethodPost, "/mcp", token, cancelled(victim), inSession(own))
		h.ask(http.MethodPost, otherRoute, token, cancelled(victim))
		if got := h.ask(http.MethodPost, "/mcp", token, cancelled(victim), modern...); got.status != http.StatusAccepted {
			t.Errorf("%s, modern: %+v", token, got)
		}
		meta := strings.Replace(cancelled(victim), `"params":{`,
			`"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"},`, 1)
		h.ask(http.MethodPost, "/mcp", token, meta, inSession(own))
		if got := h.ask(http.MethodPost, "/mcp", token, meta, modern...); got.status != http.StatusAccepted {
			t.Errorf("%s, modern in every respect: %+v", token, got)
		}
		h.ask(http.MethodPost, "/mcp", token, strings.Replace(meta, "method", "Method", 1), inSession(own))
		// What is cancelled later, of the client's own, has ended: so would have what these have cancelled.
		mine := h.background(http.MethodPost, "/mcp", token, servetest.CallSay(6, "wait"), inSession(own))
		h.hold()
		h.ask(http.MethodPost, "/mcp", token, cancelled(6), inSession(own))
		if got := wait(t, mine); !strings.Contains(got.body, "cancelled") {
			t.Errorf("%s, its own call: %+v", token, got)
		}
		h.ask(http.MethodPost, otherRoute, token, servetest.CallSay(6, "wait"))
		h.hold()
		h.ask(http.MethodPost, otherRoute, token, cancelled(6))
		if _, data, _ := otherEvents.next(); !strings.Contains(data, "cancelled") {
			t.Errorf("%s, its own call over SSE: %s", token, data)
		}
	}
	close(h.release)
	for name, call := range calls {
		if got := wait(t, call); !strings.Contains(got.body, `"said":"wait"`) {
			t.Errorf("the %s call: %+v", name, got)
		}
	}
	if _, data, _ := events.next(); !strings.Contains(data, `"said":"wait"`) {
		t.Errorf("the call over SSE: %s", data)
	}
}

// The client itself can cancel: in its session, and since 2026-07-28 by hanging up.
func TestClientsCancelTheirOwnCalls(t *testing.T) {
	t.Parallel()
	h := serveHouse(t, nil)
	mine := h.session("dm")
	call := h.background(http.MethodPost, "/mcp", "dm", servetest.CallSay(5, "wait"), inSession(mine))
	h.hold()
	h.ask(http.MethodPost, "/mcp", "dm", cancelled(5), inSession(mine))
	if got := wait(t, call); !strings.Contains(got.body, "cancelled") {
		t.Errorf("legacy: %+v", got)
	}
	events, route := h.stream("dm")
	h.ask(http.MethodPost, route, "dm", servetest.CallSay(6, "wait"))
	h.hold()
	h.ask(http.MethodPost, route, "dm", cancelled(6))
	if _, data, _ := events.next(); !strings.Contains(data, "cancelled") {
		t.Errorf("SSE: %s", data)
	}
	call = h.background(http.MethodPost, "/mcp", "dm", servetest.CallSay(7, "wait"), inSession(mine))
	h.hold()
	h.ask(http.MethodDelete, "/mcp", "dm", "", inSession(mine))
	if got := wait(t, call); got.status != http.StatusServiceUnavailable || !strings.Contains(got.body, "cancelled") {
		t.Errorf("the end of the session: %+v", got)
	}
}

// What a token has opened ends when the token does, and what others have opened does not.
func TestRevocationEndsWhatIsOpen(t *testing.T) {
	t.Parallel()
	h := serveHouse(t, nil)
	session, kept := h.session("dm"), h.session("dm2")
	listening := h.events(h.send(http.MethodGet, "/mcp", "dm", "", inSession(session)))
	other := h.send(http.MethodGet, "/mcp", "dm2", "", inSession(kept))
	events, route := h.stream("dm")
	body, headers := modernMessage("l", "subscriptions/listen", `{"notifications":{"resourcesListChanged":true}}`)
	modern := h.events(h.send(http.MethodPost, "/mcp", "dm", body, headers...))
	if _, data, _ := modern.next(); !strings.Contains(data, "acknowledged") {
		t.Fatalf("listen: %s", data)
	}
	call := h.background(http.MethodPost, "/mcp", "dm", servetest.CallSay(1, "wait"), inSession(session))
	h.ask(http.MethodPost, route, "dm", servetest.CallSay(2, "wait"))
	h.hold()
	h.hold()
	h.revoke("dm")
	for name, stream := range map[string]*eventReader{"the session's stream": listening, "SSE": events, "listen": modern} {
		if rest := stream.rest(); len(rest) > 1 {
			t.Errorf("%s: after the revocation came %v", name, rest)
		}
	}
	wait(t, call)
	for _, try := range []answer{
		h.ask(http.MethodPost, "/mcp", "dm", listTools, inSession(session)), h.ask(http.MethodPost, route, "dm", listTools),
		h.ask(http.MethodGet, "/sse", "dm", ""),
	} {
		if try.status != http.StatusUnauthorized {
			t.Errorf("the revoked token: %+v", try)
		}
	}
	if got := h.ask(http.MethodPost, "/mcp", "dm2", listTools, inSession(session)); got.status != http.StatusNotFound {
		t.Errorf("its session, with another token: %+v", got)
	}
	if got := h.ask(http.MethodPost, "/mcp", "dm2", listTools, inSession(kept)); got.status != http.StatusOK {
		t.Errorf("the other client: %+v", got)
	}
	_ = other.Body.Close()
}

// A token in a URL opens nothing, and is neither repeated nor logged.
func TestTokensInURLs(t *testing.T) {
	t.Parallel()
	h := serveHouse(t, nil)
	const secret = "yamo_0123456789ab_c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3JldA"
	for _, path := range []string{
		"/mcp?access_token=" + secret, "/mcp?token=dm", "/sse?Authorization=dm", "/mcp?x=" + secret,
		"/message?sessionId=" + secret, "/" + secret, "/healthz?key=dm",
		"/mcp?x=%79amo_0123456789ab", "/mcp?x=eyJhbGciOi.eyJzdWIi.c2ln", "/mcp?" + secret, "/mcp?%zz" + secret,
	} {
		for _, token := range []string{"", "dm"} {
			got := h.ask(http.MethodPost, path, token, listTools)
			if got.status != http.StatusBadRequest || strings.Contains(got.body, "0123456789ab") {
				t.Errorf("%s: %+v", path, got)
			}
		}
	}
	if strings.Contains(h.logs.String(), "0123456789ab") {
		t.Errorf("log: %s", h.logs)
	}
}

// Nothing of what clients send is in the log, at any level.
func TestLogHasNoContents(t *testing.T) {
	t.Parallel()
	h := serveHouse(t, nil)
	session := h.session("dm")
	h.ask(http.MethodPost, "/mcp", "dm", servetest.CallSay(1, "canary"), inSession(session), "X-Canary: canary")
	h.ask(http.MethodPost, "/mcp", "dm", `{"canary`, inSession(session))
	h.ask(http.MethodPost, "/mcp", "dm", `{"jsonrpc":"2.0","id":3,"result":{"canary":1}}`, inSession(session))
	h.ask(http.MethodPost, "/canary?canary=canary", "dm", "canary")
	h.ask(http.MethodGet, "/mcp", "canary", "", "Origin: http://canary.example", inSession("canary"))
	_, route := h.stream("club")
	h.ask(http.MethodPost, route, "club", servetest.CallSay(1, "canary"))
	h.ask(http.MethodPost, route, "club", `{"canary`)
	later(t, "the log", func() bool { return strings.Count(h.logs.String(), "route=/message") == 2 })
	for _, secret := range []string{"canary", session, strings.TrimPrefix(route, "/message?sessionId="), "Bearer"} {
		if strings.Contains(h.logs.String(), secret) {
			t.Errorf("the log has %s:\n%s", secret, h.logs)
		}
	}
}
