package stdio

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/server"
	"golang.org/x/tools/txtar"

	"gotest.tools/v3/golden"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/serve"
	"github.com/yamo-protocol/yamo-mcp/internal/serve/servetest"
	"github.com/yamo-protocol/yamo-mcp/prompts"
	"github.com/yamo-protocol/yamo-mcp/tools"
)

// pipes is a client at the other end of two pipes. mcp-go's stdio session is a global, so these
// tests do not run in parallel.
type pipes struct {
	t       *testing.T
	stdin   *io.PipeWriter
	stdout  *bufio.Scanner
	out     *io.PipeReader
	done    chan error
	stop    context.CancelFunc
	started chan string
	release chan struct{}
	logs    *servetest.Buffer
}

func connect(t *testing.T, settings Options) *pipes {
	t.Helper()
	s := &pipes{
		t:       t,
		done:    make(chan error, 1),
		started: make(chan string, 64),
		release: make(chan struct{}),
		logs:    &servetest.Buffer{},
	}
	settings.Logger = slog.New(slog.NewTextHandler(s.logs, nil))
	srv, err := serve.Build(serve.Deps{
		Audience: audience.DM(), Version: "v0.0.0-test", Instructions: "Say words.", Logger: settings.Logger,
		Tools:   []tools.Tool{servetest.Say(s.started, s.release)},
		Prompts: []prompts.Prompt{{Name: "none"}},
		Options: []server.ServerOption{server.WithResourceCapabilities(true, false)},
	})
	if err != nil {
		t.Fatal(err)
	}

	stdin, toServer := io.Pipe()
	fromServer, stdout := io.Pipe()
	s.stdin, s.out, s.stdout = toServer, fromServer, bufio.NewScanner(fromServer)
	s.stdout.Buffer(nil, 1<<20)
	ctx, stop := context.WithCancel(t.Context())
	s.stop = stop
	go func() {
		err := Serve(ctx, srv, stdin, stdout, settings)
		s.done <- err
		_ = stdout.Close()
	}()
	t.Cleanup(func() {
		stop()
		_ = toServer.Close()
		_ = fromServer.Close()
	})
	return s
}

func (s *pipes) send(messages ...string) {
	s.t.Helper()
	for _, m := range messages {
		if _, err := io.WriteString(s.stdin, m+"\n"); err != nil {
			s.t.Fatalf("send: %v", err)
		}
	}
}

func (s *pipes) receive() string {
	s.t.Helper()
	if !s.stdout.Scan() {
		s.t.Fatalf("the output ended: %v", s.stdout.Err())
	}
	return s.stdout.Text()
}

// rest is what comes until the output ends.
func (s *pipes) rest() []string {
	var lines []string
	for s.stdout.Scan() {
		lines = append(lines, s.stdout.Text())
	}
	return lines
}

func (s *pipes) end() error {
	s.t.Helper()
	select {
	case err := <-s.done:
		return err
	case <-time.After(servetest.Soon):
		s.t.Fatal("the server did not stop")
		return nil
	}
}

func (s *pipes) hold(words int) {
	s.t.Helper()
	for range words {
		select {
		case <-s.started:
		case <-time.After(servetest.Soon):
			s.t.Fatal("the call did not start")
		}
	}
}

// TestTranscripts replays whole dialogues: each message of the client is sent when the one before is
// answered. -update rewrites the server's side.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := connect(t, Options{MaxLine: 4096})
			var got strings.Builder
			for message := range strings.Lines(string(archive.Files[0].Data)) {
				message = strings.ReplaceAll(strings.TrimSuffix(message, "\n"), "LONG", strings.Repeat("x", 5000))
				s.send(message)
				var parsed struct{ ID any }
				if json.Unmarshal([]byte(message), &parsed) == nil && parsed.ID == nil {
					continue // a notification
				}
				got.WriteString(s.receive() + "\n")
			}
			if err := s.stdin.Close(); err != nil {
				t.Fatal(err)
			}
			for _, extra := range s.rest() {
				got.WriteString(extra + "\n")
			}
			if err := s.end(); err != nil {
				t.Error(err)
			}
			if golden.FlagUpdate() {
				archive.Files[1].Data = []byte(got.String())
				if err := os.WriteFile(file, txtar.Format(archive), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(archive.Files[1].Data), got.String()); diff != "" {
				t.Errorf("server (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEndOfInputLetsCallsFinish(t *testing.T) {
	s := connect(t, Options{})
	const calls = 8 // more than mcp-go has workers
	for id := range calls {
		s.send(servetest.CallSay(id+1, "wait"))
	}
	if err := s.stdin.Close(); err != nil {
		t.Fatal(err)
	}
	s.hold(5)
	select {
	case err := <-s.done:
		t.Fatalf("the server stopped with calls under way: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	close(s.release)
	answers := s.rest()
	if err := s.end(); err != nil {
		t.Error(err)
	}
	if len(answers) != calls {
		t.Errorf("got %d answers, want %d", len(answers), calls)
	}
	for _, answer := range answers {
		if !strings.Contains(answer, `"structuredContent":{"said":"wait"}`) {
			t.Errorf("answer: %s", answer)
		}
	}
}

func TestSignalReadsNoMoreAndLetsCallsFinish(t *testing.T) {
	s := connect(t, Options{})
	s.send(servetest.CallSay(1, "wait"))
	s.hold(1)
	s.stop()
	close(s.release)
	if answers := s.rest(); len(answers) != 1 || !strings.Contains(answers[0], `"said":"wait"`) {
		t.Errorf("answers: %q", answers)
	}
	if err := s.end(); err != nil {
		t.Error(err)
	}
}

func TestCallsThatTakeTooLongAreCancelled(t *testing.T) {
	s := connect(t, Options{Drain: 20 * time.Millisecond})
	s.send(servetest.CallSay(1, "wait"))
	s.hold(1)
	if err := s.stdin.Close(); err != nil {
		t.Fatal(err)
	}
	if answers := s.rest(); len(answers) != 1 || !strings.Contains(answers[0], "the call was cancelled") {
		t.Errorf("answers: %q", answers)
	}
	if err := s.end(); err != nil {
		t.Error(err)
	}
	if !strings.Contains(s.logs.String(), "calls under way are cancelled") {
		t.Errorf("log: %s", s.logs)
	}
}

// A native call that does not look at its context must not keep the process alive.
func TestCallsThatDoNotStopAreAbandoned(t *testing.T) {
	s := connect(t, Options{Drain: time.Millisecond})
	s.send(servetest.CallSay(1, "stubborn"))
	s.hold(1)
	if err := s.stdin.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.end(); err == nil || !strings.Contains(err.Error(), "1 calls did not stop") {
		t.Errorf("got %v", err)
	}
	close(s.release)
}

func TestOpenSubscriptionDoesNotHoldTheEnd(t *testing.T) {
	s := connect(t, Options{Drain: servetest.Drain})
	s.send(`{"jsonrpc":"2.0","id":"sub","method":"subscriptions/listen","params":{"notifications":{` +
		`"resourcesListChanged":true,"toolsListChanged":true,"resourceSubscriptions":["test://ok"]},"_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t",` +
		`"version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`)
	if got := s.receive(); !strings.Contains(got, "subscriptions/acknowledged") {
		t.Fatalf("got %s", got)
	}
	start := time.Now()
	if err := s.stdin.Close(); err != nil {
		t.Fatal(err)
	}
	s.rest()
	if err := s.end(); err != nil {
		t.Error(err)
	}
	if took := time.Since(start); took > servetest.Soon {
		t.Errorf("stopping took %v", took)
	}
}

func TestLastMessageNeedsNoLineBreak(t *testing.T) {
	s := connect(t, Options{})
	if _, err := io.WriteString(s.stdin, servetest.CallSay(7, "hi")); err != nil {
		t.Fatal(err)
	}
	if err := s.stdin.Close(); err != nil {
		t.Fatal(err)
	}
	if answers := s.rest(); len(answers) != 1 || !strings.Contains(answers[0], `"id":7`) {
		t.Errorf("answers: %q", answers)
	}
}

// A client may send its whole session at once; mcp-go handles it concurrently.
func TestInitializeIsAnsweredFirst(t *testing.T) {
	for range 20 {
		s := connect(t, Options{})
		whole := strings.Join([]string{
			`{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
				`"clientInfo":{"name":"t","version":"1"}}}`,
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
			`{"jsonrpc":"2.0","id":"b","method":"tools/list"}`,
		}, "\n")
		go func() { _, _ = io.WriteString(s.stdin, whole+"\n") }()
		if got := s.receive(); !strings.Contains(got, `"id":"a"`) {
			t.Fatalf("the first answer is %s", got)
		}
		if got := s.receive(); !strings.Contains(got, `"id":"b"`) {
			t.Fatalf("the second answer is %s", got)
		}
		if err := s.stdin.Close(); err != nil {
			t.Fatal(err)
		}
		s.rest()
		if err := s.end(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestClientThatNoLongerReads(t *testing.T) {
	s := connect(t, Options{})
	if err := s.out.Close(); err != nil {
		t.Fatal(err)
	}
	s.send(servetest.CallSay(1, "hi"))
	if err := s.end(); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v, want %v", err, io.ErrClosedPipe)
	}
}

// A host that reads nothing ends with its input or a signal all the same, whether it has asked for a little, or for
// more than mcp-go takes before it reads no further.
func TestClientThatReadsNothing(t *testing.T) {
	const queued = 300 // mcp-go has 5 workers and a queue of 100
	for name, end := range map[string]func(*pipes){
		"end of input": func(s *pipes) { _ = s.stdin.Close() },
		"signal":       func(s *pipes) { s.stop() },
	} {
		for _, calls := range []int{0, queued} {
			t.Run(fmt.Sprintf("%s after %d calls", name, calls), func(t *testing.T) {
				s := connect(t, Options{Stall: 50 * time.Millisecond, Drain: time.Hour})
				s.send(
					`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},`+
						`"clientInfo":{"name":"t","version":"1"}}}`,
					`{"jsonrpc":"2.0","id":2,"method":"ping"}`,
				)
				if calls > 0 { // they need the answer to initialize
					s.receive()
				}
				for i := range calls {
					s.send(servetest.CallSay(3+i, "hi"))
				}
				// io.Pipe has no buffer: after the first byte the server is writing, and waits until the rest is read.
				if _, err := io.ReadFull(s.out, make([]byte, 1)); err != nil {
					t.Fatal(err)
				}
				end(s)
				if err := s.end(); err == nil || !strings.Contains(err.Error(), "does not read") {
					t.Errorf("Serve: %v", err)
				}
			})
		}
	}
}

func TestUnreadableInput(t *testing.T) {
	s := connect(t, Options{})
	broken := errors.New("broken")
	if err := s.stdin.CloseWithError(broken); err != nil {
		t.Fatal(err)
	}
	s.rest()
	if err := s.end(); !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
}
