// Package fileindex makes the workspace's own files searchable with the memory, for a DM.
//
// The files remain the only copy of their content: none of it is written to a ledger or to LanceDB. Only vectors are on
// disk, and those of what is no longer in the files are removed.
package fileindex

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh/index"
	"github.com/yamo-protocol/yamo-mcp/mesh/rank"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
	"github.com/yamo-protocol/yamo-mcp/mesh/vector"
)

// Source reads the workspace's files that a DM's searches find in addition to memories (RFC-0009 §5.4).
type Source interface {
	// List returns all files, in a fixed order.
	List(ctx context.Context) []Info
	// Read returns what is searched of a file. Of a file that cannot be read that is nothing.
	Read(ctx context.Context, name string) (Content, error)
}

// Content is what is searched of a file.
type Content struct {
	SessionID string    // of its front matter, "" for none
	Tags      []string  // of its front matter, with its links in the form [[target]]
	Passages  []Passage // in order
}

// Info describes a file. A file is read again when any field changes.
type Info struct {
	Name     string    // unique
	Link     string    // where a client reads it
	Group    string    // the group that wrote it, "" for the user and the agent
	Time     time.Time // that its content is about, such as the day of a log
	Modified time.Time
	Size     int64
}

// Passage is a part of a file, such as the text under one heading. A long one is cut like a long memory.
type Passage struct {
	Heading string // that the text is under, "" for none
	Path    string // that heading and those above it in one line, which is embedded with the text
	Text    string
	Line    int // of the file, on which Text begins, from 1; 0 if it is not known
}

// origin is where a passage is.
type origin struct {
	Info
	line int
}

// maxHoles is the number of deleted passages that the projection may keep as empty documents before it is rebuilt.
const maxHoles = 1000

// Options say what to search and with what.
type Options struct {
	Source   Source
	Path     string // of the file of vectors, which all processes share
	Lock     string // of the file that lets one process at a time write vectors
	Embedder index.Embedder
	Scrubber *scrub.Scrubber
	AgentID  string // of the records that a search returns
	// Visibility is the compartment of the audience that the files belong to.
	Visibility record.Visibility
	Prepare    func() error // called before anything is written: creates the folders and checks them
	Logger     *slog.Logger
}

// ofGroup is the files of a source that one group wrote.
type ofGroup struct {
	Source
	group string
}

// OfGroup returns the files of source that the group called name wrote.
func OfGroup(source Source, name string) Source { return ofGroup{source, name} }

func (s ofGroup) List(ctx context.Context) []Info {
	return slices.DeleteFunc(s.Source.List(ctx), func(info Info) bool { return info.Group != s.group })
}

// Index is the projection of the files: a compartment without a ledger, whose records are the passages. It is made
// from the files at the first search and updated at every search, so that each process finds what the files contain
// now. A passage's identity is its text, so an edit makes new vectors only for what it changed.
//
// A nil Index has no files. It is safe for concurrent use.
type Index struct {
	Options
	lock *index.Lock

	ctx  context.Context // ends the work
	stop context.CancelFunc
	done sync.WaitGroup

	mu       sync.Mutex // guards what follows, and is held to change store
	store    *store.Projection
	files    map[string]projected // by name
	origin   map[string]origin    // by the passage's id
	stale    bool                 // the vectors' file may have vectors of removed passages
	staleOwn int                  // how many removals of passages of the audience's own files were since
	working  chan struct{}        // closed when the current work ends, nil if idle
	moved    chan struct{}        // closed, and replaced, when vectors have come or were removed
	failed   error                // what ended the last work
	failedAt time.Time
}

// projected is what the projection holds of a file.
type projected struct {
	info Info
	ids  []string
}

// New returns the index of o.Source, which reads nothing yet. The caller calls Close.
func New(o Options) *Index {
	x := &Index{
		Options: o, lock: index.NewLock(o.Lock), files: map[string]projected{}, origin: map[string]origin{}, stale: true,
		staleOwn: 1, moved: make(chan struct{}),
	}
	x.ctx, x.stop = context.WithCancel(context.Background())
	x.clear()
	return x
}

// clear begins an empty projection. x.mu is held.
func (x *Index) clear() {
	m := x.Embedder.Model()
	x.store = store.NewProjection(x.Visibility, vector.Open(x.Path, m.Name, m.Dim))
}

// Join adds the passages to what a search ranks. If the query has a vector (semantic), it waits up to patience for the
// audience's own passages without one and returns how many of all are left.
func (x *Index) Join(
	ctx context.Context, among []rank.Source, semantic bool, patience time.Duration,
) (joined []rank.Source, pending int, err error) {
	if x == nil {
		return among, 0, nil
	}
	if err := x.sync(ctx); err != nil {
		return nil, 0, err
	}
	if semantic {
		pending = x.ready(ctx, patience)
	} else {
		x.wake() // to remove vectors from the disk
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	foreign := map[string]bool{}
	for _, file := range x.files {
		if x.isForeign(file.info) {
			for _, id := range file.ids {
				foreign[id] = true
			}
		}
	}
	source := rank.Source{Projection: x.store}
	if len(foreign) > 0 {
		source.IsForeign = func(id string) bool { return foreign[id] }
	}
	return append(among, source), pending, nil
}

// isForeign reports whether another group than the audience wrote a file.
func (x *Index) isForeign(info Info) bool {
	return info.Group != "" && info.Group != x.Visibility.Group()
}

// Mark sets the link of each hit that is a passage, and the group that wrote it.
func (x *Index) Mark(hits []record.Hit) {
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for i := range hits {
		info, ok := x.origin[hits[i].ID]
		if !ok {
			continue
		}
		hits[i].Link = info.Link
		if info.line > 0 {
			hits[i].Place = fmt.Sprintf("line %d", info.line)
		}
		if info.Group != "" {
			hits[i].Visibility = record.OfGroup(info.Group)
		}
	}
}

// sync updates the projection to the files.
func (x *Index) sync(ctx context.Context) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	there := map[string]bool{}
	for _, info := range x.Source.List(ctx) {
		if err := ctx.Err(); err != nil {
			return err
		}
		there[info.Name] = true
		if x.files[info.Name].info == info {
			continue
		}
		content, err := x.Source.Read(ctx, info.Name)
		if err != nil {
			x.Logger.Debug("a workspace file is not searched", "error", err)
		}
		x.replace(info, content)
	}
	// What is not listed any more, or not for this audience any more, must not be found by this search.
	for name := range x.files {
		if !there[name] {
			x.replace(Info{Name: name}, Content{})
			delete(x.files, name)
		}
	}
	s := x.store.Snapshot()
	// Removed passages leave empty documents, which every search passes.
	sparse := len(s.Docs) > 2*s.Live+maxHoles
	s.Release()
	if sparse {
		x.compact()
	}
	return nil
}

// replace replaces the passages of a file. x.mu is held.
func (x *Index) replace(info Info, content Content) {
	before := x.files[info.Name]
	old := map[string]*record.Record{}
	s := x.store.Snapshot()
	for _, id := range before.ids {
		old[id] = s.Find(id)
		delete(x.origin, id)
	}
	s.Release()
	file := projected{info: info}
	var added []*record.Record
	// RFC-0011 §6.3: no secret reaches the index or an embedding provider.
	redact := func(s string) string {
		s, _ = x.Scrubber.Redact(s)
		return s
	}
	memory := record.Memory{Type: record.FileType, SessionID: redact(text.First(content.SessionID, record.MaxField))}
	for _, tag := range content.Tags[:min(len(content.Tags), record.MaxTags)] {
		memory.Tags = append(memory.Tags, redact(text.First(tag, record.MaxTag)))
	}
	seen := map[string]int{}
	for _, p := range content.Passages {
		p.Text, p.Path, p.Heading = redact(p.Text), redact(p.Path), redact(p.Heading)
		if memory.Source = info.Name; p.Heading != "" {
			memory.Source += "#" + p.Heading
		}
		for _, chunk := range store.Cut(p.Text) {
			memory.Content = chunk.Text
			if p.Path != "" {
				memory.Content = p.Path + "\n\n" + chunk.Text
			}
			key := p.Heading + "\x00" + memory.Content
			id := passageID(info.Name, key, seen[key])
			seen[key]++
			line := 0
			if p.Line > 0 {
				line = p.Line + strings.Count(p.Text[:chunk.Start], "\n")
			}
			r := &record.Record{
				ID: id, Memory: memory, AgentID: x.AgentID, CreatedAt: info.Time.UTC().Truncate(time.Millisecond),
			}
			if reflect.DeepEqual(old[id], r) { // an edit changes few passages, a new line of a log none
				delete(old, id)
			} else {
				added = append(added, r)
			}
			x.origin[id] = origin{info, line}
			file.ids = append(file.ids, id)
		}
	}
	x.store.Remove(slices.Collect(maps.Keys(old))...)
	if len(old) > 0 {
		x.stale = true
		if !x.isForeign(before.info) {
			x.staleOwn += len(old)
		}
	}
	x.store.Add(added...)
	x.files[info.Name] = file
}

// passageID returns the id of the nth passage with this key, its heading and text, in a file. All processes compute the
// same, so they share the vectors.
func passageID(name, key string, n int) string {
	sum := sha256.Sum256([]byte(name + "\x00" + key + "\x00" + strconv.Itoa(n)))
	return "file_" + hex.EncodeToString(sum[:12])
}

// compact rebuilds the projection without empty documents. The vectors come from the file: work that is in progress
// looks only for those that it lacks. x.mu is held.
func (x *Index) compact() {
	old := x.store
	x.clear()
	s := old.Snapshot()
	defer s.Release()
	x.store.Add(slices.Collect(s.Memories())...)
	_ = x.store.Vectors.Refresh() // the work reports what is wrong with the file
}
