package plain

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"

	"github.com/yamo-protocol/yamo-mcp/internal/lockfile"
)

// Lock waits for the exclusive lock on the lock file called name below root, which is created if missing, and returns
// the function that releases it. It protects files that are replaced: a lock on such a file itself would stay with the
// replaced one. Nothing removes the lock file. The error is a *RefusedError if it is a link or no plain file.
func Lock(ctx context.Context, root *os.Root, name string) (release func() error, err error) {
	dir, err := makeFolder(root, path.Dir(name))
	if err != nil {
		return nil, err
	}
	file, err := openLock(dir, path.Base(name))
	if err = errors.Join(err, dir.Close()); err != nil {
		return nil, err
	}
	if err := lockfile.File(ctx, file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file.Close, nil
}

// openLock opens the lock file called base of dir, or creates it.
func openLock(dir *os.Root, base string) (*os.File, error) {
	switch info, err := dir.Lstat(base); {
	case err == nil && info.IsDir():
		return nil, &RefusedError{base + " is a folder"}
	case err == nil:
		if err := check(info); err != nil {
			return nil, err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	return dir.OpenFile(base, os.O_RDWR|os.O_CREATE|syscall.O_NONBLOCK, 0o600)
}

// Replacement replaces the content of a plain file, all of it or nothing: first [Replacement.Stage], then
// [Replacement.Commit], and in any case [Replacement.Close]. It takes no lock (see [Lock]).
type Replacement struct {
	dir             *os.Root
	base, temporary string
	before          os.FileInfo // nil for a missing file
	present         []byte
	staged          bool
}

// Begin reads the plain file name below root in order to replace it. A missing file is created with mode 0600 when the
// replacement is committed; missing folders are created at once, with mode 0700. Files that Open refuses are refused.
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

// Stage writes data to disk under another name, with the mode of the file, so that Commit only renames it. If the file
// was changed since it was read, ok is false and nothing is staged; Present then returns the new content. A change
// between Stage and Commit is not noticed: rename(2) has no condition.
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

// Commit replaces the file with the staged one, and returns when that is on disk.
func (r *Replacement) Commit() error {
	if err := r.dir.Rename(r.temporary, r.base); err != nil {
		return err
	}
	r.staged = false
	return syncFolder(r.dir)
}

// Close removes a staged file that was not committed.
func (r *Replacement) Close() error { return errors.Join(r.unstage(), r.dir.Close()) }

func (r *Replacement) unstage() error {
	if !r.staged {
		return nil
	}
	r.staged = false
	return remove(r.dir, r.temporary)
}

// Replace makes data the content of the plain file name below root, all of it or nothing, and returns when it is on
// disk. check receives the present content, nil for a missing file, and decides whether it is replaced; it is called
// again if the file changes meanwhile. Modes are as for [Begin], and errors as for [Open].
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

// current reads the file base; info is nil if it is missing. The data of an empty file is not nil.
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

// unchanged reports whether two looks at a name found the same file with the same size and time: content is not
// compared, since that would need another reading.
func unchanged(before, after os.FileInfo) bool {
	return os.SameFile(before, after) && before.Size() == after.Size() && before.ModTime().Equal(after.ModTime())
}

// writeNew creates the file base with data and waits until it is on disk.
func writeNew(dir *os.Root, base string, data []byte, mode fs.FileMode) (err error) {
	file, err := dir.OpenFile(base, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := file.Chmod(mode); err != nil { // unlike OpenFile's, this mode is not reduced by the umask
		return err
	}
	if _, err := file.Write(data); err != nil {
		return err
	}
	return file.Sync()
}

// remove removes base if it exists.
func remove(dir *os.Root, base string) error {
	if err := dir.Remove(base); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Remove removes name below root, which may be anything but a folder with content, and returns when that is on disk. It
// does not follow a link. The error wraps fs.ErrNotExist if nothing has the name.
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
