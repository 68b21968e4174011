package plain

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/yamo-protocol/yamo-mcp/internal/lockfile"
)

// TailSize is how much of a file's end Append passes to compose, in bytes.
const TailSize = 64 << 10

// Append adds what compose returns to the end of the plain file name below root, and returns when it is on disk. A
// missing file is created with mode 0600, and missing folders with 0700.
//
// Writers in all processes take turns through a lock on the file. compose runs while it is held, with up to TailSize
// bytes of the file's end, and may run again if the file is replaced meanwhile. After an error nothing was added. Files
// that Open refuses are refused here, too.
func Append(ctx context.Context, root *os.Root, name string, compose func(tail []byte) []byte) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		done, err := appendOnce(ctx, root, name, compose)
		if done || err != nil {
			return err
		}
	}
}

// appendOnce is one attempt. done is false if another process replaced or created the file in between.
func appendOnce(
	ctx context.Context, root *os.Root, name string, compose func(tail []byte) []byte,
) (done bool, err error) {
	dir, err := makeFolder(root, path.Dir(name))
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	base, made := path.Base(name), false
	file, err := Open(dir, base, os.O_RDWR|os.O_APPEND)
	if _, missing := dir.Lstat(base); errors.Is(err, fs.ErrNotExist) && errors.Is(missing, fs.ErrNotExist) {
		made = true
		file, err = dir.OpenFile(base, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	}
	if errors.Is(err, fs.ErrExist) {
		return false, nil // another process created it
	}
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, file.Close()) }() // which releases the lock
	if err := lockfile.File(ctx, file); err != nil {
		return false, err
	}
	// The file may have been archived or replaced while this waited for its lock.
	if current, err := isCurrent(dir, base, file); err != nil || !current {
		return false, err
	}
	size, tail, err := end(file)
	if err != nil {
		return false, err
	}
	if err := flush(file, size, compose(tail)); err != nil {
		return false, err
	}
	if made {
		if err := syncFolder(dir); err != nil {
			return false, err
		}
	}
	// A person's editor that saves by renaming may have replaced the file with one that lacks the addition.
	done, err = isCurrent(dir, base, file)
	return done, err
}

// makeFolder is Folder, but creates missing folders with mode 0700. Each is synced before anything is written into it:
// otherwise a crash could lose the folder with a file that was acknowledged.
func makeFolder(root *os.Root, dir string) (opened *os.Root, err error) {
	opened, err = Folder(root, dir)
	if dir == "." || !errors.Is(err, fs.ErrNotExist) {
		return opened, err
	}
	parent, err := makeFolder(root, path.Dir(dir))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, parent.Close()) }()
	if err := parent.Mkdir(path.Base(dir), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	if err := syncFolder(parent); err != nil {
		return nil, err
	}
	return child(parent, path.Base(dir))
}

// isCurrent reports whether base in dir still names file.
func isCurrent(dir *os.Root, base string, file *os.File) (bool, error) {
	opened, err := file.Stat()
	if err != nil {
		return false, err
	}
	there, err := dir.Lstat(base)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return os.SameFile(opened, there), nil
}

// end returns file's size and its last bytes, up to TailSize.
func end(file *os.File) (size int64, tail []byte, err error) {
	if size, err = file.Seek(0, io.SeekEnd); err != nil {
		return 0, nil, err
	}
	tail = make([]byte, min(size, TailSize))
	if _, err := file.ReadAt(tail, size-int64(len(tail))); err != nil && err != io.EOF {
		return 0, nil, err
	}
	return size, tail, nil
}

// flush appends data to file, which has size bytes, and waits until it is on disk. After an error it truncates the file
// to its former size, so that a partial entry does not remain.
func flush(file *os.File, size int64, data []byte) error {
	_, err := file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	if err != nil {
		return errors.Join(err, file.Truncate(size))
	}
	return nil
}

// syncFolder makes the names in dir durable.
func syncFolder(dir *os.Root) error {
	file, err := dir.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}
