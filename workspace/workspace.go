// Package workspace reads and writes the YAMO folder: the Markdown files of RFC-0009 and seed 002, and the rules about
// who may see them.
//
// Its invariant: every read and write of a workspace file goes through a View, a View asks audience.May before it
// touches the disk, and a file that an audience may not see is indistinguishable from a missing one. For a group no
// private file is opened, stat'ed or found by listing a folder. A group's view asks for exact names only: a listing
// would name the files of others, and its duration would reveal how many there are.
//
// The folder is an os.Root, and only plain files with a single link are served, so that no link, device or alias inside
// the folder leads to another file's content or to a file outside it.
//
// Whole files are replaced under one lock for all processes (see Transaction); logs are appended to under a lock of
// their own (see Journal).
package workspace

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/sysclock"
)

// Workspace is an open workspace folder. It is safe for concurrent use. It caches no content, so that edits by hand and
// by other processes are seen at the next call.
type Workspace struct {
	dir  string // absolute, for the operator and for a DM; never given to a group
	root *os.Root
	now  func() time.Time
	log  *slog.Logger

	scrub func(text string) (clean string, redactions int)

	recorder      Recorder // nil if changes are not recorded
	recordPrivate bool
	recordTrouble atomic.Value // string: why the last change was not recorded

	reported sync.Map // refused files already in the log
}

// Option changes how a workspace is opened.
type Option func(*Workspace)

// WithClock sets the clock. The location of its times counts as the machine's time zone, which daily logs use unless
// USER.md names another. The default is time.Now.
func WithClock(now func() time.Time) Option { return func(w *Workspace) { w.now = now } }

// WithLogger sets the log for refused files. Contents and private names are never logged. The default discards.
func WithLogger(log *slog.Logger) Option { return func(w *Workspace) { w.log = log } }

// WithScrubber sets the function that finds credentials in text that a session writes (RFC-0009 §4.2): it returns the
// text without them and their number. Logs and memory files get the clean text; whole files with new credentials are
// refused with ErrCredentials. The default finds none.
func WithScrubber(scrub func(text string) (clean string, redactions int)) Option {
	return func(w *Workspace) { w.scrub = scrub }
}

// Open opens the workspace folder dir. A missing or unreadable folder is an error; an empty folder is not (see State).
// The caller closes the workspace.
func Open(dir string, options ...Option) (*Workspace, error) {
	if dir == "" {
		return nil, fmt.Errorf("open workspace: no folder given")
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	// SECURITY: every path below is resolved by the kernel relative to this folder and cannot leave it.
	root, err := os.OpenRoot(abs)
	if err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	w := &Workspace{dir: abs, root: root, now: sysclock.Now, log: slog.New(slog.DiscardHandler)}
	w.scrub = func(text string) (string, int) { return text, 0 }
	for _, option := range options {
		option(w)
	}
	return w, nil
}

// Close releases the folder. Views of it fail afterwards.
func (w *Workspace) Close() error { return w.root.Close() }

// Dir returns the folder's absolute path. Only operator code calls it; sessions call View.Dir.
func (w *Workspace) Dir() string { return w.dir }

// View returns the workspace as a may see it.
func (w *Workspace) View(a audience.Audience) *View { return &View{ws: w, who: a} }
