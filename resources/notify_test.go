package resources_test

import (
	"fmt"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/resourceuri"
	"github.com/yamo-protocol/yamo-mcp/resources"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/watch"
)

// often makes the watcher look so often that tests need not wait.
var often = watch.Options{Poll: 10 * time.Millisecond, Rescan: 10 * time.Millisecond, Settle: time.Millisecond}

// watched is a session whose clients are told of changes.
func watched(t *testing.T, dir string, who audience.Audience) *session {
	t.Helper()
	w, err := workspace.Open(dir,
		workspace.WithClock(func() time.Time { return time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC) }))
	if err != nil {
		t.Fatal(err)
	}
	s := server.NewMCPServer("test", "1", server.WithHooks(&server.Hooks{}))
	if err := resources.Register(s, w.View(who)); err != nil {
		t.Fatal(err)
	}
	stop, err := resources.Notify(s, w.View(who), often, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return &session{t, dir, s}
}

// heard collects what a client is told: "list" or a URI, with the stream it came on.
type heard struct {
	t     *testing.T
	words chan string
}

// patience is how long a test waits for what must come.
const patience = 2 * time.Minute

func newHeard(t *testing.T) *heard { return &heard{t, make(chan string, 10_000)} }

func (h *heard) take(n mcp.JSONRPCNotification) {
	word := n.Method
	switch n.Method {
	case "notifications/resources/list_changed":
		word = "list"
	case "notifications/resources/updated":
		word = fmt.Sprint(n.Params.AdditionalFields["uri"])
	case "notifications/subscriptions/acknowledged":
		word = "acknowledged"
	}
	if n.Params.Meta[mcp.MetaKeySubscriptionID] != nil {
		word += " tagged"
	}
	h.words <- word
}

// until returns the distinct words up to and with the first that is last, sorted.
func (h *heard) until(last string) []string {
	h.t.Helper()
	words := []string{}
	deadline := time.After(patience)
	for {
		select {
		case word := <-h.words:
			words = append(words, word)
			if word == last {
				slices.Sort(words)
				return slices.Compact(words)
			}
		case <-deadline:
			h.t.Fatalf("never heard %s, only %q", last, words)
		}
	}
}

func (h *heard) expect(last string, want ...string) {
	h.t.Helper()
	if diff := cmp.Diff(want, h.until(last)); diff != "" {
		h.t.Errorf("heard (-want +got):\n%s", diff)
	}
}

// connect starts c, of the old protocol or the new.
func connect(t *testing.T, over transport.Interface, legacy bool) (*client.Client, *heard) {
	t.Helper()
	var options []client.ClientOption
	if legacy {
		options = append(options, client.WithLegacyProtocolOnly()) //nolint:staticcheck // what hosts of the older era do
	}
	c, h := client.NewClient(over, options...), newHeard(t)
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	c.OnNotification(h.take)
	var hello mcp.InitializeRequest
	hello.Params.ClientInfo = mcp.Implementation{Name: "test", Version: "1"}
	hello.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	answer, err := c.Initialize(t.Context(), hello)
	if err != nil {
		t.Fatal(err)
	}
	r := answer.Capabilities.Resources
	if r == nil {
		t.Fatal("the server does not announce resources")
	}
	if !r.Subscribe {
		t.Error("the server does not announce subscriptions")
	}
	if !r.ListChanged {
		t.Error("the server does not announce changes of the list")
	}
	return c, h
}

func uri(name string) string { return resourceuri.File(name) }

// Both kinds of clients of a DM, over both kinds of transports.
func TestNotify(t *testing.T) {
	t.Parallel()
	transports := map[string]func(t *testing.T, s *server.MCPServer, legacy bool) transport.Interface{
		"in process": func(_ *testing.T, s *server.MCPServer, _ bool) transport.Interface {
			return transport.NewInProcessTransport(s)
		},
		"HTTP": func(t *testing.T, s *server.MCPServer, legacy bool) transport.Interface {
			h := httptest.NewServer(server.NewStreamableHTTPServer(s, server.WithStateful(true)))
			t.Cleanup(h.Close)
			options := []transport.StreamableHTTPCOption{transport.WithHTTPBasicClient(h.Client())}
			if legacy {
				//nolint:staticcheck // what hosts of older protocols do
				options = append(options, transport.WithContinuousListening())
			}
			over, err := transport.NewStreamableHTTP(h.URL+"/mcp", options...)
			if err != nil {
				t.Fatal(err)
			}
			return over
		},
	}
	for name, over := range transports {
		t.Run(name+", legacy", func(t *testing.T) {
			s := watched(t, kate(t), audience.DM())
			c, h := connect(t, over(t, s.server, true), true)
			for _, name := range []string{"MEMORY.md", "memory/2026-02-05-irrigation-pump.md", "nothing.md", "DREAMS.md"} {
				request := mcp.SubscribeRequest{Params: mcp.SubscribeParams{URI: uri(name)}}
				if err := c.Subscribe(t.Context(), request); err != nil { //nolint:staticcheck // what hosts of the older era do
					t.Fatal(err)
				}
			}
			s.write("USER.md", "not subscribed to")
			s.write("MEMORY.md", "changed")
			h.expect(uri("MEMORY.md"), uri("MEMORY.md"))
			s.write("memory/2026-02-05-irrigation-pump.md", "read by name only, in no list")
			h.expect(uri("memory/2026-02-05-irrigation-pump.md"), uri("memory/2026-02-05-irrigation-pump.md"))
			s.write("DREAMS.md", "it appears")
			h.expect(uri("DREAMS.md"), "list", uri("DREAMS.md"))
			request := mcp.UnsubscribeRequest{Params: mcp.UnsubscribeParams{URI: uri("MEMORY.md")}}
			if err := c.Unsubscribe(t.Context(), request); err != nil { //nolint:staticcheck // what hosts of older protocols do
				t.Fatal(err)
			}
			s.write("MEMORY.md", "not subscribed to any more")
			s.remove("DREAMS.md")
			h.expect(uri("DREAMS.md"), "list", uri("DREAMS.md"))
		})
		t.Run(name+", modern", func(t *testing.T) {
			s := watched(t, kate(t), audience.DM())
			c, h := connect(t, over(t, s.server, false), false)
			stop, err := c.ListenAsync(
				t.Context(),
				mcp.SubscriptionFilter{
					ResourcesListChanged:  true,
					ResourceSubscriptions: []string{uri("MEMORY.md"), resourceuri.Startup},
				},
				func(err error) { t.Error(err) },
			)
			if err != nil {
				t.Fatal(err)
			}
			h.expect("acknowledged tagged", "acknowledged tagged")
			s.write("TOOLS.md", "not subscribed to")
			s.write("MEMORY.md", "changed")
			h.expect(uri("MEMORY.md")+" tagged", resourceuri.Startup+" tagged", uri("MEMORY.md")+" tagged")
			s.write("notes/new.md", "x")
			h.expect("list tagged", "list tagged")
			stop()

			// Another stream, which asks for less.
			stop, err = c.ListenAsync(t.Context(), mcp.SubscriptionFilter{ResourceSubscriptions: []string{uri("USER.md")}},
				func(err error) { t.Error(err) })
			if err != nil {
				t.Fatal(err)
			}
			defer stop()
			h.until("acknowledged tagged")
			s.write("MEMORY.md", "of the stream that is closed")
			s.write("notes/newer.md", "nobody asked for the list")
			s.write("USER.md", "changed")
			h.expect(uri("USER.md")+" tagged", uri("USER.md")+" tagged")
		})
	}
}

// A client of the new protocol that opened no stream hears nothing.
func TestModernClientsAreNotToldUnasked(t *testing.T) {
	t.Parallel()
	s := watched(t, kate(t), audience.DM())
	_, h := connect(t, transport.NewInProcessTransport(s.server), false)
	_, witness := connect(t, transport.NewInProcessTransport(s.server), true)
	s.write("notes/new.md", "x")
	witness.until("list")
	select {
	case word := <-h.words:
		t.Errorf("heard %s", word)
	case <-time.After(100 * time.Millisecond):
	}
}

// What a group may not see is subscribed to as anything unknown, and never heard of.
func TestGroupNeverHearsOfPrivateFiles(t *testing.T) {
	t.Parallel()
	for _, legacy := range []bool{true, false} {
		s := watched(t, kate(t), bookClub(t))
		private := []string{
			"MEMORY.md", "USER.md", "DREAMS.md", "TOOLS.md", "HEARTBEAT.md", "BOOTSTRAP.md", "notes/seed-order.md",
			"memory/2026-02-14.md",
			"memory/2026-02-13-group-hiking.md", "memory/heartbeat-state.json", "notes/new.md", ".yamo/key", "new",
		}
		c, h := connect(t, transport.NewInProcessTransport(s.server), legacy)
		uris := []string{
			resourceuri.Startup,
			uri("SOUL.md"),
			uri("memory/2026-02-14-group-book-club.md"),
			"yamo://nonsense",
			"%%%",
		}
		for _, name := range private {
			uris = append(uris, uri(name))
		}
		tag := ""
		if legacy {
			for _, u := range uris {
				request := mcp.SubscribeRequest{Params: mcp.SubscribeParams{URI: u}}
				if err := c.Subscribe(t.Context(), request); err != nil { //nolint:staticcheck // what hosts of the older era do
					t.Errorf("%s: %v", u, err)
				}
			}
		} else {
			tag = " tagged"
			stop, err := c.ListenAsync(t.Context(), mcp.SubscriptionFilter{
				ResourcesListChanged:  true,
				ResourceSubscriptions: uris,
			}, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer stop()
			h.until("acknowledged tagged")
		}
		for _, name := range private {
			s.write(name, "changed: "+name)
		}
		s.write("memory/2026-02-14-group-book-club.md", "our log")
		ours := uri("memory/2026-02-14-group-book-club.md") + tag
		h.expect(ours, resourceuri.Startup+tag, ours)
		for _, name := range private {
			s.remove(name)
		}
		s.write("SOUL.md", "the soul is everyone's")
		h.expect(uri("SOUL.md")+tag, resourceuri.Startup+tag, uri("SOUL.md")+tag)
		s.remove("memory/2026-02-14-group-book-club.md")
		h.expect(ours, "list"+tag, resourceuri.Startup+tag, ours)
	}
}
