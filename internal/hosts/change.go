package hosts

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/rogpeppe/go-internal/diff"
)

// Change is what one file becomes.
type Change struct {
	Path string // as the host opens it

	target        string   // Path without symbolic links
	before, after []byte   // nil: no file
	missing       []string // folders that the file needs and that did not exist, from the inside

	entry string                   // name of the entry that is installed or removed
	hooks bool                     // the change is, among others, one of hooks
	holds []func(name string) bool // whether the file has something of an entry before the change
}

// has reports whether the file has something of the entry called name before the change.
func (c Change) has(name string) bool {
	return slices.ContainsFunc(c.holds, func(holds func(string) bool) bool { return holds(name) })
}

// Empty reports whether the file stays as it is.
func (c Change) Empty() bool {
	return bytes.Equal(c.before, c.after) && (c.before == nil) == (c.after == nil)
}

// Diff returns the change as a unified diff, "" if it is empty.
func (c Change) Diff() string {
	if c.Empty() {
		return ""
	}
	return string(diff.Diff(c.Path, c.before, c.Path, c.after))
}

// maxFile is the maximum size of a configuration file, in bytes. Claude Code keeps a lot in its own.
const maxFile = 64 << 20

// open reads the file at path, which may be a symbolic link, as the files of people who keep them in a repository are.
func open(path string) (Change, error) {
	c := Change{Path: path, target: path}
	target, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(path); err == nil {
			return c, fmt.Errorf("%s: a symbolic link to a file that does not exist; create that file, or remove the link", path)
		}
		// The folders of a file that is not there yet may be links.
		if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
			c.target = filepath.Join(dir, filepath.Base(path))
		}
		for dir := filepath.Dir(c.target); ; dir = filepath.Dir(dir) {
			if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
				return c, nil
			}
			c.missing = append(c.missing, dir)
		}
	}
	if err != nil {
		return c, fmt.Errorf("%s: %w", path, reason(err))
	}
	c.target = target
	info, err := os.Stat(target)
	if err != nil {
		return c, fmt.Errorf("%s: %w", path, reason(err))
	}
	if !info.Mode().IsRegular() {
		return c, fmt.Errorf("%s: not a file", path)
	}
	if info.Size() > maxFile {
		return c, fmt.Errorf("%s: larger than %d MiB", path, maxFile>>20)
	}
	if c.before, err = os.ReadFile(target); err != nil {
		return c, fmt.Errorf("%s: %w", path, reason(err))
	}
	if c.before == nil {
		c.before = []byte{}
	}
	return c, nil
}

// write makes the change, all of it or nothing. It fails if the file is no longer as it was read.
func (c Change) write() error {
	now, err := open(c.Path)
	if err != nil {
		return err
	}
	if !bytes.Equal(now.before, c.before) || (now.before == nil) != (c.before == nil) || now.target != c.target {
		return fmt.Errorf("%s: changed in the meantime by another program; nothing was written to it, run the command again",
			c.Path)
	}
	if c.after == nil {
		return os.Remove(c.target)
	}
	if err := os.MkdirAll(filepath.Dir(c.target), 0o700); err != nil {
		return fmt.Errorf("%s: %w", c.Path, reason(err))
	}
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(c.target); err == nil {
		mode = info.Mode().Perm()
		// A file with several names keeps them, so that it is not replaced.
		if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Nlink > 1 {
			return os.WriteFile(c.target, c.after, mode)
		}
	}
	file, err := os.CreateTemp(filepath.Dir(c.target), ".yamo-mcp-*")
	if err != nil {
		return fmt.Errorf("%s: %w", c.Path, reason(err))
	}
	defer os.Remove(file.Name()) //nolint:errcheck // it is gone when everything went well
	_, err = file.Write(c.after)
	err = errors.Join(err, file.Chmod(mode), file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), c.target)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", c.Path, reason(err))
	}
	return nil
}

// reason returns an error of the file system without its path, which the caller's message has.
func reason(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
