package integration

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// asked is a host with a person and a language model, at the server's pipes.
type asked struct {
	*client.Client
	mu        sync.Mutex
	questions []string // to the person
	prompts   []mcp.CreateMessageParams
	progress  []map[string]any
	says      mcp.ElicitationResponseAction
	complete  func(ctx context.Context) (string, error)
}

func (a *asked) Elicit(_ context.Context, request mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.questions = append(a.questions, request.Params.Message)
	answer := mcp.ElicitationResponse{Action: a.says}
	if a.says == mcp.ElicitationResponseActionAccept {
		answer.Content = map[string]any{"confirm": true}
	}
	return &mcp.ElicitationResult{ElicitationResponse: answer}, nil
}

func (a *asked) CreateMessage(ctx context.Context, request mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	a.mu.Lock()
	a.prompts = append(a.prompts, request.CreateMessageParams)
	a.mu.Unlock()
	text, err := a.complete(ctx)
	if err != nil {
		return nil, err
	}
	return &mcp.CreateMessageResult{
		SamplingMessage: mcp.SamplingMessage{Role: mcp.RoleAssistant, Content: mcp.NewTextContent(text)},
		Model:           "host-1",
	}, nil
}

// attach starts a server for h and connects a to it, over HTTP or over its pipes.
func (a *asked) attach(t *testing.T, h launch) {
	t.Helper()
	var wire transport.Interface
	if h.over == overHTTP {
		s := startHTTP(t, h)
		bearer := map[string]string{"Authorization": "Bearer " + s.NewToken("--connection", "dm", "--workspace", h.workspace)}
		options := []transport.StreamableHTTPCOption{transport.WithHTTPHeaders(bearer)}
		if h.protocol == legacy { // which has a stream for what the server asks
			options = append(options, transport.WithContinuousListening()) //nolint:staticcheck // deprecated as that revision is
		}
		var err error
		if wire, err = transport.NewStreamableHTTP(s.URL+"/mcp", options...); err != nil {
			t.Fatal(err)
		}
	} else {
		process := transport.NewStdioWithOptions(serverBinary(t), h.environment(), h.args())
		if err := process.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		wire = process
	}
	a.Client = client.NewClient(wire, client.WithSamplingHandler(a), client.WithElicitationHandler(a),
		client.WithProtocolVersion(h.protocol))
	t.Cleanup(func() { _ = a.Close() })
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.OnNotification(func(n mcp.JSONRPCNotification) {
		if n.Method == "notifications/progress" {
			a.mu.Lock()
			a.progress = append(a.progress, n.Params.AdditionalFields)
			a.mu.Unlock()
		}
	})
	var hello mcp.InitializeRequest
	hello.Params.ProtocolVersion = h.protocol
	hello.Params.ClientInfo = mcp.Implementation{Name: "test", Version: "1"}
	if h.apps {
		hello.Params.Capabilities.Extensions = appExtension()
	}
	if agreed, err := a.Initialize(t.Context(), hello); err != nil || agreed.ProtocolVersion != h.protocol {
		t.Fatalf("%+v, %v", agreed, err)
	}
}

// use calls a tool and decodes what it returns; an error of the tool is returned as one.
func (a *asked) use(ctx context.Context, tool string, args map[string]any, out any) error {
	var request mcp.CallToolRequest
	request.Params.Name, request.Params.Arguments = tool, args
	request.Params.Meta = &mcp.Meta{ProgressToken: tool}
	result, err := a.CallTool(ctx, request)
	if err != nil {
		return err
	}
	text, _ := mcp.AsTextContent(result.Content[0])
	if result.IsError {
		return errors.New(text.Text)
	}
	return json.Unmarshal([]byte(text.Text), out)
}

func TestServerAsksPersonAndModel(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ over, era string }{{"", legacy}, {"", modern}, {overHTTP, legacy}, {overHTTP, modern}} {
		t.Run(test.over+" "+test.era, func(t *testing.T) {
			t.Parallel()
			dir := sample(t)
			a := &asked{says: mcp.ElicitationResponseActionDecline, complete: func(context.Context) (string, error) {
				return "Sand in the filter stops the irrigation pump [1].", nil
			}}
			a.attach(t, launch{workspace: dir, protocol: test.era, over: test.over})
			var memory struct{ ID string }
			if err := a.use(
				t.Context(),
				"memory_store",
				map[string]any{"content": "The irrigation pump stopped: its filter was full of sand."},
				&memory,
			); err != nil {
				t.Fatal(err)
			}
			var reflection struct {
				Content, Method, Model string
				MemoryID               string `json:"memory_id"`
			}
			if err := a.use(t.Context(), "reflect", map[string]any{"topic": "irrigation pump"}, &reflection); err != nil {
				t.Fatal(err)
			}
			if reflection.Method != "model" || reflection.Model != "host-1" {
				t.Errorf("made by %s, %s; want the host's model", reflection.Method, reflection.Model)
			}
			if want := "stops the irrigation pump (" + memory.ID; !strings.Contains(reflection.Content, want) {
				t.Errorf("the reflection %q does not contain %q", reflection.Content, want)
			}
			if len(a.prompts) != 1 || a.prompts[0].SystemPrompt == "" {
				t.Errorf("prompts %+v", a.prompts)
			}
			a.mu.Lock()
			if len(a.progress) == 0 {
				t.Error("no progress")
			} else if p := a.progress[0]; p["progressToken"] != "reflect" || p["message"] != "looking for memories" {
				t.Errorf("progress %+v", p)
			}
			a.mu.Unlock()

			remove := map[string]any{"id": memory.ID, "confirm": true}
			var gone struct{ Derived []string }
			err := a.use(t.Context(), "memory_delete", remove, &gone)
			if err == nil || !strings.Contains(err.Error(), "the user declined") {
				t.Errorf("declined: %v", err)
			}
			share := map[string]any{"content": "The hut is open in May.", "visibility": "shared"}
			err = a.use(t.Context(), "memory_store", share, &memory)
			if err == nil || !strings.Contains(err.Error(), "the user declined") {
				t.Errorf("declined to share: %v", err)
			}
			if text := filesBelow(t, filepath.Join(dir, ".yamo", "shared")); strings.Contains(text, "hut") {
				t.Error("it was shared")
			}
			a.says = mcp.ElicitationResponseActionAccept
			if err := a.use(t.Context(), "memory_store", share, &memory); err != nil {
				t.Errorf("shared: %v", err)
			}
			if err := a.use(t.Context(), "memory_delete", remove, &gone); err != nil {
				t.Errorf("deleted: %v", err)
			}
			if diff := cmp.Diff([]string{reflection.MemoryID}, gone.Derived); diff != "" {
				t.Errorf("derived from what was deleted (-want +got):\n%s", diff)
			}
			if len(a.questions) != 4 {
				t.Fatalf("%d questions: %q", len(a.questions), a.questions)
			}
			for i, want := range []string{"full of sand", "every group"} {
				if !strings.Contains(a.questions[i], want) {
					t.Errorf("question %d is %q, without %q", i, a.questions[i], want)
				}
			}
		})
	}
}

// A call that waits for the host's model ends when the host cancels it, and leaves nothing behind.
func TestCancelledReflectionLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := sample(t)
	const calls = 6 // more than mcp-go works on at once: one that went on would be in the way of the last
	started, ended := make(chan struct{}, calls), make(chan struct{})
	a := &asked{complete: func(context.Context) (string, error) {
		started <- struct{}{}
		<-ended
		return "too late", nil
	}}
	defer close(ended)
	a.attach(t, launch{workspace: dir, protocol: legacy})
	var memory struct{ ID string }
	if err := a.use(
		t.Context(),
		"memory_store",
		map[string]any{"content": "The irrigation pump stopped."},
		&memory,
	); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	for range calls {
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-started
			cancel() // the client sends notifications/cancelled
		}()
		if err := a.use(ctx, "reflect", nil, &memory); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}
	// The server is free for the next call, and has stored nothing.
	if err := a.use(t.Context(), "memory_get", map[string]any{"id": memory.ID}, &memory); err != nil {
		t.Error(err)
	}
	if took := time.Since(begun); took > patience/2 {
		t.Errorf("it took %v", took)
	}
	if text := filesBelow(t, filepath.Join(dir, ".yamo", "private")); strings.Contains(text, `"op":"reflect"`) {
		t.Error("a reflection was stored")
	}
}

// What the two eras look like on the wire.
func TestAskingOnTheWire(t *testing.T) {
	t.Parallel()
	capabilities := map[string]any{"sampling": map[string]any{}, "elicitation": map[string]any{}}
	meta := func(more map[string]any) map[string]any {
		params := map[string]any{"_meta": map[string]any{
			"io.modelcontextprotocol/protocolVersion":    modern,
			"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "test", "version": "1"},
			"io.modelcontextprotocol/clientCapabilities": capabilities,
		}, "name": "reflect", "arguments": map[string]any{"topic": "irrigation pump"}}
		maps.Copy(params, more)
		return params
	}
	s := connect(t, launch{workspace: sample(t), protocol: modern})
	s.store("The irrigation pump stopped: its filter was full of sand.", nil)
	var required struct {
		ResultType    string
		InputRequests map[string]struct {
			Method string
			Params struct {
				SystemPrompt string
				Messages     []struct{ Content struct{ Text string } }
			}
		}
	}
	s.request("tools/call", meta(nil)).decode(t, &required)
	if required.ResultType != "input_required" || len(required.InputRequests) != 1 {
		t.Fatalf("got %+v", required)
	}
	for key, request := range required.InputRequests {
		if request.Method != "sampling/createMessage" ||
			!strings.Contains(request.Params.Messages[0].Content.Text, "full of sand") {
			t.Errorf("asked %+v", request)
		}
		// An answer under another key is to another question, and one that the model made up does not count.
		answer := map[string]any{
			"role":    "assistant",
			"model":   "m",
			"content": map[string]any{"type": "text", "text": "Sand in the filter stops the irrigation pump [1]."},
		}
		s.request("tools/call", meta(map[string]any{"inputResponses": map[string]any{key + "0": answer}})).
			decode(t, &required)
		if required.ResultType != "input_required" {
			t.Errorf("with another question's answer: %+v", required)
		}
		var result toolResult
		s.request("tools/call", meta(map[string]any{"inputResponses": map[string]any{key: answer}})).decode(t, &result)
		if !strings.Contains(result.text(), `"method":"model"`) || result.IsError {
			t.Errorf("answered: %s", result.text())
		}
	}
	var result toolResult
	s.request("tools/call", map[string]any{"name": "reflect", "arguments": map[string]any{"lookback": 1}}).
		decode(t, &result)
	if !strings.Contains(result.text(), `"method":"extract"`) {
		t.Errorf("a client without a model: %s", result.text())
	}
}
