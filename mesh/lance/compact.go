package lance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lancedb/lancedb-go/pkg/contracts"
)

// A search pays some 0.3 ms for every fragment, and a commit rewrites the list of them, so these decide when
// compacting pays.
const (
	smallFragment  = fragmentMax / 2
	tooManySmall   = 24
	tooManyVersion = 100
)

// Stats describe the files of all tables together.
type Stats struct {
	Rows      int // live rows
	Deleted   int // rows deleted whose bytes are still on disk
	Fragments int
	Small     int // fragments of under 5,000 live rows
	Versions  int // commits kept
}

// Fragmented reports whether Compact would make searches or commits noticeably faster.
func (s Stats) Fragmented() bool {
	return s.Small > tooManySmall || s.Versions > tooManyVersion || s.Deleted > s.Rows/4+100
}

// Stats reads the tables' file lists, not the rows.
func (db *DB) Stats(ctx context.Context) (Stats, error) {
	var s Stats
	for _, t := range tables {
		h, err := db.table(ctx, t.tableName())
		if err != nil {
			return s, err
		}
		if h == nil {
			continue
		}
		all, m, err := head(h.dir)
		if err := errors.Join(err, h.release()); err != nil {
			return s, fmt.Errorf("read table %s: %w", t.tableName(), err)
		}
		s.Rows += m.rows()
		s.Fragments += len(m.fragments)
		s.Versions += len(all)
		for _, f := range m.fragments {
			s.Deleted += int(f.rows - f.live()) //nolint:gosec // live rows are among the rows; both are counts
			if f.live() < smallFragment {
				s.Small++
			}
		}
	}
	return s, nil
}

// tables is every kind of row, for what treats them alike.
var tables = []interface {
	tableName() string
	rewrite(ctx context.Context, h *handle, dim int, m *manifest, old []fragment) error
}{memories, blocks, skills}

func (t *table[R]) tableName() string { return t.name }

// head returns the versions of the table in dir and the newest one's manifest.
func head(dir string) ([]uint64, *manifest, error) {
	all, err := versions(dir)
	if err != nil {
		return nil, nil, err
	}
	if len(all) == 0 {
		return nil, nil, fs.ErrNotExist
	}
	m, err := readManifest(dir, all[0], false)
	return all, m, err
}

// Compact merges small fragments into large ones and takes everything that is not part of the current rows
// off the disk: deleted rows, old versions, what interrupted writes left. Its cost grows with the rows in
// small fragments and next to deleted ones, not with the table. Where there is nothing to do it does nothing.
// Readers in all processes use the result from their next read on. The caller holds the index lock; after
// a crash at any point the old state or the new one is current, and the next Compact clears the rest away.
func (db *DB) Compact(ctx context.Context) error {
	db.write.Lock()
	defer db.write.Unlock()
	if err := db.compact(ctx); err != nil {
		return fmt.Errorf("compact memory index: %w", err)
	}
	return nil
}

// compact writes a new generation if that merges fragments or removes old versions, and deletes the former one.
func (db *DB) compact(ctx context.Context) error {
	ix, err := db.readIndex()
	if err != nil || ix == nil {
		return err
	}
	if err := db.sweep(ix.Generation); err != nil {
		return err
	}
	// A new generation links every data file, so it is made only if there is something to merge or to remove.
	work := false
	for _, t := range tables {
		h, err := db.table(ctx, t.tableName()) // recovers a damaged head
		if err != nil {
			return err
		}
		if h == nil {
			continue
		}
		all, m, err := head(h.dir)
		if err == nil {
			work = work || len(all) > 1 || len(victims(m)) > 0
		}
		if err := errors.Join(err, h.release()); err != nil {
			return err
		}
	}
	if !work {
		return nil
	}
	// The tables are made again in a folder of their own, and one rename of index.json publishes all of them: readers
	// never meet a half compacted table, and a crash leaves a folder that the next Compact sweeps.
	target, err := os.MkdirTemp(db.dir, generationPattern)
	if err != nil {
		return err
	}
	next := index{Model: ix.Model, Generation: filepath.Base(target)}
	for _, t := range tables {
		if err := db.compactTable(ctx, t.tableName(), target, t.rewrite); err != nil {
			return errors.Join(fmt.Errorf("table %s: %w", t.tableName(), err), os.RemoveAll(target))
		}
	}
	// LanceDB fsyncs nothing, and index.json must not name files that a power failure could empty.
	if err := syncTree(target); err != nil {
		return errors.Join(err, os.RemoveAll(target))
	}
	if err := db.writeIndex(next); err != nil {
		return err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	// Open tables are closed first: a deleted file keeps its space on the disk while it is open.
	return errors.Join(db.forget(), db.sweep(next.Generation))
}

// victims are the fragments worth rewriting.
func victims(m *manifest) []fragment {
	out := slices.DeleteFunc(slices.Clone(m.fragments),
		func(f fragment) bool { return f.deleted == 0 && f.rows >= smallFragment })
	if len(out) == 1 && out[0].deleted == 0 {
		return nil // nothing to merge it with
	}
	return out
}

// span is a range of row addresses. A row's address is its fragment's id in the upper 32 bits and its place
// there in the lower.
type span struct{ from, to, rows uint64 }

func (s span) predicate() string {
	return fmt.Sprintf("(_rowaddr >= %d AND _rowaddr < %d)", s.from, s.to)
}

// spans covers the fragments old of m, and no other, with as few ranges of at most limit rows as it can (a
// query by address visits every fragment, so there is not one for each).
func spans(m *manifest, old []fragment, limit uint64) (out []span) {
	rewritten := make(map[uint64]bool, len(old))
	for _, f := range old {
		rewritten[f.id] = true
	}
	joined := false // the last span may grow
	all := slices.SortedFunc(slices.Values(m.fragments), func(a, b fragment) int { return cmp.Compare(a.id, b.id) })
	for _, f := range all {
		if !rewritten[f.id] {
			joined = false
			continue
		}
		for at := uint64(0); at < f.rows; {
			n := min(f.rows-at, limit)
			s := span{from: f.id<<32 + at, to: f.id<<32 + at + n, rows: n}
			if last := len(out) - 1; joined && out[last].rows+n <= limit {
				out[last].to, out[last].rows = s.to, out[last].rows+n
			} else {
				out = append(out, s)
			}
			at, joined = at+n, true
		}
	}
	return out
}

// compactTable makes a compacted clone of a table in folder target. The clone shares the data files it keeps
// by hard links: LanceDB never changes a file it has written.
func (db *DB) compactTable(ctx context.Context, name, target string,
	rewrite func(context.Context, *handle, int, *manifest, []fragment) error,
) (err error) {
	h, err := db.table(ctx, name)
	if h == nil || err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.release()) }()
	_, m, err := head(h.dir)
	if err != nil {
		return err
	}
	clone := tablePath(target, name)
	manifest, err := filepath.Rel(h.dir, manifestPath(h.dir, m.version))
	if err != nil {
		return err
	}
	// The newest version only: older ones name files with deleted rows, which would stay on the disk with their links.
	for _, file := range append([]string{manifest}, m.files...) {
		if err := link(filepath.Join(h.dir, file), filepath.Join(clone, file)); err != nil {
			return err
		}
	}
	old := victims(m)
	if len(old) == 0 {
		return nil
	}
	c, err := openTable(ctx, clone)
	if err != nil {
		return err
	}
	err = rewrite(ctx, c, db.model.Dimension, m, old)
	var rows int64
	if err == nil {
		rows, err = c.Count(ctx)
	}
	if err := errors.Join(err, c.release()); err != nil {
		return err
	}
	// The last chance to notice a loss: after this the old generation is deleted.
	if int(rows) != m.rows() {
		return fmt.Errorf("%d rows became %d", m.rows(), rows)
	}
	return prune(clone)
}

// rewrite copies the rows of the fragments old of m, which h is open at, into large fragments and deletes them.
func (t *table[R]) rewrite(ctx context.Context, h *handle, dim int, m *manifest, old []fragment) error {
	var pending []*R
	flush := func() error {
		if len(pending) == 0 {
			return nil
		}
		err := call(ctx, func() error { return t.put(ctx, h, dim, pending) })
		pending = pending[:0]
		return err
	}
	for _, s := range spans(m, old, readPage) {
		var rows []R
		err := call(ctx, func() (err error) {
			rows, err = t.query(ctx, h, contracts.QueryConfig{Columns: t.columns(true), Where: s.predicate()})
			return err
		})
		if err != nil {
			return err
		}
		for i := range rows {
			if pending = append(pending, &rows[i]); len(pending) == fragmentMax {
				if err := flush(); err != nil {
					return err
				}
			}
		}
	}
	if err := flush(); err != nil {
		return err
	}
	for chunk := range slices.Chunk(spans(m, old, math.MaxUint32), 100) {
		var ranges []string
		for _, s := range chunk {
			ranges = append(ranges, s.predicate())
		}
		if err := call(ctx, func() error { return h.Delete(ctx, strings.Join(ranges, " OR ")) }); err != nil {
			return err
		}
	}
	return nil
}

// prune deletes every file of the table in dir that its newest version does not need.
//
// SECURITY: this is what takes deleted memories off the disk.
func prune(dir string) error {
	_, m, err := head(dir)
	if err != nil {
		return err
	}
	keep := map[string]bool{manifestPath(dir, m.version): true}
	for _, file := range m.files {
		keep[filepath.Join(dir, file)] = true
	}
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || keep[path] {
			return err
		}
		return os.Remove(path) //nolint:gosec // the folder is ours, 0700
	})
}

// link makes a second name for a file, or a copy where the file system has no links.
func link(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	if err := os.Link(from, to); err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist) {
		return err
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return errors.Join(err, in.Close())
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close(), in.Close())
}

// syncTree fsyncs every file and folder below dir, so that a generation is on disk before it becomes the current one.
func syncTree(dir string) error {
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return syncFile(path)
	})
}
