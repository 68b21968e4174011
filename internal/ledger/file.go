package ledger

import (
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
)

// FS is what a Ledger needs of a file system; tests put a faulty one here.
type FS interface {
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	Rename(from, to string) error
	Remove(name string) error
}

// File is what a Ledger needs of an open file or folder; *os.File is one.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Stat() (fs.FileInfo, error)
	Sync() error
	Truncate(size int64) error
	Chmod(mode fs.FileMode) error
}

// osFS is the FS of the operating system.
type osFS struct{}

func (osFS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := os.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err // not f: a nil *os.File would make a File that is not nil
	}
	return f, nil
}

func (osFS) Rename(from, to string) error { return os.Rename(from, to) }
func (osFS) Remove(name string) error     { return os.Remove(name) }

// plainFile is what a ledger, a key or a lock must be.
const plainFile = "a plain file"

// openRegular opens an existing file that is a regular file under one name, and returns its size.
func openRegular(fsys FS, path string, flag int) (File, int64, error) {
	// SECURITY: a link in a compartment's folder could lead into another compartment, and an erased
	// content would live on under a second name. O_NONBLOCK keeps a FIFO from holding us.
	f, err := fsys.OpenFile(path, flag|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, fault.Unusable(path, plainFile, err)
	}
	info, err := f.Stat()
	if err == nil {
		err = checkRegular(path, info)
	}
	if err != nil {
		_ = f.Close() // nothing was written
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// makePrivate takes the access of other users to a file away, and warns of what they had.
func makePrivate(f File, path string, log *slog.Logger) error {
	info, err := f.Stat()
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return err
	}
	// SECURITY: what others could read may have been copied, and what they could write is as good as theirs.
	if err := f.Chmod(0o600); err != nil {
		return fmt.Errorf("%s has mode %o and cannot be made private: %w; it must be yours, with mode 600",
			path, info.Mode().Perm(), err)
	}
	log.Warn("other users had access to a file of the memory; it is private now", "file", filepath.Base(path),
		"mode", fmt.Sprintf("%o", info.Mode().Perm()))
	return nil
}

// checkRegular refuses what is not a regular file with one name: a second name would be another way to read or change
// it.
func checkRegular(path string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return &fault.UnusableError{Path: path, Reason: "it is not a regular file", Want: plainFile}
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Nlink > 1 {
		return &fault.UnusableError{
			Path: path, Reason: fmt.Sprintf("it has %d names (hard links)", st.Nlink), Want: "a file with one name",
		}
	}
	return nil
}
