package lance

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/lancedb/lancedb-go/pkg/contracts"
	"github.com/lancedb/lancedb-go/pkg/lancedb"
)

// Names of the tables (RFC-0011 §2, §11).
const (
	memoryTable    = "memory_entries"
	blockTable     = "yamo_blocks"
	skillTable     = "synthesized_skills"
	backupTable    = "memory_entries_v1_backup"
	migratingTable = "memory_entries_v2_migrating"
)

// Row counts of one native call. Reading goes through JSON, where a row with its vector takes some 40 KB of
// short-lived memory; writing is Arrow.
const (
	readPage    = 1_000
	idPage      = 50_000 // of ids alone
	fragmentMax = 10_000
)

// table describes how rows of type R are kept.
type table[R any] struct {
	name   string
	fields func(dim int) []arrow.Field
	id     func(*R) string
	check  func(r *R, dim int) error
	append func(*array.RecordBuilder, *R)
	decode func(row) (R, error)
}

func (t *table[R]) schema(dim int) *arrow.Schema { return arrow.NewSchema(t.fields(dim), nil) }

// columns lists what a read projects: never timestamps, which lancedb-go cannot hand back, and the vector only when
// wanted.
func (t *table[R]) columns(vector bool) (names []string) {
	for _, f := range t.fields(1) {
		if f.Type.ID() != arrow.TIMESTAMP && (vector || f.Name != "vector") {
			names = append(names, f.Name)
		}
	}
	return names
}

// add writes the rows whose ids are not there yet as one fragment for each fragmentMax rows. A row is never updated in
// place: lancedb-go's Update does not escape strings.
func (t *table[R]) add(ctx context.Context, db *DB, rows []R) error {
	seen := make(map[string]bool, len(rows))
	fresh := make([]*R, 0, len(rows))
	for i := range rows {
		id := t.id(&rows[i])
		if err := checkID(id); err != nil {
			return err
		}
		if err := t.check(&rows[i], db.model.Dimension); err != nil {
			return fmt.Errorf("row %s: %w", id, err)
		}
		// Within the call too: LanceDB has no unique key, and a row that is there twice would take two places of a search.
		if !seen[id] {
			seen[id] = true
			fresh = append(fresh, &rows[i])
		}
	}
	if len(fresh) == 0 {
		return ctx.Err()
	}
	db.write.Lock()
	defer db.write.Unlock()
	if err := t.create(ctx, db); err != nil {
		return fmt.Errorf("create table %s: %w", t.name, err)
	}
	err := db.use(ctx, t.name, func(h *handle) error {
		// Another process may have written them before this one got the index lock.
		present, err := t.present(ctx, h, fresh)
		if err != nil {
			return err
		}
		missing := slices.DeleteFunc(slices.Clone(fresh), func(r *R) bool {
			_, there := present[t.id(r)]
			return there
		})
		for chunk := range slices.Chunk(missing, fragmentMax) {
			if err := t.extend(ctx, h, db.model.Dimension, chunk); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("add to table %s: %w", t.name, err)
	}
	return nil
}

// extend writes rows, and adds their ids to those that h knows.
func (t *table[R]) extend(ctx context.Context, h *handle, dim int, rows []*R) error {
	known, before := h.ids, h.at()
	h.ids = nil // after an error it is not known what was written
	if err := t.put(ctx, h, dim, rows); err != nil {
		return err
	}
	// LanceDB makes the commit of a process without the lock a part of this table's, too.
	if known == nil || h.at() != before+1 {
		return nil
	}
	for _, r := range rows {
		known[t.id(r)] = struct{}{}
	}
	h.ids = known
	return nil
}

// put writes rows as one fragment.
func (t *table[R]) put(ctx context.Context, h *handle, dim int, rows []*R) error {
	b := array.NewRecordBuilder(memory.DefaultAllocator, t.schema(dim))
	defer b.Release()
	b.Reserve(len(rows))
	for _, r := range rows {
		t.append(b, r)
	}
	record := b.NewRecord()
	defer record.Release()
	// One call is one commit and one fragment: 1,000 single rows would leave 3,003 files and searches 30 times slower.
	// There are no options to pass, because lancedb-go ignores them.
	if err := h.AddRecords(ctx, []arrow.Record{record}, nil); err != nil {
		return err
	}
	return h.committed(ctx)
}

// create makes the table, and before it the folder, if it does not exist.
func (t *table[R]) create(ctx context.Context, db *DB) error {
	// Without db.mu, which db.table takes itself. Between the two, only the holder of the index lock, which is the caller,
	// could make the table.
	h, err := db.table(ctx, t.name)
	if err != nil {
		return err
	}
	if h != nil {
		return h.release()
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed {
		return ErrClosed
	}
	ix, err := db.ensureIndex()
	if err != nil {
		return err
	}
	return t.createIn(ctx, filepath.Join(db.dir, ix.Generation), t.name, db.model.Dimension)
}

// createIn makes an empty table. lancedb-go's CreateTable can deadlock with a Close that waits, so the
// connection is this call's own.
func (t *table[R]) createIn(ctx context.Context, dir, name string, dim int) error {
	conn, err := connect(ctx, dir)
	if err != nil {
		return err
	}
	schema, err := lancedb.NewSchema(t.schema(dim))
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	made, err := conn.CreateTable(ctx, name, schema)
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	return errors.Join(made.Close(), conn.Close())
}

// present returns ids that the table has, among them those of rows that it has. Asking for a few costs a scan of the id
// column and for many the transfer of all ids; the turning point was measured. All ids are kept with the table, so that
// a fill in many calls transfers them once, and not for each of them.
func (t *table[R]) present(ctx context.Context, h *handle, rows []*R) (map[string]struct{}, error) {
	if h.ids != nil {
		return h.ids, nil
	}
	count, err := h.Count(ctx)
	if err != nil {
		return nil, err
	}
	found := make(map[string]struct{})
	visit := func(id string) { found[id] = struct{}{} }
	if len(rows) > 2*idBatch {
		if count > 0 {
			if err := readAllIDs(ctx, h, visit); err != nil {
				return nil, err
			}
		}
		h.ids = found
		return found, nil
	}
	if count == 0 {
		return found, nil
	}
	for chunk := range slices.Chunk(rows, idBatch) {
		ids := make([]string, len(chunk))
		for i, r := range chunk {
			ids[i] = t.id(r)
		}
		where, err := idIn(ids)
		if err != nil {
			return nil, err
		}
		if err := readIDs(ctx, h, contracts.QueryConfig{Where: where}, visit); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// Filled ends a series of reads and additions: it lets go of the ids that these have kept, some 50 bytes for each row
// of a table, and of what the native library has freed.
func (db *DB) Filled() {
	db.write.Lock()
	defer db.write.Unlock()
	db.mu.Lock()
	defer db.mu.Unlock()
	for _, h := range db.open {
		h.ids = nil
	}
	trim()
}

// readAllIDs calls visit with the id of each row, a page at a time: lancedb-go returns rows as JSON.
func readAllIDs(ctx context.Context, h *handle, visit func(string)) error {
	page := idPage
	for offset := 0; ; offset += page {
		n := 0
		err := readIDs(ctx, h, contracts.QueryConfig{Limit: &page, Offset: &offset}, func(id string) {
			n++
			visit(id)
		})
		if err != nil || n < page {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// readIDs calls visit with the id of each row that q selects.
func readIDs(ctx context.Context, h *handle, q contracts.QueryConfig, visit func(string)) error {
	q.Columns = []string{"id"}
	rows, err := h.Select(ctx, q)
	for _, r := range rows {
		visit(row(r).text("id"))
	}
	return err
}

// remove deletes the rows with these ids; ids that are not there are no error.
func (t *table[R]) remove(ctx context.Context, db *DB, ids []string) error {
	for _, id := range ids {
		if err := checkID(id); err != nil {
			return err
		}
	}
	if len(ids) == 0 {
		return ctx.Err()
	}
	db.write.Lock()
	defer db.write.Unlock()
	err := db.use(ctx, t.name, func(h *handle) error {
		if h == nil {
			return nil
		}
		h.ids = nil
		for chunk := range slices.Chunk(ids, idBatch) {
			where, err := idIn(chunk)
			if err != nil {
				return err
			}
			if err := h.Delete(ctx, where); err != nil {
				return err
			}
		}
		return h.committed(ctx)
	})
	if err != nil {
		return fmt.Errorf("delete from table %s: %w", t.name, err)
	}
	return nil
}

// byID returns the rows with these ids in the order of ids, without those that are not there.
func (t *table[R]) byID(ctx context.Context, db *DB, ids []string, vector bool) ([]R, error) {
	var out []R
	for chunk := range slices.Chunk(ids, readPage) {
		where, err := idIn(chunk)
		if err != nil {
			return nil, err
		}
		found := make(map[string]R, len(chunk))
		err = db.use(ctx, t.name, func(h *handle) error {
			if h == nil {
				return nil
			}
			rows, err := t.query(ctx, h, contracts.QueryConfig{Columns: t.columns(vector), Where: where})
			for _, r := range rows {
				found[t.id(&r)] = r
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("read table %s: %w", t.name, err)
		}
		for _, id := range chunk {
			if r, ok := found[id]; ok {
				out = append(out, r)
				delete(found, id) // an id asked for twice is answered once
			}
		}
	}
	return out, nil
}

// query runs q and decodes its rows. A row that cannot be decoded is damage of the whole table, so the caller rebuilds
// it.
func (t *table[R]) query(ctx context.Context, h *handle, q contracts.QueryConfig) ([]R, error) {
	raw, err := h.Select(ctx, q)
	if err != nil {
		return nil, err
	}
	out := make([]R, len(raw))
	for i, r := range raw {
		if out[i], err = t.decode(row(r)); err != nil {
			return nil, fmt.Errorf("%w: row %q: %w", ErrDamaged, row(r).text("id"), err)
		}
	}
	return out, nil
}

// rows yields every row of one version of the table, in pages. An error ends the sequence.
func (t *table[R]) rows(ctx context.Context, db *DB, vector bool) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		stopped := false
		h, err := db.table(ctx, t.name)
		if err == nil && h != nil {
			err = t.scan(ctx, h, vector, func(r R, err error) bool {
				stopped = !yield(r, err)
				return !stopped
			})
			if err != nil && ctx.Err() == nil {
				_, damage := db.diagnose(h, err)
				err = errors.Join(damage, err)
			}
			err = errors.Join(err, h.release())
		}
		if err != nil && !stopped {
			var none R
			yield(none, fmt.Errorf("read table %s: %w", t.name, err))
		}
	}
}

func (t *table[R]) scan(ctx context.Context, h *handle, vector bool, yield func(R, error) bool) error {
	return t.scanColumns(ctx, h, t.columns(vector), yield)
}

// scanColumns yields all rows of h's version with these columns, a page at a time: lancedb-go returns rows as JSON, of
// which a whole table would not fit into memory.
func (t *table[R]) scanColumns(ctx context.Context, h *handle, columns []string, yield func(R, error) bool) error {
	page, offset := readPage, 0
	for {
		var rows []R
		at := offset
		err := call(ctx, func() (err error) {
			rows, err = t.query(ctx, h, contracts.QueryConfig{Columns: columns, Limit: &page, Offset: &at})
			return err
		})
		if err != nil {
			return err
		}
		for _, r := range rows {
			if !yield(r, nil) {
				return nil
			}
		}
		if len(rows) < page {
			return nil
		}
		offset += page
	}
}

// count returns the number of rows.
func count(ctx context.Context, db *DB, name string) (n int, err error) {
	err = db.use(ctx, name, func(h *handle) error {
		if h == nil {
			return nil
		}
		c, err := h.Count(ctx)
		n = int(c)
		return err
	})
	return n, err
}

// checkText returns an error unless every value, given as name, value, name, value, is UTF-8.
func checkText(pairs ...string) error {
	for i := 0; i < len(pairs); i += 2 {
		if !utf8.ValidString(pairs[i+1]) {
			return fmt.Errorf("%w %s: not UTF-8", ErrInvalid, pairs[i])
		}
	}
	return nil
}
