package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// ErrLinked means that a name leads to a file that has another name too, or is not a file at all.
var ErrLinked = errors.New("it is a link, has a second name, or is not a regular file")

// Open opens the file at path with flag, and with mode 0600 if it is created. A file that may be another one too is
// ErrLinked.
//
// SECURITY: a link in one compartment's folder could lead to another compartment, or to any file that is then written.
func Open(path string, flag int) (*os.File, error) {
	file, err := os.OpenFile(path, flag|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if errors.Is(err, syscall.ELOOP) {
		return nil, fmt.Errorf("open %s: %w", path, ErrLinked)
	}
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !info.Mode().IsRegular() || ok && stat.Nlink > 1 {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, ErrLinked), file.Close())
	}
	return file, nil
}

// Read returns the content of the file at path, which Open opens.
func Read(path string) ([]byte, error) {
	file, err := Open(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(file)
	return data, errors.Join(err, file.Close())
}
