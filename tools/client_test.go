package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/yamo-protocol/yamo-mcp/internal/assets"
	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/progress"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
)

// host is a client with a person and a language model.
type host struct {
	*client.Client
	person func(question string) (*mcp.ElicitationResult, error) // nil: cannot be asked
	model  func(p mcp.CreateMessageParams) (string, error)       // nil: there is none

	mu    sync.Mutex
	asked []string // of the person
	heard []mcp.JSONRPCNotification
}

func (h *host) Elicit(_ context.Context, request mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	h.mu.Lock()
	h.asked = append(h.asked, request.Params.Message)
	h.mu.Unlock()
	return h.person(request.Params.Message)
}

func (h *host) CreateMessage(_ context.Context, request mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	text, err := h.model(request.CreateMessageParams)
	if err != nil {
		return nil, err
	}
	return &mcp.CreateMessageResult{
		SamplingMessage: mcp.SamplingMessage{Role: mcp.RoleAssistant, Content: mcp.NewTextContent(text)}, Model: "host-model",
	}, nil
}

// eras are a revision before and one after the handshake went.
var eras = []string{"2025-06-18", "2026-07-28"}

// connected connects h to a server of these tools.
func (h *host) connected(t *testing.T, era string, list ...Tool) *host {
	t.Helper()
	srv := server.NewMCPServer("test", "1", server.WithLogging())
	for _, tool := range list {
		srv.AddTools(tool.Server(quiet()))
	}
	var options []client.ClientOption
	if h.person != nil {
		options = append(options, client.WithElicitationHandler(h))
	}
	if h.model != nil {
		options = append(options, client.WithSamplingHandler(h))
	}
	options = append(options, client.WithProtocolVersion(era))
	var err error
	if h.Client, err = client.NewInProcessClientWithOptions(srv, options...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	h.OnNotification(func(n mcp.JSONRPCNotification) {
		h.mu.Lock()
		h.heard = append(h.heard, n)
		h.mu.Unlock()
	})
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	var hello mcp.InitializeRequest
	hello.Params.ProtocolVersion = era
	hello.Params.ClientInfo = mcp.Implementation{Name: "test", Version: "1"}
	agreed, err := h.Initialize(t.Context(), hello)
	if err != nil || agreed.ProtocolVersion != era {
		t.Fatalf("asked for %s: %+v, %v", era, agreed, err)
	}
	return h
}

// use calls a tool and returns its text, and whether that is an error.
func (h *host) use(t *testing.T, name string, arguments map[string]any) (answer string, failed bool) {
	t.Helper()
	var request mcp.CallToolRequest
	request.Params.Name, request.Params.Arguments = name, arguments
	request.Params.Meta = &mcp.Meta{ProgressToken: "token"}
	result, err := h.CallTool(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	result.Content = result.Content[:1] // links may follow
	return resultText(t, result), result.IsError
}

func says(action mcp.ElicitationResponseAction, content any) func(string) (*mcp.ElicitationResult, error) {
	return func(string) (*mcp.ElicitationResult, error) {
		return &mcp.ElicitationResult{ElicitationResponse: mcp.ElicitationResponse{Action: action, Content: content}}, nil
	}
}

var (
	agrees   = says(mcp.ElicitationResponseActionAccept, map[string]any{"confirm": true})
	unticked = says(mcp.ElicitationResponseActionAccept, map[string]any{"confirm": false})
	refuses  = says(mcp.ElicitationResponseActionDecline, nil)
	walksOff = says(mcp.ElicitationResponseActionCancel, nil)
)

func TestConfirm(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		person func(string) (*mcp.ElicitationResult, error)
		given  bool // confirm: true among the arguments
		want   string
	}{
		{"no one to ask, confirmed", nil, true, ""},
		{"no one to ask", nil, false, "confirm: deletion is permanent; ask the user, then call again with confirm: true"},
		{"agreed", agrees, false, ""},
		{"declined against the model's word", refuses, true, "the user declined"},
		{"accepted without a tick", unticked, true, "the user declined"},
		{"dismissed against the model's word", walksOff, true, "the user was asked and did not answer"},
	} {
		for _, era := range eras {
			t.Run(test.name+" "+era, func(t *testing.T) {
				v := memoryView(t, t.TempDir(), audience.DM())
				id := answer[stored](t, MemoryStore(v), `{"content":"The ferry leaves at noon."}`).ID
				h := (&host{person: test.person}).connected(t, era, MemoryDelete(v, nil, nil))
				arguments := map[string]any{"id": id}
				if test.given {
					arguments["confirm"] = true
				}
				got, failed := h.use(t, "memory_delete", arguments)
				if failed != (test.want != "") || !strings.Contains(got, test.want) {
					t.Errorf("got %q, want %q", got, test.want)
				}
				if _, err := v.Get(t.Context(), id); (err == nil) != (test.want != "") {
					t.Errorf("afterwards: %v", err)
				}
				if test.person != nil && (len(h.asked) != 1 || !strings.Contains(h.asked[0], "The ferry leaves at noon.")) {
					t.Errorf("asked %q", h.asked)
				}
			})
		}
	}
}

// A client that declares elicitation and then refuses it counts as one without. Later revisions cannot refuse it.
func TestClientThatCannotAskAfterAll(t *testing.T) {
	t.Parallel()
	v := memoryView(t, t.TempDir(), audience.DM())
	id := answer[stored](t, MemoryStore(v), `{"content":"The ferry leaves at noon."}`).ID
	h := (&host{person: func(string) (*mcp.ElicitationResult, error) { return nil, errors.New("method not found") }}).
		connected(t, eras[0], MemoryDelete(v, nil, nil))
	if got, failed := h.use(t, "memory_delete", map[string]any{"id": id}); !failed ||
		!strings.Contains(got, "confirm: true") {
		t.Errorf("without confirm: %q", got)
	}
	if got, failed := h.use(t, "memory_delete", map[string]any{"id": id, "confirm": true}); failed {
		t.Errorf("with confirm: %q", got)
	}
}

func TestDeletionThatIsRefusedAsksNobody(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	dm := memoryView(t, dir, audience.DM())
	shared := answer[stored](t, MemoryStore(dm), `{"content":"The club meets on Mondays.","visibility":"shared"}`).ID
	private := answer[stored](t, MemoryStore(dm), `{"content":"Mira is allergic to nuts."}`).ID
	v := memoryView(t, dir, hikers(t))
	for _, era := range eras {
		h := (&host{person: agrees}).connected(t, era, MemoryDelete(v, nil, nil))
		for id, want := range map[string]string{
			shared:  "only a direct conversation can delete",
			private: "id: no memory \"",
		} {
			got, failed := h.use(t, "memory_delete", map[string]any{"id": id})
			equal(t, era+": failed", failed, true)
			contains(t, era+": error", got, want)
			equal(t, era+": questions", len(h.asked), 0)
		}
	}
}

func TestDeletingASkillAsks(t *testing.T) {
	t.Parallel()
	v := memoryView(t, t.TempDir(), audience.DM())
	skill, err := v.Skills().Ingest(t.Context(),
		mesh.SkillRequest{Text: "---\nname: bleed the brakes\nintent: get the air out\n---\nOpen the valve.\n"})
	if err != nil {
		t.Fatal(err)
	}
	h := (&host{person: agrees}).connected(t, eras[1], MemoryDelete(v, nil, nil))
	got, failed := h.use(t, "memory_delete", map[string]any{"id": skill.ID})
	equal(t, "failed", failed, false)
	if len(h.asked) != 1 {
		t.Fatalf("%s, asked %q", got, h.asked)
	}
	contains(t, "question", h.asked[0],
		"Permanently delete this skill (private", "bleed the brakes: get the air out")
	if got, failed := h.use(t, "memory_delete", map[string]any{"id": skill.ID}); !failed || len(h.asked) != 1 {
		t.Errorf("again: %s, asked %q", got, h.asked)
	}
}

// question is the input of a tool that asks the host's model.
type question struct {
	About string `json:"about" jsonschema_description:"What about."`
}

type reply struct {
	Text  string `json:"text"`
	Model string `json:"model"`
}

// asking is a tool that asks the host's model, and counts how often it began.
func asking(begun *int) Tool {
	spec := Spec{Name: "sample", Title: "Sample", Description: "A tool for tests."}
	return Define(spec, func(ctx context.Context, in question) (reply, error) {
		*begun++
		text, model, err := callerOf(ctx).sample(ctx, questionKey("sample", in.About), mcp.CreateMessageParams{
			Messages: []mcp.SamplingMessage{{
				Role:    mcp.RoleUser,
				Content: mcp.NewTextContent("Say something about " + in.About),
			}},
			MaxTokens: 100,
		})
		if errors.Is(err, errCannotAsk) {
			return reply{Text: "no one answered"}, nil
		}
		return reply{text, model}, err
	})
}

func TestSample(t *testing.T) {
	t.Parallel()
	echo := func(p mcp.CreateMessageParams) (string, error) {
		return "heard: " + textOf(p.Messages[0].Content), nil
	}
	for era, runs := range map[string]int{eras[0]: 1, eras[1]: 2} {
		begun := 0
		h := (&host{model: echo}).connected(t, era, asking(&begun))
		got, failed := h.use(t, "sample", map[string]any{"about": "figs"})
		equal(t, era+": failed", failed, false)
		equal(t, era+": answer", got, `{"text":"heard: Say something about figs","model":"host-model"}`)
		equal(t, era+": runs", begun, runs)
		h = (&host{}).connected(t, era, asking(&begun))
		if got, failed := h.use(t, "sample", map[string]any{"about": "figs"}); !strings.Contains(got, "no one answered") ||
			failed {
			t.Errorf("%s, a client without a model: %s", era, got)
		}
	}
	begun := 0
	h := (&host{model: func(mcp.CreateMessageParams) (string, error) {
		return "",
			errors.New("the person said no")
	}}).connected(t, eras[0], asking(&begun))
	if got, failed := h.use(t, "sample", map[string]any{"about": "figs"}); !strings.Contains(got, "no one answered") ||
		failed {
		t.Errorf("a model that does not answer: %s", got)
	}
}

// An answer to one question is none to another: the client is asked again. One to a question that it
// could not have been asked counts for nothing.
func TestAnswerServesItsOwnQuestionAlone(t *testing.T) {
	t.Parallel()
	begun := 0
	srv := server.NewMCPServer("test", "1")
	srv.AddTools(asking(&begun).Server(quiet()))
	for _, test := range []struct{ about, capability, version, want string }{
		{"figs", `"sampling":{}`, eras[1], "planted"},
		{"plums", `"sampling":{}`, eras[1], "input_required"},
		{"figs", ``, eras[1], "no one answered"},
		{"figs", `"sampling":{}`, eras[0], "no one answered"},
	} {
		answer := srv.HandleMessage(t.Context(), fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{
			"name":"sample","arguments":{"about":%q},
			"inputResponses":{%q:{"role":"assistant","model":"m","content":{"type":"text","text":"planted"}}},
			"_meta":{"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientCapabilities":{%s}}}}`,
			test.about, questionKey("sample", "figs"), test.version, test.capability))
		got, err := json.Marshal(answer)
		if err != nil || !strings.Contains(string(got), test.want) {
			t.Errorf("%+v: %s, %v", test, got, err)
		}
	}
}

func TestTextOf(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		content any
		want    string
	}{
		{mcp.NewTextContent("a"), "a"},
		{map[string]any{"type": "text", "text": "b"}, "b"},
		{[]any{mcp.NewTextContent("c"), mcp.NewImageContent("eA==", "image/png"), mcp.NewTextContent("d")}, "c\nd"},
		{mcp.NewImageContent("eA==", "image/png"), ""},
		{nil, ""},
		{"plain", ""},
		{func() {}, ""},
	} {
		if got := textOf(test.content); got != test.want {
			t.Errorf("%v: %q, want %q", test.content, got, test.want)
		}
	}
}

// slow is a tool that reports its steps and goes on until it is cancelled or told to end.
func slow(steps int, started chan<- struct{}, end <-chan struct{}) Tool {
	spec := Spec{Name: "slow", Title: "Slow", Description: "A tool for tests."}
	return Define(spec, func(ctx context.Context, _ struct{}) (reply, error) {
		for i := range steps {
			progress.Report(ctx, i+1, steps, "walking")
			time.Sleep(progressEvery / 2)
		}
		progress.Report(ctx, 1, steps, "walking back") // never told: progress increases
		close(started)
		select {
		case <-ctx.Done():
			return reply{}, ctx.Err()
		case <-end:
			return reply{Text: "arrived"}, nil
		}
	})
}

func TestProgress(t *testing.T) {
	t.Parallel()
	for _, era := range eras {
		started, end := make(chan struct{}), make(chan struct{})
		close(end)
		h := (&host{}).connected(t, era, slow(8, started, end))
		h.use(t, "slow", nil)
		h.mu.Lock()
		var steps []float64
		for _, n := range h.heard {
			fields := n.Params.AdditionalFields
			equal(t, era+": method", n.Method, "notifications/progress")
			equal(t, era+": token", fields["progressToken"], any("token"))
			equal(t, era+": total", fmt.Sprint(fields["total"]), "8")
			equal(t, era+": message", fields["message"], any("walking"))
			steps = append(steps, float64(fields["progress"].(int)))
		}
		h.mu.Unlock()
		if len(steps) < 3 || len(steps) > 6 {
			t.Errorf("%s: %d steps, want 3 to 6: one at most every %v", era, len(steps), progressEvery)
		}
		if !slices.IsSorted(steps) || len(slices.Compact(slices.Clone(steps))) != len(steps) {
			t.Errorf("%s: steps %v do not increase", era, steps)
		}
		if len(steps) > 0 {
			equal(t, era+": first step", steps[0], 1)
		}
	}
}

// A host that did not ask for progress hears none, and reporting into nothing is harmless.
func TestNoProgressUnasked(t *testing.T) {
	t.Parallel()
	started, end := make(chan struct{}), make(chan struct{})
	close(end)
	h := (&host{}).connected(t, eras[0], slow(2, started, end))
	var request mcp.CallToolRequest
	request.Params.Name = "slow"
	if _, err := h.CallTool(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.heard) > 0 {
		t.Errorf("heard %+v", h.heard)
	}
	progress.Report(t.Context(), 1, 2, "nothing")
}

// A client hears of what a search lacks, at the level it asked for.
func TestLog(t *testing.T) {
	t.Parallel()
	missing := mesh.Open(mesh.Options{
		Dir: filepath.Join(t.TempDir(), ".yamo"), Audience: audience.DM(), Embedder: embed.NewLocal(embed.Options{
			Locate: func() (assets.Paths, error) { return assets.Paths{}, assets.ErrMissing },
		}),
	})
	t.Cleanup(func() { _ = missing.Close(context.Background()) })
	for level, want := range map[mcp.LoggingLevel]bool{
		mcp.LoggingLevelInfo: true, mcp.LoggingLevelWarning: true,
		mcp.LoggingLevelError: false,
	} {
		h := (&host{}).connected(t, eras[0], MemorySearch(missing, nil))
		var request mcp.SetLevelRequest
		request.Params.Level = level
		if err := h.SetLevel(t.Context(), request); err != nil { //nolint:staticcheck // deprecated as that revision is
			t.Fatal(err)
		}
		h.use(t, "memory_search", map[string]any{"query": "ferries"})
		heard := h.listen(100 * time.Millisecond)
		if (len(heard) == 1) != want {
			t.Fatalf("%s: %+v", level, heard)
		}
		if want {
			fields := heard[0].Params.AdditionalFields
			equal(t, string(level)+": method", heard[0].Method, "notifications/message")
			equal(t, string(level)+": level", fields["level"], any(mcp.LoggingLevelWarning))
			contains(t, string(level)+": data", fmt.Sprint(fields["data"]), "Semantic search is off")
		}
	}
}

// listen waits for a notification and returns all there were.
func (h *host) listen(patience time.Duration) []mcp.JSONRPCNotification {
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		h.mu.Lock()
		heard := slices.Clone(h.heard)
		h.mu.Unlock()
		if len(heard) > 0 || time.Now().After(end) {
			return heard
		}
	}
}
