package token

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/atomicfile"
	"github.com/yamo-protocol/yamo-mcp/internal/lockfile"
)

// Store is the file of tokens. It may be used by several goroutines and, for its file, by several processes: a
// change takes a lock next to the file and replaces it whole; every question looks whether the file has been
// replaced, which is how a revocation reaches a server that runs.
type Store struct {
	path   string
	now    func() time.Time
	random io.Reader

	mu      sync.Mutex
	seen    fs.FileInfo // of the file that records is from; nil: there was none
	records []Record
}

// Open returns the store in the file at path, which need not exist yet.
func Open(path string) *Store {
	return &Store{path: path, now: time.Now, random: rand.Reader}
}

// content is the file.
type content struct {
	Version int      `json:"version"`
	Tokens  []Record `json:"tokens"`
}

// maxFile bounds what is read.
const maxFile = 4 << 20

// Verify returns the record of an active token, or ErrInvalid. Another error means that the file
// cannot be used.
func (s *Store) Verify(text string) (Record, error) {
	records, err := s.load()
	if err != nil {
		return Record{}, err
	}
	id, secret, ok := parse(text)
	if !ok {
		return Record{}, ErrInvalid
	}
	var found Record // SECURITY: an unknown id is compared as well, with a hash that nothing has.
	for _, r := range records {
		if r.ID == id {
			found = r
		}
	}
	if !found.matches(secret) || found.State(s.now()) != Active {
		return Record{}, ErrInvalid
	}
	return found, nil
}

// CheckActive returns nil if the token with this id is still active, and ErrInvalid if not. It does not check the
// secret: it is for sessions that a verified token has opened.
func (s *Store) CheckActive(id string) error {
	records, err := s.load()
	if err != nil {
		return err
	}
	for _, r := range records {
		if r.ID == id && r.State(s.now()) == Active {
			return nil
		}
	}
	return ErrInvalid
}

// List returns all records in the order they were made.
func (s *Store) List() ([]Record, error) {
	records, err := s.load()
	return slices.Clone(records), err
}

// Create makes a token for r, of which ID, Hash and Created are filled in. The text is returned here and
// nowhere else.
func (s *Store) Create(ctx context.Context, r Record) (text string, made Record, err error) {
	now := s.now().UTC().Truncate(time.Second)
	if err := r.check(now); err != nil {
		return "", Record{}, err
	}
	text, r.ID, r.Hash, err = generate(s.random)
	if err != nil {
		return "", Record{}, err
	}
	r.Created, r.Revoked = now, nil
	err = s.change(ctx, func(records []Record) ([]Record, error) {
		for _, other := range records {
			if other.Name == r.Name && other.State(now) == Active {
				return nil, fmt.Errorf("there is a token %q already: revoke it first, or choose another name", r.Name)
			}
			if other.ID == r.ID {
				return nil, errors.New("make a token: its id exists, try again")
			}
		}
		return append(records, r), nil
	})
	if err != nil {
		return "", Record{}, err
	}
	return text, r, nil
}

// Revoke ends the token with this name or id.
func (s *Store) Revoke(ctx context.Context, nameOrID string) (Record, error) {
	now := s.now().UTC().Truncate(time.Second)
	var revoked Record
	err := s.change(ctx, func(records []Record) ([]Record, error) {
		found := -1
		for i, r := range records {
			if r.Revoked == nil && (r.ID == nameOrID || r.Name == nameOrID) && (found < 0 || r.State(now) == Active) {
				found = i
			}
		}
		if found < 0 {
			return nil, fmt.Errorf("no token has the name or id %q: run `yamo-mcp token list` to see them", nameOrID)
		}
		records[found].Revoked = &now
		revoked = records[found]
		return records, nil
	})
	return revoked, err
}

// load returns the records. It reads the file again if that has changed since the last call.
func (s *Store) load() ([]Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	info, err := os.Lstat(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		s.seen, s.records = nil, nil
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("tokens: %w", reason(err))
	}
	if s.seen != nil && same(s.seen, info) {
		return s.records, nil
	}
	records, info, err := read(s.path)
	if err != nil {
		// SECURITY: a file that cannot be trusted opens nothing, not even what it did before.
		s.seen, s.records = nil, nil
		return nil, err
	}
	s.seen, s.records = info, records
	return records, nil
}

// same reports whether the file has not changed: it is replaced at each change, so its inode tells, and time
// and size for one that was edited.
func same(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size() && a.Mode() == b.Mode()
}

// read reads the file, unless other accounts may read or write it.
func read(path string) ([]Record, fs.FileInfo, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("tokens: %w", reason(err))
	}
	defer file.Close() //nolint:errcheck // it was only read
	info, err := file.Stat()
	if err != nil {
		return nil, nil, fmt.Errorf("tokens: %w", reason(err))
	}
	// SECURITY: a process that can write this file can make a DM token; one that can read it learns who has one.
	owner, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.Mode().IsRegular():
		return nil, nil, errors.New("tokens: not a regular file")
	case info.Mode().Perm()&0o077 != 0:
		return nil, nil, errors.New("tokens: others may read or write the file: run chmod 600 on it")
	case !ok || int(owner.Uid) != os.Geteuid():
		return nil, nil, errors.New("tokens: the file belongs to another user")
	}
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, nil, fmt.Errorf("tokens: %w", reason(err))
	}
	if len(data) > maxFile {
		return nil, nil, fmt.Errorf("tokens: the file has more than %d bytes", maxFile)
	}
	var c content
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&c); err != nil {
		return nil, nil, fmt.Errorf("tokens: the file is damaged: %w", err)
	}
	if c.Version != 1 {
		return nil, nil, fmt.Errorf("tokens: the file has version %d, this program knows 1", c.Version)
	}
	return c.Tokens, info, nil
}

// change replaces the file with what edit makes of it, under the lock.
func (s *Store) change(ctx context.Context, edit func([]Record) ([]Record, error)) error {
	release, err := lockfile.Exclusive(ctx, lockfile.Resolved(s.path+".lock"))
	if err != nil {
		return fmt.Errorf("tokens: lock: %w", reason(err))
	}
	defer release() //nolint:errcheck // it unlocks whatever it returns
	records, err := s.load()
	if err != nil {
		return err
	}
	records, err = edit(slices.Clone(records))
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(content{Version: 1, Tokens: records}, "", "  ")
	if err != nil {
		return fmt.Errorf("tokens: %w", err)
	}
	// Durable: a power failure must not bring a revoked token back.
	if err := atomicfile.Write(s.path, append(data, '\n')); err != nil {
		return fmt.Errorf("tokens: %w", reason(err))
	}
	return nil
}

// reason is a file error without the path, which is private.
func reason(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	if err == nil {
		return errors.New("it is held by another process")
	}
	return err
}
