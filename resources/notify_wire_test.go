package resources_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
)

// wire is the server on stdio, line by line.
type wire struct {
	t     *testing.T
	in    io.Writer
	lines chan string
}

// stdio serves s to a wire.
func (s *session) stdio(t *testing.T) *wire {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(
		func() { _ = server.NewStdioServer(s.server).Listen(ctx, in, out) },
	) // it ends with an error of the pipe or ctx
	w := &wire{t, toServer, make(chan string, 1000)}
	done.Go(func() {
		for lines := bufio.NewScanner(fromServer); lines.Scan(); {
			w.lines <- lines.Text()
		}
	})
	t.Cleanup(func() {
		cancel()
		for _, pipe := range []io.Closer{toServer, out} {
			if err := pipe.Close(); err != nil {
				t.Error(err)
			}
		}
		done.Wait()
	})
	return w
}

func (w *wire) send(line string) {
	w.t.Helper()
	if _, err := io.WriteString(w.in, line+"\n"); err != nil {
		w.t.Fatal(err)
	}
}

// receive returns the next line, in one spelling.
func (w *wire) receive() string {
	w.t.Helper()
	select {
	case line := <-w.lines:
		var value any
		if err := json.Unmarshal([]byte(line), &value); err != nil {
			w.t.Fatal(err)
		}
		text, err := json.Marshal(value)
		if err != nil {
			w.t.Fatal(err)
		}
		return string(text)
	case <-time.After(patience):
		w.t.Fatal("no line")
		return ""
	}
}

func (w *wire) expect(want string) {
	w.t.Helper()
	if got := w.receive(); got != want {
		w.t.Errorf("received\n%s\nwant\n%s", got, want)
	}
}

// The bytes of both protocols on stdio.
func TestStdio(t *testing.T) {
	t.Parallel()
	t.Run("legacy", func(t *testing.T) {
		s := watched(t, kate(t), audience.DM())
		w := s.stdio(t)
		w.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
			`"clientInfo":{"name":"t","version":"1"}}}`)
		if got := w.receive(); !strings.Contains(got, `"resources":{"listChanged":true,"subscribe":true}`) {
			t.Errorf("initialize: %s", got)
		}
		w.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		for _, name := range []string{"MEMORY.md", "no-such-file.md"} {
			w.send(`{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"yamo://workspace/` + name + `"}}`)
			w.expect(`{"id":2,"jsonrpc":"2.0","result":{}}`)
		}
		s.write("MEMORY.md", "changed")
		w.expect(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"yamo://workspace/MEMORY.md"}}`)
		s.remove("USER.md")
		w.expect(`{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}`)
	})
	t.Run("modern", func(t *testing.T) {
		s := watched(t, kate(t), audience.DM())
		w := s.stdio(t)
		const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
			`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
		w.send(`{"jsonrpc":"2.0","id":"one","method":"subscriptions/listen","params":{` + meta + `,"notifications":{` +
			`"resourcesListChanged":true,"toolsListChanged":true,"resourceSubscriptions":["yamo://workspace/MEMORY.md"]}}}`)
		w.expect(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{` +
			`"io.modelcontextprotocol/subscriptionId":"one"},` +
			`"notifications":{"resourceSubscriptions":["yamo://workspace/MEMORY.md"],"resourcesListChanged":true}}}`)
		s.write("MEMORY.md", "changed")
		w.expect(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"_meta":{` +
			`"io.modelcontextprotocol/subscriptionId":"one"},"uri":"yamo://workspace/MEMORY.md"}}`)
		s.remove("USER.md")
		w.expect(`{"jsonrpc":"2.0","method":"notifications/resources/list_changed","params":{"_meta":{` +
			`"io.modelcontextprotocol/subscriptionId":"one"}}}`)
		w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"one",` + meta + `}}`)
		if got := w.receive(); !strings.Contains(got, `"id":"one"`) {
			t.Errorf("at the end of the stream: %s", got)
		}
		s.write("MEMORY.md", "after the stream")
		w.send(`{"jsonrpc":"2.0","id":2,"method":"subscriptions/listen","params":{` + meta + `,"notifications":{` +
			`"resourceSubscriptions":["yamo://workspace/AGENTS.md"]}}}`)
		if got := w.receive(); !strings.Contains(got, "acknowledged") {
			t.Errorf("second stream: %s", got)
		}
		s.write("AGENTS.md", "changed")
		if got := w.receive(); !strings.Contains(got, "AGENTS.md") {
			t.Errorf("second stream: %s", got)
		}
	})
}

// A client whose queue is full is told later, and each thing once.
func TestFullQueue(t *testing.T) {
	t.Parallel()
	s := watched(t, kate(t), audience.DM())
	c := server.NewInProcessSession("slow", nil)
	if err := s.server.RegisterSession(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	ctx := s.server.WithContext(t.Context(), c)
	ask := func(method, params string) {
		t.Helper()
		message := `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`
		if answer, ok := s.server.HandleMessage(ctx, json.RawMessage(message)).(mcp.JSONRPCResponse); !ok {
			t.Fatalf("%s answers %v", method, answer)
		}
	}
	ask("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
	const files = 150 // more than a queue takes
	for i := range files {
		ask("resources/subscribe", fmt.Sprintf(`{"uri":"yamo://workspace/notes/%d.md"}`, i))
	}
	for i := range files {
		s.write(fmt.Sprintf("notes/%d.md", i), "x")
	}
	h := newHeard(t)
	deadline := time.After(patience)
	told := map[string]bool{}
	for len(told) < files+1 {
		select {
		case n := <-c.ClientNotifications():
			h.take(n)
			told[<-h.words] = true
		case <-deadline:
			t.Fatalf("told of %d only", len(told))
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// Clients come and go while files change.
func TestNotifyConcurrently(t *testing.T) {
	t.Parallel()
	s := watched(t, kate(t), audience.DM())
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for range 20 {
				c, err := client.NewInProcessClient(s.server)
				if err != nil {
					t.Error(err)
					return
				}
				ctx, cancel := context.WithCancel(context.Background())
				if err := c.Start(ctx); err != nil {
					t.Error(err)
				}
				var hello mcp.InitializeRequest
				hello.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
				if _, err := c.Initialize(ctx, hello); err != nil {
					t.Error(err)
				}
				stop, err := c.ListenAsync(ctx,
					mcp.SubscriptionFilter{ResourcesListChanged: true, ResourceSubscriptions: []string{uri("SOUL.md")}}, nil)
				if err != nil {
					t.Error(err)
				} else {
					stop()
				}
				cancel()
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range 100 {
		if err := os.WriteFile(filepath.Join(s.dir, "SOUL.md"), []byte(strings.Repeat("x", i)), 0o600); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	workers.Wait()
}
