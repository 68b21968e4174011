package git_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/programtest"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/git"
)

// now is when everything happens.
var now = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// repo is a workspace folder with what records it.
type repo struct {
	t   *testing.T
	dir string
	env map[string]string
	git *git.Repository
	log bytes.Buffer
}

// environment is what git gets in these tests: none of the configuration of the person who runs them.
func environment(t *testing.T) map[string]string {
	return map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": t.TempDir(), "GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_NOSYSTEM": "1",
	}
}

func newRepo(t *testing.T, options ...func(*git.Options)) *repo {
	t.Helper()
	r := &repo{t: t, dir: t.TempDir(), env: environment(t)}
	r.open(options...)
	return r
}

func (r *repo) open(options ...func(*git.Options)) {
	r.t.Helper()
	o := git.Options{
		Dir: r.dir, Author: "kate", Getenv: func(name string) string { return r.env[name] }, Private: true,
		Logger: slog.New(slog.NewTextHandler(&r.log, nil)),
	}
	for _, option := range options {
		option(&o)
	}
	var err error
	if r.git, err = git.Open(o); err != nil {
		r.t.Fatal(err)
	}
}

// write changes a file and returns the change.
func (r *repo) write(name, text string) workspace.FileChange {
	r.t.Helper()
	path := filepath.Join(r.dir, name)
	change := workspace.FileChange{Name: name}
	if data, err := os.ReadFile(path); err == nil {
		change.Before = append([]byte{}, data...)
	}
	if text == "" {
		if err := os.Remove(path); err != nil {
			r.t.Fatal(err)
		}
		return change
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
	change.After = []byte(text)
	return change
}

// record records a revision, and fails the test if that fails.
func (r *repo) record(subject string, files ...workspace.FileChange) {
	r.t.Helper()
	if err := r.try(subject, files...); err != nil {
		r.t.Fatalf("%s: %v", subject, err)
	}
}

func (r *repo) try(subject string, files ...workspace.FileChange) error {
	return r.git.Record(context.Background(), workspace.Revision{
		Note: workspace.Note{Subject: subject}, At: now, Files: files, All: func() []workspace.FileChange { return nil },
	})
}

// run runs git as a person does.
func (r *repo) run(args ...string) string {
	r.t.Helper()
	out, err := r.command(args...).CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func (r *repo) command(args ...string) *exec.Cmd {
	cmd := exec.Command("git", append([]string{"-c", "user.name=Ana", "-c", "user.email=ana@example.org"}, args...)...)
	cmd.Dir = r.dir
	for name, value := range r.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	return cmd
}

// log is the subjects of all commits with their files, the oldest first.
func (r *repo) subjects() []string {
	r.t.Helper()
	out := r.run("-c", "core.quotePath=false", "log", "--reverse", "--format=%x00%an: %s", "--name-status")
	var list []string
	for entry := range strings.SplitSeq(strings.TrimPrefix(out, "\x00"), "\x00") {
		list = append(list, strings.Join(strings.Fields(strings.ReplaceAll(entry, "\t", " ")), " "))
	}
	return list
}

func (r *repo) check(want ...string) {
	r.t.Helper()
	if diff := cmp.Diff(want, r.subjects()); diff != "" {
		r.t.Errorf("the commits (-want +got):\n%s", diff)
	}
}

// clean checks that nothing is staged and nothing modified, except for what want lists.
func (r *repo) clean(want ...string) {
	r.t.Helper()
	var got []string
	for line := range strings.Lines(r.run("status", "--porcelain")) {
		got = append(got, strings.TrimRight(line, "\n"))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		r.t.Errorf("git status (-want +got):\n%s", diff)
	}
	r.run("fsck", "--strict", "--no-dangling")
}

func TestRecord(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.record("USER.md: made", r.write("USER.md", "Ana\n"))
	r.record("USER.md: changed", r.write("USER.md", "Ana!\n"))
	r.record("two", r.write("notes/a b.md", "1\n"), r.write("notes/ü.md", "2\n"))
	r.record("gone", r.write("notes/ü.md", ""))
	r.record("nothing", workspace.FileChange{Name: "USER.md", Before: []byte("Ana!\n"), After: []byte("Ana!\n")})
	r.check("kate: USER.md: made A USER.md", "kate: USER.md: changed M USER.md",
		"kate: two A notes/a b.md A notes/ü.md", "kate: gone D notes/ü.md")
	r.clean()
	want := "kate <kate@yamo-mcp.local> 2026-03-04T05:06:07+00:00, kate <kate@yamo-mcp.local>\n"
	if got := r.run("log", "-1", "--format=%an <%ae> %aI, %cn <%ce>"); got != want {
		t.Errorf("author and committer are %q, want %q", got, want)
	}
	if got := r.log.String(); strings.Count(got, "made a git repository") != 1 {
		t.Errorf("the log is %q, want one line about the repository", got)
	}
}

func TestMessage(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	err := r.git.Record(context.Background(), workspace.Revision{
		Note: workspace.Note{
			Subject:  "MEMORY.md: append_item\nin \x1b[31mPeople " + strings.Repeat("x", 200),
			Body:     "# Because\nEvent: ev:forged\n\nover",
			Trailers: []string{"Event: ev:1", "Evidence: ev:2"},
		},
		At: now, Files: []workspace.FileChange{r.write("MEMORY.md", "1\n")}, All: func() []workspace.FileChange {
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	message := r.run("log", "-1", "--format=%B")
	subject, rest, _ := strings.Cut(message, "\n")
	if !strings.HasPrefix(subject, "MEMORY.md: append_item in [31mPeople xxx") || len([]rune(subject)) != 120 {
		t.Errorf("the subject is %q", subject)
	}
	if want := "\n# Because Event: ev:forged\n\nover\n\nEvent: ev:1\nEvidence: ev:2\n\n"; rest != want {
		t.Errorf("the rest of the message is %q, want %q", rest, want)
	}
	if got := r.run("log", "-1", "--format=%(trailers:key=Event,valueonly)"); strings.TrimSpace(got) != "ev:1" {
		t.Errorf("git reads the trailer Event as %q", got)
	}
}

// What was there before the repository knew of it is a commit of its own, so that a line is blamed on who wrote it.
func TestBefore(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.write("SOUL.md", "soul\n")
	r.write("MEMORY.md", "by hand\n")
	memory := r.write("MEMORY.md", "by hand\nby kate\n")
	err := r.git.Record(context.Background(), workspace.Revision{
		Note: workspace.Note{Subject: "edit"}, At: now, Files: []workspace.FileChange{memory},
		All: func() []workspace.FileChange {
			return []workspace.FileChange{
				{Name: "SOUL.md", Before: []byte("soul\n"), After: []byte("soul\n")},
				{Name: "MEMORY.md", Before: memory.After, After: memory.After},
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	r.write("MEMORY.md", "by hand\nby kate\nby hand again\n")
	r.record("edit 2", r.write("MEMORY.md", "by hand\nby kate\nby hand again\nby kate again\n"))
	r.check("unknown: the workspace as it is A MEMORY.md A SOUL.md", "kate: edit M MEMORY.md",
		"unknown: MEMORY.md: unrecorded changes M MEMORY.md", "kate: edit 2 M MEMORY.md")
	r.clean()
}

func TestNames(t *testing.T) {
	t.Parallel()
	names := []string{
		"-rf.md", ":(top)x.md", ":!x.md", "*.md", "[a].md", `q"uo\te.md`, "a b/c d.md", "~.md", "$(touch x).md", "ä/日.md",
		"--", "@{u}", "^x",
	}
	r := newRepo(t)
	for _, name := range names {
		r.record("make", r.write(name, name))
		r.record("change", r.write(name, name+"2"))
	}
	r.clean()
	for _, name := range names {
		if got := r.run("cat-file", "-p", "HEAD:"+name); got != name+"2" {
			t.Errorf("%s: it is committed as %q", name, got)
		}
		r.record("remove", r.write(name, ""))
		for file, want := range map[string]bool{name: true, "other" + name: false} {
			if kept, err := r.git.Keeps(context.Background(), file); err != nil || kept != want {
				t.Errorf("%s: that the history keeps it is %v (%v), want %v", file, kept, err, want)
			}
		}
	}
	r.clean()
	if got := r.run("ls-tree", "-r", "HEAD"); got != "" {
		t.Errorf("files are left in the tree:\n%s", got)
	}
}

// What a person has staged, and whatever else is there, stays as it is.
func TestStaged(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.record("one", r.write("MEMORY.md", "1\n"))
	r.write("mine.txt", "mine\n")
	r.write("SOUL.md", "soul\n")
	r.run("add", "mine.txt", "SOUL.md")
	r.write("SOUL.md", "soul, not staged\n")
	r.record("two", r.write("MEMORY.md", "2\n"))
	r.check("kate: one A MEMORY.md", "kate: two M MEMORY.md")
	r.clean("AM SOUL.md", "A  mine.txt")
	if got := r.run("show", ":SOUL.md"); got != "soul\n" {
		t.Errorf("what is staged of SOUL.md is %q", got)
	}
	r.run("commit", "-q", "-m", "mine")
	if got := r.run("show", "HEAD:MEMORY.md"); got != "2\n" {
		t.Errorf("a person's commit made MEMORY.md %q again", got)
	}
}

func TestHeads(t *testing.T) {
	t.Parallel()
	t.Run("unborn", func(t *testing.T) {
		r := newRepo(t)
		r.run("init", "-q", "-b", "mine")
		r.record("one", r.write("MEMORY.md", "1\n"))
		r.check("kate: one A MEMORY.md")
		if got := r.run("branch", "--show-current"); got != "mine\n" {
			t.Errorf("the branch is %q", got)
		}
	})
	t.Run("nothing yet", func(t *testing.T) {
		r := newRepo(t)
		r.run("init", "-q")
		if kept, err := r.git.Keeps(context.Background(), "MEMORY.md"); kept || err != nil {
			t.Errorf("that the history keeps a file is %v (%v)", kept, err)
		}
	})
	t.Run("detached", func(t *testing.T) {
		r := newRepo(t)
		r.record("one", r.write("MEMORY.md", "1\n"))
		r.run("checkout", "-q", "--detach")
		r.record("two", r.write("MEMORY.md", "2\n"))
		r.check("kate: one A MEMORY.md", "kate: two M MEMORY.md")
		r.clean()
		if got := r.run("log", "--format=%s", "--branches"); got != "one\n" {
			t.Errorf("the branch has %q", got)
		}
	})
	t.Run("sha256", func(t *testing.T) {
		r := newRepo(t)
		r.run("init", "-q", "--object-format=sha256")
		r.record("one", r.write("MEMORY.md", "1\n"))
		r.record("two", r.write("MEMORY.md", ""))
		r.check("kate: one A MEMORY.md", "kate: two D MEMORY.md")
		r.clean()
	})
	t.Run("a worktree", func(t *testing.T) {
		r := newRepo(t)
		r.record("one", r.write("MEMORY.md", "1\n"))
		other := filepath.Join(t.TempDir(), "w")
		r.run("worktree", "add", "-q", "-b", "other", other)
		r.dir = other
		r.open()
		r.record("two", r.write("MEMORY.md", "2\n"))
		r.check("kate: one A MEMORY.md", "kate: two M MEMORY.md")
		r.clean()
	})
}

// In the middle of an operation of a person nothing is committed; afterwards the change is.
func TestUnderWay(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.record("one", r.write("MEMORY.md", "1\n"))
	r.run("checkout", "-q", "-b", "side")
	r.record("side", r.write("MEMORY.md", "side\n"))
	r.run("checkout", "-q", "-")
	r.record("two", r.write("MEMORY.md", "2\n"))
	if out, err := r.command("merge", "side").CombinedOutput(); err == nil {
		t.Fatalf("the merge succeeded:\n%s", out)
	}
	before := r.run("status", "--porcelain")
	if err := r.try("three", r.write("USER.md", "Ana\n")); err == nil ||
		!strings.Contains(err.Error(), "a merge is under way") {
		t.Errorf("in a merge the error is %v", err)
	}
	if after := strings.ReplaceAll(r.run("status", "--porcelain"), "?? USER.md\n", ""); after != before {
		t.Errorf("the merge's status was %q and is %q", before, after)
	}
	r.run("merge", "--abort")
	r.record("four", r.write("USER.md", "Ana B.\n"))
	r.check("kate: one A MEMORY.md", "kate: two M MEMORY.md", "unknown: USER.md: unrecorded changes A USER.md",
		"kate: four M USER.md")
}

func TestBusy(t *testing.T) {
	r := newRepo(t)
	r.record("one", r.write("MEMORY.md", "1\n"))
	lock := filepath.Join(r.dir, ".git", "index.lock")
	hold := func() {
		if err := os.WriteFile(lock, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	hold()
	time.AfterFunc(200*time.Millisecond, func() { _ = os.Remove(lock) })
	r.record("two", r.write("MEMORY.md", "2\n"))
	hold()
	if err := r.try("three", r.write("MEMORY.md", "3\n")); err == nil ||
		!strings.Contains(err.Error(), "another program uses") {
		t.Errorf("with a lock the error is %v", err)
	}
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	r.record("four", r.write("MEMORY.md", "4\n"))
	r.check("kate: one A MEMORY.md", "kate: two M MEMORY.md", "unknown: MEMORY.md: unrecorded changes M MEMORY.md",
		"kate: four M MEMORY.md")
	r.clean()
}

// A person who commits at the same time, without the workspace's lock, loses nothing.
func TestPersonAtTheSameTime(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.record("0", r.write("MEMORY.md", "0\n"))
	const n = 10
	var wg sync.WaitGroup
	wg.Go(func() {
		for range n {
			for {
				if r.command("commit", "-q", "--allow-empty", "-m", "mine").Run() == nil {
					break
				}
			}
		}
	})
	for i := range n {
		r.record("kate's", r.write("MEMORY.md", strings.Repeat("x", i+1)))
	}
	wg.Wait()
	log := strings.Join(r.subjects(), "\n")
	if mine := strings.Count(log, "Ana: mine"); mine != n {
		t.Errorf("%d of the person's %d commits are there:\n%s", mine, n, log)
	}
	if got := r.run("show", "HEAD:MEMORY.md"); got != strings.Repeat("x", n) {
		t.Errorf("MEMORY.md is committed as %q", got)
	}
	r.clean()
}

// A repository's own configuration runs nothing.
func TestHostileRepository(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.record("one", r.write("MEMORY.md", "1\n"), r.write("SOUL.md", "1\n"))
	ran := filepath.Join(t.TempDir(), "ran")
	program := filepath.Join(t.TempDir(), "program")
	programtest.Write(t, program, "#!/bin/sh\necho \"$0 $*\" >>"+ran+"\ncat\n")
	for _, hook := range []string{
		"pre-commit", "commit-msg", "post-commit", "reference-transaction", "post-index-change", "prepare-commit-msg",
		"pre-auto-gc",
	} {
		if err := os.Symlink(program, filepath.Join(r.dir, ".git", "hooks", hook)); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range []string{
		"core.fsmonitor", "core.editor", "core.pager", "core.sshCommand", "core.askPass", "gpg.program", "diff.external",
		"core.alternateRefsCommand",
		"filter.x.clean", "filter.x.smudge", "filter.x.process", "trailer.event.command", "credential.helper",
		"sequence.editor", "uploadpack.packObjectsHook",
		"gc.recentObjectsHook", "alias.fast-import", "alias.rev-parse", "pager.cat-file", "interactive.diffFilter",
		"merge.x.driver", "diff.x.textconv",
	} {
		value := program
		if strings.HasPrefix(key, "alias.") {
			value = "!" + program
		}
		r.run("config", key, value)
	}
	r.run("config", "commit.gpgSign", "true")
	r.run("config", "core.hooksPath", filepath.Join(r.dir, ".git", "hooks"))
	r.run("config", "remote.origin.url", "ext::"+program)
	r.run("config", "remote.origin.promisor", "true")
	r.run("config", "protocol.ext.allow", "always")
	if err := os.WriteFile(filepath.Join(r.dir, ".gitattributes"), []byte("SOUL.md filter=x diff=x merge=x\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(ran) // git config itself may have shown something
	r.record("two", r.write("MEMORY.md", "2\n"))
	if err := r.try("three", r.write("SOUL.md", "2\n")); err == nil || !strings.Contains(err.Error(), "filter") {
		t.Errorf("for a file with a filter the error is %v", err)
	}
	if err := r.git.Check(context.Background()); err != nil {
		t.Errorf("Check: %v", err)
	}
	if data, err := os.ReadFile(ran); err == nil {
		t.Errorf("programs of the repository were run:\n%s", data)
	}
	if got := r.run("--no-pager", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "cat-file", "-p",
		"HEAD:MEMORY.md"); got != "2\n" {
		t.Errorf("MEMORY.md is committed as %q", got)
	}
}

func TestIgnored(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.run("init", "-q")
	if err := os.WriteFile(filepath.Join(r.dir, ".gitignore"), []byte("notes/\n/USER.md\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.record("notes", r.write("notes/a.md", "1\n"))
	r.record("both", r.write("USER.md", "1\n"), r.write("MEMORY.md", "1\n"))
	r.check("kate: both A MEMORY.md")
}

func BenchmarkRecord(b *testing.B) {
	dir := b.TempDir()
	env := map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": b.TempDir(), "GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_NOSYSTEM": "1",
	}
	r, err := git.Open(git.Options{Dir: dir, Author: "kate", Getenv: func(name string) string { return env[name] }})
	if err != nil {
		b.Fatal(err)
	}
	text := []byte(strings.Repeat("- a line of MEMORY.md, as it may be\n", 200))
	rev := workspace.Revision{At: now, All: func() []workspace.FileChange { return nil }}
	for b.Loop() {
		change := workspace.FileChange{Name: "SOUL.md", Before: text, After: append(slices.Clip(text), "- another\n"...)}
		text = change.After
		rev.Files = []workspace.FileChange{change}
		if err := r.Record(context.Background(), rev); err != nil {
			b.Fatal(err)
		}
	}
}
