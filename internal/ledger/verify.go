package ledger

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
)

// Report is what Verify found.
type Report struct {
	Entries  int64         // lines before the first whose form, hash or mac is bad
	Erased   int64         // those of them whose content was erased
	Bytes    int64         // their length
	LastHash string        // of the last of them, Genesis without one: keep it to notice a cut-off end
	Torn     int64         // bytes behind them that an interrupted (or running) write left; no damage
	Bad      *CorruptError // the first bad line and why; nil if the ledger is intact
}

// Intact reports whether no line is bad.
func (r Report) Intact() bool { return r.Bad == nil }

// Verify checks every line of a ledger: form, hashes, chain, macs, and that only a "delete" entry took a
// content away. It takes no lock and changes nothing. With a nil key macs are not checked. A file that is
// not there is an empty, intact ledger; the error is for what keeps Verify from reading.
//
// A chain cannot show that entries are missing at its end; LastHash, kept elsewhere, can.
func Verify(ctx context.Context, path string, key []byte) (Report, error) {
	f, size, err := openRegular(osFS{}, path, os.O_RDONLY)
	if errors.Is(err, os.ErrNotExist) {
		return Report{LastHash: Genesis}, nil
	}
	if err != nil {
		return Report{}, fmt.Errorf("verify ledger: %w", err)
	}
	defer func() { _ = f.Close() }() // opened for reading
	return verify(ctx, path, f, size, key)
}

func verify(ctx context.Context, path string, f io.ReaderAt, size int64, key []byte) (Report, error) {
	macs := macReader{f: f, key: key}
	erased := map[string]cursor{} // by id, the first erased line that no delete entry explains yet
	r := Report{LastHash: Genesis}
	t, err := scan(ctx, path, f, size, origin(), func(e Entry, at cursor) error {
		if err := macs.check(at); err != nil {
			return &CorruptError{Path: path, Line: at.seq, Offset: at.start, Err: err}
		}
		if e.Op == OpDelete && e.Erased {
			return &CorruptError{
				Path: path, Line: at.seq, Offset: at.start,
				Err: errors.New("a delete entry's content was taken away"),
			}
		}
		if _, known := erased[e.ID]; e.Erased && !known {
			erased[e.ID] = at
		}
		if e.Op == OpDelete {
			delete(erased, e.ID)
		}
		r.Entries, r.Bytes, r.LastHash = e.Seq, at.end, e.Hash
		if e.Erased {
			r.Erased++
		}
		return nil
	})
	if err != nil && !errors.As(err, &r.Bad) {
		return Report{}, err
	}
	if r.Bad == nil {
		r.Torn = size - t.last.end
	}
	if first, ok := firstOf(erased); ok && r.Bad == nil {
		r.Bad = &CorruptError{
			Path: path, Line: first.seq, Offset: first.start,
			Err: errors.New("its content was taken away without a delete entry"),
		}
	}
	return r, nil
}

func firstOf(lines map[string]cursor) (first cursor, ok bool) {
	for _, c := range lines {
		if !ok || c.seq < first.seq {
			first, ok = c, true
		}
	}
	return first, ok
}

// macReader checks the macs of lines that are otherwise known to be good.
type macReader struct {
	f   io.ReaderAt
	key []byte
	buf [maxHead]byte
}

func (m *macReader) check(at cursor) error {
	if m.key == nil {
		return nil
	}
	head := m.buf[:min(at.end-at.start, maxHead)]
	if _, err := m.f.ReadAt(head, at.start); err != nil {
		return err
	}
	l, _, err := decodeHead(head)
	if err != nil {
		return err
	}
	mac := hmac.New(sha256.New, m.key)
	mac.Write([]byte(at.hash))
	if !hmac.Equal(hex.AppendEncode(nil, mac.Sum(nil)), l.mac) {
		return errors.New("its mac is wrong: it was not written with this workspace's key")
	}
	return nil
}
