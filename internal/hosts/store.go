package hosts

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Store is a folder with what configuration files were before they were changed. Only its owner can read it: these
// files may contain other servers' keys.
type Store struct{ Dir string }

// DefaultStore returns the account's store.
func DefaultStore(p Place) Store {
	if dir := p.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return Store{filepath.Join(dir, "yamo-mcp", "hosts")}
	}
	if p.goos() == "darwin" {
		return Store{filepath.Join(p.application("yamo-mcp"), "hosts")}
	}
	return Store{filepath.Join(p.Home, ".local", "state", "yamo-mcp", "hosts")}
}

// kept is the record of a changed file. Next to it is the file with what was before, if there was a file.
type kept struct {
	Path   string   `json:"path"`
	Absent bool     `json:"absent"`            // there was no file
	After  string   `json:"after"`             // SHA-256 of what the change made of it
	Made   []string `json:"folders,omitempty"` // that did not exist before
}

// record returns the file in which the state before c is kept. Its name is a hash, because a target's path is no file
// name.
func (s Store) record(c Change) string {
	sum := sha256.Sum256([]byte(c.target))
	return filepath.Join(s.Dir, hex.EncodeToString(sum[:8])+".json")
}

// Backup returns where the content of a file before the change is kept, "" if there was none.
func (s Store) Backup(c Change) string {
	if c.before == nil {
		return ""
	}
	return s.backup(c)
}

func (s Store) backup(c Change) string {
	return s.record(c)[:len(s.record(c))-len(".json")] + "-" + filepath.Base(c.Path)
}

// Apply makes a change of Install, after it has kept what was before.
func (s Store) Apply(c Change) error {
	if c.Empty() {
		return nil
	}
	if err := s.keep(c); err != nil {
		return fmt.Errorf("back up %s: %w", c.Path, err)
	}
	return c.write()
}

// keep records c. If the file is as the last recorded change left it, what was before that change stays recorded.
func (s Store) keep(c Change) error {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return err
	}
	k := kept{Path: c.Path, Absent: c.before == nil, After: digest(c.after), Made: c.missing}
	last, ok := s.last(c)
	if ok && last.After == digest(c.before) {
		k.Absent, k.Made = last.Absent, last.Made
	} else {
		if ok { // another program has changed the file since; what it is now has the earlier entry in it
			k.After = ""
		}
		if c.before != nil {
			if err := os.WriteFile(s.backup(c), c.before, 0o600); err != nil {
				return err
			}
		}
	}
	data, err := json.MarshalIndent(k, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(s.record(c), append(data, '\n'), 0o600)
}

// last returns what is kept for c's target, ok false if nothing readable is.
func (s Store) last(c Change) (kept, bool) {
	data, err := os.ReadFile(s.record(c))
	var k kept
	return k, err == nil && json.Unmarshal(data, &k) == nil
}

// undone returns what a file was before its recorded change. ok is false if there is no record or the file has changed
// since; before is nil if there was no file.
func (s Store) undone(c Change) (before []byte, ok bool) {
	last, ok := s.last(c)
	if !ok || c.before == nil || last.After != digest(c.before) {
		return nil, false
	}
	if last.Absent {
		return nil, true
	}
	before, err := os.ReadFile(s.backup(c))
	return before, err == nil
}

// Undo makes a change of Uninstall and forgets the record of the file.
func (s Store) Undo(c Change) error {
	last, ok := s.last(c)
	if !c.Empty() {
		if err := c.write(); err != nil {
			return err
		}
	}
	if !ok {
		return nil
	}
	if c.after == nil {
		for _, dir := range last.Made {
			if os.Remove(dir) != nil { // it is used for something else by now
				break
			}
		}
	}
	for _, path := range []string{s.backup(c), s.record(c)} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// digest returns the SHA-256 of data in hexadecimal.
func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
