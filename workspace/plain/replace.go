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

// Locked calls do while it holds the exclusive lock of the lock file called name, which is made if it is
// missing. It is for files that are replaced, and so cannot carry their lock themselves.
func Locked(ctx context.Context, root *os.Root, name string, do func() error) (err error) {
	dir, err := makeFolder(root, path.Dir(name))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	file, err := dir.OpenFile(path.Base(name), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }() // and with it the lock
	if err := lockfile.File(ctx, file); err != nil {
		return err
	}
	return do()
}

// Replace makes data the content of the plain file name below root, all of it or nothing, and returns when it
// is on disk. check sees the present content, nil for a missing file, and may refuse with an error. A file
// that changes after it was checked is checked again. The file keeps its mode; a new one has 0600, new
// folders 0700.
func Replace(root *os.Root, name string, data []byte, check func(present []byte) error) (err error) {
	return Update(root, name, func(present []byte) ([]byte, error) { return data, check(present) }, nil)
}

// Update replaces the content of the plain file name below root by what edit makes of the present one, which is
// nil for a missing file, as Replace does. commit, if any, runs once, when the new content is on disk under
// another name and nothing but a renaming is left to do; its error prevents that.
func Update(root *os.Root, name string, edit func(present []byte) ([]byte, error), commit func() error) (err error) {
	dir, err := makeFolder(root, path.Dir(name))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	base, temporary := path.Base(name), ".yamo-"+rand.Text()+".tmp"
	for {
		before, present, err := current(dir, base)
		if err != nil {
			return err
		}
		data, err := edit(present)
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o600)
		if before != nil {
			mode = before.Mode().Perm()
		}
		if err := writeNew(dir, temporary, data, mode); err != nil {
			return errors.Join(err, remove(dir, temporary))
		}
		after, err := dir.Lstat(base)
		if missing := errors.Is(err, fs.ErrNotExist); missing && before == nil || err == nil && before != nil && unchanged(before, after) {
			if commit != nil {
				err = commit()
			} else {
				err = nil
			}
			if err == nil {
				err = dir.Rename(temporary, base)
			}
			if err != nil {
				return errors.Join(err, remove(dir, temporary))
			}
			return syncFolder(dir)
		}
		if err := remove(dir, temporary); err != nil {
			return err
		}
	}
}

// current is what stands under base; info is nil when nothing does.
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

// Remove removes what stands under name below root, whatever it is but a folder with content, and returns
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
