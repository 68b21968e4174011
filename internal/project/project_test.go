package project

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestNormalize(t *testing.T) {
	t.Parallel()
	for remote, want := range map[string]string{
		"git@github.com:Acme/Mare.git":      "github.com/acme/mare",
		"https://github.com/acme/mare":      "github.com/acme/mare",
		"https://github.com/acme/mare.git/": "github.com/acme/mare",
		"https://rui:ghp_012345678901234567890123456789012345@github.com/acme/mare.git": "github.com/acme/mare",
		"ssh://git@github.com:22/acme/mare.git":                                         "github.com/acme/mare",
		"ssh://git@ssh.github.com:443/acme/mare.git":                                    "github.com/acme/mare",
		"git://github.com/acme/mare":                                                    "github.com/acme/mare",
		"https://gitlab.example.org:8443/team/sub/mare.git":                             "gitlab.example.org/team/sub/mare",
		"git@gitlab.example.org:team/sub/mare":                                          "gitlab.example.org/team/sub/mare",
		"ssh://git@gitlab.example.org:2222/team/sub/mare.git":                           "gitlab.example.org/team/sub/mare",
		"token@dev.example.org:mare":                                                    "dev.example.org/mare",
		"https://github.com/":                                                           "",
		"":                                                                              "",
	} {
		if got, _ := normalize(remote); got != want {
			t.Errorf("%s: %q, want %q", remote, got, want)
		}
	}
	for remote, want := range map[string]string{
		"/srv/git/mare.git": "/srv/git/mare.git", "../mare": "../mare", "file:///srv/git/mare.git": "/srv/git/mare.git",
		`C:\git\mare`: `C:\git\mare`,
	} {
		if identity, got := normalize(remote); got != want || identity != "" {
			t.Errorf("%s: identity %q, path %q, want the path %q", remote, identity, got, want)
		}
	}
}

// git runs git in dir.
func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// A machine with clones by several protocols, worktrees, a local clone, a submodule, and folders without git.
func TestIdentify(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "home", "rui")
	dir := func(parts ...string) string {
		path := filepath.Join(append([]string{home}, parts...)...)
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	made := func(remote string, parts ...string) string {
		path := dir(parts...)
		git(t, path, "init", "-q")
		git(t, path, "commit", "-q", "--allow-empty", "-m", "first")
		if remote != "" {
			git(t, path, "remote", "add", "origin", remote)
		}
		return path
	}
	f := Finder{Home: home, Workspace: dir("agent")}
	mare := made("git@github.com:acme/mare.git", "work", "mare")
	git(t, mare, "worktree", "add", "-q", filepath.Join(home, "work", "mare-fix"))
	other := made("https://x:secret@GitHub.com/acme/mare", "tmp", "again")
	plain := made("", "work", "solo")
	git(t, plain, "worktree", "add", "-q", filepath.Join(home, "work", "solo-fix"))
	git(t, home, "clone", "-q", plain, filepath.Join(home, "work", "copy"))
	git(t, home, "clone", "-q", "--bare", mare, filepath.Join(home, "srv", "mare.git"))
	git(t, home, "clone", "-q", filepath.Join(home, "srv", "mare.git"), filepath.Join(home, "work", "hop"))
	super := made("https://example.org/super", "work", "super")
	git(t, super, "-c", "protocol.file.allow=always", "submodule", "add", "-q", plain, "sub")
	upstream := made("", "work", "fork")
	git(t, upstream, "remote", "add", "upstream", "https://example.org/up/stream.git")

	want := map[string]string{
		mare:                                    "github.com/acme/mare",
		dir("work", "mare", "src", "deep"):      "github.com/acme/mare",
		filepath.Join(home, "work", "mare-fix"): "github.com/acme/mare",
		other:                                   "github.com/acme/mare",
		filepath.Join(home, "work", "hop"):      "github.com/acme/mare",
		super:                                   "example.org/super",
		upstream:                                "example.org/up/stream",
		home:                                    "",
		filepath.Dir(home):                      "",
		"/":                                     "",
		"relative/path":                         "",
		os.TempDir():                            "",
		dir("agent"):                            "",
		dir("agent", "notes"):                   "",
	}
	for path, identity := range want {
		if got := f.Identify(path); got != identity {
			t.Errorf("%s: %q, want %q", path, got, identity)
		}
	}
	solo := f.Identify(plain)
	if !strings.HasPrefix(solo, "solo~") || strings.Contains(solo, "/") {
		t.Errorf("without a remote: %q", solo)
	}
	for _, same := range []string{
		filepath.Join(home, "work", "solo-fix"), filepath.Join(home, "work", "copy"), filepath.Join(super, "sub"),
	} {
		if got := f.Identify(same); got != solo {
			t.Errorf("%s: %q, want %q, of which it is a worktree or clone", same, got, solo)
		}
	}
	bills := f.Identify(dir("docs", "bills"))
	if !strings.HasPrefix(bills, "bills~") {
		t.Errorf("without git: %q", bills)
	}
	if again := f.Identify(dir("other", "bills")); again == bills {
		t.Errorf("two folders of one name have the identity %q", again)
	}
	if got := f.Repository(dir("docs", "bills")); got != "" {
		t.Errorf("the repository of a folder without git: %q", got)
	}
	if got := f.Repository(dir("work", "mare", "src", "deep")); got != "github.com/acme/mare" {
		t.Errorf("the repository of a folder in one: %q", got)
	}
	git(t, home, "init", "-q") // dotfiles
	if got := f.Identify(dir("docs", "bills")); got != bills {
		t.Errorf("in a home folder under version control: %q, want %q", got, bills)
	}
	roots := []string{"https://example.org", "file://" + home, "file://" + filepath.ToSlash(mare)}
	if got := f.Roots(roots); got != "github.com/acme/mare" {
		t.Errorf("roots: %q", got)
	}
	if got := f.FromURI("file:///nowhere/on/this%20machine/gull"); !strings.HasPrefix(got, "gull~") {
		t.Errorf("a root of another machine: %q", got)
	}
}

// A client names roots: what it names must not make the server wait or read much.
func TestHostileRepository(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "odd")
	if err := os.MkdirAll(filepath.Join(dir, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"HEAD":      "ref: refs/heads/main\n",
		"commondir": "../../../../../../../..\n",
		"config":    "[remote \"origin\"]\nurl = https://example.org/evil\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, ".git", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := (Finder{}).Identify(dir); !strings.HasPrefix(got, "odd~") {
		t.Errorf("%q", got)
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := exec.Command("mkfifo", pipe).Run(); err != nil {
		t.Skip("no pipes here")
	}
	if got := read(pipe); got != "" {
		t.Errorf("read %q from a pipe", got)
	}
}
