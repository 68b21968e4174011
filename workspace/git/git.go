// Package git commits what is written into a workspace to the workspace's own git repository (seed 002,
// workspace_git), so that a person can look at an agent's changes with the tools they know: git log, git blame, git
// diff.
//
// Its invariant: a commit has the files of one revision and nothing else. What a person has staged stays staged and is
// not committed, branches are only ever added to, remotes are never spoken to, and no program that the repository or
// its attributes name is run: hooks, filters, editors, signing. Whether a file may be recorded at all is the
// workspace's question (workspace.WithRecorder). The record is a convenience: it fails without failing a write.
//
// Files are given to git by their content (hash-object, update-index, fast-import): it opens none of the workspace's.
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
	unknownAuthor     = "unknown"                // whose these are
	initialSubject    = "the workspace as it is" // of a new repository
)

// Options are a Repository's settings. Dir and Author are required.
type Options struct {
	Dir     string // the workspace folder
	Author  string // of the commits: the agent's id, or operator
	Private bool   // whether private files are recorded, for what is left out of a repository that is made
	// Getenv is where git's environment comes from, of which it gets little; nil is os.Getenv.
	Getenv func(string) string
	Logger *slog.Logger // nil discards
}

// Repository is the repository of one workspace. It is safe for concurrent use as long as revisions come one after the
// other, which the workspace's lock sees to.
type Repository struct {
	opt Options
	dir string // absolute, without links

	supported atomic.Bool // git is there and new enough
}

// Open returns the repository of a workspace. It starts nothing and touches no file.
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

// Check says why revisions could not be committed now, nil if they could, for a person. It changes nothing.
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

// Keeps reports whether a commit of any branch has the file called name, whatever became of it since.
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

// Record commits a revision, and before it what its files were if the repository does not know that. A repository is
// made where there is none. The context's end does not end it: the files are written already.
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

// commit is one try of Record.
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

// same reports whether two contents are one, and both or neither there.
func same(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }
