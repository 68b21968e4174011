// Package workspace is the YAMO folder: the Markdown files of RFC-0009 and seed 002, and who may see them.
//
// Its invariant: every read and write of a workspace file passes a View, a View asks audience.May before
// it touches the disk, and what an audience may not see is indistinguishable from what is not there. For a
// group no private file is opened, stat'ed or found by listing a folder: a group's view asks for exact
// names only. The folder is held by os.Root, and nothing but plain files with a single link is served, so
// no link, device or alias inside the folder reaches another file's content or one outside it.
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
)

// Workspace is an open workspace folder. It is safe for concurrent use; it caches nothing, so edits by
// hand and by other processes are seen at the next call.
type Workspace struct {
	dir  string // absolute, for the operator and for a DM; never given to a group
	root *os.Root
	now  func() time.Time
	log  *slog.Logger

	scrub func(text string) (clean string, redactions int)

	recorder      Recorder // nil without one
	recordPrivate bool
	recordTrouble atomic.Value // string: why the last change was not recorded

	reported sync.Map // refused files already in the log
}

// Option changes how a workspace is opened.
type Option func(*Workspace)

// WithClock sets the clock. The location of the times it returns is the machine's time zone, which daily
// logs use unless USER.md names another. The default is time.Now.
func WithClock(now func() time.Time) Option { return func(w *Workspace) { w.now = now } }

// WithLogger sets where refused files are reported. Contents and private names are never logged. The
// default discards.
func WithLogger(log *slog.Logger) Option { return func(w *Workspace) { w.log = log } }

// WithScrubber sets what finds credentials in text that a session wants to write (RFC-0009 §4.2): it returns
// the text without them and how many it found. Logs get the clean text; a file with redactions is refused.
// The default finds none.
func WithScrubber(scrub func(text string) (clean string, redactions int)) Option {
	return func(w *Workspace) { w.scrub = scrub }
}

// Open opens the workspace folder dir. A missing or unreadable folder, or a file that is not a folder, is
// an error; an empty folder is not (see State). The caller closes it.
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
	w := &Workspace{dir: abs, root: root, now: time.Now, log: slog.New(slog.DiscardHandler)}
	w.scrub = func(text string) (string, int) { return text, 0 }
	for _, option := range options {
		option(w)
	}
	return w, nil
}

// Close releases the folder. Views of it fail afterwards.
func (w *Workspace) Close() error { return w.root.Close() }

// Dir is the folder's absolute path, for operator code only: sessions ask View.Dir.
func (w *Workspace) Dir() string { return w.dir }

// View is the workspace as a may see it.
func (w *Workspace) View(a audience.Audience) *View { return &View{ws: w, who: a} }
