package ledger

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// commit writes lines behind l.cur, and takes them back if they cannot be written or made durable.
func (l *Ledger) commit(f File, lines []byte, durable bool) error {
	err := l.write(f, lines, durable)
	if err == nil {
		return nil
	}
	// Never try the same fsync again: after a failure the kernel may call pages clean that it did not
	// write, and a second call would succeed without them.
	if terr := f.Truncate(l.cur.end); terr != nil {
		return fmt.Errorf("%w (and the lines could not be taken back, they may appear later: %w)", err, terr)
	}
	if serr := f.Sync(); serr != nil {
		l.suspect = true
		return fmt.Errorf("%w (the lines were taken back, but may return after a power failure: %w)", err, serr)
	}
	return err
}

// write writes lines at the end of the file and, if durable, fsyncs it. After a failed fsync the kernel may have
// dropped what was written before, see suspect.
func (l *Ledger) write(f File, lines []byte, durable bool) error {
	end := l.cur.end
	if durable && l.suspect {
		// Entries that were written without waiting for the disk may be among what an earlier fsync
		// failed to write. Written again they are dirty again, and the fsync below speaks for them.
		if err := rewrite(f, l.synced, end); err != nil {
			return fmt.Errorf("rewrite after a failed fsync: %w", err)
		}
	}
	n, err := f.WriteAt(lines, end)
	if err == nil && n < len(lines) {
		err = io.ErrShortWrite
	}
	if err != nil || !durable {
		return err
	}
	if err := f.Sync(); err != nil {
		l.suspect = true
		return fmt.Errorf("fsync: %w", err)
	}
	l.suspect, l.synced = false, end+int64(len(lines))
	// The content first, then the name: a durable name of an empty file would look like a ledger without entries.
	return l.anchor(f)
}

// rewrite writes the file's bytes [from, to) over themselves.
func rewrite(f File, from, to int64) error {
	buf := make([]byte, 1<<20)
	for from < to {
		part := buf[:min(to-from, int64(len(buf)))]
		if _, err := f.ReadAt(part, from); err != nil {
			return err
		}
		if _, err := f.WriteAt(part, from); err != nil {
			return err
		}
		from += int64(len(part))
	}
	return nil
}

// anchor makes the name of the file durable. Once a file is enough, but every process does it for
// itself: the one that created or replaced the file may have died before it did.
func (l *Ledger) anchor(f File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if l.anchored != nil && os.SameFile(l.anchored, info) {
		return nil
	}
	dir, err := filepath.Abs(filepath.Dir(l.opt.Path))
	if err != nil {
		return err
	}
	if err := syncDir(l.opt.FS, dir); err != nil {
		return fmt.Errorf("fsync folder: %w", err)
	}
	// The folders above may be just as new. Some, far up, may not be ours to open.
	for parent := filepath.Dir(dir); parent != dir; dir, parent = parent, filepath.Dir(parent) {
		err := syncDir(l.opt.FS, parent)
		if errors.Is(err, os.ErrPermission) || errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
			break
		}
		if err != nil {
			return fmt.Errorf("fsync folder: %w", err)
		}
	}
	l.anchored = info
	return nil
}

// syncDir fsyncs a folder, so that a new file's name is on disk.
func syncDir(fs FS, dir string) error {
	d, err := fs.OpenFile(dir, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
