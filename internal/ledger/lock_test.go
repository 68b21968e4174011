package ledger

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/lockfile"
)

func TestLockedLedger(t *testing.T) {
	t.Parallel()
	opt := testOptions(t.TempDir())
	opt.Wait = 50 * time.Millisecond
	a, b := newReader(opt), newReader(opt)
	a.add(t, "mem_1")
	b.sync(t)
	a.add(t, "mem_2")

	release, err := lockfile.Exclusive(t.Context(), opt.Lock)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.tryAdd(t.Context(), "mem_3"); !errors.Is(err, ErrBusy) {
		t.Errorf("Append while another process writes: %v, want ErrBusy", err)
	}
	if _, err := a.tryErase(t.Context(), "mem_1"); !errors.Is(err, ErrBusy) {
		t.Errorf("Erase while another process writes: %v, want ErrBusy", err)
	}
	// What may still be taken back is not delivered, but a reader that knows everything needs no lock.
	if err := b.Sync(t.Context(), b.apply); !errors.Is(err, ErrBusy) || b.ids() != "mem_1" {
		t.Errorf("Sync of new entries while another process writes: %q, %v", b.ids(), err)
	}
	if err := a.Sync(t.Context(), a.apply); err != nil {
		t.Errorf("Sync without new entries: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	if _, err := a.tryAdd(ctx, "mem_3"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Append with a context that ends: %v", err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	a.add(t, "mem_3")
	b.sync(t)
	if want := "mem_1 mem_2 mem_3"; a.ids() != want || b.ids() != want {
		t.Errorf("delivered %q and %q, want %q", a.ids(), b.ids(), want)
	}
}

func TestWaitingForTheTurnEndsWithTheContext(t *testing.T) {
	t.Parallel()
	a := newReader(testOptions(t.TempDir()))
	ctx, cancel := context.WithCancel(t.Context())
	_, err := a.Append(t.Context(), nil, func(time.Time) ([]Draft, error) {
		cancel()
		if err := a.Sync(ctx, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("Sync while Append runs: %v", err)
		}
		return nil, nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestLinksAreRefused(t *testing.T) {
	t.Parallel()
	for name, link := range map[string]func(t *testing.T, path string) error{
		"symbolic link": func(_ *testing.T, path string) error {
			if err := os.Rename(path, path+"2"); err != nil {
				return err
			}
			return os.Symlink(path+"2", path)
		},
		"hard link": func(_ *testing.T, path string) error { return os.Link(path, path+"2") },
		"folder": func(_ *testing.T, path string) error {
			return errors.Join(os.Remove(path), os.Mkdir(path, 0o700))
		},
	} {
		t.Run(name, func(t *testing.T) {
			opt := testOptions(t.TempDir())
			newReader(opt).add(t, "mem_1")
			if err := link(t, opt.Path); err != nil {
				t.Fatal(err)
			}
			a := newReader(opt)
			if err := a.Sync(t.Context(), a.apply); err == nil {
				t.Error("Sync reads it")
			}
			if _, err := a.tryAdd(t.Context(), "mem_2"); err == nil {
				t.Error("Append writes it")
			}
			if _, err := a.tryErase(t.Context(), "mem_1"); err == nil {
				t.Error("Erase replaces it")
			}
			if _, err := Verify(t.Context(), opt.Path, "private", testKey); err == nil {
				t.Error("Verify reads it")
			}
			if a.got != nil {
				t.Errorf("delivered %v", a.got)
			}
		})
	}
}

func TestReplacedFile(t *testing.T) {
	t.Parallel()
	for name, replace := range map[string]func(t *testing.T, path string){
		"removed": func(t *testing.T, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		},
		"older copy": func(t *testing.T, path string) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			first, _, _ := strings.Cut(string(data), "\n")
			if err := os.WriteFile(path, []byte(first+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"another history": func(t *testing.T, path string) {
			other := testOptions(t.TempDir())
			newReader(other).add(t, "mem_7", "mem_8", "mem_9")
			data, err := os.ReadFile(other.Path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			opt := testOptions(t.TempDir())
			a := newReader(opt)
			a.add(t, "mem_1", "mem_2")
			replace(t, opt.Path)
			if err := a.Sync(t.Context(), a.apply); !errors.Is(err, ErrReplaced) {
				t.Errorf("Sync: %v, want ErrReplaced", err)
			}
			if _, err := a.tryAdd(t.Context(), "mem_3"); !errors.Is(err, ErrReplaced) {
				t.Errorf("Append: %v, want ErrReplaced", err)
			}
			if a.ids() != "mem_1 mem_2" {
				t.Errorf("delivered %q", a.ids())
			}
		})
	}
}

func TestErrorsNameTheFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	opt := testOptions(dir)
	if err := os.WriteFile(filepath.Dir(opt.Path), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := newReader(opt).tryAdd(t.Context(), "mem_1"); err == nil || !strings.Contains(err.Error(), "private") {
		t.Errorf("error %v", err)
	}
}

// A linked folder of locks is named in the error, not the lock in it.
func TestLinkedLockFolder(t *testing.T) {
	t.Parallel()
	opt := testOptions(t.TempDir())
	a := newReader(opt)
	a.add(t, "mem_1")
	dir := filepath.Dir(opt.Lock)
	if err := errors.Join(os.Rename(dir, dir+"2"), os.Symlink(dir+"2", dir)); err != nil {
		t.Fatal(err)
	}
	_, err := a.tryAdd(t.Context(), "mem_2")
	if unusable, ok := errors.AsType[*fault.UnusableError](err); !ok || unusable.Path != dir {
		t.Errorf("Append: %v, want an error about %s", err, dir)
	}
}
