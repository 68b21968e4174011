package lance

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/lancedb/lancedb-go/pkg/contracts"
)

// Foreign describes a LanceDB database that another implementation of RFC-0011 wrote.
type Foreign struct {
	SchemaV2  bool
	Rows      int
	Dimension int
	Backup    bool     // a migration's memory_entries_v1_backup is there
	Others    []string // columns of memory_entries that RFC-0011 does not have
}

// Inspect describes the database in dir, a folder with memory_entries.lance in it. It wraps fs.ErrNotExist
// without one.
func Inspect(ctx context.Context, dir string) (info Foreign, err error) {
	h, err := openForeign(ctx, dir, memoryTable)
	if err != nil {
		return info, err
	}
	defer func() { err = errors.Join(err, h.release()) }()
	schema, err := h.Schema(ctx)
	if err != nil {
		return info, fmt.Errorf("inspect %s: %w", memoryTable, err)
	}
	info.SchemaV2 = IsSchemaV2(schema)
	for _, f := range schema.Fields() {
		if !memories.schema(1).HasField(f.Name) && f.Name != supersededColumn && f.Name != stateColumn {
			info.Others = append(info.Others, f.Name)
		}
	}
	if f, ok := schema.FieldsByName("vector"); ok {
		if l, ok := f[0].Type.(*arrow.FixedSizeListType); ok {
			info.Dimension = int(l.Len())
		}
	}
	n, err := h.Count(ctx)
	info.Rows = int(n)
	if _, statErr := os.Stat(tablePath(dir, backupTable)); statErr == nil {
		info.Backup = true
	}
	return info, err
}

// openForeign opens a table of another program's database. Unlike the DB's own tables it is never repaired: a damaged
// head is ErrDamaged.
// Columns of version 4 of the reference implementation, which RFC-0011 does not have.
const (
	supersededColumn = "superseded_at"
	stateColumn      = "state"
)

func openForeign(ctx context.Context, dir, name string) (*handle, error) {
	path := tablePath(dir, name)
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("open foreign table: %w", err)
	}
	_, newest, err := head(path)
	if err != nil {
		return nil, fmt.Errorf("open foreign table: %w: %w", ErrDamaged, err)
	}
	if err := newest.checkStorage(); err != nil {
		return nil, fmt.Errorf("open foreign table: %w", err)
	}
	return openTable(ctx, path)
}

// ForeignMemories yields the rows of the database in dir, V1 or V2, with their times, for import. Vectors are
// as they were written: not all implementations make them unit length. An error ends the sequence.
func ForeignMemories(ctx context.Context, dir string, withVector bool) iter.Seq2[Memory, error] {
	return func(yield func(Memory, error) bool) {
		stopped := false
		h, err := openForeign(ctx, dir, memoryTable)
		if err == nil {
			err = foreignRows(ctx, h, withVector, func(m Memory, err error) bool {
				stopped = !yield(m, err)
				return !stopped
			})
			err = errors.Join(err, h.release())
		}
		if err != nil && !stopped {
			yield(Memory{}, fmt.Errorf("read foreign table: %w", err))
		}
	}
}

// foreignRows yields the rows of another program's table. It must have the columns id, content and metadata; others are
// read if they have the RFC's type.
func foreignRows(ctx context.Context, h *handle, vector bool, yield func(Memory, error) bool) error {
	schema, err := h.Schema(ctx)
	if err != nil {
		return err
	}
	// Only columns of the type the RFC gives them: lancedb-go returns an explanation as the value of others.
	columns := slices.DeleteFunc(memories.columns(vector), func(name string) bool {
		have, ok := schema.FieldsByName(name)
		want, _ := memories.schema(1).FieldsByName(name)
		return !ok || have[0].Type.ID() != want[0].Type.ID()
	})
	for _, name := range []string{"id", "content", "metadata"} {
		if !slices.Contains(columns, name) {
			return fmt.Errorf("%w table: no text column %s", ErrInvalid, name)
		}
	}
	if f, ok := schema.FieldsByName(stateColumn); ok && f[0].Type.ID() == arrow.STRING {
		columns = append(columns, stateColumn)
	}
	var times [4]map[string]time.Time
	for i, name := range []string{"created_at", "updated_at", "last_accessed", supersededColumn} {
		if times[i], err = columnTimes(ctx, h, schema, name); err != nil {
			return fmt.Errorf("times of %s: %w", name, err)
		}
	}
	foreign := *memories
	foreign.decode = func(r row) (Memory, error) {
		m, err := memories.decode(r)
		m.Metadata = r.text("metadata")
		m.CreatedAt, m.UpdatedAt, m.LastAccessed = times[0][m.ID], times[1][m.ID], times[2][m.ID]
		m.SupersededAt, m.State = times[3][m.ID], r.text(stateColumn)
		if m.CreatedAt.IsZero() {
			m.CreatedAt = idTime(m.ID)
		}
		return m, err
	}
	return foreign.scanColumns(ctx, h, columns, yield)
}

// columnTimes reads a timestamp column that lancedb-go cannot hand back: one query for each bit of the
// numbers in it. Times before 1970 are left out, as nulls are.
func columnTimes(ctx context.Context, h *handle, schema *arrow.Schema, column string) (map[string]time.Time, error) {
	field, ok := schema.FieldsByName(column)
	if !ok {
		return nil, nil
	}
	unit, ok := field[0].Type.(*arrow.TimestampType)
	if !ok {
		return nil, nil
	}
	values := make(map[string]int64)
	sift := func(where string, visit func(string)) error {
		return call(ctx, func() error { return readIDs(ctx, h, contracts.QueryConfig{Where: where}, visit) })
	}
	number := "CAST(" + column + " AS BIGINT)"
	if err := sift(number+" >= 0", func(id string) { values[id] = 0 }); err != nil || len(values) == 0 {
		return nil, err
	}
	for bit := int64(1); bit > 0 && bit <= maxTimestamp(unit.Unit); bit <<= 1 {
		where := fmt.Sprintf("%s >= %d AND (%s / %d) %% 2 = 1", number, bit, number, bit)
		if err := sift(where, func(id string) { values[id] |= bit }); err != nil {
			return nil, err
		}
	}
	out := make(map[string]time.Time, len(values))
	for id, v := range values {
		out[id] = arrow.Timestamp(v).ToTime(unit.Unit).Truncate(time.Millisecond)
	}
	return out, nil
}

// maxTimestamp is the year 2200 in a unit.
func maxTimestamp(u arrow.TimeUnit) int64 {
	return int64(time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC).Sub(time.Unix(0, 0)) / u.Multiplier())
}

// backupDays is how long the V1 table is kept (RFC-0011 §11).
const backupDays = 30

// Migrate takes the database in dir from schema V1 to V2 (RFC-0011 §11): memory_entries gets the V2 fields, all
// null, and the V1 table stays as memory_entries_v1_backup for 30 days, after which a Migrate deletes it. It
// may be interrupted at any point and called again; on a V2 database it does no more than that. No other
// program may write to the database meanwhile. Rows without a vector or a creation time are an error.
//
// lancedb-go cannot rename tables, but a table is a folder that may be moved as a whole: the V2 table is
// made under another name, fsynced, and two renames of folders publish it.
func Migrate(ctx context.Context, dir string, now time.Time) error {
	current, backup, made := tablePath(dir, memoryTable), tablePath(dir, backupTable), tablePath(dir, migratingTable)
	exists := func(path string) bool { _, err := os.Stat(path); return err == nil }
	if !exists(current) && exists(backup) && exists(made) { // interrupted between the renames
		return rename(made, current)
	}
	info, err := Inspect(ctx, dir)
	if err != nil {
		return fmt.Errorf("migrate memory index: %w", err)
	}
	if info.SchemaV2 {
		return expire(backup, now)
	}
	if info.Backup {
		return fmt.Errorf("migrate memory index: %s is there already", backupTable)
	}
	if err := os.RemoveAll(made); err != nil { // an unfinished copy
		return fmt.Errorf("migrate memory index: %w", err)
	}
	if err := copyToV2(ctx, dir, info); err != nil {
		return fmt.Errorf("migrate memory index: %w", err)
	}
	if err := os.Chtimes(current, now, now); err != nil { // the backup's age
		return fmt.Errorf("migrate memory index: %w", err)
	}
	if err := rename(current, backup); err != nil {
		return err
	}
	return rename(made, current)
}

// copyToV2 writes the rows of the database in dir into a new table of schema V2 (RFC-0011 §2.2), next to the present
// one. A row that V2 cannot hold is an error that names it, and nothing is replaced.
func copyToV2(ctx context.Context, dir string, info Foreign) (err error) {
	v2 := *memories
	// The other program's rows keep their times in the columns. Ours repeat them in the metadata, because lancedb-go
	// cannot read timestamps back; another reader should not find that there.
	v2.append = func(b *array.RecordBuilder, m *Memory) { m.append(b, m.times(), m.Metadata) }
	if err := v2.createIn(ctx, dir, migratingTable, info.Dimension); err != nil {
		return err
	}
	h, err := openTable(ctx, tablePath(dir, migratingTable))
	if err != nil {
		return err
	}
	var pending []*Memory
	flush := func() error {
		chunk := pending
		pending = nil
		if len(chunk) == 0 {
			return nil
		}
		return call(ctx, func() error { return v2.put(ctx, h, info.Dimension, chunk) })
	}
	rows := func() error {
		for m, err := range ForeignMemories(ctx, dir, true) {
			if err != nil {
				return err
			}
			// Refused and not repaired: a zero vector or a made-up time would look like data of the other program.
			if len(m.Vector) != info.Dimension || m.CreatedAt.IsZero() {
				return fmt.Errorf("%w row %q: no vector or no creation time", ErrInvalid, m.ID)
			}
			if pending = append(pending, &m); len(pending) == fragmentMax {
				if err := flush(); err != nil {
					return err
				}
			}
		}
		return flush()
	}
	err = rows()
	var n int64
	if err == nil {
		n, err = h.Count(ctx)
	}
	if err := errors.Join(err, h.release()); err != nil {
		return err
	}
	if int(n) != info.Rows {
		return fmt.Errorf("%d rows became %d", info.Rows, n)
	}
	return syncTree(tablePath(dir, migratingTable))
}

// rename renames a folder and fsyncs the one that has its name, so that a migration goes on where it stopped.
func rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return fmt.Errorf("migrate memory index: %w", err)
	}
	return syncFile(filepath.Dir(to))
}

// expire deletes the backup if it has been kept long enough.
func expire(backup string, now time.Time) error {
	info, err := os.Stat(backup)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && now.Sub(info.ModTime()) > backupDays*24*time.Hour {
		err = os.RemoveAll(backup)
	}
	if err != nil {
		return fmt.Errorf("delete %s: %w", backupTable, err)
	}
	return nil
}
