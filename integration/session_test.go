package integration

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/yamo-protocol/yamo-mcp/integration/web"
	"github.com/yamo-protocol/yamo-mcp/internal/app"
)

// The protocol revisions that the tests speak: of modern, a request carries its own version and there is
// no handshake; of the others, there is.
const (
	oldest = "2024-11-05"
	legacy = "2025-06-18"
	modern = "2026-07-28"
)

// patience is how long any answer may take on a machine that is busy with other things.
const patience = 2 * time.Minute

// mostResult is how long an answer to tools/call may be, in bytes.
const mostResult = 250_000

// launch describes how a host starts the server and talks to it.
type launch struct {
	workspace   string
	group       string // "": a DM
	transcripts string
	cache       string   // YAMO_CACHE; "" is that of the user who runs the tests
	protocol    string   // "" is legacy
	program     string   // "" is serverBinary
	dir         string   // the folder that the host starts it in, "" is the tests'
	wrapper     []string // a program that starts the server, with its arguments
	env         []string
	unspoken    bool // the client does not introduce itself
	apps        bool // the client shows MCP Apps

	over  string      // the transport: "" is stdio, else overHTTP or overSSE, and then
	at    *web.Server // which server is running already, and
	token string      // what opens it
}

// binary is the program that is started.
func (h launch) binary(tb testing.TB) string {
	if h.program != "" {
		return h.program
	}
	return serverBinary(tb)
}

// args is the server's command line.
func (h launch) args() []string {
	args := []string{"serve", "--workspace", h.workspace, "--toolsets", "memory,workspace,learning"}
	if h.group == "" {
		args = append(args, "--connection", "dm")
	} else {
		args = append(args, "--connection", "group", "--group", h.group)
	}
	if h.transcripts != "" {
		args = append(args, "--transcripts", h.transcripts)
	}
	return args
}

// environment is what a host hands down: no setting of yamo-mcp but where the assets are.
func (h launch) environment() []string {
	var env []string
	for _, name := range []string{"HOME", "PATH", "TMPDIR", "XDG_CACHE_HOME", "YAMO_CACHE"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	env = append(env, "XDG_STATE_HOME="+h.workspace+".state")
	if h.cache != "" {
		env = append(env, "YAMO_CACHE="+h.cache)
	}
	return append(env, h.env...)
}

// capabilities is what the client declares.
func (h launch) capabilities() map[string]any {
	if !h.apps {
		return map[string]any{}
	}
	return map[string]any{"extensions": appExtension()}
}

// appExtension is how a client announces that it shows MCP Apps.
func appExtension() map[string]any {
	return map[string]any{app.Extension: map[string]any{"mimeTypes": []string{app.MIMEType}}}
}

// message is one line of the server.
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Result  json.RawMessage `json:"result"`
	Error   *struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	} `json:"error"`

	line string
}

// session is a client with its server: a process of its own, with the client at its pipes, or one of several clients
// of a process that serves HTTP. Whatever it writes to stdout is checked to be
// the protocol. Requests may be sent by several goroutines.
type session struct {
	tb     testing.TB
	launch launch
	cmd    *exec.Cmd // of its own; nil over HTTP
	stdin  io.WriteCloser

	mu      sync.Mutex
	next    int
	waiting map[string]chan message
	stdout  bytes.Buffer
	ended   chan struct{} // stdout is at its end

	stderr bytes.Buffer // complete once the process has been waited for
	wait   func() error
}

// connect starts a server and introduces the client to it.
func connect(tb testing.TB, h launch) *session {
	tb.Helper()
	s := &session{tb: tb, launch: h, waiting: map[string]chan message{}, ended: make(chan struct{})}
	if h.over != "" {
		s.overWire()
	} else {
		s.startProcess()
	}
	s.introduce()
	return s
}

// startProcess starts a server for this session only.
func (s *session) startProcess() {
	s.tb.Helper()
	h, tb := s.launch, s.tb
	command := append(slices.Clone(h.wrapper), append([]string{h.binary(tb)}, h.args()...)...)
	s.cmd = exec.Command(command[0], command[1:]...)
	s.cmd.Env, s.cmd.Dir = h.environment(), h.dir
	s.cmd.Stderr = &s.stderr
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		tb.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	s.wait = sync.OnceValue(func() error {
		<-s.ended
		return s.cmd.Wait()
	})
	go s.read(stdout)
	tb.Cleanup(func() {
		_ = s.stdin.Close() // which also ends the server of a wrapper that is killed
		_ = s.cmd.Process.Kill()
		_ = s.wait()
	})
}

// introduce tells the server who the client is, where the protocol has that.
func (s *session) introduce() {
	s.tb.Helper()
	h, tb := s.launch, s.tb
	if !h.unspoken && h.protocol != modern {
		version := h.protocol
		if version == "" {
			version = legacy
		}
		answer := s.request("initialize", map[string]any{
			"protocolVersion": version,
			"capabilities":    h.capabilities(),
			"clientInfo":      map[string]any{"name": "test", "version": "1"},
		})
		var agreed struct{ ProtocolVersion string }
		answer.decode(tb, &agreed)
		if agreed.ProtocolVersion != version {
			tb.Fatalf("asked for protocol %s, got %s", version, agreed.ProtocolVersion)
		}
		s.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	}
}

// read reads stdout and delivers answers to the calls that wait for them.
func (s *session) read(stdout io.Reader) {
	defer close(s.ended)
	lines := bufio.NewReader(stdout)
	for {
		line, err := lines.ReadString('\n')
		s.mu.Lock()
		s.stdout.WriteString(line)
		s.mu.Unlock()
		if err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrClosed) {
				s.tb.Errorf("read stdout: %v", err)
			}
			return // without a line break it is half a message, which a kill cut off
		}
		m := message{line: strings.TrimSuffix(line, "\n")}
		if problem := m.parse(); problem != "" {
			s.tb.Errorf("stdout is not the protocol: %s: %s", problem, brief(line))
			continue
		}
		// A result is there twice, as structure and as text.
		if len(line) > mostResult && strings.Contains(line, `"structuredContent"`) {
			s.tb.Errorf("a result of %d bytes, which no host shows whole: %s", len(line), brief(line))
		}
		s.mu.Lock()
		waiting := s.waiting[string(m.ID)]
		delete(s.waiting, string(m.ID))
		s.mu.Unlock()
		switch {
		case m.Method != "": // a notification
		case waiting != nil:
			waiting <- m
		case string(m.ID) != "null":
			s.tb.Errorf("an answer to no request: %s", brief(line))
		}
	}
}

// parse reads m.line and returns what makes it no JSON-RPC message, "" if it is one.
func (m *message) parse() string {
	dec := json.NewDecoder(strings.NewReader(m.line))
	dec.DisallowUnknownFields()
	read := struct {
		message
		Params json.RawMessage `json:"params"`
	}{message: message{line: m.line}}
	if err := dec.Decode(&read); err != nil {
		return err.Error()
	}
	if dec.More() {
		return "more than one value on a line"
	}
	*m = read.message
	answers := 0
	if m.Result != nil {
		answers++
	}
	if m.Error != nil {
		answers++
	}
	switch {
	case m.JSONRPC != "2.0":
		return "the version is not 2.0"
	case m.Method == "" && (m.ID == nil || answers != 1):
		return "neither a request nor an answer"
	case m.Method != "" && answers != 0:
		return "both a request and an answer"
	}
	return ""
}

// send writes one line; that the server has gone is for the reader to notice.
func (s *session) send(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = io.WriteString(s.stdin, line+"\n")
}

// begin sends a request and returns where its answer will be.
func (s *session) begin(method string, params map[string]any) chan message {
	if s.launch.protocol == modern {
		with := map[string]any{"_meta": map[string]any{
			"io.modelcontextprotocol/protocolVersion":    modern,
			"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "test", "version": "1"},
			"io.modelcontextprotocol/clientCapabilities": s.launch.capabilities(),
		}}
		maps.Copy(with, params)
		params = with
	}
	answer := make(chan message, 1)
	s.mu.Lock()
	s.next++
	id := s.next
	s.waiting[fmt.Sprint(id)] = answer
	s.mu.Unlock()
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	if err != nil {
		s.tb.Errorf("encode %s: %v", method, err)
	}
	s.send(string(line))
	return answer
}

// request sends a request and waits for its answer. A server that ends instead fails the test.
func (s *session) request(method string, params map[string]any) message {
	s.tb.Helper()
	answer, ok := s.try(method, params)
	if !ok {
		_ = s.wait()
		s.tb.Fatalf("no answer to %s %v\nstderr: %s", method, brief(fmt.Sprint(params)), s.stderr.String())
	}
	return answer
}

// try is request for a server that may be killed meanwhile.
func (s *session) try(method string, params map[string]any) (message, bool) {
	answer := s.begin(method, params)
	select {
	case m := <-answer:
		return m, true
	case <-s.ended:
		select {
		case m := <-answer: // it was the last one
			return m, true
		default:
			return message{}, false
		}
	case <-time.After(patience):
		if s.cmd != nil {
			_ = s.cmd.Process.Kill()
		}
		return message{}, false
	}
}

// decode reads the result of an answer, which must be one.
func (m message) decode(tb testing.TB, v any) {
	tb.Helper()
	if m.Error != nil {
		tb.Fatalf("error %d: %s", m.Error.Code, m.Error.Message)
	}
	if err := json.Unmarshal(m.Result, v); err != nil {
		tb.Fatalf("result %s: %v", brief(string(m.Result)), err)
	}
}

// toolResult is the answer to tools/call.
type toolResult struct {
	Content           []struct{ Type, Text string }
	StructuredContent json.RawMessage
	IsError           bool
}

func (r toolResult) text() string {
	if len(r.Content) == 0 {
		return ""
	}
	return r.Content[0].Text
}

// call calls a tool, which must succeed, and decodes what it returns.
func call[T any](s *session, tool string, args map[string]any) T {
	s.tb.Helper()
	var result toolResult
	s.request("tools/call", map[string]any{"name": tool, "arguments": args}).decode(s.tb, &result)
	return decodeResult[T](s.tb, tool, result)
}

func decodeResult[T any](tb testing.TB, tool string, result toolResult) T {
	tb.Helper()
	var value T
	if result.IsError {
		tb.Fatalf("%s: %s", tool, result.text())
	}
	if err := json.Unmarshal(result.StructuredContent, &value); err != nil {
		tb.Fatalf("%s: %s: %v", tool, brief(string(result.StructuredContent)), err)
	}
	var same T
	if text := result.text(); !json.Valid([]byte(text)) {
		if strings.HasPrefix(text, "{") || text == "" {
			tb.Errorf("%s: the text %s is neither JSON nor lines", tool, brief(text))
		}
	} else if err := json.Unmarshal([]byte(text), &same); err != nil ||
		fmt.Sprintf("%+v", same) != fmt.Sprintf("%+v", value) {
		tb.Errorf("%s: the text %s is not the structured content (%v)", tool, brief(text), err)
	}
	return value
}

// end closes the input, waits for the server's end and returns everything it wrote. A server that does
// not end with exit code 0 fails the test.
func (s *session) end() (stdout, stderr string) {
	s.tb.Helper()
	if err := s.stdin.Close(); err != nil {
		s.tb.Errorf("close stdin: %v", err)
	}
	if err := s.wait(); err != nil {
		s.tb.Errorf("the server ended with %v\nstderr: %s", err, s.stderr.String())
	}
	return s.stdout.String(), s.stderr.String()
}

// brief is the beginning of a long text.
func brief(text string) string {
	if len(text) > 400 {
		return text[:400] + "…"
	}
	return text
}
