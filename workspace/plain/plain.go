// Package plain opens plain files below an os.Root: regular files with one link, reached through plain folders.
//
// Its invariant: what is opened is what was looked at by its exact name, so no symbolic or hard link, no
// device and no swap in between gives one file another's name. os.Root only keeps paths inside the folder
// but follows links within it.
package plain

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
)

// RefusedError is why something that exists is not opened.
type RefusedError struct{ Reason string }

// Error is the reason.
func (e *RefusedError) Error() string { return e.Reason }

// Folder opens the folder dir ("." for root itself) without following links. The caller closes it.
func Folder(root *os.Root, dir string) (*os.Root, error) {
	current, err := root.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	if dir == "." {
		return current, nil
	}
	for element := range strings.SplitSeq(dir, "/") {
		next, err := child(current, element)
		if closeErr := current.Close(); err == nil {
			err = closeErr
		}
		if err != nil {
			if next != nil {
				err = errors.Join(err, next.Close())
			}
			return nil, err
		}
		current = next
	}
	return current, nil
}

// child opens the folder element of parent.
func child(parent *os.Root, element string) (*os.Root, error) {
	before, err := parent.Lstat(element)
	if err != nil {
		return nil, err
	}
	if !before.IsDir() {
		return nil, &RefusedError{"a folder of its path is not a plain folder"}
	}
	next, err := parent.OpenRoot(element)
	if err != nil {
		return nil, err
	}
	// SECURITY: os.Root follows links inside the folder; what was opened must be what was looked at.
	after, err := next.Stat(".")
	if err == nil && !os.SameFile(before, after) {
		err = &RefusedError{"a folder of its path changed while it was opened"}
	}
	if err != nil {
		return nil, errors.Join(err, next.Close())
	}
	return next, nil
}

// check is nil when info is a regular file with one link.
//
// SECURITY: a symbolic or hard link would give a private file a public name; a FIFO or device would block
// or have effects when opened.
func check(info os.FileInfo) error {
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		return &RefusedError{"it is a symbolic link"}
	case mode.IsDir():
		return fs.ErrNotExist
	case !mode.IsRegular():
		return &RefusedError{"it is not a regular file"}
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); !ok || stat.Nlink > 1 {
		return &RefusedError{"it has more than one hard link"}
	}
	return nil
}

// Stat describes the plain file name below root, or fails as Open does.
func Stat(root *os.Root, name string) (info os.FileInfo, err error) {
	dir, err := Folder(root, path.Dir(name))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	if info, err = dir.Lstat(path.Base(name)); err != nil {
		return nil, err
	}
	return info, check(info)
}

// Open opens the existing plain file name, slash-separated and clean, below root with flag; the caller
// closes it. The error wraps fs.ErrNotExist for a missing file or a folder, or is a *RefusedError, or what
// the file system said.
func Open(root *os.Root, name string, flag int) (file *os.File, err error) {
	dir, err := Folder(root, path.Dir(name))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	base := path.Base(name)
	before, err := dir.Lstat(base)
	if err != nil {
		return nil, err
	}
	if err := check(before); err != nil {
		return nil, err
	}
	// Not blocking, should a FIFO take the file's place in between.
	file, err = dir.OpenFile(base, flag|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	after, err := file.Stat()
	switch {
	case err != nil:
	case !os.SameFile(before, after):
		err = &RefusedError{"it changed while it was opened"}
	default:
		err = check(after)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// Read reads at most limit bytes of the plain file name below root; more reports whether there was more.
func Read(root *os.Root, name string, limit int64) (data []byte, more bool, err error) {
	file, err := Open(root, name, os.O_RDONLY)
	if err != nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	data, err = io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, false, err
	}
	if int64(len(data)) > limit {
		return data[:limit], true, nil
	}
	return data, false, nil
}

// List is what the folder dir below root contains, in no particular order.
func List(root *os.Root, dir string) (entries []fs.DirEntry, err error) {
	opened, err := Folder(root, dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	file, err := opened.Open(".")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if entries, err = file.ReadDir(-1); err != nil {
		return nil, fmt.Errorf("list %s: %w", dir, err)
	}
	return entries, nil
}
