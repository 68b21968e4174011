package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/workspace"
)

// Errors of the repository.
var (
	ErrNested = errors.New("the workspace lies in another git repository, which is not used and not nested into " +
		"unasked: run git init in the workspace folder to give it one of its own, or ignore the folder in the other")
	ErrOther = errors.New("the .git of the workspace folder is not a repository of this folder (it is bare, or has " +
		"another work tree)")
	ErrAway = errors.New("the .git of the workspace folder leads to a repository elsewhere, which does not name this " +
		"folder as its work tree: if it is the right one, run git config core.worktree there with the path of the folder")
)

// What a repository that is created here ignores, in its info/exclude. BOOTSTRAP.md is deleted after the first boot and
// must not persist (RFC-0009 §4.3).
const (
	excludeHead = "# Written by yamo-mcp, and kept in line with its setting git_private.\n"
	excludeTail = "# End of what yamo-mcp wrote.\n"
	leftOut     = excludeHead + "/.yamo/\n/" + workspace.BootstrapFile + "\n" + excludeTail
	privateOut  = excludeHead + "/*\n!/" + workspace.SoulFile + "\n!/" + workspace.IdentityFile + "\n!/" +
		workspace.AgentsFile + "\n!/.gitignore\n" + excludeTail
)

// exists reports whether the workspace folder itself has a repository.
func (r *Repository) exists() (bool, error) {
	_, err := os.Lstat(filepath.Join(r.dir, ".git"))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// checkNotNested returns ErrNested if a new repository would be nested in another one that does not ignore the folder.
func (r *Repository) checkNotNested(ctx context.Context) error {
	_, err := r.runIn(ctx, r.dir, nil, nil, "rev-parse", "--show-toplevel")
	if exit, ok := errors.AsType[*exitError](err); ok && strings.Contains(exit.said, "not a git repository") {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = r.runIn(ctx, filepath.Dir(r.dir), nil, []byte(literal(filepath.Base(r.dir))+"\x00"), "check-ignore", "-z",
		"--stdin")
	if exit, ok := errors.AsType[*exitError](err); ok && exit.code == 1 {
		return ErrNested
	}
	return err
}

// make creates the repository if it is missing, and keeps the list of ignored files in line with the settings.
func (r *Repository) make(ctx context.Context) error {
	exists, err := r.exists()
	if err != nil {
		return err
	}
	if exists {
		return r.exclude(false)
	}
	if err := r.checkNotNested(ctx); err != nil {
		return err
	}
	if _, err := r.run(ctx, nil, "init", "--quiet"); err != nil {
		return err
	}
	r.opt.Logger.InfoContext(ctx, "made a git repository for the workspace, because the setting git is on")
	return r.exclude(true)
}

// exclude writes the list of ignored files, in a repository that was just created or has such a list: a repository that
// a person created is theirs to configure.
func (r *Repository) exclude(created bool) error {
	path := filepath.Join(r.dir, ".git", "info", "exclude")
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !created {
		return nil //nolint:nilerr // a repository that was not created here has its own rules
	}
	want, other := privateOut, leftOut
	if r.opt.Private {
		want, other = leftOut, privateOut
	}
	text := strings.Replace(string(data), other, want, 1)
	if created {
		text += want
	}
	if text == string(data) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("exclude files from the git repository: %w", err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return fmt.Errorf("exclude files from the git repository: %w", err)
	}
	return nil
}

// place is the commit that the next one follows.
type place struct {
	head      string            // the parent of a new commit, "" for none
	committed map[string][]byte // what it has of the files, by name
	none      string            // zeros, as many as an object's name has
}

// leadsAway returns ErrAway if .git only points to a repository elsewhere that does not point back. Without this check
// a folder from another person could add commits to any repository of this account, and the agent's memory would go
// wherever that one is pushed. gitDir and commonDir are git's own answers.
func (r *Repository) leadsAway(ctx context.Context, gitDir, commonDir string) error {
	link := filepath.Join(r.dir, ".git")
	info, err := os.Lstat(link)
	if err != nil {
		return err
	}
	// SECURITY: a repository elsewhere must point back.
	if info.IsDir() {
		if commonDir != ".git" && commonDir != link {
			return ErrAway
		}
		for _, part := range []string{"HEAD", "refs", "objects", "packed-refs", "index"} {
			if info, err := os.Lstat(filepath.Join(link, part)); err == nil && info.Mode()&fs.ModeSymlink != 0 {
				return ErrAway
			}
		}
		return nil
	}
	// git worktree add
	if back, err := os.ReadFile(filepath.Join(gitDir, "gitdir")); err == nil && strings.TrimSpace(string(back)) == link {
		return nil
	}
	_, err = r.run(ctx, nil, "config", "--local", "--get", "core.worktree") // it is this folder, since it is the top level
	if exit, ok := errors.AsType[*exitError](err); ok && exit.code == 1 {
		return ErrAway
	}
	return err
}

// underWay lists a person's operations during which nothing is committed, with the file that shows each: a commit in
// the middle of a rebase or merge would become part of it.
var underWay = []struct{ file, name string }{
	{"MERGE_HEAD", "a merge"},
	{"CHERRY_PICK_HEAD", "a cherry-pick"},
	{"REVERT_HEAD", "a revert"},
	{"rebase-merge", "a rebase"},
	{"rebase-apply", "a rebase"},
	{"BISECT_LOG", "a bisection"},
}

// look checks the repository before a commit of files and returns the place for it.
func (r *Repository) look(ctx context.Context, files []workspace.FileChange) (place, error) {
	out, err := r.run(ctx, nil, "rev-parse", "--show-toplevel", "--absolute-git-dir", "--show-object-format",
		"--git-common-dir")
	if exit, ok := errors.AsType[*exitError](err); ok && strings.Contains(exit.said, "work tree") {
		return place{}, ErrOther
	}
	if err != nil {
		return place{}, err
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	// SECURITY: a repository may name any folder as its work tree.
	if len(lines) != 4 || lines[0] != r.dir {
		return place{}, ErrOther
	}
	if err := r.leadsAway(ctx, lines[1], lines[3]); err != nil {
		return place{}, err
	}
	for _, operation := range underWay {
		if _, err := os.Lstat(filepath.Join(lines[1], operation.file)); err == nil {
			return place{}, fmt.Errorf("%s is under way in the git repository; finish or abort it", operation.name)
		}
	}
	at := place{none: strings.Repeat("0", 40)}
	if lines[2] == "sha256" {
		at.none = strings.Repeat("0", 64)
	}
	return at, r.contents(ctx, &at, files)
}
