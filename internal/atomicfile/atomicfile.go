// Package atomicfile replaces files in one step: a reader, or the next process after a crash, finds the old content or
// the new one, never a part of it.
//
// The new content is written next to the file, under a name that begins with a dot and the file's own name. A crash
// before the rename leaves such a file behind; it does no harm and can be deleted. Where it may keep what is erased
// later, RemoveParts deletes it.
package atomicfile

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Write replaces the file at path with one of mode 0600 that contains data. It returns when the new content survives a
// power failure. The folder must exist. With an error the old file is as it was, unless only the last fsync failed.
func Write(path string, data []byte) error {
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	// The rename is an entry of the folder: without its fsync, a power failure could bring the old file back.
	return errors.Join(replace(path, content(data), (*os.File).Sync), dir.Sync(), dir.Close())
}

// WriteCache is Write without waiting for the disk, for content that can be made again: after a power failure the file
// may be old, empty or damaged, which its readers must notice.
func WriteCache(path string, data []byte) error {
	return WriteCacheFrom(path, content(data))
}

// WriteCacheFrom is WriteCache for content that write writes bit by bit. With an error of write the file is as it was.
func WriteCacheFrom(path string, write func(io.Writer) error) error {
	return replace(path, write, func(*os.File) error { return nil })
}

// Spool returns a new file in the folder of path that has no name: no other process can open it, and Close deletes it,
// as does the end of the process.
func Spool(path string) (*os.File, error) {
	file, err := os.CreateTemp(filepath.Dir(path), partPrefix(path)+"*") // mode 0600
	if err != nil {
		return nil, err
	}
	// RemoveParts of another process may have been faster.
	if err := os.Remove(file.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// RemoveParts deletes what killed writers of the file at path have left. No other process may be writing it.
func RemoveParts(path string) error {
	dir := filepath.Dir(path)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	errs := []error{err}
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), partPrefix(path)) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, entry.Name())); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// partPrefix is how the names begin under which the new content of the file at path is written.
func partPrefix(path string) string { return "." + filepath.Base(path) + "-" }

// content returns a function that writes data.
func content(data []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}
}

// replace writes to another file in the same folder and renames it. sync is called in between.
func replace(path string, write func(io.Writer) error, sync func(*os.File) error) error {
	file, err := os.CreateTemp(filepath.Dir(path), partPrefix(path)+"*") // mode 0600
	if err != nil {
		return err
	}
	buffered := bufio.NewWriterSize(file, 1<<16)
	if err = write(buffered); err == nil {
		err = buffered.Flush()
	}
	if err == nil {
		// Before the rename, or the new name could appear on the disk before the content does.
		err = sync(file)
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}
