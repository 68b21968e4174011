package mesh

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/index"
	"github.com/yamo-protocol/yamo-mcp/mesh/rank"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
	"github.com/yamo-protocol/yamo-mcp/mesh/vector"
)

// Files are the workspace's files that a DM's searches find in addition to memories (RFC-0009 §5.4). They remain the
// only copy of their content: none of it is written to a ledger or to LanceDB.
type Files interface {
	// List returns all files, in a fixed order.
	List(ctx context.Context) []FileInfo
	// Read returns a file's passages, in order. A file that cannot be read has none.
	Read(ctx context.Context, name string) ([]Passage, error)
}

// FileInfo describes a file of Files. A file is read again when any field changes.
type FileInfo struct {
	Name     string    // unique
	Link     string    // where a client reads it
	Group    string    // the group that wrote it, "" for the human and the agent
	Time     time.Time // that its content is about, such as the day of a log
	Modified time.Time
	Size     int64
}

// Passage is a part of a file, small enough to embed.
type Passage struct {
	Heading string // that the text is under, "" for none
	Text    string
}

// maxHoles is the number of deleted passages that the projection may keep as empty documents before it is rebuilt.
const maxHoles = 1000

// fileIndex is the projection of Files: a compartment without a ledger, whose records are the passages. It is made
// from the files at the first search and updated at every search, so that each process finds what the files contain
// now. Only the vectors are on disk, in one file for all processes. A passage's identity is its text, so an edit
// makes new vectors only for what it changed, and the vectors of what is no longer in the files are removed from the
// disk.
type fileIndex struct {
	view   *View
	source Files
	path   string      // of the vectors
	lock   *index.Lock // of the vectors, among processes

	ctx  context.Context // ends the work
	stop context.CancelFunc
	done sync.WaitGroup

	mu       sync.Mutex // guards what follows, and is held to change store
	store    *store.Projection
	files    map[string]projected // by name
	origin   map[string]FileInfo  // by the passage's id
	stale    bool                 // the vectors' file may have vectors of removed passages
	working  chan struct{}        // closed when the current work ends, nil if idle
	failed   error                // what ended the last work
	failedAt time.Time
}

// projected is what the projection holds of a file.
type projected struct {
	info FileInfo
	ids  []string
}

// newFileIndex returns the index of v.Files, nil if v must not or cannot search files.
func newFileIndex(v *View) *fileIndex {
	// SECURITY: the files are the human's. No other view than a DM's has them, whatever it was given.
	if v.Files == nil || !v.Audience.IsDM() {
		return nil
	}
	f := &fileIndex{
		view: v, source: v.Files, path: filepath.Join(v.Dir, string(record.Private), "files.f32"),
		files: map[string]projected{}, origin: map[string]FileInfo{}, stale: true,
	}
	f.lock = index.NewLock(filepath.Join(v.Dir, "locks", "files.index.lock"))
	f.ctx, f.stop = context.WithCancel(context.Background())
	f.clear()
	return f
}

// clear begins an empty projection. f.mu is held.
func (f *fileIndex) clear() {
	m := f.view.Embedder.Model()
	f.store = store.NewProjection(record.Private, vector.Open(f.path, m.Name, m.Dim))
}

// join adds the passages to what a search ranks. If the query has a vector (semantic), it waits up to patience for
// passages without one.
func (f *fileIndex) join(ctx context.Context, among []rank.Source, semantic bool, found *Found) ([]rank.Source, error) {
	if f == nil {
		return among, nil
	}
	if err := f.sync(ctx); err != nil {
		return nil, err
	}
	if semantic {
		found.Pending += f.ready(ctx, patience)
	} else {
		f.wake() // to remove vectors from the disk
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return append(among, rank.Source{Projection: f.store}), nil
}

// mark sets the link of each hit that is a passage, and the group that wrote it.
func (f *fileIndex) mark(hits []record.Hit) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range hits {
		info, ok := f.origin[hits[i].ID]
		if !ok {
			continue
		}
		hits[i].Link = info.Link
		if info.Group != "" {
			hits[i].Visibility = record.OfGroup(info.Group)
		}
	}
}

// sync updates the projection to the files.
func (f *fileIndex) sync(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	there := map[string]bool{}
	for _, info := range f.source.List(ctx) {
		if err := ctx.Err(); err != nil {
			return err
		}
		there[info.Name] = true
		if f.files[info.Name].info == info {
			continue
		}
		passages, err := f.source.Read(ctx, info.Name)
		if err != nil {
			f.view.Logger.Debug("a workspace file is not searched", "error", err)
		}
		f.replace(info, passages)
	}
	for name := range f.files {
		if !there[name] {
			f.replace(FileInfo{Name: name}, nil)
			delete(f.files, name)
		}
	}
	s := f.store.Snapshot()
	sparse := len(s.Docs) > 2*s.Live+maxHoles
	s.Release()
	if sparse {
		f.compact()
	}
	return nil
}

// replace replaces the passages of a file. f.mu is held.
func (f *fileIndex) replace(info FileInfo, passages []Passage) {
	f.store.Remove(f.files[info.Name].ids...)
	for _, id := range f.files[info.Name].ids {
		delete(f.origin, id)
		f.stale = true
	}
	file := projected{info: info}
	var added []*record.Record
	seen := map[Passage]int{}
	for _, p := range passages {
		// RFC-0011 §6.3: no secret reaches the index or an embedding provider.
		p.Text, _ = f.view.scrubber.Redact(p.Text)
		p.Heading, _ = f.view.scrubber.Redact(p.Heading)
		id := passageID(info.Name, p, seen[p])
		seen[p]++
		r := &record.Record{
			ID: id, Memory: record.Memory{Content: p.Text, Type: record.FileType, Source: info.Name},
			AgentID: f.view.AgentID, CreatedAt: info.Time.UTC().Truncate(time.Millisecond),
		}
		if p.Heading != "" {
			r.Source += "#" + p.Heading
		}
		added = append(added, r)
		f.origin[id] = info
		file.ids = append(file.ids, id)
	}
	f.store.Add(added...)
	f.files[info.Name] = file
}

// passageID returns the id of the nth passage with this heading and text in a file. All processes compute the same, so
// they share the vectors.
func passageID(name string, p Passage, n int) string {
	sum := sha256.Sum256([]byte(name + "\x00" + p.Heading + "\x00" + p.Text + "\x00" + strconv.Itoa(n)))
	return "file_" + hex.EncodeToString(sum[:12])
}

// compact rebuilds the projection without empty documents. The vectors come from the file. f.mu is held.
func (f *fileIndex) compact() {
	old := f.store
	f.clear()
	s := old.Snapshot()
	defer s.Release()
	f.store.Add(slices.Collect(s.Memories())...)
}

// ready waits until every passage has its vector, for at most patience, and returns the number of those without one.
func (f *fileIndex) ready(ctx context.Context, patience time.Duration) (pending int) {
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	working, vectors := f.wake()
	if working != nil {
		select {
		case <-working:
		case <-timeout.C:
		case <-ctx.Done():
		}
	}
	_, pending = vectors.Missing(0)
	return pending
}

// wake starts the work on the vectors if there is any to do and it has not just failed. working is closed when the work
// ends, and nil if none is in progress.
func (f *fileIndex) wake() (working <-chan struct{}, vectors *vector.Set) {
	f.mu.Lock()
	defer f.mu.Unlock()
	vectors = f.store.Vectors
	if f.working != nil {
		return f.working, vectors
	}
	_ = vectors.Refresh() // the work reports what is wrong with the file
	_, missing := vectors.Missing(0)
	_, err := os.Lstat(f.path)
	s := f.store.Snapshot()
	empty := len(s.Docs) == 0 && errors.Is(err, fs.ErrNotExist) // then no file is created either
	s.Release()
	resting := f.failed != nil && !errors.Is(f.failed, embed.ErrNoAssets) && time.Since(f.failedAt) < index.RetryAfter
	if missing == 0 && !f.stale || empty || resting || f.ctx.Err() != nil {
		return nil, vectors
	}
	done := make(chan struct{})
	f.working = done
	f.done.Go(func() {
		err := f.work(f.ctx)
		f.mu.Lock()
		defer f.mu.Unlock()
		if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, embed.ErrNoAssets) {
			f.view.Logger.Warn("index workspace files", "error", err)
		}
		f.failed, f.failedAt, f.working = err, time.Now(), nil
		close(done)
	})
	return done, vectors
}

// work removes the vectors of removed passages from the disk and makes the missing ones.
func (f *fileIndex) work(ctx context.Context) error {
	if _, err := f.view.prepare(); err != nil {
		return err
	}
	if err := f.view.checkFolders(filepath.Dir(f.path)); err != nil {
		return err
	}
	return f.lock.Do(ctx, func() error {
		// Under the lock: another process may have embedded passages of a file that this one has not read yet, and Prune
		// would delete their vectors.
		if err := f.sync(ctx); err != nil {
			return err
		}
		f.mu.Lock()
		passages := f.store
		f.mu.Unlock()
		vectors := passages.Vectors
		err := vectors.Refresh()
		if errors.Is(err, vector.ErrModel) {
			err = vectors.Clear() // unlike the memory's vectors, these cost little
		}
		if err != nil {
			return err
		}
		if err := vectors.Prune(); err != nil {
			return err
		}
		f.mu.Lock()
		f.stale = false
		f.mu.Unlock()
		for {
			ids, texts := index.Missing(passages, index.EmbedBatch)
			if len(ids) == 0 {
				return nil
			}
			made, err := f.view.Embedder.Embed(ctx, texts)
			if err != nil {
				return fmt.Errorf("embed workspace files: %w", err)
			}
			if len(made) != len(texts) {
				return fmt.Errorf("embed workspace files: %d vectors for %d texts", len(made), len(texts))
			}
			if err := vectors.Append(ids, made); err != nil {
				return err
			}
		}
	})
}

// Refresh updates the index of workspace files to the files, and starts to remove and embed in the background.
// Searches do the same; Refresh is for callers that know that a file has changed. Before the first search it does
// nothing.
func (v *View) Refresh(ctx context.Context) error {
	f := v.files
	if f == nil {
		return nil
	}
	f.mu.Lock()
	unused := len(f.files) == 0
	f.mu.Unlock()
	if unused {
		return nil
	}
	err := f.sync(ctx)
	f.wake()
	return err
}

// rebuild deletes the vectors of all passages and makes them again.
func (f *fileIndex) rebuild(ctx context.Context, report func(done, total int)) error {
	if f == nil {
		return nil
	}
	if err := f.sync(ctx); err != nil {
		return err
	}
	f.mu.Lock()
	vectors, total := f.store.Vectors, f.count()
	f.mu.Unlock()
	if total == 0 && !exists(f.path) {
		return nil
	}
	report(0, total)
	if err := f.lock.Do(ctx, vectors.Clear); err != nil {
		return err
	}
	if err := f.work(ctx); err != nil {
		return err
	}
	report(total, total)
	return nil
}

// check notes what is wrong with the vectors on disk. What they lack, and what they have of no passage any more, the
// next search puts right.
func (f *fileIndex) check(ctx context.Context, r *index.Report) error {
	if f == nil || !exists(f.path) {
		return nil
	}
	f.mu.Lock()
	vectors := f.store.Vectors
	f.mu.Unlock()
	return f.lock.Do(ctx, func() error {
		a, err := vectors.Audit()
		if err != nil {
			r.Problem("workspace files: %v", err)
		}
		r.Count(a.Damaged, "vectors of workspace files are damaged")
		return nil
	})
}

// close ends the work and waits for it, until ctx ends.
func (f *fileIndex) close(ctx context.Context) error {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	f.stop() // no work is started from here on
	f.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		f.done.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("close the index of files: %w", cmp.Or(context.Cause(ctx), ctx.Err()))
	}
}

// count returns the number of passages. f.mu is held.
func (f *fileIndex) count() int {
	s := f.store.Snapshot()
	defer s.Release()
	return s.Live
}
