package plain

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
)

func root(t *testing.T, files map[string]string) (dir string, root *os.Root) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		put(t, dir, name, text)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := root.Close(); err != nil {
			t.Error(err)
		}
	})
	return dir, root
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestRead(t *testing.T) {
	t.Parallel()
	_, r := root(t, map[string]string{"a/b/c": "12345"})
	for limit, want := range map[int64]string{0: "", 4: "1234", 5: "12345", 6: "12345"} {
		data, more, err := Read(r, "a/b/c", limit)
		switch {
		case err != nil:
			t.Errorf("limit %d: %v", limit, err)
		case string(data) != want:
			t.Errorf("limit %d: %q, want %q", limit, string(data), want)
		case more != (limit < 5):
			t.Errorf("limit %d: more = %v, want %v", limit, more, !more)
		}
	}
	for _, name := range []string{"a/b", "a", "a/x", "x/y"} {
		if _, _, err := Read(r, name, 10); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var refused *RefusedError
	if _, _, err := Read(r, "a/b/c/d", 10); !errors.As(err, &refused) {
		t.Errorf("below a file: %v", err)
	}
}

// Links are refused at every place of a path, also those that stay inside the root.
func TestLinksAreRefused(t *testing.T) {
	t.Parallel()
	dir, r := root(t, map[string]string{"a/b": "x"})
	for link, target := range map[string]string{"file": "a/b", "folder": "a", "a/up": ".."} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	var refused *RefusedError
	for _, name := range []string{"file", "folder/b", "a/up/a/b"} {
		if _, err := Open(r, name, os.O_RDONLY); !errors.As(err, &refused) {
			t.Errorf("open %s: %v", name, err)
		}
		if _, err := Stat(r, name); !errors.As(err, &refused) {
			t.Errorf("stat %s: %v", name, err)
		}
		if err := Append(t.Context(), r, name, func([]byte) []byte { return []byte("y") }); !errors.As(err, &refused) {
			t.Errorf("append to %s: %v", name, err)
		}
		always := func([]byte) (bool, error) { return true, nil }
		if _, err := Replace(r, name, []byte("y"), always); !errors.As(err, &refused) {
			t.Errorf("replace %s: %v", name, err)
		}
	}
	if _, err := List(r, "folder"); !errors.As(err, &refused) {
		t.Errorf("list: %v", err)
	}
	if got := get(t, dir, "a/b"); got != "x" {
		t.Errorf("the target is now %q", got)
	}
}

// A second name of a file is refused under both names, by each way to open or describe it.
func TestHardLinksAreRefused(t *testing.T) {
	t.Parallel()
	dir, r := root(t, map[string]string{"MEMORY.md": "private"})
	if err := os.Link(filepath.Join(dir, "MEMORY.md"), filepath.Join(dir, "AGENTS.md")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"MEMORY.md", "AGENTS.md"} {
		if data, _, err := Read(r, name, 100); !isRefused(err) || len(data) > 0 {
			t.Errorf("Read(%s) = %q, %v", name, data, err)
		}
		if _, err := Stat(r, name); !isRefused(err) {
			t.Errorf("Stat(%s): %v", name, err)
		}
		if Refusal(r, name) == "" {
			t.Errorf("%s is not refused", name)
		}
	}
}

func isRefused(err error) bool {
	_, ok := errors.AsType[*RefusedError](err)
	return ok
}

// An editor that saves by renaming while an entry is written does not lose the entry.
func TestAppendSurvivesReplacement(t *testing.T) {
	t.Parallel()
	dir, r := root(t, map[string]string{"log": "old\n", "edited": "edited\n"})
	calls := 0
	err := Append(t.Context(), r, "log", func(tail []byte) []byte {
		if calls++; calls == 1 {
			if err := os.Rename(filepath.Join(dir, "edited"), filepath.Join(dir, "log")); err != nil {
				t.Error(err)
			}
		}
		return append([]byte("after "), tail...)
	})
	switch got := get(t, dir, "log"); {
	case err != nil:
		t.Error(err)
	case calls != 2:
		t.Errorf("calls = %v, want 2", calls)
	case got != "edited\nafter edited\n":
		t.Errorf("got = %q, want %q", got, "edited\nafter edited\n")
	}
}

// A hand edit between the check and the replacement is checked again, and is not lost.
func TestReplaceChecksAgain(t *testing.T) {
	t.Parallel()
	dir, r := root(t, map[string]string{"file": "old"})
	stale := errors.New("stale")
	calls := 0
	_, err := Replace(r, "file", []byte("new"), func(present []byte) (bool, error) {
		calls++
		if calls == 1 {
			put(t, dir, "file", "by hand")
			return true, nil
		}
		if string(present) != "by hand" {
			t.Errorf("checked %q", present)
		}
		return false, stale
	})
	if got := get(t, dir, "file"); !errors.Is(err, stale) || got != "by hand" {
		t.Errorf("%q, %v", got, err)
	}
	if entries, err := List(r, "."); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestRemove(t *testing.T) {
	t.Parallel()
	_, r := root(t, map[string]string{"a/file": "x"})
	if err := Remove(r, "a/file"); err != nil {
		t.Error(err)
	}
	if err := Remove(r, "a/file"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a second time: %v", err)
	}
}

// A reader meets the old or the new version of a file that is replaced without end, and never a refusal.
func TestOpenWhileReplaced(t *testing.T) {
	t.Parallel()
	dir, r := root(t, map[string]string{"file": "text"})
	stop := make(chan struct{})
	var writers sync.WaitGroup
	for i := range 2 {
		writers.Go(func() {
			for next := filepath.Join(dir, "next"+strconv.Itoa(i)); ; {
				select {
				case <-stop:
					return
				default:
				}
				if err := errors.Join(os.WriteFile(next, []byte("text"), 0o600),
					os.Rename(next, filepath.Join(dir, "file"))); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 5000 {
		if data, _, err := Read(r, "file", 10); err != nil || string(data) != "text" {
			t.Errorf("%q, %v", data, err)
			break
		}
	}
	close(stop)
	writers.Wait()
}
