package integration

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/integration/thirdparty"
	"github.com/yamo-protocol/yamo-mcp/internal/programtest"
)

// mcpb packs and checks bundles for Claude Desktop. Its version is also in the Makefile.
const mcpb = "@anthropic-ai/mcpb@2.1.2"

// The bundle for Claude Desktop is valid, and what its own tool has packed and unpacked again starts as the manifest
// tells Claude Desktop, in an empty folder, a missing one, and one that is a workspace. In any other it changes
// nothing.
func TestBundleForClaudeDesktop(t *testing.T) {
	t.Parallel()
	tool := filepath.Join(thirdparty.NPM(t, mcpb), "@anthropic-ai", "mcpb", "dist", "cli", "cli.js")
	run := func(args ...string) {
		t.Helper()
		if output, err := exec.Command(thirdparty.Node(t), append([]string{tool}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("mcpb %v: %v\n%s", args, err, output)
		}
	}
	source, packed := filepath.Join(t.TempDir(), "source"), filepath.Join(t.TempDir(), "yamo.mcpb")
	copyFolder(t, "claude-desktop", source)
	program, err := os.ReadFile(serverBinary(t))
	if err != nil {
		t.Fatal(err)
	}
	programtest.Write(t, filepath.Join(source, "bin", "yamo-mcp"), string(program))
	run("validate", filepath.Join(source, "manifest.json"))
	run("pack", source, packed)
	bundle := filepath.Join(t.TempDir(), "bundle with spaces")
	run("unpack", packed, bundle)

	data, err := os.ReadFile(filepath.Join(bundle, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Icon   string
		Server struct {
			Config struct {
				Command string
				Args    []string
			} `json:"mcp_config"`
		}
	}
	if err := json.Unmarshal(data, &manifest); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(bundle, manifest.Icon)); err != nil {
		t.Error(err)
	}
	start := func(workspace string) (tools string) {
		t.Helper()
		config := manifest.Server.Config
		cmd := exec.Command(strings.ReplaceAll(config.Command, "${__dirname}", bundle))
		for _, arg := range config.Args {
			cmd.Args = append(cmd.Args, strings.ReplaceAll(arg, "${user_config.workspace}", workspace))
		}
		cmd.Env = launch{}.environment()
		cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + legacy +
			`","capabilities":{},"clientInfo":{"name":"claude-ai","version":"1"}}}` + "\n" +
			`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" +
			`{"jsonrpc":"2.0","id":2,"method":"tools/list"}` + "\n")
		output, err := cmd.Output()
		if err != nil {
			t.Errorf("%s: %v", workspace, err)
		}
		return string(output)
	}
	empty, missing, taken := t.TempDir(), filepath.Join(t.TempDir(), "new"), t.TempDir()
	write(t, filepath.Join(taken, "letter.txt"), "Dear Ana")
	for _, workspace := range []string{empty, missing, sample(t)} {
		if tools := start(workspace); !strings.Contains(tools, `"memory_store"`) {
			t.Errorf("%s: no tools: %s", workspace, tools)
		}
	}
	for _, workspace := range []string{empty, missing} {
		if _, err := os.Stat(filepath.Join(workspace, "BOOTSTRAP.md")); err != nil {
			t.Errorf("not a workspace afterwards: %v", err)
		}
	}
	start(taken)
	if _, err := os.Stat(filepath.Join(taken, "BOOTSTRAP.md")); err == nil {
		t.Error("a folder with other files was made a workspace")
	}
}
