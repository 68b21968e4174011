package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/programtest"
)

// gitOn is what a server that commits gets, and nothing of the git configuration of the user who runs the tests.
func gitOn(tb testing.TB) []string {
	return []string{
		"YAMO_GIT=true",
		"YAMO_GIT_PRIVATE=true",
		"HOME=" + tb.TempDir(),
		"GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_CONFIG_NOSYSTEM=1",
	}
}

// gitIn runs git as a person does.
func gitIn(tb testing.TB, dir string, args ...string) string {
	tb.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, gitOn(tb)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		tb.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// Over the protocol: an edit, a log entry and a memory file are commits when they are answered, and git sees nothing
// left to commit of them.
func TestGit(t *testing.T) {
	t.Parallel()
	dir := sample(t)
	s := connect(t, launch{workspace: dir, env: gitOn(t)})
	edited := call[struct {
		Evidence string `json:"evidence_token"`
	}](s, "workspace_edit", map[string]any{
		"file":      "MEMORY.md",
		"section":   "People",
		"op":        "append_item",
		"items":     []string{"Luis rows."},
		"rationale": "He said so.",
		"create":    true,
	})
	if got, want := gitIn(
		t,
		dir,
		"log",
		"-1",
		"--format=%an%n%B",
	), "YAMO_AGENT\nMEMORY.md: append_item in People\n\nHe said so.\n\nEvent: "+edited.Evidence+"\n\n"; got != want {
		t.Errorf("the edit is committed as %q, want %q", got, want)
	}
	logged := call[struct{ File string }](s, "log_append", map[string]any{"text": "We rowed."})
	if got, want := gitIn(
		t,
		dir,
		"log",
		"-1",
		"--format=%s",
		"--",
		logged.File,
	), logged.File+": log entry\n"; got != want {
		t.Errorf("the log entry is committed as %q, want %q", got, want)
	}
	saved := call[struct{ File string }](s, "memory_file", map[string]any{
		"action":   "save",
		"type":     "daily-log",
		"topic":    "rowing boats",
		"sections": []map[string]any{{"heading": "Summary", "text": "We rowed."}},
	})
	if got, want := gitIn(
		t,
		dir,
		"log",
		"-1",
		"--format=%s",
		"--",
		saved.File,
	), saved.File+": new memory file\n"; got != want {
		t.Errorf("the memory file is committed as %q, want %q", got, want)
	}
	s.end()
	if got := gitIn(t, dir, "status", "--porcelain"); got != "" {
		t.Errorf("after the session git has left:\n%s", got)
	}
	if got := gitIn(t, dir, "ls-files", ".yamo", "BOOTSTRAP.md"); got != "" {
		t.Errorf("committed, and never to be:\n%s", got)
	}
}

// recordingGit is a program git that notes each call in a file and then does what git does.
func recordingGit(tb testing.TB) (env, calls string) {
	tb.Helper()
	program, err := exec.LookPath("git")
	if err != nil {
		tb.Fatal(err)
	}
	dir := tb.TempDir()
	calls = filepath.Join(dir, "calls")
	script := fmt.Sprintf("#!/bin/sh\necho \"$@\" >>'%s'\nexec '%s' \"$@\"\n", calls, program)
	programtest.Write(tb, filepath.Join(dir, "git"), script)
	return "PATH=" + dir + string(os.PathListSeparator) + os.Getenv("PATH"), calls
}

// A session of a group runs no git, whatever the settings say and it does; a direct conversation does.
func TestGroupRunsNoGit(t *testing.T) {
	t.Parallel()
	dir := sample(t)
	path, calls := recordingGit(t)
	env := append(gitOn(t), path)
	for _, over := range []string{"", overHTTP} {
		h := launch{workspace: dir, group: "hiking", env: env, over: over}
		if over != "" {
			h.at = startHTTP(t, h)
			h.token = h.at.NewToken("--connection", "group", "--group", h.group)
		}
		s := connect(t, h)
		readEverything(s)
		call[map[string]any](s, "log_append", map[string]any{"text": "We walked."})
		s.request("tools/call", map[string]any{"name": "workspace_edit", "arguments": map[string]any{
			"file": "AGENTS.md", "op": "append_item", "section": "Safety", "items": []string{"x"}, "rationale": "y",
		}})
		s.end()
		if data, err := os.ReadFile(calls); err == nil {
			t.Fatalf("a group's session ran git:\n%s", data)
		}
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			t.Fatal("a group's session made a repository")
		}
	}
	s := connect(t, launch{workspace: dir, env: env})
	call[map[string]any](s, "log_append", map[string]any{"text": "We walked."})
	s.end()
	if data, err := os.ReadFile(calls); err != nil || !strings.Contains(string(data), "fast-import") {
		t.Errorf("a direct conversation ran %q (%v)", data, err)
	}
}

// Two processes that write at once: each change is a commit of its own, and nothing is lost.
func TestGitOfTwoProcesses(t *testing.T) {
	t.Parallel()
	dir := sample(t)
	const each = 8
	var wg sync.WaitGroup
	for _, name := range []string{"a", "b"} {
		s := connect(t, launch{workspace: dir, env: append(gitOn(t), "YAMO_AGENT_ID="+name)})
		wg.Go(func() {
			for i := range each {
				var result toolResult
				s.request("tools/call", map[string]any{"name": "workspace_edit", "arguments": map[string]any{
					"file":      "MEMORY.md",
					"section":   "Numbers",
					"op":        "append_item",
					"items":     []string{fmt.Sprint(name, " ", i)},
					"rationale": "counting",
					"create":    true,
				}}).decode(t, &result)
				if result.IsError {
					t.Errorf("%s %d: %s", name, i, result.text())
				}
			}
			s.end()
		})
	}
	wg.Wait()
	authors := strings.Fields(gitIn(t, dir, "log", "--format=%an"))
	for _, name := range []string{"a", "b"} {
		if n := len(slices.DeleteFunc(slices.Clone(authors), func(author string) bool { return author != name })); n != each {
			t.Errorf("%s has %d commits, want %d: %q", name, n, each, authors)
		}
		// Each commit has only the item of its author.
		if diff := gitIn(
			t,
			dir,
			"log",
			"--author=^"+name+" ",
			"-p",
			"--format=",
		); strings.Count(diff, "\n+- "+name+" ") != each {
			t.Errorf("the commits of %s do not each add an item of theirs:\n%s", name, diff)
		}
	}
	if strings.Contains(gitIn(t, dir, "log", "--format=%s"), "unrecorded") {
		t.Error("a change was committed as an unrecorded one")
	}
	if got := gitIn(t, dir, "status", "--porcelain"); got != "" {
		t.Errorf("git has left:\n%s", got)
	}
	gitIn(t, dir, "fsck", "--strict")
}
