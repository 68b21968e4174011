package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/atomicfile"
)

// A file cannot show that lines are missing at its end, or that it is an old copy of itself. So the last durable entry
// is noted in a file outside of the workspace, the head. It has a number, a hash and a time, and nothing of the
// content.
//
// A head that the ledger does not have is kept until the operator accepts the ledger as it is: otherwise the next write
// would hide what is missing.

// head is the content of a head's file.
type head struct {
	Seq    int64     `json:"seq"`
	Hash   string    `json:"hash"`
	Offset int64     `json:"offset"` // of the line, where it was then: Erase moves lines
	Time   time.Time `json:"time"`   // of the note
}

// Missing is what a ledger lacks of what this machine has seen.
type Missing struct {
	Entries  int64     // that are missing at the end; 0 if Replaced
	Replaced bool      // the entry with that number is another one: the ledger has another history
	Since    time.Time // when the missing entry was the last one
}

// Error describes what is missing.
func (m *Missing) Error() string {
	at := m.Since.UTC().Format(time.RFC3339)
	if m.Replaced {
		return "it is not the ledger that this machine saw at " + at
	}
	return fmt.Sprintf("it is shorter than what this machine has seen: %d entries of %s or before are missing",
		m.Entries, at)
}

// CheckHead compares the ledger in the file path with its head, which is in the file note. It returns nil if the ledger
// has that entry, or if there is no note, or none that can be read. It checks no line: see Verify.
func CheckHead(note, path string) (*Missing, error) {
	f, size, err := openRegular(osFS{}, path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return readHead(note).missing(nil, 0)
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // opened for reading
	if size, err = terminated(f, size); err != nil {
		return nil, err
	}
	return readHead(note).missing(f, size)
}

// terminated returns how many of the first size bytes of f are lines with their newlines.
func terminated(f io.ReaderAt, size int64) (int64, error) {
	buf := make([]byte, 64<<10)
	for size > 0 {
		part := buf[:min(size, int64(len(buf)))]
		if _, err := f.ReadAt(part, size-int64(len(part))); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(part, '\n'); i >= 0 {
			return size - int64(len(part)) + int64(i) + 1, nil
		}
		size -= int64(len(part))
	}
	return 0, nil
}

// AcceptHead makes what r found the head of the ledger.
func AcceptHead(note string, r Report) error {
	if r.Entries == 0 {
		if err := os.Remove(note); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	return head{Seq: r.Entries, Hash: r.LastHash, Offset: -1, Time: time.Now()}.write(note)
}

// readHead returns the zero head without a file. One that cannot be read counts as none: the note is not fsynced.
func readHead(note string) (h head) {
	if note == "" {
		return head{}
	}
	f, err := os.OpenFile(note, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return head{}
	}
	defer func() { _ = f.Close() }() // opened for reading
	raw, err := io.ReadAll(io.LimitReader(f, maxHead))
	if err != nil || json.Unmarshal(raw, &h) != nil || h.Seq < 1 || len(h.Hash) != hashLen {
		return head{}
	}
	return h
}

// write replaces the note. It is not fsynced: what it says can only be too old after a power failure.
func (h head) write(note string) error {
	raw, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(note), 0o700); err != nil {
		return err
	}
	return atomicfile.WriteCache(note, append(raw, '\n'))
}

// missing looks for the entry in the first size bytes of f, which are known to be a chain.
func (h head) missing(f io.ReaderAt, size int64) (*Missing, error) {
	if h.Seq == 0 {
		return nil, nil
	}
	if at, ok := h.line(f, size); ok && at == h.Hash {
		return nil, nil
	}
	s, seq := scanner{r: f, size: size}, int64(0)
	for {
		raw, err := s.next()
		if errors.Is(err, io.EOF) {
			return &Missing{Entries: h.Seq - seq, Since: h.Time}, nil
		}
		if err != nil {
			return nil, err
		}
		l, _, err := decodeHead(raw.text)
		if err != nil || !raw.terminated {
			return &Missing{Entries: h.Seq - seq, Since: h.Time}, nil // torn, or damaged, which reading it reports
		}
		if seq = l.seq; seq < h.Seq {
			continue
		}
		if string(l.hash) == h.Hash {
			return nil, nil
		}
		return &Missing{Replaced: true, Since: h.Time}, nil
	}
}

// line returns the hash of the line where the entry was.
func (h head) line(f io.ReaderAt, size int64) (hash string, ok bool) {
	from := h.Offset - 1 // with the newline before it, so that nothing within a line counts
	if h.Offset < 0 || h.Offset >= size {
		return "", false
	}
	text := make([]byte, min(size-max(from, 0), maxHead))
	if _, err := f.ReadAt(text, max(from, 0)); err != nil {
		return "", false
	}
	if from >= 0 {
		if text, ok = bytes.CutPrefix(text, []byte{'\n'}); !ok {
			return "", false
		}
	}
	l, _, err := decodeHead(text)
	return string(l.hash), err == nil && l.seq == h.Seq
}

// compareHead warns once if the ledger lacks what this machine has seen. f is nil if there is no file.
func (l *Ledger) compareHead(f io.ReaderAt, size int64) {
	if l.compared || l.opt.Head == "" {
		return
	}
	l.compared = true
	lacking, err := readHead(l.opt.Head).missing(f, size)
	switch {
	case err != nil:
		l.opt.Logger.Debug("compare a ledger with its head", "ledger", l.opt.Name, "error", err)
	case lacking != nil:
		// Not an error: the operator may have restored a backup.
		l.opt.Logger.Warn("a ledger is not as this machine last saw it; if you did not restore a backup, find out why, "+
			"otherwise run `yamo-mcp ledger accept`", "ledger", l.opt.Name, "difference", lacking.Error())
	}
}

// advances reports whether the next entry becomes the head: the ledger has the present one. The caller has the lock.
func (l *Ledger) advances(f File) bool {
	if l.opt.Head == "" {
		return false
	}
	if f == nil {
		return readHead(l.opt.Head).Seq == 0
	}
	lacking, err := readHead(l.opt.Head).missing(f, l.cur.end)
	return err == nil && lacking == nil
}

// noteHead notes the last entry. A failure costs the protection only, and is logged once.
func (l *Ledger) noteHead(b batch) {
	last := b.cursors[len(b.cursors)-1]
	err := head{Seq: last.seq, Hash: last.hash, Offset: last.start, Time: l.now()}.write(l.opt.Head)
	if err != nil && !l.unnoted {
		l.unnoted = true
		l.opt.Logger.Warn("the last entry of a ledger cannot be noted outside of the workspace, so that missing "+
			"entries would not be noticed", "ledger", l.opt.Name, "error", err)
	}
}
