package git_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/workspace/git"
)

// A repository that is made keeps private files out of git add.
func TestExclude(t *testing.T) {
	t.Parallel()
	for _, private := range []bool{false, true} {
		r := newRepo(t, func(o *git.Options) { o.Private = private })
		r.record("one", r.write("SOUL.md", "1\n"))
		for _, name := range []string{"MEMORY.md", "notes/a.md", ".yamo/key", "BOOTSTRAP.md"} {
			r.write(name, "1\n")
		}
		var want []string
		if private {
			want = []string{"?? MEMORY.md", "?? notes/"}
		}
		r.clean(want...)
		// The other way round from now on.
		r.open(func(o *git.Options) { o.Private = !private })
		r.record("two", r.write("SOUL.md", "2\n"))
		if private {
			r.clean()
		} else {
			r.clean("?? MEMORY.md", "?? notes/")
		}
	}
}

// A repository around the workspace is no place for its files, unless it ignores them.
func TestNested(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	outer := r.dir
	r.run("init", "-q")
	r.dir = filepath.Join(outer, ":(top) agent")
	if err := os.Mkdir(r.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	r.open()
	memory := r.write("MEMORY.md", "1\n")
	for _, err := range []error{r.try("one", memory), r.git.Check(context.Background())} {
		if err == nil || !strings.Contains(err.Error(), "lies in another git repository") {
			t.Errorf("in another repository the error is %v", err)
		}
	}
	if err := os.WriteFile(filepath.Join(outer, ".gitignore"), []byte(":(top) agent/\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.git.Check(context.Background()); err != nil {
		t.Errorf("Check of an ignored folder: %v", err)
	}
	r.record("one", memory)
	r.check("kate: one A MEMORY.md")
}

// A .git that leads to a repository elsewhere is used only if its configuration names this folder.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	for name, lead := range map[string]func(r *repo, victim string) error{
		"a file": func(r *repo, victim string) error {
			return os.WriteFile(filepath.Join(r.dir, ".git"), []byte("gitdir: "+victim+"/.git\n"), 0o600)
		},
		"a link": func(r *repo, victim string) error { return os.Symlink(victim+"/.git", filepath.Join(r.dir, ".git")) },
		"commondir": func(r *repo, victim string) error {
			r.run("init", "-q")
			return os.WriteFile(filepath.Join(r.dir, ".git", "commondir"), []byte(victim+"/.git\n"), 0o600)
		},
		"linked parts": func(r *repo, victim string) error {
			r.run("init", "-q")
			for _, part := range []string{"refs", "objects"} {
				if err := os.RemoveAll(filepath.Join(r.dir, ".git", part)); err != nil {
					return err
				}
				if err := os.Symlink(filepath.Join(victim, ".git", part), filepath.Join(r.dir, ".git", part)); err != nil {
					return err
				}
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			victim, r := newRepo(t), newRepo(t)
			victim.record("theirs", victim.write("README.md", "1\n"))
			if err := lead(r, victim.dir); err != nil {
				t.Fatal(err)
			}
			if err := r.try("one", r.write("MEMORY.md", "1\n")); err == nil ||
				!strings.Contains(err.Error(), "leads to a repository elsewhere") {
				t.Errorf("the error is %v", err)
			}
			victim.check("kate: theirs A README.md")
			victim.clean()
		})
	}
	t.Run("and back", func(t *testing.T) {
		r := newRepo(t)
		away := filepath.Join(t.TempDir(), "away.git")
		r.run("init", "-q", "--separate-git-dir", away)
		if err := r.git.Check(context.Background()); err == nil {
			t.Error("a repository elsewhere that does not point back is used")
		}
		r.run("config", "core.worktree", r.dir)
		r.record("one", r.write("MEMORY.md", "1\n"))
		r.check("kate: one A MEMORY.md")
		r.clean()
	})
}
