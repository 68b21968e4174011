package integration

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// memoriesOnly leaves the passages of the workspace's own files out of a search.
var memoriesOnly = map[string]any{"type": "global"}

// Hosts of every era get the same tools and the same answers.
func TestProtocolEras(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{oldest, "2025-03-26", legacy, "2025-11-25", modern} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			s := connect(t, launch{workspace: sample(t), protocol: protocol})
			if protocol == modern {
				var discovered struct{ SupportedVersions []string }
				s.request("server/discover", nil).decode(t, &discovered)
				if len(discovered.SupportedVersions) == 0 || discovered.SupportedVersions[0] != modern {
					t.Errorf("server/discover says %+v", discovered)
				}
			}
			s.store("The ferry to Horta sails on Thursdays.", nil)
			if got := s.search("When can one cross over by boat?", memoriesOnly); len(got.Results) != 1 {
				t.Errorf("found %+v", got)
			}
			readEverything(s)
			s.end()
		})
	}
}

// The library's own client, which asks server/discover first.
func TestLibraryClient(t *testing.T) {
	t.Parallel()
	var stderr bytes.Buffer
	h := launch{workspace: sample(t)}
	c, err := client.NewStdioMCPClientWithOptions(serverBinary(t), h.environment(), h.args(),
		transport.WithCommandStderrWriter(&stderr))
	if err != nil {
		t.Fatal(err)
	}
	var hello mcp.InitializeRequest
	hello.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	hello.Params.ClientInfo = mcp.Implementation{Name: "test", Version: "1"}
	if _, err := c.Initialize(t.Context(), hello); err != nil {
		t.Fatal(err)
	}
	if got := c.ProtocolVersion(); got != modern {
		t.Errorf("the client speaks %s, not %s", got, modern)
	}
	tools, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools.Tools {
		a := tool.Annotations
		for name, hint := range map[string]*bool{
			"readOnlyHint": a.ReadOnlyHint, "destructiveHint": a.DestructiveHint,
			"idempotentHint": a.IdempotentHint, "openWorldHint": a.OpenWorldHint,
		} {
			if hint == nil {
				t.Errorf("%s has no %s", tool.Name, name)
			}
		}
	}
	var call mcp.CallToolRequest
	call.Params.Name = "who_am_i"
	if result, err := c.CallTool(t.Context(), call); err != nil || result.IsError {
		t.Errorf("who_am_i: %+v, %v", result, err)
	}
	if err := c.Close(); err != nil {
		t.Errorf("close: %v\n%s", err, &stderr)
	}
}

// Without the assets everything works but search by meaning, which the answer reports; nothing is put into the cache.
func TestWithoutAssets(t *testing.T) {
	t.Parallel()
	strace, straceErr := exec.LookPath("strace")
	cache, trace := t.TempDir(), filepath.Join(t.TempDir(), "trace")
	h := launch{workspace: sample(t), cache: cache}
	if straceErr == nil {
		h.wrapper = []string{strace, "-f", "--seccomp-bpf", "-e", "trace=socket,connect", "-o", trace}
	}
	s := connect(t, h)
	readEverything(s)
	s.store("The ferry to Horta sails on Thursdays.", nil)
	got := s.search("ferry", memoriesOnly)
	if got.Semantic != "off" || !strings.Contains(got.Hint, "yamo-mcp setup") {
		t.Errorf("semantic is %q and the hint %q", got.Semantic, got.Hint)
	}
	if len(got.Results) != 1 || !strings.Contains(got.Results[0].Content, "Horta") {
		t.Errorf("by keyword %+v is found", got.Results)
	}
	if got := s.search("a boat", memoriesOnly); len(got.Results) != 0 {
		t.Errorf("without a model %+v is found by meaning", got.Results)
	}
	s.end()
	entries, err := os.ReadDir(cache)
	if err != nil || len(entries) != 0 {
		t.Errorf("the cache holds %v, %v", entries, err)
	}
	if straceErr == nil {
		data, err := os.ReadFile(trace)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(data, []byte("AF_INET")) {
			t.Errorf("the server opened a network socket:\n%s", brief(string(data)))
		}
	}
	// What was stored then is found by meaning as soon as there is a model.
	h.cache, h.wrapper = "", nil
	s = connect(t, h)
	if got := s.search("When can one cross over by boat?", memoriesOnly); got.Semantic != "on" || len(got.Results) != 1 {
		t.Errorf("with the assets: %+v", got)
	}
	s.end()
}

// A folder that is no workspace yet is served, and every tool says what to do.
func TestUninitializedWorkspace(t *testing.T) {
	t.Parallel()
	for _, group := range []string{"", club} {
		s := connect(t, launch{workspace: t.TempDir(), group: group})
		var listed struct {
			Tools []struct {
				Name        string
				InputSchema inputSchema
			}
		}
		s.request("tools/list", nil).decode(t, &listed)
		if len(listed.Tools) < 4 {
			t.Errorf("%d tools are listed", len(listed.Tools))
		}
		for _, tool := range listed.Tools {
			var result toolResult
			s.request("tools/call", map[string]any{"name": tool.Name, "arguments": tool.InputSchema.valid()}).decode(t, &result)
			if !result.IsError || !strings.Contains(result.text(), "not initialized") {
				t.Errorf("%s answers %q", tool.Name, result.text())
			}
			if group == "" && !strings.Contains(result.text(), "BOOTSTRAP.md") {
				t.Errorf("%s does not name BOOTSTRAP.md: %q", tool.Name, result.text())
			}
		}
		s.end()
		if entries, err := os.ReadDir(s.launch.workspace); err != nil || len(entries) != 0 {
			t.Errorf("the folder holds %v afterwards, %v", entries, err)
		}
	}
}

// A workspace that is not there is an error before anything is served.
func TestMissingWorkspace(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(serverBinary(t), launch{workspace: filepath.Join(t.TempDir(), "nowhere")}.args()...)
	cmd.Env = launch{}.environment()
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("it ended with %v", err)
	}
	if stdout.Len() != 0 || !strings.Contains(stderr.String(), "no such file or directory") {
		t.Errorf("stdout %q, stderr %q", &stdout, &stderr)
	}
}

// The check that every other test relies on notices what is not the protocol.
func TestStdoutCheckNotices(t *testing.T) {
	t.Parallel()
	for line, wrong := range map[string]bool{
		`{"jsonrpc":"2.0","id":1,"result":{}}`:                                     false,
		`{"jsonrpc":"2.0","id":"a","error":{"code":-32600,"message":"x"}}`:         false,
		`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"x"}}`: false,
		`index rebuilt`:                              true,
		`{"level":"INFO","msg":"serving"}`:           true,
		`{"jsonrpc":"2.0","id":1}`:                   true,
		`{"jsonrpc":"2.0","result":{}}`:              true,
		`{"jsonrpc":"1.0","id":1,"result":{}}`:       true,
		`{"jsonrpc":"2.0","id":1,"result":{}} extra`: true,
	} {
		m := message{line: line}
		problem := m.parse()
		if (problem != "") != wrong {
			t.Errorf("%s: %q", line, problem)
		}
	}
}
