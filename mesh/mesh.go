// Package mesh is the agent's memory (RFC-0011): records, search, lessons, over one append-only ledger
// for each compartment.
//
// A compartment is a physically separate store: private (what is said in a DM), shared (what a DM
// declared to be for everyone) and one for each group. A View opens the compartments its audience may
// see and no other; that is the invariant, and the reason why no function here takes an audience twice.
// A write is acknowledged after the fsync of its ledger line; keyword index, vectors and LanceDB tables
// are derived from the ledger and can be deleted at any time.
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
	"time"

	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub"
	"github.com/yamo-protocol/yamo-mcp/workspace/audience"
)

// Embedder turns texts into unit-length vectors, in order (RFC-0011 §7).
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	Model() embed.Model
}

// Options say whose memory to open and with what.
type Options struct {
	Dir      string // the workspace's .yamo folder; created by the first write
	Audience audience.Audience
	AgentID  string // RFC-0011 §4.2's agentId
	// Embedder makes vectors. An error that is embed.ErrNoAssets turns semantic search off, keyword
	// search goes on. Required.
	Embedder Embedder
	Logger   *slog.Logger
	Now      func() time.Time // nil: time.Now
	Random   io.Reader        // for ids; nil: crypto/rand
	Ranking  Ranking          // "": Context
}

// View is the memory as one audience has it. It is safe for concurrent use.
type View struct {
	Options
	scrubber *scrub.Scrubber

	mu     sync.Mutex
	stores map[Visibility]*compartment
	closed bool
}

// Open returns the view of o.Audience. It reads nothing yet: the first call does.
func Open(o Options) *View {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	if o.Ranking == "" {
		o.Ranking = Context
	}
	return &View{Options: o, scrubber: scrub.New(scrub.Options{}), stores: map[Visibility]*compartment{}}
}

// own is the compartment this audience writes to unless it says otherwise.
func (v *View) own() Visibility {
	if v.Audience.IsDM() {
		return Private
	}
	return groupVisibility(v.Audience.Group())
}

// visible lists the compartments this audience may read, its own first, in a fixed order.
//
// SECURITY: for a group this is its own compartment and the shared one, by name; no folder is listed.
func (v *View) visible() ([]Visibility, error) {
	names := []Visibility{v.own(), Shared}
	if !v.Audience.IsDM() {
		return names, nil
	}
	groups, err := os.ReadDir(filepath.Join(v.Dir, "groups"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list groups: %w", err)
	}
	for _, g := range groups {
		if a, err := audience.Group(g.Name()); err == nil && g.IsDir() && a.Group() == g.Name() {
			names = append(names, groupVisibility(g.Name()))
		}
	}
	return names, nil
}

// open returns the compartment called name, which must be one of visible's.
func (v *View) open(name Visibility) (*compartment, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return nil, errors.New("the memory is closed")
	}
	if c, ok := v.stores[name]; ok {
		return c, nil
	}
	dir, lock := filepath.Join(v.Dir, string(name)), string(name)
	if g := name.Group(); g != "" {
		dir, lock = filepath.Join(v.Dir, "groups", g), "group-"+g
	}
	l := ledger.New(ledger.Options{
		Path: filepath.Join(dir, "ledger.ndjson"),
		Lock: filepath.Join(v.Dir, "locks", lock+".lock"),
		Key:  v.prepare,
		Now:  v.Now,
	})
	index := newIndex(dir, filepath.Join(v.Dir, "locks", lock+".index.lock"), v.Embedder, v.Logger.With("compartment", name))
	c := newCompartment(name, l, index)
	v.stores[name] = c
	return c, nil
}

// prepare readies the .yamo folder for the first write: it makes it, keeps it out of version control,
// and reads or makes the key of the ledgers.
func (v *View) prepare() ([]byte, error) {
	if info, err := os.Lstat(v.Dir); err == nil && !info.IsDir() {
		// SECURITY: a link could lead this audience's store into another one's.
		return nil, errors.New("open memory: .yamo is not a folder")
	}
	if err := os.MkdirAll(v.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("create memory folder: %w", err)
	}
	ignore := filepath.Join(v.Dir, ".gitignore")
	if _, err := os.Lstat(ignore); errors.Is(err, fs.ErrNotExist) {
		if err := os.WriteFile(ignore, []byte("*\n"), 0o600); err != nil {
			return nil, fmt.Errorf("keep memory out of version control: %w", err)
		}
	}
	return ledger.LoadOrCreateKey(filepath.Join(v.Dir, "key"))
}

// compartments opens everything this audience may read and takes in what other processes have written.
func (v *View) compartments(ctx context.Context) ([]*compartment, error) {
	names, err := v.visible()
	if err != nil {
		return nil, err
	}
	stores := make([]*compartment, 0, len(names))
	for _, name := range names {
		c, err := v.open(name)
		if err != nil {
			return nil, err
		}
		if err := c.sync(ctx); err != nil {
			return nil, err
		}
		stores = append(stores, c)
	}
	return stores, nil
}

// Close writes what is embedded but not yet in LanceDB, as far as ctx allows, and releases everything.
func (v *View) Close(ctx context.Context) error {
	v.mu.Lock()
	v.closed = true
	stores := v.stores
	v.stores = nil
	v.mu.Unlock()
	var errs []error
	for _, c := range stores {
		errs = append(errs, c.index.close(ctx, c))
	}
	return errors.Join(errs...)
}
