package sqlitefile_test

import (
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/sqlitefile"
)

// writer makes a database as another program does, and returns its path and the program's open connection.
func writer(t *testing.T, journal string) (path string, db *sql.DB) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "odd ? name#.db")
	db, err := sql.Open("sqlite3", path[:0]+"file:"+escaped(path)+"?_journal_mode="+journal)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	for _, statement := range []string{
		`CREATE TABLE buoys (id INTEGER PRIMARY KEY, name TEXT, seen INTEGER, shape BLOB) STRICT`,
		`INSERT INTO buoys VALUES (1, 'north', 1772366400000, x'00ff'), (2, NULL, NULL, NULL)`,
	} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	return path, db
}

func escaped(path string) string {
	out := ""
	for _, c := range []byte(path) {
		switch c {
		case ' ', '?', '#', '%':
			out += "%" + string("0123456789ABCDEF"[c>>4]) + string("0123456789ABCDEF"[c&15])
		default:
			out += string(rune(c))
		}
	}
	return out
}

// files returns the files next to a database with their sizes and times.
func files(t *testing.T, path string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(filepath.Dir(path), e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		found[e.Name()] = string(data)
	}
	return found
}

// A database is read as it is now, also what its program has not moved out of the log yet, and nothing next to it is
// created or changed.
func TestReadsWithoutWriting(t *testing.T) {
	// Not parallel: it looks for copies that were left in the folder of temporary files.
	t.Setenv("TMPDIR", t.TempDir())
	for _, journal := range []string{"WAL", "DELETE"} {
		path, program := writer(t, journal)
		if _, err := os.Stat(path + "-wal"); (err == nil) != (journal == "WAL") {
			t.Fatalf("%s: the log: %v", journal, err)
		}
		before := files(t, path)
		f, err := sqlitefile.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		if err := f.Each(t.Context(), "SELECT * FROM buoys ORDER BY id", func(r sqlitefile.Row) error {
			got = append(got, r.Text("id")+" "+r.Text("name")+" "+r.Time("seen").Format(time.DateOnly)+" "+
				string(r.Bytes("shape"))+r.Text("absent"))
			return nil
		}); err != nil {
			t.Errorf("%s: %v", journal, err)
		}
		if diff := cmp.Diff([]string{"1 north 2026-03-01 \x00\xff", "2  0001-01-01 "}, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", journal, diff)
		}
		if has, err := f.Has(t.Context(), "buoys"); !has || err != nil {
			t.Errorf("%s: the table: %v, %v", journal, has, err)
		}
		if has, err := f.Has(t.Context(), "ships"); has || err != nil {
			t.Errorf("%s: another table: %v, %v", journal, has, err)
		}
		if err := f.Each(t.Context(), "DELETE FROM buoys", func(sqlitefile.Row) error { return nil }); err == nil {
			t.Errorf("%s: a write succeeds", journal)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(before, files(t, path)); diff != "" {
			t.Errorf("%s: reading changed files", journal)
		}
		if err := program.Close(); err != nil {
			t.Error(err)
		}
	}
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	for _, e := range left {
		if matched, _ := filepath.Match("yamo-sqlite-*", e.Name()); matched || err != nil {
			t.Errorf("a copy is left: %s, %v", e.Name(), err)
		}
	}
}

// What is no database is refused before SQLite sees it.
func TestNoDatabase(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"empty": "", "text": "SQLite format 4, which does not exist"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := sqlitefile.Open(t.Context(), path); !errors.Is(err, sqlitefile.ErrNotDatabase) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := sqlitefile.Open(t.Context(), dir); !errors.Is(err, sqlitefile.ErrNotDatabase) {
		t.Errorf("a folder: %v", err)
	}
	if _, err := sqlitefile.Open(t.Context(), filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("none: %v", err)
	}
	torn := filepath.Join(dir, "torn")
	if err := os.WriteFile(torn, []byte("SQLite format 3\x00 and then nothing of the kind"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := sqlitefile.Open(t.Context(), torn)
	if err == nil {
		_, err = f.Has(t.Context(), "buoys")
		_ = f.Close()
	}
	if err == nil {
		t.Error("a torn database is read")
	}
}
