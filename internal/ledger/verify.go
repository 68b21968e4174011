package ledger

import (
	"context"
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
	Keyless  bool          // the ledger has entries and there is no key, so that no mac was checked
	Bad      *CorruptError // the first bad line and why; nil if all are good
}

// Intact reports whether every line is as it was written.
func (r Report) Intact() bool { return r.Bad == nil && !r.Keyless }

// Verify checks every line of the ledger called name: form, hashes, chain, macs, and that only a "delete" entry took a
// content away. It takes no lock and changes nothing. With a nil key no macs are checked, and a ledger with entries is
// not intact. A file that is not there is an empty, intact ledger; the error is for what keeps Verify from reading.
//
// A chain cannot show that entries are missing at its end; a Head, or LastHash kept elsewhere, can.
func Verify(ctx context.Context, path, name string, key []byte) (Report, error) {
	f, size, err := openRegular(osFS{}, path, os.O_RDONLY)
	if errors.Is(err, os.ErrNotExist) {
		return Report{LastHash: Genesis}, nil
	}
	if err != nil {
		return Report{}, fmt.Errorf("verify ledger: %w", err)
	}
	defer func() { _ = f.Close() }() // opened for reading
	return verify(ctx, path, name, f, size, key)
}

// verify checks all lines: the chain, the MACs if key is set, and that each erased line has a delete entry after it.
func verify(ctx context.Context, path, name string, f io.ReaderAt, size int64, key []byte) (Report, error) {
	var checked *macs
	if key != nil {
		checked = newMACs(name, func(bool) ([]byte, error) { return key, nil })
		if err := checked.load(false); err != nil {
			return Report{}, err
		}
	}
	erased := map[string]cursor{} // by name, the first erased line that no delete entry explains yet
	r := Report{LastHash: Genesis}
	t, err := scan(ctx, path, f, size, origin(), checked, nil, func(e Entry, at cursor) error {
		if e.Op == OpDelete && e.Erased {
			return &CorruptError{
				Path: path, Line: at.seq, Offset: at.start,
				Err: errEmptied,
			}
		}
		if _, known := erased[e.Name()]; e.Erased && !known {
			erased[e.Name()] = at
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
	r.Keyless = key == nil && r.Entries > 0
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

// firstOf returns the earliest of the lines, ok false if there are none.
func firstOf(lines map[string]cursor) (first cursor, ok bool) {
	for _, c := range lines {
		if !ok || c.seq < first.seq {
			first, ok = c, true
		}
	}
	return first, ok
}
