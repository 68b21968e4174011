package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/serve/auth"
	"github.com/yamo-protocol/yamo-mcp/internal/serve/servetest"
	"github.com/yamo-protocol/yamo-mcp/tools"
)

// house is a running server with these clients, by token: dm and dm2 (the same audience), club and hiking (groups).
type house struct {
	t       *testing.T
	url     string
	logs    *servetest.Buffer
	started chan string   // the words of calls under way
	release chan struct{} // closed: they may end
	stop    context.CancelFunc
	done    chan error

	mu      sync.Mutex
	revoked map[string]bool
	opened  []auth.Tenant
	closed  int
}

func group(t *testing.T, name string) audience.Audience {
	t.Helper()
	a, err := audience.Group(name)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// serveHouse starts a server.
func serveHouse(t *testing.T, change func(*HTTPOptions)) *house {
	t.Helper()
	h := &house{
		t: t, logs: &servetest.Buffer{}, started: make(chan string, 64), release: make(chan struct{}),
		done: make(chan error, 1), revoked: map[string]bool{},
	}
	clients := map[string]auth.Client{}
	for token, who := range map[string]audience.Audience{
		"dm": audience.DM(), "dm2": audience.DM(),
		"club": group(t, "club"), "hiking": group(t, "hiking"),
	} {
		clients[token] = auth.Client{Key: "token:" + token, Tenant: auth.Tenant{Audience: who}, Valid: func() error {
			h.mu.Lock()
			defer h.mu.Unlock()
			if h.revoked[token] {
				return auth.ErrUnauthorized
			}
			return nil
		}}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h.url = "http://" + listener.Addr().String()
	o := HTTPOptions{
		Logger: slog.New(
			slog.NewTextHandler(h.logs, &slog.HandlerOptions{Level: slog.LevelDebug}),
		), Version: "v0.0.0-test", Listener: listener,
		CallsPerMinute: 60_000, Drain: 5 * time.Second,
		Authenticate: func(_ context.Context, token string) (auth.Client, error) {
			if token == "scopeless" {
				return auth.Client{}, auth.ErrForbidden
			}
			c, ok := clients[token]
			if !ok || !c.Active(time.Now()) {
				return auth.Client{}, auth.ErrUnauthorized
			}
			return c, nil
		},
		Open: h.open,
	}
	if change != nil {
		change(&o)
	}
	ctx, stop := context.WithCancel(context.Background())
	h.stop = stop
	go func() { h.done <- HTTP(ctx, o) }()
	t.Cleanup(func() {
		select {
		case <-h.release:
		default:
			close(h.release)
		}
		stop()
		select {
		case err := <-h.done:
			if err != nil {
				t.Errorf("the server ended with %v", err)
			}
		case <-time.After(servetest.Soon):
			t.Error("the server did not stop")
		}
	})
	return h
}

// open makes a tenant's server, which has the tools say and steps.
func (h *house) open(tenant auth.Tenant) (*server.MCPServer, func() error, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.opened = append(h.opened, tenant)
	srv, err := Build(Deps{
		Audience: tenant.Audience, Version: "v0.0.0-test", Instructions: "Say words.", Logger: slog.New(slog.DiscardHandler),
		Tools:   []tools.Tool{servetest.Say(h.started, h.release)},
		Options: []server.ServerOption{server.WithResourceCapabilities(true, true)},
		Resources: func(srv *server.MCPServer) error {
			srv.AddResource(
				mcp.NewResource("test://who", "who"),
				func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
					return []mcp.ResourceContents{mcp.TextResourceContents{URI: "test://who", Text: tenant.Audience.String()}}, nil
				},
			)
			srv.AddTool(mcp.NewTool("steps", mcp.WithNumber("n")), steps)
			srv.AddTool(
				mcp.NewTool("pause"),
				func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
					request.Params.Arguments = map[string]any{"n": 1}
					if _, err := steps(ctx, request); err != nil {
						return nil, err
					}
					h.started <- "pause"
					select {
					case <-h.release:
					case <-ctx.Done():
						return nil, ctx.Err()
					}
					return mcp.NewToolResultText("done"), nil
				},
			)
			srv.AddTool(mcp.NewTool("session"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return mcp.NewToolResultText(
					server.ClientSessionFromContext(ctx).(server.SessionWithClientInfo).GetClientInfo().Name,
				), nil
			})
			srv.AddTool(mcp.NewTool("roots"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				h.started <- "roots"
				answer, err := srv.RequestRoots(ctx, mcp.ListRootsRequest{})
				if err != nil {
					return nil, err
				}
				return mcp.NewToolResultText(answer.Roots[0].URI), nil
			})
			srv.AddTool(mcp.NewTool("ask"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				answer, err := srv.RequestElicitation(ctx, mcp.ElicitationRequest{
					Params: mcp.ElicitationParams{
						Message:         "sure?",
						RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{}},
					},
				})
				if err != nil {
					return nil, err
				}
				return mcp.NewToolResultText(string(answer.Action)), nil
			})
			return nil
		},
	})
	return srv, func() error {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.closed++
		return nil
	}, err
}

// steps reports its progress n times and ends at once after the last.
func steps(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	for i := range request.GetInt("n", 0) {
		err := server.ServerFromContext(ctx).SendNotificationToClient(ctx, "notifications/progress", map[string]any{
			"progressToken": request.Params.Meta.ProgressToken, "progress": i + 1,
		})
		if err != nil {
			return nil, err
		}
	}
	return mcp.NewToolResultText("done"), nil
}

func (h *house) revoke(token string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.revoked[token] = true
}

// answer is a response that was read to its end.
type answer struct {
	status int
	header http.Header
	body   string
}

// send sends a request. Headers are "Name: value".
func (h *house) send(method, path, token, body string, headers ...string) *http.Response {
	h.t.Helper()
	request, err := http.NewRequestWithContext(h.t.Context(), method, h.url+path, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Accept", "application/json, text/event-stream")
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	for _, each := range headers {
		name, value, _ := strings.Cut(each, ": ")
		if name == "Host" {
			request.Host = value
			continue
		}
		request.Header.Del(name)
		if value != "" {
			request.Header.Add(name, value)
		}
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		h.t.Fatalf("%s %s: %v", method, path, err)
	}
	h.t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

func (h *house) ask(method, path, token, body string, headers ...string) answer {
	h.t.Helper()
	response := h.send(method, path, token, body, headers...)
	defer time.AfterFunc(servetest.Soon, func() { _ = response.Body.Close() }).Stop() // a stream where none is meant to be
	data, err := io.ReadAll(response.Body)
	if err != nil {
		h.t.Fatalf("%s %s: %v", method, path, err)
	}
	return answer{response.StatusCode, response.Header, string(data)}
}

const initializeMessage = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
	`"capabilities":{"elicitation":{}},"clientInfo":{"name":"the client of %s","version":"1"}}}`

// session opens a session of the Streamable HTTP transport.
func (h *house) session(token string, headers ...string) (id string) {
	h.t.Helper()
	got := h.ask(http.MethodPost, "/mcp", token, fmt.Sprintf(initializeMessage, token), headers...)
	id = got.header.Get("Mcp-Session-Id")
	if got.status != http.StatusOK || id == "" {
		h.t.Fatalf("initialize: %+v", got)
	}
	return id
}

func inSession(session string) string { return "Mcp-Session-Id: " + session }

// modernMessage is a request of protocol 2026-07-28 and the headers that go with it.
func modernMessage(id any, method, params string) (body string, headers []string) {
	number, _ := json.Marshal(id)
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{` +
		`"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}`
	if params == "" {
		params = "{}"
	}
	rest := strings.TrimPrefix(strings.TrimSpace(params), "{")
	if rest != "}" {
		rest = "," + rest
	}
	body = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s,"progressToken":"p"}%s}`,
		number, method, meta, rest)
	headers = []string{"Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: " + method}
	var named struct{ Params struct{ Name, URI string } }
	if json.Unmarshal([]byte(body), &named) == nil && named.Params.Name+named.Params.URI != "" {
		headers = append(headers, "Mcp-Name: "+named.Params.Name+named.Params.URI)
	}
	return body, headers
}

// events reads server-sent events.
type eventReader struct {
	h     *house
	lines *bufio.Reader
	body  io.Closer
}

func (h *house) events(response *http.Response) *eventReader {
	h.t.Helper()
	if response.StatusCode != http.StatusOK ||
		!strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		data, _ := io.ReadAll(response.Body)
		h.t.Fatalf("no stream: %d %v %s", response.StatusCode, response.Header, data)
	}
	return &eventReader{h, bufio.NewReader(response.Body), response.Body}
}

// next is the next event's id and data, and whether there was one before the stream's end.
func (e *eventReader) next() (id, data string, ok bool) {
	e.h.t.Helper()
	type read struct {
		id, data string
		ok       bool
	}
	result := make(chan read, 1)
	go func() {
		var r read
		for {
			line, err := e.lines.ReadString('\n')
			if err != nil {
				result <- read{}
				return
			}
			line = strings.TrimRight(line, "\r\n")
			switch {
			case strings.HasPrefix(line, "id: "):
				r.id = line[4:]
			case strings.HasPrefix(line, "data:"):
				r.data = strings.TrimSpace(line[5:])
			case line == "" && r.data != "":
				r.ok = true
				result <- r
				return
			}
		}
	}()
	select {
	case r := <-result:
		return r.id, r.data, r.ok
	case <-time.After(servetest.Soon):
		e.h.t.Fatal("no event came, and no end")
		return "", "", false
	}
}

// rest is the data of all events up to the end.
func (e *eventReader) rest() (list []string) {
	e.h.t.Helper()
	for {
		_, data, ok := e.next()
		if !ok {
			return list
		}
		list = append(list, data)
	}
}

// stream opens a stream of the transport before Streamable HTTP and returns it with the route of its messages.
func (h *house) stream(token string) (*eventReader, string) {
	h.t.Helper()
	events := h.events(h.send(http.MethodGet, "/sse", token, ""))
	_, route, ok := events.next()
	if !ok {
		h.t.Fatal("the stream ended")
	}
	return events, route
}

// hold waits until a call is under way.
func (h *house) hold() {
	h.t.Helper()
	select {
	case <-h.started:
	case <-time.After(servetest.Soon):
		h.t.Fatal("the call did not start")
	}
}

// later waits for what must become true.
func later(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(servetest.Soon); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: it did not become so", what)
		}
	}
}

// background does a request that is answered later.
func (h *house) background(method, path, token, body string, headers ...string) chan answer {
	result := make(chan answer, 1)
	request, err := http.NewRequestWithContext(context.Background(), method, h.url+path, bytes.NewReader([]byte(body)))
	if err != nil {
		h.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+token)
	for _, each := range headers {
		name, value, _ := strings.Cut(each, ": ")
		request.Header.Set(name, value)
	}
	go func() {
		response, err := http.DefaultTransport.RoundTrip(request)
		if err != nil {
			result <- answer{body: err.Error()}
			return
		}
		data, _ := io.ReadAll(response.Body)
		_ = response.Body.Close()
		result <- answer{response.StatusCode, response.Header, string(data)}
	}()
	return result
}

// wait is what background has got.
func wait(t *testing.T, result chan answer) answer {
	t.Helper()
	select {
	case a := <-result:
		return a
	case <-time.After(servetest.Soon):
		t.Fatal("no answer")
		return answer{}
	}
}

// Both transports and both eras, each with the server of its own audience.
func TestEachTokenHasItsOwnServer(t *testing.T) {
	t.Parallel()
	h := serveHouse(t, nil)
	const read = `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"test://who"}}`
	for token, want := range map[string]string{"dm": "dm", "club": "group:club", "hiking": "group:hiking", "dm2": "dm"} {
		if got := h.ask(http.MethodPost, "/mcp", token, read, inSession(h.session(token))); !strings.Contains(
			got.body,
			`"text":"`+want+`"`,
		) {
			t.Errorf("%s, legacy: %+v", token, got)
		}
		body, headers := modernMessage(1, "resources/read", `{"uri":"test://who"}`)
		if got := h.ask(http.MethodPost, "/mcp", token, body, headers...); !strings.Contains(got.body, `"text":"`+want+`"`) {
			t.Errorf("%s, modern: %+v", token, got)
		}
		events, route := h.stream(token)
		if got := h.ask(http.MethodPost, route, token, read); got.status != http.StatusAccepted {
			t.Errorf("%s, SSE: %+v", token, got)
		}
		if _, data, _ := events.next(); !strings.Contains(data, `"text":"`+want+`"`) {
			t.Errorf("%s, SSE: %s", token, data)
		}
	}
	// A DM may speak for a group; the name of the group is the operator's.
	for _, value := range []string{"group", "Group", "dm, group", "x"} {
		body, headers := modernMessage(1, "resources/read", `{"uri":"test://who"}`)
		if got := h.ask(http.MethodPost, "/mcp", "dm", body,
			append(headers, auth.ConnectionHeader+": "+value)...); !strings.Contains(got.body, `"text":"group:default"`) {
			t.Errorf("lowered with %q: %+v", value, got)
		}
	}
	body, headers := modernMessage(1, "resources/read", `{"uri":"test://who"}`)
	if got := h.ask(http.MethodPost, "/mcp", "club", body,
		append(headers, auth.ConnectionHeader+": dm")...); !strings.Contains(got.body, `"text":"group:club"`) {
		t.Errorf("a group asks to be a DM: %+v", got)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.opened) != 4 {
		t.Errorf("%d servers were opened for 4 audiences: %v", len(h.opened), h.opened)
	}
}
