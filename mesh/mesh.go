// Package mesh is the agent's memory (RFC-0011): records, search, lessons, over one append-only ledger
// for each compartment.
//
// A compartment is a physically separate store: private (what is said in a DM), shared (what a DM declared to be for
// everyone) and one for each group. A View opens the compartments its audience may see and no other; that is the
// invariant, and the reason why no function here takes an audience a second time. A write is acknowledged after the
// fsync of its ledger line; keyword index, vectors and LanceDB tables are derived from the ledger and can be deleted
// any time.
package mesh

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/internal/sysclock"
	"github.com/yamo-protocol/yamo-mcp/mesh/cache"
	"github.com/yamo-protocol/yamo-mcp/mesh/derive"
	"github.com/yamo-protocol/yamo-mcp/mesh/fileindex"
	"github.com/yamo-protocol/yamo-mcp/mesh/index"
	"github.com/yamo-protocol/yamo-mcp/mesh/rank"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
	"github.com/yamo-protocol/yamo-mcp/mesh/vector"
)

// Options say whose memory to open and with what.
type Options struct {
	Dir      string // the workspace's .yamo folder; created by the first write
	Audience audience.Audience
	Heads    string // a folder outside of the workspace that notes the ledgers' last entries, "" for none
	AgentID  string // RFC-0011 §4.2's agentId
	// Embedder makes vectors. When it fails, searches use keywords only and report it in Found. Required.
	Embedder index.Embedder
	Logger   *slog.Logger     // nil discards
	Now      func() time.Time // nil: time.Now
	// Zone returns the time zone of the private compartment's dates and of all that is asked; nil: the machine's. It
	// is called when a zone is needed.
	Zone    func() *time.Location
	Random  io.Reader        // for ids, safe for concurrent use; nil: crypto/rand
	Ranking rank.Ranking     // "": Context
	Files   fileindex.Source // what searches find in addition to memories; nil: nothing
	// Completer is the language model that the operator configured, nil for none. Prompts leave the machine if the model
	// runs elsewhere.
	Completer derive.Completer

	LessonMinConfidence float64        // minimum confidence of an active lesson, 0 to 1; 0: DefaultConfidence
	LessonRetentionDays int            // number of days that a lesson stays active; 0: DefaultRetentionDays
	Quota               Quota          // of the audience's own compartment
	Redact              scrub.Detector // what is redacted as well, see redact.ParseList; nil for nothing
	KeepContacts        bool           // a DM's private memories keep e-mail addresses and phone numbers
	HeritageDepth       int            // maximum number of heritage levels kept; 0: MaxHeritageDepth
}

// ErrClosed is returned by the methods of a closed View.
var ErrClosed = errors.New("the memory is closed")

// compartment is an open compartment with its index.
type compartment struct {
	*store.Compartment
	index *index.Index
}

// snapshots takes a snapshot of each compartment, in order; the caller calls release. See store.Snapshot for what it
// must not do meanwhile.
func snapshots(stores []*compartment) (list []*store.Snapshot, release func()) {
	for _, c := range stores {
		list = append(list, c.Snapshot())
	}
	return list, func() {
		for _, s := range list {
			s.Release()
		}
	}
}

// count returns the number of memories.
func (c *compartment) count() int {
	s := c.Snapshot()
	defer s.Release()
	return s.Live
}

// untouched reports whether nothing was ever written to c. Then reads must not create files either.
func (c *compartment) untouched() bool {
	s := c.Snapshot()
	defer s.Release()
	return s.Untouched()
}

// View is the memory as one audience has it. It is safe for concurrent use.
type View struct {
	Options
	scrubber *scrub.Scrubber
	personal *scrub.Scrubber // for private memories: scrubber, unless contact details are kept
	answers  *cache.Cache
	files    *fileindex.Index // nil for none
	// The constants, except in tests.
	patience, comparePatience time.Duration

	mu      sync.Mutex
	stores  map[record.Visibility]*compartment
	closed  bool
	bound   map[string]bool // ids of the memories of record.SessionType that this view stored
	failing bool            // the embedder failed for the last query; see embedQuery

	noted      atomic.Bool // see noteKey
	unreadable sync.Map    // the compartments of which that has been logged, by name
}

// Open returns the view of o.Audience. It reads nothing yet: the first call does. The caller calls Close.
func Open(o Options) *View {
	if o.Now == nil {
		o.Now = sysclock.Now
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Ranking == "" {
		o.Ranking = rank.Context
	}
	v := &View{
		Options: o, answers: cache.New(), patience: patience, comparePatience: comparePatience,
		stores: map[record.Visibility]*compartment{},
	}
	kept := scrub.MemoryMesh(nil)
	kept.List = o.Redact
	v.scrubber = scrub.New(kept)
	v.personal = v.scrubber
	if o.KeepContacts {
		kept.Keep = []scrub.Kind{scrub.Email, scrub.Phone}
		v.personal = scrub.New(kept)
	}
	if o.Files != nil {
		dir, lock := v.folder(v.home())
		source := o.Files
		if lock += ".files"; o.Audience.IsDM() {
			lock = "files"
		} else {
			// SECURITY: the files are the user's. A group has only what it wrote itself, whatever its view was given.
			source = fileindex.OfGroup(source, o.Audience.Group())
		}
		v.files = fileindex.New(fileindex.Options{
			Source: source, Path: filepath.Join(dir, "files.f32"), Lock: filepath.Join(o.Dir, "locks", lock+".index.lock"),
			Visibility: v.home(),
			Embedder:   o.Embedder, Scrubber: v.scrubber, AgentID: o.AgentID, Logger: o.Logger,
			Prepare: func() error {
				if err := v.Prepare(); err != nil {
					return err
				}
				return v.checkFolders(dir)
			},
		})
	}
	return v
}

// home returns the audience's own compartment, to which it writes by default.
func (v *View) home() record.Visibility {
	if v.Audience.IsDM() {
		return record.Private
	}
	return record.OfGroup(v.Audience.Group())
}

// Home returns the compartment of the audience's own memories.
func (v *View) Home() record.Visibility { return v.home() }

// visible lists the compartments this audience may read, its own first, in a fixed order.
//
// SECURITY: for a group this is its own compartment and the shared one, by name; no folder is listed.
func (v *View) visible() ([]record.Visibility, error) {
	names := []record.Visibility{v.home(), record.Shared}
	if !v.Audience.IsDM() {
		return names, nil
	}
	// Groups come last, so that a memory of a group never hides one of the DM's with the same id.
	groups, err := Groups(v.Dir)
	for _, g := range groups {
		names = append(names, record.OfGroup(g.Group()))
	}
	return names, err
}

// Groups returns the groups that have a folder in a memory's folder, by name. It is for the operator and a DM.
func Groups(dir string) ([]audience.Audience, error) {
	entries, err := os.ReadDir(filepath.Join(dir, "groups"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list groups: %w", err)
	}
	var groups []audience.Audience
	for _, e := range entries {
		if a, err := audience.Group(e.Name()); err == nil && e.IsDir() && a.Group() == e.Name() {
			groups = append(groups, a)
		}
	}
	return groups, nil
}

// open returns the compartment called name, which must be one of visible's.
func (v *View) open(name record.Visibility) (*compartment, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return nil, ErrClosed
	}
	if c, ok := v.stores[name]; ok {
		return c, nil
	}
	dir, lock := v.folder(name)
	if err := v.checkFolders(dir); err != nil {
		return nil, err
	}
	options := v.ledgerOptions(name)
	m := v.Embedder.Model()
	vectors := vector.Open(filepath.Join(dir, "vectors.f32"), m.Name, m.Dim)
	c := &compartment{Compartment: store.New(name, ledger.New(options), vectors, v.lessonRetention())}
	c.Image, c.Logger = filepath.Join(dir, "start.image"), v.Logger
	options.Head = "" // these only read, and would warn again
	c.index = index.New(index.Options{
		Compartment: c.Compartment, Dir: dir, LockPath: filepath.Join(v.Dir, "locks", lock+".index.lock"),
		Ledger: options, Embedder: v.Embedder, Logger: v.Logger.With("compartment", name),
	})
	v.stores[name] = c
	return c, nil
}

// folder returns the folder of a compartment, and the name of its locks. Those are in a folder of their own, which
// lives on when a compartment's folder is replaced by a backup.
func (v *View) folder(name record.Visibility) (dir, lock string) {
	if g := name.Group(); g != "" {
		return filepath.Join(v.Dir, "groups", g), "group-" + g
	}
	return filepath.Join(v.Dir, string(name)), string(name)
}

// ledgerOptions returns the options of a compartment's ledger: all processes of a workspace must open it with the same
// lock, key and head.
func (v *View) ledgerOptions(name record.Visibility) ledger.Options {
	dir, lock := v.folder(name)
	return ledger.Options{
		Path:   filepath.Join(dir, "ledger.ndjson"),
		Name:   string(name),
		Lock:   filepath.Join(v.Dir, "locks", lock+".lock"),
		Key:    v.key,
		Head:   v.head(lock),
		Now:    v.Now,
		Logger: v.Logger,
	}
}

// head returns the file that notes the last entry of a ledger, by the name of its lock.
//
// SECURITY: a group's process opens those of the compartments it may see, by name; they have numbers, hashes and times.
func (v *View) head(lock string) string {
	if v.Heads == "" {
		return ""
	}
	return filepath.Join(v.Heads, lock+".json")
}

// reopen discards c, whose ledger was replaced as reason tells, and opens the compartment again. Of several goroutines
// that notice, one does it.
func (v *View) reopen(ctx context.Context, c *compartment, reason error) (*compartment, error) {
	v.mu.Lock()
	current := v.stores[c.Visibility] == c
	if current {
		delete(v.stores, c.Visibility)
	}
	v.mu.Unlock()
	if current {
		level := slog.LevelWarn
		if errors.Is(reason, store.ErrRescanned) {
			level = slog.LevelDebug // the operator's own command
		}
		v.Logger.Log(ctx, level, "the ledger was replaced; reading it again", "compartment", c.Visibility)
		c.index.Discard(ctx)
	}
	return v.open(c.Visibility)
}

// withCompartment calls f with the compartment called name. If the ledger turns out to have been replaced, by a
// restored backup for example, it opens the compartment again and calls f a second time: the caller has done nothing
// wrong.
func (v *View) withCompartment(ctx context.Context, name record.Visibility, f func(*compartment) error) error {
	c, err := v.open(name)
	if err != nil {
		return err
	}
	err = f(c)
	if !errors.Is(err, ledger.ErrReplaced) {
		return explain(name, err)
	}
	if c, err = v.reopen(ctx, c, err); err != nil {
		return err
	}
	return explain(name, f(c))
}

// write appends to the ledger of the compartment called name what prepare drafts, and returns after the fsync: every
// entry but those of recalls and deletions is written here. prepare runs under the ledger's lock, with everything read
// that other processes wrote, so that what it decides holds. It may be called a second time.
func (v *View) write(ctx context.Context, name record.Visibility, prepare store.Prepare) error {
	if name == v.home() {
		prepare = v.Quota.limited(prepare)
	}
	return v.withCompartment(ctx, name, func(c *compartment) error {
		err := c.Append(ctx, prepare)
		if err == nil {
			v.noteKey()
			c.index.Wake()
		}
		return err
	})
}

// Prepare creates the .yamo folder for the first write, and excludes it from version control.
func (v *View) Prepare() error {
	if err := v.checkFolders(v.Dir); err != nil {
		return err
	}
	if err := os.MkdirAll(v.Dir, 0o700); err != nil {
		return fmt.Errorf("create memory folder: %w", err)
	}
	ignore := filepath.Join(v.Dir, ".gitignore")
	if !exists(ignore) {
		if err := os.WriteFile(ignore, []byte("*\n"), 0o600); err != nil {
			return fmt.Errorf("keep memory out of version control: %w", err)
		}
	}
	return nil
}

// key returns the ledgers' key. Before the first write of a workspace it prepares the folder and creates one.
func (v *View) key(create bool) ([]byte, error) {
	if err := v.checkFolders(v.Dir); err != nil {
		return nil, err
	}
	path := filepath.Join(v.Dir, "key")
	var ledgers []string
	if create {
		names, err := v.visible()
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			dir, _ := v.folder(name)
			ledgers = append(ledgers, filepath.Join(dir, "ledger.ndjson"))
		}
		if v.Audience.IsDM() {
			ledgers = append(ledgers, filepath.Join(v.Dir, "private", "edits.ndjson"))
		} else {
			// SECURITY: a group does not look for the ledgers of others.
			ledgers = append(ledgers, v.keyed())
		}
		if err := v.Prepare(); err != nil {
			return nil, err
		}
	}
	return ledger.KeyOf(path, create, v.Logger, ledgers...)
}

// keyed is a file that is not empty once the workspace has a key, whichever audience wrote first.
func (v *View) keyed() string { return filepath.Join(v.Dir, "locks", "keyed") }

// noteKey writes the file keyed, once for a View, after a write.
func (v *View) noteKey() {
	if v.noted.Swap(true) || exists(v.keyed()) {
		return
	}
	if err := os.WriteFile(v.keyed(), []byte("the key of the ledgers was made\n"), 0o600); err != nil {
		v.Logger.Debug("note that there is a key", "error", err)
	}
}

// Location returns the audience's time zone, in which its days are shown.
func (v *View) Location() *time.Location { return v.zone() }

// zone returns the audience's time zone, in which its dates and days are meant.
func (v *View) zone() *time.Location {
	if v.Zone == nil {
		return time.Local
	}
	return v.Zone()
}

// local returns the current time in the audience's time zone.
func (v *View) local() time.Time { return v.Now().In(v.zone()) }

// Refresh tells the view that a workspace file has changed, so that its vectors are made before the next search.
func (v *View) Refresh(ctx context.Context) error { return v.files.Refresh(ctx) }

// imageGrace is the maximum time that the image of a compartment takes after the time of Close has passed.
const imageGrace = 3 * time.Second

// late returns the error of closing an index, nil if the time for it has passed: nothing is lost then, and the next
// process continues.
func (v *View) late(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil || !errors.Is(err, ctx.Err()) && !errors.Is(err, context.Cause(ctx)) {
		return err
	}
	v.Logger.Info("the memory index is not up to date; the next process continues with it", "reason", err)
	return nil
}

// Close ends the background work, writes what is embedded but not yet in LanceDB, as far as ctx allows, and releases
// all resources. What the tables and vectors lack when ctx ends is no error. Calls in progress may still finish; later
// ones return ErrClosed.
func (v *View) Close(ctx context.Context) error {
	v.mu.Lock()
	v.closed = true
	stores := v.stores
	v.stores = nil
	v.mu.Unlock()
	stats := v.answers.Stats()
	v.Logger.Debug("the memory is closed", "cached", stats.Answers, "hits", stats.Hits, "misses", stats.Misses)
	errs := []error{v.denied(ctx, v.late(ctx, v.files.Close(ctx)))}
	for _, c := range stores {
		errs = append(errs, v.denied(ctx, v.late(ctx, c.index.Close(ctx))))
		saving, done := ctx, context.CancelFunc(func() {})
		if ctx.Err() != nil {
			// A long import leaves the tables behind. The next process must not read the whole ledger because of that.
			saving, done = context.WithTimeout(context.WithoutCancel(ctx), imageGrace)
		}
		c.SaveImage(saving)
		done()
	}
	return errors.Join(errs...)
}
