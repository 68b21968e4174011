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
	"slices"
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
	After  string   `json:"after"`             // SHA-256 of what the last change made of it
	Made   []string `json:"folders,omitempty"` // that did not exist before
	Added  []string `json:"added,omitempty"`   // names of the entries that were installed since what is kept
	Within []string `json:"within,omitempty"`  // of those that what is kept already has, from before others edited it
	Hooks  string   `json:"hooks,omitempty"`   // name of the entry that the hooks in the file belong to
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

// keep records c, a change that installs c.entry. If the file is as the last recorded change left it, what was before
// that change stays recorded: it is what the file becomes when the last entry is gone.
func (s Store) keep(c Change) error {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return err
	}
	k := kept{Path: c.Path, Absent: c.before == nil, After: digest(c.after), Made: c.missing, Added: []string{c.entry}}
	last, ok := s.last(c)
	if ok && last.After == digest(c.before) {
		k.Absent, k.Made, k.Within, k.Added = last.Absent, last.Made, last.Within, union(last.Added, k.Added)
	} else {
		if ok { // another program has changed the file since; what it is now has the earlier entries in it
			k.Within = slices.DeleteFunc(union(last.Within, last.Added), func(name string) bool { return !c.has(name) })
		}
		if c.before != nil {
			if err := os.WriteFile(s.backup(c), c.before, 0o600); err != nil {
				return err
			}
		}
	}
	if k.Hooks = last.Hooks; c.hooks {
		k.Hooks = c.entry
	}
	return s.write(c, k)
}

// write replaces the record of c's file.
func (s Store) write(c Change, k kept) error {
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

// undone returns what a file was before c.entry was installed. ok is false if that is not known: there is no record,
// the file has changed since, or another entry was installed as well. before is nil if there was no file.
func (s Store) undone(c Change) (before []byte, ok bool) {
	last, ok := s.last(c)
	if !ok || c.before == nil || last.After != digest(c.before) || slices.Contains(last.Within, c.entry) ||
		!slices.Equal(last.Added, []string{c.entry}) {
		return nil, false
	}
	if last.Absent {
		return nil, true
	}
	before, err := os.ReadFile(s.backup(c))
	return before, err == nil
}

// Undo makes a change of Uninstall and forgets c.entry, with the record of the file if no other entry is in it.
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
	k, restorable := last.minus(c)
	if c.after != nil && len(k.Added)+len(k.Within) > 0 {
		if restorable {
			return s.write(c, k)
		}
		return errors.Join(removed(s.backup(c)), s.write(c, k))
	}
	if c.after == nil {
		for _, dir := range last.Made {
			if os.Remove(dir) != nil { // it is used for something else by now
				break
			}
		}
	}
	return errors.Join(removed(s.backup(c)), removed(s.record(c)))
}

// minus returns the record after c has removed its entry. restorable is false if what was before the installations is
// of no use any more: it has the removed entry, or others have changed the file.
func (k kept) minus(c Change) (after kept, restorable bool) {
	added := slices.Contains(k.Added, c.entry)
	within := slices.Contains(k.Within, c.entry)
	if c.Empty() && !added && !within {
		return k, true // the entry was never installed
	}
	unchanged := k.After == digest(c.before)
	if k.Hooks == c.entry {
		k.Hooks = ""
	}
	is := func(name string) bool { return name == c.entry }
	k.Added, k.Within = slices.DeleteFunc(slices.Clone(k.Added), is), slices.DeleteFunc(slices.Clone(k.Within), is)
	if unchanged && added && !within && len(k.Added) > 0 {
		k.After = digest(c.after)
		return k, true
	}
	k.Within, k.Added, k.After = union(k.Within, k.Added), nil, ""
	return k, false
}

// removed removes a file that need not exist.
func removed(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// union returns a and what b has besides.
func union(a, b []string) []string {
	all := slices.Clone(a)
	for _, name := range b {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// digest returns the SHA-256 of data in hexadecimal.
func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
