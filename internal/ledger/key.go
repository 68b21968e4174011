package ledger

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// KeySize is the length of a key in bytes.
const KeySize = 32

// LoadOrCreateKey returns the 32-byte key in the file path, which it first creates with random content
// (0600, in folders 0700, durable) if it is not there. Processes that start at once agree on one key.
func LoadOrCreateKey(path string) ([]byte, error) {
	key, err := LoadKey(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := createKey(path); err != nil {
			return nil, fmt.Errorf("create key: %w", err)
		}
		key, err = LoadKey(path)
	}
	if err != nil {
		return nil, fmt.Errorf("load key: %w", err)
	}
	return key, nil
}

// LoadKey returns the 32-byte key in the file path. It is fs.ErrNotExist when there is none.
func LoadKey(path string) ([]byte, error) {
	// SECURITY: as for the ledger, no link may lead to another file.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // opened for reading
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() != KeySize {
		return nil, fmt.Errorf("%s is not a file of %d bytes", path, KeySize)
	}
	key := make([]byte, KeySize)
	if _, err := f.ReadAt(key, 0); err != nil {
		return nil, err
	}
	return key, nil
}

// createKey makes the file unless another process does: the key is complete and durable under a name of
// its own before it gets its real one, and only one link can get that.
func createKey(path string) (err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, filepath.Base(path)+".*.tmp") // 0600
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(f.Name())) }()
	key := make([]byte, KeySize)
	_, _ = rand.Read(key) // never fails
	_, err = f.Write(key)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(osFS{}, dir)
}
