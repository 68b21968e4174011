// Package applied is the note of how far the record of edits is known to be in its files. The note saves work, and
// shows when lines of the record are missing at its end.
package applied

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/yamo-protocol/yamo-mcp/internal/atomicfile"
)

// Note is the number of the last line of the record that is known to be in its file, and the size of the record then.
type Note struct{ Seq, Size int64 }

// path returns the file of the note below dir, a workspace's .yamo folder. It is written under the lock on all files
// and not synced: if it is lost or behind, the file of the last edit is compared with the record.
func path(dir string) string { return filepath.Join(dir, "private", "edits.applied") }

// Record returns the file of the record of edits below dir, a workspace's .yamo folder.
func Record(dir string) string { return filepath.Join(dir, "private", "edits.ndjson") }

// Head returns the file in the folder heads, which is outside of the workspace, that notes the record's last line, ""
// if heads is "".
func Head(heads string) string {
	if heads == "" {
		return ""
	}
	return filepath.Join(heads, "edits.json")
}

// Begun reports whether anything was ever edited: there is a record in dir, or a note that there was one, there or in
// the folder heads, "" for none.
func Begun(dir, heads string) bool {
	if head := Head(heads); head != "" {
		if _, err := os.Stat(head); err == nil {
			return true
		}
	}
	_, err := os.Stat(Record(dir))
	return err == nil || Check(dir) != nil
}

// Write notes that the record below dir is in its files up to line seq, with its present size.
func Write(dir string, seq int64) error {
	size := int64(0)
	if info, err := os.Stat(Record(dir)); err == nil {
		size = info.Size()
	}
	// SECURITY: a link in its place could lead to any file of the account, which would be overwritten.
	f, err := atomicfile.Open(path(dir), os.O_WRONLY|os.O_CREATE)
	if err != nil {
		return err
	}
	n, err := fmt.Fprintf(f, "%020d %020d\n", seq, size)
	if err == nil {
		err = f.Truncate(int64(n))
	}
	return errors.Join(err, f.Close())
}

// Read returns what Write noted, zeros if there is nothing or it is damaged.
func Read(dir string) (n Note) {
	data, err := atomicfile.Read(path(dir))
	if err != nil {
		return Note{}
	}
	if fields, err := fmt.Sscanf(string(data), "%d %d\n", &n.Seq, &n.Size); err != nil || fields != 2 {
		return Note{}
	}
	return n
}

// Check compares the record of edits below dir, a workspace's .yamo folder, with the note of the last edit that
// reached its file. The error says how many lines of the record are missing at its end. It takes no lock and reads no
// content. A later edit replaces the note, so that the difference is only noticed until then.
func Check(dir string) error {
	noted := Read(dir).Seq
	if noted == 0 {
		return nil
	}
	lines, err := countLines(Record(dir))
	if err != nil || lines >= noted {
		return err
	}
	return &IncompleteError{Missing: noted - lines}
}

// Accept notes that the record below dir is complete as it is: what was lost is not missed any more. It returns how
// many lines were.
func Accept(dir string) (missing int64, err error) {
	incomplete := (*IncompleteError)(nil)
	if err := Check(dir); !errors.As(err, &incomplete) {
		return 0, err
	}
	return incomplete.Missing, Write(dir, Read(dir).Seq-incomplete.Missing)
}

// IncompleteError means that lines are missing at the end of the record of edits.
type IncompleteError struct{ Missing int64 }

// Error names the number of lines, and what to do.
func (e *IncompleteError) Error() string {
	return fmt.Sprintf("the record of edits lacks its last lines (%d or more): restore .yamo/private from a backup, or "+
		"accept the loss with yamo-mcp ledger accept", e.Missing)
}

// countLines returns the number of line ends in a file, 0 if it is missing.
func countLines(path string) (n int64, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("open the record of edits: %w", err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	buf := make([]byte, 256<<10)
	for {
		read, err := f.Read(buf)
		n += int64(bytes.Count(buf[:read], []byte{'\n'}))
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return 0, fmt.Errorf("read the record of edits: %w", err)
		}
	}
}
