// Package watch notices when the files of a workspace.View change.
//
// Its invariant: it looks only through the view, and so only at what the view may see. For a group that is a few exact
// names, which are polled: a watch on the workspace folder would wake the process for every private file, and its
// timing would reveal that there is one. Only in a DM does the operating system watch the folders. Its events are hints
// to look earlier and never the answer, so that where there are none (network file systems, exhausted watches) changes
// are noticed later, and not missed.
package watch

import (
	"cmp"
	"context"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/yamo-protocol/yamo-mcp/workspace"
)

// Options set when a Watcher looks. The zero value has the defaults.
type Options struct {
	Poll   time.Duration // interval without events of the operating system; 0 means 1 s
	Rescan time.Duration // interval in addition to events; 0 means 10 s
	Settle time.Duration // how long events are collected before a look; 0 means 50 ms
	Logger *slog.Logger  // nil discards
}

// Change is what one look found. Names are sorted.
type Change struct {
	Names []string // files that appeared, disappeared, or differ in size or time
	List  bool     // view.Files returns other names than before
}

// None reports whether nothing changed.
func (c Change) None() bool { return len(c.Names) == 0 && !c.List }

// Watcher compares what a view shows with what it showed before. It is safe for concurrent use.
type Watcher struct {
	view *workspace.View
	Options
	follows chan struct{} // wakes Run when a file is followed

	mu       sync.Mutex
	listed   map[string]workspace.File // view.Files at the last look
	followed map[string]*followed      // files that are checked by name, listed or not
	scanned  bool
}

// followed is a file whose changes are reported.
type followed struct {
	times int            // number of Follow calls without an Unfollow
	file  workspace.File // at the last look, the zero File if it was missing
}

// New returns a watcher of v, which has looked at nothing yet.
func New(v *workspace.View, o Options) *Watcher {
	o.Poll = cmp.Or(o.Poll, time.Second)
	o.Rescan = cmp.Or(o.Rescan, 10*time.Second)
	o.Settle = cmp.Or(o.Settle, 50*time.Millisecond)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	return &Watcher{view: v, Options: o, follows: make(chan struct{}, 1), followed: map[string]*followed{}}
}

// Follow checks the file called name now and at every later Scan, even if view.Files does not list it. The file need
// not exist: for a name that the audience may not see, view.Stat answers as for a missing file, without touching the
// disk.
func (w *Watcher) Follow(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if f, ok := w.followed[name]; ok {
		f.times++
		return
	}
	w.followed[name] = &followed{times: 1, file: w.stat(name)}
	select {
	case w.follows <- struct{}{}:
	default:
	}
}

// Unfollow undoes one Follow.
func (w *Watcher) Unfollow(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if f, ok := w.followed[name]; ok {
		if f.times--; f.times == 0 {
			delete(w.followed, name)
		}
	}
}

// stat returns the file called name, the zero File if it cannot be seen.
func (w *Watcher) stat(name string) workspace.File {
	file, err := w.view.Stat(name)
	if err != nil {
		return workspace.File{}
	}
	return file
}

// Scan looks once and returns what changed since the last look. The first Scan has nothing to compare with and reports
// no change of the list.
func (w *Watcher) Scan() Change {
	files := w.view.Files()
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.listed
	w.listed = make(map[string]workspace.File, len(files))
	changed := map[string]bool{}
	list := false
	for _, file := range files {
		w.listed[file.Name] = file
		old, was := before[file.Name]
		list = list || !was
		changed[file.Name] = old != file
	}
	for name := range before {
		if _, is := w.listed[name]; !is {
			// It was deleted, or is only too old for the list by now.
			list, changed[name] = true, w.stat(name) != before[name]
		}
	}
	if !w.scanned {
		w.scanned, list = true, false
		clear(changed)
	}
	for name, f := range w.followed {
		now, listed := w.listed[name]
		if !listed {
			now = w.stat(name)
		}
		changed[name], f.file = now != f.file, now
	}
	change := Change{List: list}
	for name, yes := range changed {
		if yes {
			change.Names = append(change.Names, name)
		}
	}
	slices.Sort(change.Names)
	return change
}

// Run scans until ctx is done and calls changed, on its own goroutine, with everything that is not None.
func (w *Watcher) Run(ctx context.Context, changed func(Change)) {
	hints := w.hints()
	if hints != nil {
		defer func() { _ = hints.Close() }() // an error at the end loses nothing
	}
	for {
		// Watch before the scan, so that a file in a new folder is seen by one of the two.
		watched := w.arm(hints)
		if change := w.Scan(); !change.None() {
			changed(change)
		}
		if !w.wait(ctx, hints, watched) {
			return
		}
	}
}

// hints returns the operating system's events, nil if there are none for this view.
func (w *Watcher) hints() *fsnotify.Watcher {
	// SECURITY: a group's view has no folder and is polled (see the package comment).
	if w.view.Dir() == "" {
		return nil
	}
	hints, err := fsnotify.NewWatcher()
	if err != nil {
		w.Logger.Warn("files are polled: the system gives no watch", "error", err)
		return nil
	}
	return hints
}

// arm watches the existing folders of the files, and reports whether all of them are watched. Watching a folder again
// does nothing.
func (w *Watcher) arm(hints *fsnotify.Watcher) bool {
	if hints == nil {
		return false
	}
	folders := map[string]bool{".": true, "memory": true, "notes": true}
	w.mu.Lock()
	for name := range w.followed {
		if _, err := w.view.Stat(name); err == nil {
			folders[path.Dir(name)] = true
		}
	}
	w.mu.Unlock()
	for folder := range folders {
		dir := filepath.Join(w.view.Dir(), filepath.FromSlash(folder))
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() && folder != "." {
			continue // the view refuses links to folders
		}
		if err := hints.Add(dir); err != nil {
			w.Logger.Debug("a folder is polled: it cannot be watched", "error", err)
			return false
		}
	}
	return true
}

// wait returns when it is time to look again, false when ctx is done.
func (w *Watcher) wait(ctx context.Context, hints *fsnotify.Watcher, watched bool) bool {
	var events chan fsnotify.Event
	var errs chan error
	pause := w.Poll
	if hints != nil {
		events, errs = hints.Events, hints.Errors
	}
	if watched {
		pause = w.Rescan
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for settling := false; ; {
		select {
		case <-ctx.Done():
			return false
		case <-timer.C:
			return true
		case <-w.follows: // its folder may not be watched yet
			return true
		case event := <-events:
			if event.Op == fsnotify.Chmod || settling {
				continue // collected
			}
		case <-errs: //nolint:errcheck // which events were lost does not matter: a look covers everything
		}
		if !settling {
			settling = true
			timer.Reset(w.Settle)
		}
	}
}
