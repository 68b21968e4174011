package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(string, []byte) error{"Write": Write, "WriteCache": WriteCache} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "state.json")
			for _, want := range []string{"first", "the second is longer", ""} {
				if err := write(path, []byte(want)); err != nil {
					t.Fatal(err)
				}
				got, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, string(got)); diff != "" {
					t.Errorf("content (-want +got):\n%s", diff)
				}
			}
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode() != 0o600 {
				t.Errorf("mode %v, want 0600", info.Mode())
			}
		})
	}
}

// A reader that has the old file open goes on reading the old content: it was replaced, not overwritten.
func TestReadersKeepTheOldFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.json")
	if err := Write(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	old, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = old.Close() }()
	if err := Write(path, []byte("new")); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 3)
	if _, err := old.Read(got); err != nil || string(got) != "old" {
		t.Errorf("the open file has %q, %v", got, err)
	}
}

// A spool is in no folder, from its beginning on, and keeps what is written.
func TestSpool(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	spool, err := Spool(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := spool.WriteString("content"); err != nil {
		t.Fatal(err)
	}
	if list, err := os.ReadDir(filepath.Dir(path)); err != nil || len(list) != 0 {
		t.Errorf("the folder has %v, %v", list, err)
	}
	got := make([]byte, 7)
	if _, err := spool.ReadAt(got, 0); err != nil || string(got) != "content" {
		t.Errorf("it has %q, %v", got, err)
	}
	if err := spool.Close(); err != nil {
		t.Error(err)
	}
	if _, err := Spool(filepath.Join(path, "missing")); err == nil {
		t.Error("a spool in a missing folder")
	}
}

// What a killed writer has left is deleted, and nothing else, also in folders whose names look like patterns.
func TestRemoveParts(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "[a]*")
	path := filepath.Join(dir, "vectors.f32")
	if err := RemoveParts(path); err != nil {
		t.Errorf("in a missing folder: %v", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"vectors.f32", ".vectors.f32-123", ".vectors.f32-9", ".vectors.f3-1", "vectors.f32-1"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := RemoveParts(path); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, entry := range entries {
		left = append(left, entry.Name())
	}
	if diff := cmp.Diff([]string{".vectors.f3-1", "vectors.f32", "vectors.f32-1"}, left); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
}

func TestWriteFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := Write(filepath.Join(dir, "missing", "state.json"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("into a missing folder: %v", err)
	}
	// A rename cannot replace a folder by a file.
	path := filepath.Join(dir, "state.json")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, write := range map[string]func(string, []byte) error{"Write": Write, "WriteCache": WriteCache} {
		if err := write(path, []byte("new")); err == nil {
			t.Errorf("%s replaced a folder", name)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if diff := cmp.Diff([]string{"state.json"}, names); diff != "" {
		t.Errorf("a failed write leaves (-want +got):\n%s", diff)
	}
}

func TestWriteCacheFromFails(t *testing.T) {
	t.Parallel()
	path, failed := filepath.Join(t.TempDir(), "state"), errors.New("failed")
	if err := WriteCache(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	err := WriteCacheFrom(path, func(w io.Writer) error {
		_, err := io.WriteString(w, "half of the new")
		return errors.Join(err, failed)
	})
	if !errors.Is(err, failed) {
		t.Errorf("error %v, want that of write", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "old" {
		t.Errorf("the file has %q, %v; want what it had", got, err)
	}
	if list, err := os.ReadDir(filepath.Dir(path)); err != nil || len(list) != 1 {
		t.Errorf("%d files are left (%v), want 1", len(list), err)
	}
}
