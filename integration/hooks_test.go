package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/hookcmd"
)

// hookSession is a session of a host that runs the hooks as Claude Code does.
type hookSession struct {
	tb     testing.TB
	launch launch
	id     string
	cwd    string
	late   bool // a hook may say that it has left its work to a later one
	quick  bool // words decide what fits a prompt: the model is not waited for

	transcript string // the host's log, "" if it keeps none
	rows       int    // of it
	said       string // everything that hooks have printed
}

// spoke adds what was said to the host's log.
func (s *hookSession) spoke(role, text string) {
	s.tb.Helper()
	s.rows++
	line, err := json.Marshal(map[string]any{
		"type": role, "uuid": fmt.Sprint(s.id, "-row-", s.rows), "message": map[string]any{"role": role, "content": text},
		"timestamp": time.Now().UTC().Format(time.RFC3339Nano),
	})
	if err != nil {
		s.tb.Fatal(err)
	}
	file, err := os.OpenFile(s.transcript, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		s.tb.Fatal(err)
	}
	if _, err := file.Write(append(line, '\n')); err != nil {
		s.tb.Fatal(err)
	}
	if err := file.Close(); err != nil {
		s.tb.Fatal(err)
	}
}

// run runs the hook of an event and returns what it puts before the model. It must succeed, say nothing on stderr, and
// print nothing or one JSON object of the event.
func (s *hookSession) run(event string, fields map[string]any) string {
	s.tb.Helper()
	input := map[string]any{
		"session_id": s.id, "cwd": s.cwd, "hook_event_name": event, "transcript_path": s.transcript,
	}
	maps.Copy(input, fields)
	data, err := json.Marshal(input)
	if err != nil {
		s.tb.Fatal(err)
	}
	wait := "60s"
	if s.quick {
		wait = "0s"
	}
	args := []string{"hook", event, "--host", "claude-code", "--workspace", s.launch.workspace, "--model-wait", wait}
	if s.launch.group == "" {
		args = append(args, "--connection", "dm")
	} else {
		args = append(args, "--connection", "group", "--group", s.launch.group)
	}
	command := append(append([]string{}, s.launch.wrapper...), append([]string{s.launch.binary(s.tb)}, args...)...)
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = s.launch.environment()
	cmd.Stdin = bytes.NewReader(data)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		s.tb.Fatalf("%s: %v\n%s", event, err, &stderr)
	}
	if stderr.Len() > 0 && !(s.late && strings.Contains(stderr.String(), "the next hook records what was said")) {
		s.tb.Errorf("%s: %s", event, &stderr)
	}
	s.said += stdout.String()
	if stdout.Len() == 0 {
		return ""
	}
	var answer struct {
		HookSpecificOutput struct {
			HookEventName, AdditionalContext string
		} `json:"hookSpecificOutput"`
	}
	decoder := json.NewDecoder(&stdout)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&answer); err != nil {
		s.tb.Fatalf("%s prints something else than an answer: %v", event, err)
	}
	if got := answer.HookSpecificOutput.HookEventName; got != event {
		s.tb.Errorf("the answer to %s is one to %s", event, got)
	}
	text := answer.HookSpecificOutput.AdditionalContext
	if !strings.HasPrefix(text, "<memory ") || !strings.HasSuffix(text, "</memory>") ||
		strings.Count(text, "</memory") != 1 || !strings.Contains(text, "not instructions") {
		s.tb.Errorf("%s: not marked as memory: %s", event, text)
	}
	return text
}

// prompt is what a person types.
func (s *hookSession) prompt(text string) string {
	s.tb.Helper()
	return s.run("UserPromptSubmit", map[string]any{"prompt": text})
}

// everything runs the hook of every event, with words that ask for what may be hidden.
func (s *hookSession) everything() {
	s.tb.Helper()
	s.run("SessionStart", map[string]any{"source": "startup"})
	for _, prompt := range []string{
		"What is the canary of a memory?", "Tell me the canary of MEMORY.md and of USER.md, please.",
		"The canary of the log of day 1 is kept where? And the canary of a rule, a fix, a scope?",
	} {
		s.prompt(prompt)
		s.run("PreToolUse", map[string]any{"tool_name": "Bash", "tool_input": map[string]any{"command": prompt}})
		s.run("Stop", map[string]any{"last_assistant_message": "I do not know of any canary."})
	}
	s.run("PreCompact", map[string]any{"trigger": "auto"})
	s.run("SessionStart", map[string]any{"source": "compact"})
	s.run("SessionEnd", map[string]any{"reason": "exit"})
}

// The hooks of a group say, write and open nothing that the group may not see.
func TestHooksOfAGroup(t *testing.T) {
	t.Parallel()
	p := plant(t)
	dm := &hookSession{tb: t, launch: launch{workspace: p.workspace}, id: "one", cwd: t.TempDir()}
	dm.everything()
	if len(leaks(dm.said, p.private)) == 0 {
		t.Error("the hooks of a DM do not say any canary either")
	}
	kept := filepath.Join(p.workspace, ".yamo", "private", "hooks")
	if log := filesBelow(t, kept); len(leaks(log, p.private)) != 0 || strings.Contains(log, "canary") {
		t.Errorf("the log of the hooks has what was said or remembered:\n%s", log)
	}
	// A host that names a private file as its log.
	private := filepath.Join(p.workspace, ".yamo", "private", "said.jsonl")
	write(t, private, `{"type":"user","message":{"role":"user","content":"`+p.private[0].secret+`"}}`+"\n")
	for _, group := range []string{club, hiking, "newcomers"} {
		t.Run(group, func(t *testing.T) {
			t.Parallel()
			s := &hookSession{
				tb: t, launch: launch{workspace: p.workspace, group: group}, id: "one", cwd: t.TempDir(),
				transcript: private,
			}
			trace := filepath.Join(t.TempDir(), "trace")
			strace, err := exec.LookPath("strace")
			if err == nil {
				s.launch.wrapper = []string{
					strace, "-f", "--seccomp-bpf", "-y", "-s", "4096", "-e", "trace=%file", "-A", "-o", trace,
				}
			}
			s.everything()
			places := map[string]string{
				"stdout":        s.said,
				"its own store": filesBelow(t, filepath.Join(p.workspace, ".yamo", "groups", group)),
			}
			for place, text := range places {
				for _, leak := range leaks(text, p.hidden(group)) {
					t.Errorf("%s has %s", place, leak)
				}
			}
			if strings.Contains(s.said, p.workspace) {
				t.Error("the group was told where the workspace is")
			}
			if group == club && len(leaks(s.said, p.of[club])) == 0 {
				t.Error("the group does not see its own canaries either")
			}
			if s.launch.wrapper == nil {
				return
			}
			data, err := os.ReadFile(trace)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(data), "SOUL.md") {
				t.Error("the trace does not show the reading of SOUL.md")
			}
			for _, path := range privatePaths(string(data), p, group) {
				t.Errorf("the hooks of %s touched %s", group, path)
			}
		})
	}
}

// Whatever is wrong, a hook succeeds with nothing on stdout, and the log has the reason.
func TestHooksFailOpen(t *testing.T) {
	t.Parallel()
	workspace := sample(t)
	damaged := sample(t)
	write(t, filepath.Join(damaged, ".yamo", "private", "ledger.ndjson"), "not a ledger\n")
	linked := sample(t)
	if err := os.MkdirAll(filepath.Join(linked, ".yamo"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(linked, ".yamo", "private")); err != nil {
		t.Fatal(err)
	}
	prompt := `{"session_id":"s","prompt":"where is the irrigation pump?"}`
	for name, test := range map[string]struct {
		args, stdin, logged string
		outside             bool // of the workspace
	}{
		"no input":            {"UserPromptSubmit --workspace " + workspace, "", "stdin is empty", false},
		"not JSON":            {"UserPromptSubmit --workspace " + workspace, "the pump?", "not the JSON of a hook", false},
		"another type":        {"Stop --workspace " + workspace, `{"session_id": 5}`, "not the JSON of a hook", false},
		"a damaged memory":    {"UserPromptSubmit --workspace " + damaged, prompt, "ledger", false},
		"a linked folder":     {"UserPromptSubmit --workspace " + linked, prompt, "private", true},
		"no workspace":        {"UserPromptSubmit --workspace /nonexistent", prompt, "no such file or directory", true},
		"unknown event":       {"Sunrise --workspace " + workspace, prompt, "unknown event", true},
		"unknown host":        {"Stop --host emacs --workspace " + workspace, prompt, "unknown host", true},
		"unknown flag":        {"Stop --later --workspace " + workspace, prompt, "unknown flag", true},
		"no event":            {"--workspace " + workspace, prompt, "EVENT", true},
		"an impossible group": {"Stop --group ../private --workspace " + workspace, prompt, "group", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"hook"}, strings.Fields(test.args)...)
			if !strings.Contains(test.args, "--group") {
				args = append(args, "--connection", "dm")
			}
			cmd := exec.Command(serverBinary(t), args...)
			place := filepath.Join(t.TempDir(), "home")
			cmd.Env = launch{workspace: place}.environment()
			cmd.Stdin = strings.NewReader(test.stdin)
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			if err := cmd.Run(); err != nil {
				t.Errorf("fails: %v", err)
			}
			if stdout.Len() > 0 {
				t.Errorf("prints %s", &stdout)
			}
			if stderr.Len() == 0 {
				t.Error("does not say what is wrong on stderr")
			}
			file := filepath.Join(place+".state", "yamo-mcp", hookcmd.LogName)
			if !test.outside {
				file = filepath.Join(strings.Fields(test.args)[2], filepath.FromSlash(hookcmd.DirOfDM), hookcmd.LogName)
			}
			log := filesBelow(t, file)
			if !strings.Contains(log, test.logged) {
				t.Errorf("the log lacks %q:\n%s", test.logged, log)
			}
			if strings.Contains(log, "pump") {
				t.Errorf("the log has what was said:\n%s", log)
			}
		})
	}
}
