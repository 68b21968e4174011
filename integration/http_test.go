package integration

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/yamo-protocol/yamo-mcp/integration/web"
)

// The transports besides stdio.
const (
	overHTTP = "http"
	overSSE  = "sse"
)

// startHTTP starts a server over a workspace, with all tools.
func startHTTP(tb testing.TB, h launch, more ...string) *web.Server {
	tb.Helper()
	flags := []string{"--workspace", h.workspace, "--toolsets", "memory,workspace,learning", "--concurrent-calls", "1000"}
	if h.transcripts != "" {
		flags = append(flags, "--transcripts", h.transcripts)
	}
	return web.Start(tb, serverBinary(tb), h.environment(), append(flags, more...)...)
}

// wire takes lines to a server over HTTP and brings back its messages, one on each line, as over pipes.
type wire struct {
	s      *session
	server *web.Server
	out    *io.PipeWriter
	posts  sync.WaitGroup

	mu      sync.Mutex
	session string // the header of the session
	route   string // of messages
	stream  io.Closer
	read    chan struct{} // closed when the stream has ended
}

// overWire connects the session with a server that is there.
func (s *session) overWire() {
	s.tb.Helper()
	lines, out := io.Pipe()
	w := &wire{s: s, server: s.launch.at, out: out, route: "/mcp", read: make(chan struct{})}
	s.stdin = w
	s.wait = sync.OnceValue(func() error {
		<-s.ended
		return nil
	})
	go s.read(lines)
	if s.launch.over == overSSE {
		w.open()
	} else {
		close(w.read)
	}
	s.tb.Cleanup(func() { _ = w.Close() })
}

// open opens the stream that answers come on, in the transport before Streamable HTTP.
func (w *wire) open() {
	w.s.tb.Helper()
	response, err := w.send(http.MethodGet, "/sse", "", nil)
	if err != nil || response.StatusCode != http.StatusOK {
		w.s.tb.Fatalf("open a stream: %+v, %v", response, err)
	}
	w.stream = response.Body
	route := make(chan string, 1)
	go func() {
		defer close(w.read)
		first := true
		w.events(response.Body, func(data string) {
			if first {
				route <- data
				first = false
				return
			}
			w.says(data)
		})
	}()
	select {
	case w.route = <-route:
	case <-time.After(patience):
		w.s.tb.Fatal("the stream does not say where messages go")
	}
}

func (w *wire) send(method, path, body string, header map[string]string) (*http.Response, error) {
	request, err := http.NewRequest(method, w.server.URL+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+w.s.launch.token)
	request.Header.Set("Accept", "application/json, text/event-stream")
	for name, value := range header {
		request.Header.Set(name, value)
	}
	return http.DefaultTransport.RoundTrip(request)
}

// Write takes one line to the server. What comes back is read as if it came over a pipe.
func (w *wire) Write(line []byte) (int, error) {
	text := strings.TrimSuffix(string(line), "\n")
	w.posts.Go(func() { w.post(text) })
	return len(line), nil
}

func (w *wire) post(line string) {
	var message struct {
		ID     json.RawMessage
		Method string
		Params struct{ Name, URI string }
	}
	_ = json.Unmarshal([]byte(line), &message) // some lines are nonsense
	header := map[string]string{"Content-Type": "application/json"}
	if w.s.launch.protocol == modern {
		header["Mcp-Protocol-Version"], header["Mcp-Method"] = modern, message.Method
		if name := message.Params.Name + message.Params.URI; name != "" {
			header["Mcp-Name"] = encodedHeader(name)
		}
	}
	w.mu.Lock()
	if w.session != "" {
		header["Mcp-Session-Id"] = w.session
	}
	route := w.route
	w.mu.Unlock()
	response, err := w.send(http.MethodPost, route, line, header)
	if err != nil {
		w.refused(message.ID, err.Error())
		return
	}
	defer response.Body.Close() //nolint:errcheck // it was read
	if id := response.Header.Get("Mcp-Session-Id"); id != "" {
		w.mu.Lock()
		if w.session == "" {
			w.session = id
		}
		w.mu.Unlock()
	}
	if strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		w.events(response.Body, w.says)
		return
	}
	data, _ := io.ReadAll(response.Body)
	text := strings.TrimSpace(string(data))
	var answer struct{ ID json.RawMessage }
	switch {
	case text == "" && w.s.launch.over == overSSE: // it comes on the stream
	case text == "":
		w.refused(message.ID, fmt.Sprint("status ", response.StatusCode))
	case json.Unmarshal(data, &answer) == nil && string(answer.ID) == "null":
		w.refused(message.ID, text)
	default:
		w.says(text)
	}
}

// encodedHeader is a name as a header has it: encoded if a header cannot contain it (SEP-2243).
func encodedHeader(name string) string {
	for _, r := range name {
		if r < 0x20 || r > 0x7e {
			return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(name)) + "?="
		}
	}
	if strings.TrimSpace(name) != name || strings.HasPrefix(name, "=?") {
		return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(name)) + "?="
	}
	return name
}

// refused answers a request in the place of a server that has not let it in.
func (w *wire) refused(id json.RawMessage, why string) {
	if len(id) == 0 || string(id) == "null" {
		return
	}
	line, err := json.Marshal(
		map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": -1, "message": why}},
	)
	if err == nil {
		w.says(string(line))
	}
}

func (w *wire) says(line string) { _, _ = io.WriteString(w.out, line+"\n") }

// events calls each with the data of every server-sent event.
func (w *wire) events(body io.Reader, each func(data string)) {
	lines := bufio.NewReader(body)
	for {
		line, err := lines.ReadString('\n')
		if data, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "data:"); ok {
			if data = strings.TrimSpace(data); !strings.Contains(data, `"method":"ping"`) {
				each(data)
			}
		}
		if err != nil {
			return
		}
	}
}

// Close waits for what was asked and ends the session.
func (w *wire) Close() error {
	w.posts.Wait()
	w.mu.Lock()
	session := w.session
	w.session = ""
	w.mu.Unlock()
	var err error
	if session != "" {
		var response *http.Response
		if response, err = w.send(http.MethodDelete, "/mcp", "", map[string]string{"Mcp-Session-Id": session}); err == nil {
			err = response.Body.Close()
			if response.StatusCode/100 != 2 {
				err = errors.Join(err, fmt.Errorf("the session ends with status %d", response.StatusCode))
			}
		}
	}
	if w.stream != nil {
		_ = w.stream.Close()
	}
	<-w.read
	return errors.Join(err, w.out.Close())
}

// said is what the server has said so far.
func (s *session) said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stdout.String()
}
