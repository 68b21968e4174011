package ledger

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

func TestKeyIsCreatedOnce(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "b")
	path := filepath.Join(dir, "key")
	keys := make([][]byte, 32)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range keys {
		wg.Go(func() {
			<-start
			key, err := LoadOrCreateKey(path, slog.Default())
			if err != nil {
				t.Error(err)
			}
			keys[i] = key
		})
	}
	close(start)
	wg.Wait()
	for _, key := range keys {
		if len(key) != KeySize || bytes.Equal(key, make([]byte, KeySize)) {
			t.Fatalf("key %x", key)
		}
		if !bytes.Equal(key, keys[0]) {
			t.Fatalf("keys %x and %x", keys[0], key)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("folder's mode %v, %v", info.Mode(), err)
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 1 {
		t.Errorf("left in the folder: %v, %v", names, err)
	}
	other, err := LoadOrCreateKey(path+"2", slog.Default())
	if err != nil || bytes.Equal(other, keys[0]) {
		t.Errorf("another key: %x, %v", other, err)
	}
}

func TestBadKeyFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good := filepath.Join(dir, "good")
	if _, err := LoadOrCreateKey(good, slog.Default()); err != nil {
		t.Fatal(err)
	}
	for name, make := range map[string]func(path string) error{
		"empty":  func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"long":   func(path string) error { return os.WriteFile(path, make([]byte, KeySize+1), 0o600) },
		"link":   func(path string) error { return os.Symlink(good, path) },
		"folder": func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		path := filepath.Join(dir, name)
		if err := make(path); err != nil {
			t.Fatal(err)
		}
		if key, err := LoadOrCreateKey(path, slog.Default()); err == nil {
			t.Errorf("%s: key %x", name, key)
		}
	}
}
