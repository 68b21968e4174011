package ledger

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
)

// KeySize is the length of a key in bytes.
const KeySize = 32

// keyFile is what must be where the key is.
const keyFile = "the key from a backup"

// LoadOrCreateKey returns the 32-byte key in the file path, which it first creates with random content
// (0600, in folders 0700, durable) if it is not there. Processes that start at once agree on one key. log is as for
// LoadKey.
func LoadOrCreateKey(path string, log *slog.Logger) ([]byte, error) {
	key, err := LoadKey(path, log)
	if errors.Is(err, fs.ErrNotExist) {
		if err := createKey(path); err != nil {
			return nil, fmt.Errorf("create key: %w", err)
		}
		key, err = LoadKey(path, log)
	}
	if err != nil {
		return nil, fmt.Errorf("load key: %w", err)
	}
	return key, nil
}

// KeyOf returns the key in the file path, as LoadKey does, for the ledgers in files. If it is missing it is created
// with create, unless one of them has lines already: then the key was lost, and the error is ErrNoKey.
func KeyOf(path string, create bool, log *slog.Logger, files ...string) ([]byte, error) {
	key, err := LoadKey(path, log)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	for _, file := range files {
		if info, err := os.Lstat(file); create &&
			(err != nil && !errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() > 0) {
			create = false
		}
	}
	// SECURITY: a new key would make every old line look forged, and hide which lines are.
	if !create {
		return nil, fmt.Errorf("%w: restore %s from a backup, or run `yamo-mcp ledger rekey`", ErrNoKey, path)
	}
	return LoadOrCreateKey(path, log)
}

// LoadKey returns the 32-byte key in the file path. The error is fs.ErrNotExist if the file is missing. If other users
// have access to the file, LoadKey takes it away and warns in log.
func LoadKey(path string, log *slog.Logger) ([]byte, error) {
	// SECURITY: as for the ledger, no link may lead to another file.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fault.Unusable(path, keyFile, err)
	}
	defer func() { _ = f.Close() }() // opened for reading
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() != KeySize {
		return nil, &fault.UnusableError{
			Path: path, Reason: fmt.Sprintf("it is not a file of %d bytes", KeySize), Want: keyFile,
		}
	}
	if err := makePrivate(f, path, log); err != nil {
		return nil, err
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
