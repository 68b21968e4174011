// Package turns makes the turns of conversations searchable, by meaning and by words.
//
// The logs remain the only copy of their text. On disk there are, for each log, fingerprints of the words of its turns
// (a digest, see digest.go), and vectors of what was said. The text of the newest turns is in memory, without
// credentials; of others it is read from the log when it is shown.
//
// The invariant: an Index has what its Source gives it, in files that no other audience's Index opens.
package turns

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/yamo-protocol/yamo-mcp/mesh/index"
	"github.com/yamo-protocol/yamo-mcp/mesh/keyword"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
	"github.com/yamo-protocol/yamo-mcp/mesh/vector"
)

// Source reads the conversations of one audience. It is safe for concurrent use.
type Source interface {
	// List returns all logs, the newest first.
	List(ctx context.Context) ([]Log, error)
	// Follow visits the turns of a log from an offset on, until visit returns false, and returns where to continue, and
	// how many lines it could not read.
	Follow(ctx context.Context, l Log, from int64, visit func(Turn) bool) (end int64, unread int, err error)
	// Turns returns the turns at offsets; one that is not there any more is left out.
	Turns(ctx context.Context, l Log, offsets []int64) ([]Turn, error)
	// Head returns up to n bytes of the beginning of a log, which never change while it grows.
	Head(l Log, n int64) ([]byte, error)
}

// Log is the log of a session.
type Log struct {
	Name      string // unique
	SessionID string
	Group     string // the group whose session it was, "" for the person's own
	Parent    string // the session whose subagent's it is, "" for none; a search in that session finds it
	Size      int64  // bytes
	Modified  time.Time
}

// Turn is what was said, called or returned at one point of a log.
type Turn struct {
	Offset int64     // of its line, in bytes
	Key    string    // of the row: another one with it is a repetition; "" for none
	Role   string    // user, assistant, tool, system, agent or another
	Time   time.Time // zero if it is not known
	Text   string    // all of it
	Spoken string    // what was said in it: without tool calls, results and code; "" for nothing
	Folder string    // that the host ran in, "" if it is not known
	Group  string    // the group whose session it was, "" for the person's own
	Unread bool      // a part of its line could not be read
}

// Limits of what is in memory. Older turns are found by their words only.
const (
	maxTurns = 30_000
	maxText  = 24 << 20 // bytes
)

// Options say what to index, where and with what.
type Options struct {
	Source   Source
	Dir      string // of the digests and vectors; created when something is written
	Lock     string // path without extension of the files that let one process at a time write
	Embedder index.Embedder
	// Redact removes credentials; clean reports that there were none.
	Redact func(text string) (redacted string, clean bool)
	// Project returns the identity of the project that a folder is in, "" for none; nil: none is known.
	Project    func(dir string) string
	Visibility record.Visibility // the compartment of the audience that the logs belong to
	Prepare    func() error      // called before anything is written: creates the folders and checks them
	Logger     *slog.Logger
}

// Index is the searchable turns of a Source. It reads nothing before its first use, and follows the logs from then on:
// each search first reads what was added. It is safe for concurrent use.
type Index struct {
	Options
	digests, vectors *index.Lock
	stemmer          keyword.Stemmer // of the worker

	ctx  context.Context // ends the work
	stop context.CancelFunc
	done sync.WaitGroup

	passing sync.Mutex // held by a pass

	mu       sync.Mutex // guards what follows
	store    *store.Projection
	logs     map[string]*state // by name
	order    []string          // the names, newest first
	turns    map[string]place  // by the record's id
	projects map[string]string // by folder
	count    int               // turns in store
	text     int               // bytes of them
	stale    bool              // the file of vectors may have some of removed turns
	working  chan struct{}     // closed when the current pass has read the logs, nil if idle
	behind   int               // logs that were not read to their end in the last pass
	failedAt time.Time         // when the embedder failed last
}

// place is where a turn in memory is.
type place struct {
	log     *state
	offset  int64
	ordinal int
}

// New returns the index of o.Source. The caller calls Close.
func New(o Options) *Index {
	x := &Index{
		Options: o, digests: index.NewLock(o.Lock + ".lock"), vectors: index.NewLock(o.Lock + ".vectors.lock"),
		projects: map[string]string{}, logs: map[string]*state{}, stale: true,
	}
	x.ctx, x.stop = context.WithCancel(context.Background())
	x.clear()
	return x
}

// clear begins an empty projection. x.mu is held.
func (x *Index) clear() {
	m := x.Embedder.Model()
	x.store = store.NewProjection(x.Visibility, vector.Open(filepath.Join(x.Dir, "turns.f32"), m.Name, m.Dim))
	x.turns, x.count, x.text, x.stale = map[string]place{}, 0, 0, true
	for _, s := range x.logs {
		s.ids, s.loaded, s.text = nil, false, 0
	}
}

// Close ends the work and waits for it, until ctx ends.
func (x *Index) Close(ctx context.Context) error {
	if x == nil {
		return nil
	}
	if err := index.End(ctx, &x.mu, x.stop, &x.done); err != nil {
		return fmt.Errorf("close the index of conversations: %w", err)
	}
	return nil
}

// Progress is how far the index is.
type Progress struct {
	Logs, Behind int // all, and those that are not read to their end
	Turns        int // in memory
	Pending      int // of those, without a vector
}

// Progress returns how far the index is.
func (x *Index) Progress() Progress {
	x.mu.Lock()
	defer x.mu.Unlock()
	_, pending := x.store.Vectors.Missing(0)
	return Progress{Logs: len(x.order), Behind: x.behind, Turns: x.count, Pending: pending}
}

// Update reads everything that the logs have, and reports each log. It waits for other processes that write. Vectors
// are made by the next session.
func (x *Index) Update(ctx context.Context, report func(done, total int)) error {
	return x.digests.Do(ctx, func() error { return x.pass(ctx, true, report) })
}
