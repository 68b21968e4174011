package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/integration/thirdparty"
)

// inspector is the official inspector of the Model Context Protocol, a client not written here. This is
// the one place with its version.
const inspector = "@modelcontextprotocol/inspector@2.12.0"

// The official inspector, over each transport, finds nothing in the tools' schemas that some host could not take, and
// calls each of the five that every DM with session logs has.
func TestOfficialInspector(t *testing.T) {
	t.Parallel()
	program := filepath.Join(thirdparty.NPM(t, inspector), "@modelcontextprotocol", "inspector", "clients", "launcher",
		"build", "index.js")
	logs, err := filepath.Abs("../testdata/workspaces/kate-transcripts")
	if err != nil {
		t.Fatal(err)
	}
	workspace, err := filepath.Abs(sample(t))
	if err != nil {
		t.Fatal(err)
	}
	h := launch{workspace: workspace, transcripts: logs}
	server := startHTTP(t, h)
	remote := func(path string) []string {
		return []string{server.URL + path, "--header", "Authorization: Bearer " + server.NewToken("--connection", "dm")}
	}
	config, err := json.Marshal(
		map[string]any{"mcpServers": map[string]any{"yamo": map[string]any{"command": serverBinary(t), "args": h.args()}}},
	)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "mcp.json")
	write(t, file, string(config))
	for transport, target := range map[string][]string{
		"stdio": {"--config", file, "--server", "yamo"}, "http": remote("/mcp"), "sse": remote("/sse"),
	} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			inspectAll(t, func(result any, args ...string) {
				t.Helper()
				cmd := exec.Command(thirdparty.Node(t), slices.Concat([]string{program, "--cli"}, target, args)...)
				var stdout, stderr bytes.Buffer
				cmd.Stdout, cmd.Stderr = &stdout, &stderr
				if err := cmd.Run(); err != nil {
					t.Fatalf("inspector %v: %v\n%s%s", args, err, &stdout, &stderr)
				}
				if err := json.Unmarshal(stdout.Bytes(), result); err != nil {
					t.Fatalf("inspector %v: %v\n%s", args, err, &stdout)
				}
			})
		})
	}
}

func inspectAll(t *testing.T, inspect func(result any, args ...string)) {
	t.Helper()
	var listed struct{ Tools []struct{ Name string } }
	inspect(&listed, "--method", "tools/list", "--strict")
	var names []string
	for _, tool := range listed.Tools {
		names = append(names, tool.Name)
	}
	for _, call := range []struct{ tool, args, want string }{
		{
			"memory_store", "content=The ferry to Horta sails on Thursdays.|importance=0.5|tags=[\"travel\"]",
			`"visibility":"private"`,
		},
		{"memory_search", "query=When can one cross over by boat?|limit=3|include_lessons=true", "ferry to Horta"},
		{
			"distill_lesson",
			"situation=a|error_pattern=b|oversight=c|fix=d|preventative_rule=Check the weekday|" +
				"severity=low|applicable_scope=travel",
			`"lesson_id"`,
		}, // the same lesson over each transport
		{"who_am_i", "", `"connection":"dm"`},
		{"session_logs", "action=list_sessions", " turns]"},
	} {
		if !slices.Contains(names, call.tool) {
			t.Errorf("the inspector lists %v, without %s", names, call.tool)
			continue
		}
		args := []string{"--method", "tools/call", "--tool-name", call.tool}
		for arg := range strings.SplitSeq(call.args, "|") {
			if arg != "" {
				args = append(args, "--tool-arg", arg)
			}
		}
		var result toolResult
		inspect(&result, args...)
		if result.IsError || !strings.Contains(result.text(), call.want) {
			t.Errorf("%s through the inspector: %s, without %s", call.tool, brief(result.text()), call.want)
		}
		decodeResult[map[string]any](t, call.tool, result)
	}
	var resources struct{ Resources []struct{ URI string } }
	inspect(&resources, "--method", "resources/list")
	if !strings.Contains(fmt.Sprint(resources), "yamo://workspace/MEMORY.md") {
		t.Errorf("the inspector lists the resources %v", resources)
	}
}
