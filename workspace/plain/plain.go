// Package plain opens plain files below an os.Root: regular files with one link, reached through plain folders.
//
// Its invariant: the file that is opened is the one that was checked under its exact name, so that no symbolic or hard
// link, no device and no swap in between gives one file another's name. os.Root is not enough: it keeps paths inside
// the folder but follows links within it, and the access rules are about names.
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

// RefusedError is the reason why something that exists is not opened.
type RefusedError struct{ Reason string }

// Error returns the reason.
func (e *RefusedError) Error() string { return e.Reason }

// Folder opens the folder dir ("." for root itself), slash-separated, without following links. The caller closes it.
// The error is a *RefusedError if an element of dir is a link or no folder.
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

// child opens the folder element of parent, without following a link.
func child(parent *os.Root, element string) (*os.Root, error) {
	before, err := parent.Lstat(element)
	if err != nil {
		return nil, err
	}
	if before.Mode()&fs.ModeSymlink != 0 {
		return nil, &RefusedError{"the folder " + element + " is a symbolic link"}
	}
	if !before.IsDir() {
		return nil, &RefusedError{element + " is not a folder"}
	}
	next, err := parent.OpenRoot(element)
	if err != nil {
		return nil, err
	}
	// SECURITY: os.Root follows links inside the folder, so that a link put there since Lstat would be followed.
	after, err := next.Stat(".")
	if err == nil && !os.SameFile(before, after) {
		err = &RefusedError{"a folder of its path changed while it was opened"}
	}
	if err != nil {
		return nil, errors.Join(err, next.Close())
	}
	return next, nil
}

// check returns nil if info is a regular file with one link, fs.ErrNotExist for a folder, and a *RefusedError
// otherwise.
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

// Refusal returns the reason why something called name exists below root but is not opened as a file, "" if nothing
// refuses it.
func Refusal(root *os.Root, name string) string {
	info, err := Stat(root, name)
	if refused, ok := errors.AsType[*RefusedError](err); ok {
		return refused.Reason
	}
	if info != nil && info.IsDir() {
		return "it is a folder"
	}
	return ""
}

// FolderRefusal returns the reason why something called dir exists below root but is not used as a folder, "" if
// nothing refuses it.
func FolderRefusal(root *os.Root, dir string) string {
	folder, err := Folder(root, dir)
	if refused, ok := errors.AsType[*RefusedError](err); ok {
		return refused.Reason
	}
	if folder != nil {
		_ = folder.Close() // nothing was done with it
	}
	return ""
}

// Stat describes the plain file name below root. Its errors are those of Open.
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

// openAttempts is how often Open looks again at a file that was replaced while it opened it.
const openAttempts = 100

// errReplaced says that a name stood for another file when it was opened than when it was checked.
var errReplaced = &RefusedError{"it kept changing while it was opened"}

// Open opens the existing plain file name, slash-separated and clean, below root with the os.O_ flags flag. The caller
// closes it. A file that another process replaces at that moment is opened in its new version. The error wraps
// fs.ErrNotExist for a missing file or a folder, is a *RefusedError, or is what the file system reported.
func Open(root *os.Root, name string, flag int) (file *os.File, err error) {
	dir, err := Folder(root, path.Dir(name))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	for range openAttempts {
		if file, err = open(dir, path.Base(name), flag); !errors.Is(err, errReplaced) {
			break
		}
	}
	return file, err
}

// open opens the plain file base of dir. The error is errReplaced if it was replaced since it was checked; everything
// that is opened in its place has to pass the checks again.
func open(dir *os.Root, base string, flag int) (*os.File, error) {
	before, err := dir.Lstat(base)
	if err != nil {
		return nil, err
	}
	if err := check(before); err != nil {
		return nil, err
	}
	// O_NONBLOCK: if a FIFO has replaced the file since Lstat, opening it must not block.
	file, err := dir.OpenFile(base, flag|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	// The open file is checked again: only this look is at the file itself and not at its name.
	after, err := file.Stat()
	switch {
	case err != nil:
	case !os.SameFile(before, after):
		err = errReplaced
	default:
		err = check(after)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// Read reads up to limit bytes of the plain file name below root; more reports whether the file has more. Its errors
// are those of Open.
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

// List returns the entries of the folder dir below root, in no particular order.
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
