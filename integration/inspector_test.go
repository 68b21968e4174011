package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// inspector is the official inspector of the Model Context Protocol, a client not written here. This is
// the one place with its version: newer ones want Node 22, this one runs on 20 too.
const inspector = "@modelcontextprotocol/inspector@0.15.0"

// The official inspector lists the tools and calls each of the five that every DM with session logs has.
func TestOfficialInspector(t *testing.T) {
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("npm is not there: the inspector needs Node.js, and CI has it")
	}
	workspace, err := filepath.Abs(sample(t))
	if err != nil {
		t.Fatal(err)
	}
	logs, err := filepath.Abs("../testdata/workspaces/kate-transcripts")
	if err != nil {
		t.Fatal(err)
	}
	h := launch{workspace: workspace, transcripts: logs}
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"yamo": map[string]any{"command": serverBinary(t), "args": h.args()}}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "mcp.json")
	write(t, file, string(config))
	program := installInspector(t, npm)

	inspect := func(result any, args ...string) {
		t.Helper()
		cmd := exec.Command(program, append([]string{"--cli", "--config", file, "--server", "yamo"}, args...)...)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Run(); err != nil {
			t.Fatalf("inspector %v: %v\n%s%s", args, err, &stdout, &stderr)
		}
		if err := json.Unmarshal(stdout.Bytes(), result); err != nil {
			t.Fatalf("inspector %v: %v\n%s", args, err, &stdout)
		}
	}
	var listed struct{ Tools []struct{ Name string } }
	inspect(&listed, "--method", "tools/list")
	var names []string
	for _, tool := range listed.Tools {
		names = append(names, tool.Name)
	}
	for _, call := range []struct{ tool, args, want string }{
		{"memory_store", "content=The ferry to Horta sails on Thursdays.|importance=0.5|tags=[\"travel\"]", `"visibility":"private"`},
		{"memory_search", "query=When can one cross over by boat?|limit=3|include_lessons=true", "ferry to Horta"},
		{"distill_lesson", "situation=a|error_pattern=b|oversight=c|fix=d|preventative_rule=Check the weekday|severity=low|applicable_scope=travel", `"created":true`},
		{"who_am_i", "", `"connection":"dm"`},
		{"session_logs", "action=list_sessions", `"session_id"`},
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

// systemCertificates is where Debian and its like keep them; npm passes over a file that is not there.
const systemCertificates = "/etc/ssl/certs/ca-certificates.crt"

// installInspector installs the inspector once, beside npm's own cache, and returns its program.
func installInspector(t *testing.T, npm string) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(cache, "yamo-mcp-test", strings.NewReplacer("/", "-", "@", "").Replace(inspector))
	program := filepath.Join(dir, "node_modules", ".bin", "mcp-inspector")
	if _, err := os.Stat(program); err == nil {
		return program
	}
	// Into a folder of its own first, so that what is interrupted is not taken for finished.
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	fresh, err := os.MkdirTemp(filepath.Dir(dir), "install-")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(fresh) }()
	install := exec.Command(npm, "install", "--prefix", fresh, "--no-audit", "--no-fund", "--ignore-scripts", inspector)
	// Node brings certificates of its own, where every other program uses the system's.
	if _, set := os.LookupEnv("NODE_EXTRA_CA_CERTS"); !set {
		install.Env = append(os.Environ(), "NODE_EXTRA_CA_CERTS="+systemCertificates)
	}
	if output, err := install.CombinedOutput(); err != nil {
		t.Fatalf("npm install %s: %v\n%s", inspector, err, output)
	}
	if err := os.Rename(fresh, dir); err != nil && !os.IsExist(err) {
		if _, statErr := os.Stat(program); statErr != nil { // else another run was first
			t.Fatal(err)
		}
	}
	return program
}
