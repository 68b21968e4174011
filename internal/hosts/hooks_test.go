package hosts

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// settings are a host's file of hooks as people have it: with hooks of other programs, and one that looks similar.
var settings = map[string]string{
	"claude-code": `{
  "permissions": { "allow": ["Bash(make test)"] },
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "hooks": [
          { "type": "command", "command": "~/bin/guard.sh", "timeout": 5 }
        ]
      }
    ],
    "Stop": [],
    "Notification": [{"hooks": [{"type": "command", "command": "notify-send 'yamo-mcp hook Stop'"}]}]
  },
  "statusLine": { "type": "command", "command": "~/bin/status" }
}
`,
	"codex":  `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"say done"}]}]}}`,
	"gemini": "{\n\t\"ui\": {\n\t\t\"theme\": \"GitHub\" // dark\n\t}\n}\n",
	"cursor": "{\n    \"version\": 1,\n    \"hooks\": {\n        \"afterFileEdit\": [\n" +
		"            { \"command\": \"./format.sh\" }\n        ]\n    }\n}\n",
}

// hookCommands are the commands in a file of hooks, by event.
func hookCommands(t *testing.T, text string) map[string][]string {
	t.Helper()
	content, err := (jsonFormat{}).decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	hooks, _ := content["hooks"].(map[string]any)
	for event, value := range hooks {
		var visit func(any)
		visit = func(value any) {
			switch v := value.(type) {
			case []any:
				for _, item := range v {
					visit(item)
				}
			case map[string]any:
				if command, ok := v["command"].(string); ok {
					found[event] = append(found[event], command)
				}
				visit(v["hooks"])
			}
		}
		visit(value)
	}
	return found
}

// Each event gets one hook, after those of others; another installation replaces it; uninstalling restores every byte,
// or in a file that was changed removes these hooks only.
func TestHooks(t *testing.T) {
	t.Parallel()
	for _, h := range All {
		if h.hooks == nil {
			continue
		}
		t.Run(h.ID, func(t *testing.T) {
			t.Parallel()
			hooksOf(t, h, entry().Command)
		})
		t.Run(h.ID+", the program has another name", func(t *testing.T) {
			t.Parallel()
			hooksOf(t, h, "/opt/tools/memory")
		})
	}
}

// hooksOf is TestHooks for a host and the path of the program.
func hooksOf(t *testing.T, h Host, program string) {
	t.Helper()
	p, e := home(t), entry()
	e.Command = program
	store := DefaultStore(p)
	file, before := h.hooks.file(p), settings[h.ID]
	put(t, file, before)
	install(t, h, p, store, e)
	e.Hook = append(e.Hook, "--group", "it's us")
	e.Env = []string{"YAMO_CACHE=/a b"}
	install(t, h, p, store, e)
	after := get(t, file)
	if rest := afterSubsequence([]byte(before), []byte(after)); rest != "" {
		t.Errorf("something was rewritten; from here on it differs: %q\n%s", rest, after)
	}
	commands, others := hookCommands(t, after), hookCommands(t, before)
	for _, event := range h.hooks.events {
		got := commands[event.name]
		if len(got) != len(others[event.name])+1 {
			t.Fatalf("%s has the hooks %q", event.name, got)
		}
		want := []string{
			"hook", event.name, "--host", h.ID, "--workspace", "/home/ana/é & <ü>", "--connection", "dm",
			"--group", "it's us",
		}
		if diff := cmp.Diff(want, arguments(t, got[len(got)-1], e.Command)); diff != "" {
			t.Errorf("the shell would run something else (-want +got):\n%s", diff)
		}
	}
	uninstall(t, h, p, store)
	if diff := cmp.Diff(before, get(t, file)); diff != "" {
		t.Errorf("uninstalled is not what was before (-before +after):\n%s", diff)
	}
	install(t, h, p, store, e)
	put(t, file, strings.Replace(get(t, file), "{", "{\"later\": true, ", 1))
	uninstall(t, h, p, store)
	notEmpty := cmp.Transformer("", func(m map[string][]string) map[string][]string {
		for event, commands := range m {
			if len(commands) == 0 {
				delete(m, event)
			}
		}
		return m
	})
	if diff := cmp.Diff(others, hookCommands(t, get(t, file)), notEmpty); diff != "" {
		t.Errorf("other hooks have changed (-before +after):\n%s", diff)
	}
	if !strings.Contains(get(t, file), "later") {
		t.Error("what was added later is gone")
	}
}

// arguments returns what a shell would start in place of program, with its arguments.
func arguments(t *testing.T, line, program string) []string {
	t.Helper()
	// The program is replaced by a function that prints its arguments as JSON-like lines.
	script := strings.Replace(line, Quoted(program), "show", 1)
	if script == line {
		t.Fatalf("%q does not start %q", line, program)
	}
	const show = `show() { for word; do printf '%s\n' "$word"; done; return 3; }; `
	output, err := exec.Command("sh", "-c", show+script).Output()
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return strings.Split(strings.TrimSuffix(string(output), "\n"), "\n")
}

// The hooks are what the hosts' documents define.
func TestHookElements(t *testing.T) {
	t.Parallel()
	p, e := home(t), entry()
	e.Command, e.Hook = "/bin/yamo-mcp", []string{}
	want := map[string]string{
		"claude-code": `{"hooks":[{"type":"command",` +
			`"command":"/bin/yamo-mcp hook Stop --host claude-code || true","timeout":10,"async":true}]}`,
		"codex": `{"hooks":[{"type":"command","command":"/bin/yamo-mcp hook Stop --host codex || true","timeout":10}]}`,
		"gemini": `{"hooks":[{"name":"yamo","type":"command",` +
			`"command":"/bin/yamo-mcp hook AfterAgent --host gemini || true","timeout":10000}]}`,
		"cursor": `{"command":"/bin/yamo-mcp hook afterAgentResponse --host cursor || true"}`,
	}
	events := map[string]string{
		"claude-code": "Stop", "codex": "Stop", "gemini": "AfterAgent", "cursor": "afterAgentResponse",
	}
	for id, event := range events {
		h, err := Find(id)
		if err != nil {
			t.Fatal(err)
		}
		install(t, h, p, DefaultStore(p), e)
		var file struct{ Hooks map[string][]json.RawMessage }
		if err := json.Unmarshal([]byte(get(t, h.hooks.file(p))), &file); err != nil {
			t.Fatal(err)
		}
		var got, wanted any
		if err := json.Unmarshal(file.Hooks[event][0], &got); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(want[id]), &wanted); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(wanted, got); diff != "" {
			t.Errorf("%s, %s (-want +got):\n%s", id, filepath.Base(h.hooks.file(p)), diff)
		}
	}
}
