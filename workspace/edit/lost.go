package edit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// CheckComplete compares the record of edits below dir, a workspace's .yamo folder, with the note of the last edit that
// reached its file. The error says how many lines of the record are missing at its end. It takes no lock and reads no
// content. A later edit replaces the note, so that the difference is only noticed until then.
func CheckComplete(dir string) error {
	noted, _ := appliedNote(filepath.Join(dir, "private", "edits.applied"))
	if noted == 0 {
		return nil
	}
	lines, err := countLines(filepath.Join(dir, "private", "edits.ndjson"))
	if err != nil || lines >= noted {
		return err
	}
	return &IncompleteError{Missing: noted - lines}
}

// Complete is CheckComplete of the editor's record.
func (e *Editor) Complete() error { return CheckComplete(e.opt.Dir) }

// IncompleteError means that lines are missing at the end of the record of edits.
type IncompleteError struct{ Missing int64 }

// Error names the number of lines, and what to do.
func (e *IncompleteError) Error() string {
	return fmt.Sprintf("the record of edits lacks its last lines (%d): restore .yamo/private from a backup", e.Missing)
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
