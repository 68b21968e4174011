package integration

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/hookcmd"
)

// failedHooks are command lines of a group's hooks that cannot begin. said is in the place of what was typed.
func failedHooks(workspace, said string) [][]string {
	group := []string{"--connection", "group", "--group", club, "--workspace", workspace}
	var list [][]string
	for _, args := range [][]string{
		{said},
		{"UserPromptSubmit", said},
		{"UserPromptSubmit", "--prompt=" + said},
		{"UserPromptSubmit", "--prompt", said},
		{"Stop", "--model-wait", said},
		{"Stop", "--model-wait=" + said},
		{"Stop", "--host", said},
	} {
		list = append(list, append(args, group...))
	}
	return append(list,
		[]string{"Stop", "--connection", "group", "--group", said, "--workspace", workspace},
		[]string{"Stop", "--connection", "group", "--group", "linked", "--workspace", workspace},
		[]string{"Stop", "--connection", "group", "--group", club, "--workspace", workspace + "-missing"})
}

// failHooks runs failedHooks and returns what the log outside of the workspace has of them, without times and the
// workspace's path.
func failHooks(t *testing.T, h launch, said string) string {
	t.Helper()
	groups := filepath.Join(h.workspace, ".yamo", "groups")
	if err := os.MkdirAll(groups, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../private", filepath.Join(groups, "linked")); err != nil {
		t.Fatal(err)
	}
	for _, args := range failedHooks(h.workspace, said) {
		command := append(append([]string{}, h.wrapper...), serverBinary(t), "hook")
		cmd := exec.Command(command[0], append(command[1:], args...)...)
		cmd.Env = h.environment()
		cmd.Stdin = strings.NewReader(said)
		var stdout bytes.Buffer
		cmd.Stdout = &stdout
		if err := cmd.Run(); err != nil || stdout.Len() > 0 {
			t.Errorf("%q: %v, prints %q", args, err, &stdout)
		}
	}
	file := filepath.Join(h.workspace+".state", "yamo-mcp", hookcmd.LogName)
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode != 0o600 {
		t.Errorf("the log has the mode %o; want 600", mode)
	}
	runs, err := hookcmd.Failures(func(name string) string {
		if name == "XDG_STATE_HOME" {
			return h.workspace + ".state"
		}
		return ""
	})
	if want := len(failedHooks("", "")); err != nil || len(runs) != want {
		t.Fatalf("the log has %d runs, %v; want %d", len(runs), err, want)
	}
	var log strings.Builder
	for _, run := range runs {
		if run.Error == "" || run.Time.IsZero() || time.Since(run.Time) > time.Hour {
			t.Errorf("logged %+v; want an error and its time", run)
		}
		log.WriteString(strings.Join([]string{run.Host, run.Event, run.Error, run.Workspace}, " ") + "\n")
	}
	return strings.ReplaceAll(log.String(), h.workspace, "WORKSPACE")
}

// The log of hooks that could not begin belongs to no audience: it has nothing of what was said or of what is private,
// is the same whatever is private, and no private file is touched for it, nor by the hooks of a group that work.
func TestFailedHooksTellNothing(t *testing.T) {
	t.Parallel()
	p := plant(t)
	said := "Where does \"the parrot\"\nkeep the canary of " + newCanary("MEMORY.md").String() + "?"
	h := launch{workspace: p.workspace, group: club, transcripts: p.transcripts}
	trace := filepath.Join(t.TempDir(), "trace")
	if strace, err := exec.LookPath("strace"); err == nil {
		h.wrapper = []string{
			strace, "-f", "--seccomp-bpf", "-y", "-s", "4096", "-e", "trace=%file", "-A", "-o", trace,
		}
	}
	log := failHooks(t, h, said)
	for _, c := range p.hidden("") {
		if strings.Contains(log, c.secret) {
			t.Errorf("the log has the canary of %s:\n%s", c.place, log)
		}
	}
	for _, words := range []string{"parrot", "canary of", newCanary("MEMORY.md").secret} {
		if strings.Contains(log, words) {
			t.Errorf("the log has %q, which was said:\n%s", words, log)
		}
	}
	empty := launch{workspace: sample(t), group: club}
	if diff := cmp.Diff(failHooks(t, empty, said), log); diff != "" {
		t.Errorf("the log differs with what is private:\n%s", diff)
	}
	if h.wrapper == nil {
		return
	}
	hooks := &hookSession{tb: t, launch: h, id: "traced", cwd: "/nowhere/club", quick: true}
	hooks.everything()
	data, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"groups/" + club + "/ledger.ndjson", hookcmd.LogName} {
		if !strings.Contains(string(data), path) {
			t.Errorf("the trace does not show the opening of %s", path)
		}
	}
	for _, path := range privatePaths(string(data), p, club) {
		if !strings.Contains(path, "/.yamo/groups/linked (") { // what its name leads to is not followed
			t.Errorf("a hook of %s touched %s", club, path)
		}
	}
}
