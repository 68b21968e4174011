package integration

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/integration/thirdparty"
)

// hostProgram is a host that npm has, and how it lists its MCP servers.
type hostProgram struct {
	id, spec string
	run      func(t *testing.T, modules string) []string // the program, from the folder node_modules
	list     []string
	want     string // in the list, besides the program's path
}

// hostPrograms are the hosts whose own programs read what `yamo-mcp install` writes. Gemini CLI connects in trusted
// folders only, and Codex when a session starts: their lists show that they have understood the entry.
var hostPrograms = []hostProgram{
	{
		id: "claude-code", spec: claudeCode,
		run:  func(_ *testing.T, modules string) []string { return []string{claudeProgram(modules)} },
		list: []string{"mcp", "list"}, want: "Connected",
	},
	{
		id: "codex", spec: "@openai/codex@0.169.0",
		run: func(t *testing.T, modules string) []string {
			return []string{thirdparty.Node(t), filepath.Join(modules, "@openai", "codex", "bin", "codex.js")}
		},
		list: []string{"mcp", "list"}, want: "enabled",
	},
	{
		id: "gemini", spec: "@google/gemini-cli@0.61.0",
		run: func(t *testing.T, modules string) []string {
			return []string{thirdparty.Node(t), filepath.Join(modules, "@google", "gemini-cli", "bundle", "gemini.js")}
		},
		list: []string{"mcp", "list"}, want: "(stdio)",
	},
	{
		id: "opencode", spec: "opencode-ai@1.18.33",
		run: func(_ *testing.T, modules string) []string {
			return []string{filepath.Join(modules, "opencode-"+nodePlatform(), "bin", "opencode")}
		},
		list: []string{"mcp", "list"}, want: "connected",
	},
}

// claudeCode is Claude Code, whose program is in a package of its platform. This is the one place with its version.
const claudeCode = "@anthropic-ai/claude-code@2.1.330"

func claudeProgram(modules string) string {
	return filepath.Join(modules, "@anthropic-ai", "claude-code-"+nodePlatform(), "claude")
}

// Each host's own program lists, and where it can connects to, the server that `yamo-mcp install` has added to the
// configuration it had, and no longer after `yamo-mcp uninstall`.
func TestHostsReadWhatIsInstalled(t *testing.T) {
	t.Parallel()
	skipLargePrograms(t)
	for _, h := range hostPrograms {
		t.Run(h.id, func(t *testing.T) {
			t.Parallel()
			command := h.run(t, thirdparty.NPM(t, h.spec))
			if _, err := os.Stat(command[len(command)-1]); err != nil {
				t.Skipf("%s has no program for this platform", h.spec)
			}
			home := t.TempDir()
			env := hostEnvironment(t, home)
			run := func(command ...string) string {
				t.Helper()
				cmd := exec.Command(command[0], command[1:]...)
				cmd.Env, cmd.Dir = env, home
				var output bytes.Buffer
				cmd.Stdout, cmd.Stderr = &output, &output
				if err := cmd.Run(); err != nil {
					t.Fatalf("%v: %v\n%s", command, err, &output)
				}
				return output.String()
			}
			workspace := filepath.Join(home, "agent")
			run(serverBinary(t), "install", h.id, "--workspace", workspace, "--yes")
			list := run(append(command, h.list...)...)
			for _, want := range []string{serverBinary(t), workspace, h.want} {
				if !strings.Contains(list, want) {
					t.Errorf("%s lists, without %q:\n%s", h.id, want, list)
				}
			}
			run(serverBinary(t), "uninstall", h.id, "--yes")
			if list := run(append(command, h.list...)...); strings.Contains(list, serverBinary(t)) {
				t.Errorf("%s still lists:\n%s", h.id, list)
			}
		})
	}
}

// skipLargePrograms skips what needs the hosts' own programs, together a gigabyte, in CI.
func skipLargePrograms(t *testing.T) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Skip("the hosts' own programs are too large for CI")
	}
}

// hostEnvironment is what a host has that runs in an account of its own.
func hostEnvironment(t *testing.T, home string) []string {
	t.Helper()
	cache := os.Getenv("YAMO_CACHE")
	if cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		cache = filepath.Join(dir, "yamo-mcp")
	}
	return []string{
		"HOME=" + home, "PATH=" + os.Getenv("PATH"), "YAMO_CACHE=" + cache, "NO_COLOR=1", "TERM=dumb",
		"DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
	}
}

// nodePlatform is this platform as npm's packages spell it.
func nodePlatform() string {
	return runtime.GOOS + "-" + strings.Replace(runtime.GOARCH, "amd64", "x64", 1)
}
