// Package git commits changes of a workspace to the workspace's own git repository (seed 002, workspace_git), so that a
// person can review an agent's changes with the tools they know: git log, git blame, git diff.
//
// Its invariant: a commit has the files of one revision and nothing else. What a person has staged stays staged and is
// not committed, branches only grow, remotes are never contacted, and no program that the repository or its attributes
// name is run: hooks, filters, editors, signing. The workspace decides which files may be recorded at all
// (workspace.WithRecorder). The record is a convenience: if it fails, the write still succeeds.
//
// Git receives the contents of files (hash-object, update-index, fast-import) and opens none of the workspace's files,
// so that the rules about links and devices hold here, too.
package git

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/yamo-protocol/yamo-mcp/workspace"
)

const (
	timeout      = 10 * time.Second      // of all that a revision takes
	patience     = 2 * time.Second       // with a lock that another program holds
	interval     = 25 * time.Millisecond // between two tries
	authorDomain = "@yamo-mcp.local"     // of authors, which are no accounts anywhere
	// made by hand, by a program that does not commit, or when a commit failed
	unrecordedSubject = "unrecorded changes"
	unknownAuthor     = "unknown"                // the author of unrecorded changes
	initialSubject    = "the workspace as it is" // the first commit of a new repository
)

// Options are a Repository's settings. Dir and Author are required.
type Options struct {
	Dir     string // the workspace folder
	Author  string // of the commits: the agent's id, or operator
	Private bool   // whether private files are recorded; decides what a new repository ignores
	// Getenv returns the variables from which git's environment is made (see inherited); nil is os.Getenv.
	Getenv func(string) string
	Logger *slog.Logger // nil discards
}

// Repository is the repository of one workspace. Check and Keeps are safe for concurrent use; Record must be called for
// one revision at a time in all processes, which the workspace's lock ensures.
type Repository struct {
	opt Options
	dir string // absolute, without links

	supported atomic.Bool // git is installed and new enough
}

// Open returns the repository of a workspace. It starts no program and touches no file.
func Open(o Options) (*Repository, error) {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	dir, err := filepath.Abs(o.Dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return nil, err
	}
	return &Repository{opt: o, dir: dir}, nil
}

// Check returns the reason why revisions could not be committed now, in words for a person, nil if they could. It
// changes nothing. Among the errors are ErrMissing, ErrOld, ErrNested, ErrOther and ErrAway.
func (r *Repository) Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := r.version(ctx); err != nil {
		return err
	}
	exists, err := r.exists()
	if err != nil || !exists {
		return errors.Join(err, r.checkNotNested(ctx))
	}
	_, err = r.look(ctx, nil)
	return err
}

// Keeps reports whether a commit of any branch has the file called name, even if it was changed or deleted since. Who
// deletes a file's history must know that git has a copy.
func (r *Repository) Keeps(ctx context.Context, name string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	exists, err := r.exists()
	if err != nil || !exists {
		return false, err
	}
	if _, err := r.look(ctx, nil); err != nil {
		return false, err
	}
	out, err := r.run(ctx, []byte("--\n"+literal(name)+"\n"), "rev-list", "--all", "--max-count=1", "--stdin")
	return len(out) > 0, err
}

// Record commits a revision. If the repository does not have the files' state before it, such as after edits by hand,
// that is committed first, by an unknown author. A missing repository is created. Canceling ctx does not stop it: the
// files are written already.
func (r *Repository) Record(ctx context.Context, rev workspace.Revision) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	if err := r.version(ctx); err != nil {
		return err
	}
	if err := r.make(ctx); err != nil {
		return err
	}
	deadline := time.Now().Add(patience)
	for {
		err := r.commit(ctx, rev)
		if !errors.Is(err, errBusy) || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(interval):
		}
	}
}

// commit is one attempt of Record.
func (r *Repository) commit(ctx context.Context, rev workspace.Revision) error {
	at, err := r.look(ctx, rev.Files)
	if err != nil {
		return err
	}
	files := rev.Files
	if at.head == "" {
		for _, file := range rev.All() {
			files = addMissing(files, file)
		}
	}
	files, refused, err := r.wanted(ctx, files)
	if err != nil || len(files) == 0 {
		return errors.Join(err, refused)
	}
	earlier := change{note: workspace.Note{Subject: initialSubject}, author: unknownAuthor}
	later := change{note: rev.Note, author: r.opt.Author}
	for _, file := range files {
		if !same(at.committed[file.Name], file.Before) {
			earlier.files = append(earlier.files, blob{name: file.Name, data: file.Before})
		}
		if !same(file.Before, file.After) {
			later.files = append(later.files, blob{name: file.Name, data: file.After})
		}
	}
	if at.head != "" {
		earlier.note.Subject = names(earlier.files) + ": " + unrecordedSubject
	}
	return errors.Join(r.write(ctx, at, rev.At, earlier, later), refused)
}

// addMissing returns files and file, unless it is among them.
func addMissing(files []workspace.FileChange, file workspace.FileChange) []workspace.FileChange {
	for _, f := range files {
		if f.Name == file.Name {
			return files
		}
	}
	return append(slices.Clip(files), file)
}

// same reports whether two contents are equal; nil, for no file, equals only nil.
func same(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }
