package plain

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/yamo-protocol/yamo-mcp/internal/lockfile"
)

// Lock waits for the exclusive lock on the lock file called name below root, which is made if it is missing, and
// returns the function that releases it. It is for files that are replaced, and so cannot carry their lock themselves.
func Lock(ctx context.Context, root *os.Root, name string) (release func() error, err error) {
	dir, err := makeFolder(root, path.Dir(name))
	if err != nil {
		return nil, err
	}
	file, err := dir.OpenFile(path.Base(name), os.O_RDWR|os.O_CREATE, 0o600)
	if err = errors.Join(err, dir.Close()); err != nil {
		return nil, err
	}
	if err := lockfile.File(ctx, file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file.Close, nil
}

// Replacement is a plain file whose content is about to be replaced, all of it or nothing: first [Replacement.Stage],
// then [Replacement.Commit], and in any case [Replacement.Close].
type Replacement struct {
	dir             *os.Root
	base, temporary string
	before          os.FileInfo // nil for a missing file
	present         []byte
	staged          bool
}

// Begin reads the plain file name below root, so that it can be replaced. A missing file is made with mode 0600 when
// the replacement is committed; missing folders are made at once, with mode 0700.
func Begin(root *os.Root, name string) (*Replacement, error) {
	dir, err := makeFolder(root, path.Dir(name))
	if err != nil {
		return nil, err
	}
	r := &Replacement{dir: dir, base: path.Base(name), temporary: ".yamo-" + rand.Text() + ".tmp"}
	if r.before, r.present, err = current(dir, r.base); err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	return r, nil
}

// Present returns the content of the file as it was read last, nil for a missing file.
func (r *Replacement) Present() []byte { return r.present }

// Stage writes data to disk under another name, with the mode of the file, so that only a renaming is left to do. If
// the file was changed since it was read, ok is false and nothing is staged; Present then returns the new content.
func (r *Replacement) Stage(data []byte) (ok bool, err error) {
	mode := fs.FileMode(0o600)
	if r.before != nil {
		mode = r.before.Mode().Perm()
	}
	r.staged = true
	if err := writeNew(r.dir, r.temporary, data, mode); err != nil {
		return false, err
	}
	after, err := r.dir.Lstat(r.base)
	missing := errors.Is(err, fs.ErrNotExist)
	if missing && r.before == nil || err == nil && r.before != nil && unchanged(r.before, after) {
		return true, nil
	}
	if err := r.unstage(); err != nil {
		return false, err
	}
	r.before, r.present, err = current(r.dir, r.base)
	return false, err
}

// Commit puts what is staged in the place of the file, and returns when that is on disk.
func (r *Replacement) Commit() error {
	if err := r.dir.Rename(r.temporary, r.base); err != nil {
		return err
	}
	r.staged = false
	return syncFolder(r.dir)
}

// Close removes what is staged and was not committed.
func (r *Replacement) Close() error { return errors.Join(r.unstage(), r.dir.Close()) }

func (r *Replacement) unstage() error {
	if !r.staged {
		return nil
	}
	r.staged = false
	return remove(r.dir, r.temporary)
}

// Replace makes data the content of the plain file name below root, all of it or nothing, and returns when it is on
// disk. check sees the present content, nil for a missing file, and decides whether it is replaced; a file that
// changes after it was checked is checked again. Begin's rules decide about modes, Open's what is not opened.
func Replace(
	root *os.Root, name string, data []byte, check func(present []byte) (bool, error),
) (replaced bool, err error) {
	r, err := Begin(root, name)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for {
		if ok, err := check(r.Present()); !ok || err != nil {
			return false, err
		}
		ok, err := r.Stage(data)
		if err != nil {
			return false, err
		}
		if ok {
			return true, r.Commit()
		}
	}
}

// current reads what base names; info is nil when nothing is there.
func current(dir *os.Root, base string) (info os.FileInfo, data []byte, err error) {
	if _, err := dir.Lstat(base); errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	file, err := Open(dir, base, os.O_RDONLY)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if info, err = file.Stat(); err != nil {
		return nil, nil, err
	}
	if data, err = io.ReadAll(file); err != nil {
		return nil, nil, err
	}
	if data == nil {
		data = []byte{}
	}
	return info, data, nil
}

func unchanged(before, after os.FileInfo) bool {
	return os.SameFile(before, after) && before.Size() == after.Size() && before.ModTime().Equal(after.ModTime())
}

// writeNew makes the file base with data, on disk.
func writeNew(dir *os.Root, base string, data []byte, mode fs.FileMode) (err error) {
	file, err := dir.OpenFile(base, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := file.Chmod(mode); err != nil { // the process's mask applies to new modes only
		return err
	}
	if _, err := file.Write(data); err != nil {
		return err
	}
	return file.Sync()
}

// remove removes base if it is there.
func remove(dir *os.Root, base string) error {
	if err := dir.Remove(base); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Remove removes what name below root names, whatever it is but a folder with content, and returns
// when it is gone from disk. It is fs.ErrNotExist when there is nothing.
func Remove(root *os.Root, name string) (err error) {
	dir, err := Folder(root, path.Dir(name))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	if err := dir.Remove(path.Base(name)); err != nil {
		return err
	}
	return syncFolder(dir)
}
