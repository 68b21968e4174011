package git_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/programtest"
)

func TestEnvironment(t *testing.T) {
	r := newRepo(t)
	other := newRepo(t)
	other.record("other", other.write("USER.md", "1\n"))
	r.env["GIT_DIR"], r.env["GIT_WORK_TREE"] = filepath.Join(other.dir, ".git"), other.dir
	r.env["GIT_INDEX_FILE"] = filepath.Join(t.TempDir(), "index")
	r.env["GIT_AUTHOR_NAME"] = "somebody"
	t.Setenv("GIT_DIR", r.env["GIT_DIR"])
	r.record("one", r.write("MEMORY.md", "1\n"))
	for _, name := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_AUTHOR_NAME"} {
		delete(r.env, name)
	}
	r.check("kate: one A MEMORY.md")
	other.check("kate: other A USER.md")
}

// fake puts a program called git, a shell script, before the real one.
func (r *repo) fake(script string) {
	r.t.Helper()
	dir := r.t.TempDir()
	programtest.Write(r.t, filepath.Join(dir, "git"), "#!/bin/sh\n"+script)
	r.env["PATH"] = dir + string(os.PathListSeparator) + r.env["PATH"]
}

func TestTrouble(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name  string
		setup func(r *repo)
		want  string
	}{
		{"not installed", func(r *repo) { r.env["PATH"] = t.TempDir() + ":." }, "install git 2.30 or newer"},
		{"too old", func(r *repo) { r.fake("echo git version 1.8.3\n") }, "too old: install git 2.30"},
		{"something else", func(r *repo) { r.fake("echo hello\n") }, "too old"},
		{"another account's", func(r *repo) {
			r.run("init", "-q")
			r.fake("export GIT_TEST_ASSUME_DIFFERENT_OWNER=1\nexec " + program + " \"$@\"\n")
		}, "safe.directory"},
		{"bare", func(r *repo) { r.run("init", "-q", "--bare", ".git") }, "not a repository of this folder"},
		{"another work tree", func(r *repo) {
			r.run("init", "-q")
			r.run("config", "core.worktree", t.TempDir())
		}, "not a repository of this folder"},
		{"broken", func(r *repo) { r.write(".git", "nothing") }, "git rev-parse: exit code 128"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRepo(t)
			test.setup(r)
			for what, err := range map[string]error{
				"Check": r.git.Check(context.Background()), "Record": r.try("one", r.write("MEMORY.md", "1\n")),
			} {
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("%s: the error is %v, want one with %q", what, err, test.want)
				} else if strings.Contains(err.Error(), r.dir) {
					t.Errorf("%s: the error %q names the folder", what, err)
				}
			}
		})
	}
}

// A git that does not end is ended, with what it has started.
func TestHanging(t *testing.T) {
	r := newRepo(t)
	pid := filepath.Join(t.TempDir(), "pid")
	r.fake("sleep 300 &\necho $! >" + pid + "\nwait\n")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.git.Check(ctx) }()
	var child string
	within(t, "git has started a program", func() bool {
		data, _ := os.ReadFile(pid) // it is not there yet
		child = strings.TrimSuffix(string(data), "\n")
		return child != string(data)
	})
	cancel()
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the error is %v", err)
		}
	case <-time.After(giveUp):
		t.Fatal("git was not ended")
	}
	within(t, "what it started has ended", func() bool { return exec.Command("kill", "-0", child).Run() != nil })
}

// giveUp is how long a test waits for what must happen.
const giveUp = 2 * time.Minute

// within waits for what must become true.
func within(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(giveUp); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: it did not become so", what)
		}
	}
}
