// Package sqlitefile reads SQLite databases that other programs have written, and that they may be writing now.
//
// The invariant: nothing is written to a database, nor next to it. One with a write-ahead log or a journal is read from
// a copy, since SQLite itself would create files next to it.
package sqlitefile

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	// The driver is SQLite's own C code: the smallest of the well-kept ones, 1.8 MB in the program.
	_ "github.com/mattn/go-sqlite3"
)

var (
	// ErrNotDatabase means that a file is no SQLite database.
	ErrNotDatabase = errors.New("it is no SQLite database")
	// ErrBusy means that a database was written each time it was copied.
	ErrBusy = errors.New("another program is writing it; try again when that is idle")
)

// magic is how every SQLite database begins.
const magic = "SQLite format 3\x00"

// File is an open database. It is not safe for concurrent use.
type File struct {
	db   *sql.DB
	copy string // the folder of the copy, "" if the database itself is read
}

// Open opens the database at path for reading. The error wraps fs.ErrNotExist for a missing one, and is ErrNotDatabase
// or ErrBusy. The caller closes the file.
func Open(ctx context.Context, path string) (f *File, err error) {
	if err := check(path); err != nil {
		return nil, err
	}
	opened := &File{}
	defer func() {
		if err != nil {
			err = errors.Join(err, opened.Close())
		}
	}()
	// Without other files no one is writing: SQLite may read as if the file never changed, and needs no locks.
	query := url.Values{"mode": {"ro"}, "immutable": {"1"}}
	if beside, err := besides(path); err != nil {
		return nil, err
	} else if len(beside) > 0 {
		if path, err = opened.take(ctx, path); err != nil {
			return nil, err
		}
		query = url.Values{} // the copy's log is applied to it
	}
	name := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: query.Encode()}
	if opened.db, err = sql.Open("sqlite3", name.String()); err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	opened.db.SetMaxOpenConns(1)
	// SECURITY: a database can have views and triggers that call functions; those of an unknown one are not trusted.
	for _, pragma := range []string{"trusted_schema=off", "cell_size_check=on", "query_only=on"} {
		if _, err := opened.db.ExecContext(ctx, "PRAGMA "+pragma); err != nil {
			return nil, fmt.Errorf("open database: %w", err)
		}
	}
	return opened, nil
}

// check reports what is no database.
func check(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // opened for reading
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return errors.Join(ErrNotDatabase, err)
	}
	head := make([]byte, len(magic))
	if _, err := io.ReadFull(file, head); err != nil || !bytes.Equal(head, []byte(magic)) {
		return ErrNotDatabase
	}
	return nil
}

// besides returns the files that SQLite keeps next to a database while it is written.
func besides(path string) (found []string, err error) {
	for _, end := range []string{"-wal", "-journal"} {
		info, err := os.Stat(path + end)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if info.Size() > 0 {
			found = append(found, path+end)
		}
	}
	return found, nil
}

// attempts is how often a database is copied that is being written.
const attempts = 5

// take copies the database at path with its log, and returns the copy.
func (f *File) take(ctx context.Context, path string) (copied string, err error) {
	if f.copy, err = os.MkdirTemp("", "yamo-sqlite-"); err != nil { // readable only for this account
		return "", err
	}
	copied = filepath.Join(f.copy, "copy.db")
	for range attempts {
		before, err := state(path)
		if err != nil {
			return "", err
		}
		files, err := besides(path)
		if err != nil {
			return "", err
		}
		for _, end := range []string{"-wal", "-journal"} {
			if err := os.Remove(copied + end); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return "", err
			}
		}
		for _, from := range append(files, path) {
			if err = copyFile(ctx, from, copied+strings.TrimPrefix(from, path)); err != nil {
				break // removed meanwhile
			}
		}
		after, stateErr := state(path)
		switch {
		case stateErr != nil || ctx.Err() != nil:
			return "", errors.Join(stateErr, ctx.Err())
		case err == nil && before == after:
			return copied, nil
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return "", err
		}
	}
	return "", ErrBusy
}

// state returns what changes when a database is written.
func state(path string) (s [3]struct {
	size int64
	at   time.Time
}, err error,
) {
	for i, end := range []string{"", "-wal", "-journal"} {
		info, err := os.Stat(path + end)
		if errors.Is(err, fs.ErrNotExist) && end != "" {
			continue
		}
		if err != nil {
			return s, err
		}
		s[i].size, s[i].at = info.Size(), info.ModTime()
	}
	return s, nil
}

// copyFile copies a file, until ctx ends.
func copyFile(ctx context.Context, from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // opened for reading
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		const part = 8 << 20
		if _, err := io.CopyN(out, in, part); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// Close releases the database, and removes the copy.
func (f *File) Close() (err error) {
	if f.db != nil {
		err = f.db.Close()
	}
	if f.copy != "" {
		err = errors.Join(err, os.RemoveAll(f.copy))
	}
	return err
}

// Has reports whether the database has a table.
func (f *File) Has(ctx context.Context, table string) (bool, error) {
	n := 0
	err := f.db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master WHERE type='table' AND name=?", table).Scan(&n)
	if err != nil {
		return false, fmt.Errorf("read database: %w", err)
	}
	return n > 0, nil
}

// Row is a row of a result, by the names of its columns.
type Row map[string]any

// Text returns a column as text, "" for one that is missing, NULL or binary.
func (r Row) Text(column string) string {
	switch v := r[column].(type) {
	case string:
		return v
	case int64:
		return fmt.Sprint(v)
	}
	return ""
}

// Bytes returns a column as it is stored, nil for one that is missing or NULL.
func (r Row) Bytes(column string) []byte {
	switch v := r[column].(type) {
	case []byte:
		return v
	case string:
		return []byte(v)
	}
	return nil
}

// Time returns a column of Unix milliseconds, the zero time for one that is missing or not positive.
func (r Row) Time(column string) time.Time {
	switch v := r[column].(type) {
	case int64:
		if v > 0 {
			return time.UnixMilli(v).UTC()
		}
	case float64:
		if v > 0 {
			return time.UnixMilli(int64(v)).UTC()
		}
	}
	return time.Time{}
}

// Each calls visit for each row of a query, until it fails. The row is valid during the call only.
func (f *File) Each(ctx context.Context, query string, visit func(Row) error, args ...any) (err error) {
	rows, err := f.db.QueryContext(ctx, query, args...)
	if err != nil {
		return fmt.Errorf("read database: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	columns, err := rows.Columns()
	if err != nil {
		return fmt.Errorf("read database: %w", err)
	}
	values, to := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		to[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(to...); err != nil {
			return fmt.Errorf("read database: %w", err)
		}
		row := make(Row, len(columns))
		for i, name := range columns {
			row[name] = values[i]
		}
		if err := visit(row); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read database: %w", err)
	}
	return nil
}
