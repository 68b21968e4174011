package ledger

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/lockfile"
)

// OpSalvage is the operation of the entry that Salvage appends, with a Salvaged as its data.
const OpSalvage = "salvage"

// Salvaged is what Salvage did, or would do.
type Salvaged struct {
	Kept  int64      `json:"kept"`            // lines
	Lost  []LostLine `json:"lost"`            // those that were set aside
	Aside string     `json:"aside,omitempty"` // the name of the file with them, in the ledger's folder
	// Unlinked are kept lines, by their numbers in the damaged file, that say which line they follow, but that line is
	// missing or damaged. Only Rekey keeps such lines; each begins a series of lines that follow each other.
	Unlinked []int64 `json:"unlinked,omitempty"`
}

// LostLine is a line that Salvage does not keep.
type LostLine struct {
	Line   int64  `json:"line"` // in the damaged file, from 1
	Reason string `json:"reason"`
}

// Reasons not to keep a line.
var (
	errRepeats = errors.New("it repeats or moves an earlier line")
	errEmptied = errors.New("a delete entry's content was taken away")
)

// errSealed means that the lines of version 1 cannot be known to be this ledger's.
var errSealed = errors.New("the line that seals it is damaged")

// errNewer keeps Salvage from setting aside what a newer program has written. Between lines of this version such a line
// is damage: no program writes an earlier version after a later one.
var errNewer = fmt.Errorf("the last lines were %w, which reads them; update this one. Nothing was changed", ErrVersion)

// Salvage makes a valid ledger of a damaged one. It keeps every line that was written with the key and for this ledger,
// in their order, sets the rest aside in a file next to it, and appends an entry that lists what was lost. The kept
// lines get new numbers, hashes and macs; their times and bodies stay. The file of another ledger is an error, and one
// that a newer program has written is ErrVersion.
//
// With dry nothing is changed. An intact ledger is left as it is, and the result has neither lost lines nor Aside.
func Salvage(ctx context.Context, o Options, dry bool) (Salvaged, error) {
	l := New(o)
	release, err := l.lock(ctx, lockfile.Exclusive)
	if err != nil {
		return Salvaged{}, err
	}
	defer func() { _ = release() }() // closes the lock's descriptor in any case, which releases it
	if err := l.macs.load(false); err != nil {
		return Salvaged{}, err
	}
	report, err := Verify(ctx, o.Path, o.Name, l.macs.key)
	if err != nil || report.Intact() {
		return Salvaged{Kept: report.Entries, Lost: []LostLine{}}, err
	}
	f, size, err := openRegular(osFS{}, o.Path, os.O_RDONLY)
	if err != nil {
		return Salvaged{}, err
	}
	defer func() { _ = f.Close() }() // opened for reading
	sealed, err := l.sealedHere(f, size)
	if err != nil {
		return Salvaged{}, err
	}
	return l.salvage(ctx, f, size, dry, func() judge {
		return (&keyed{macs: l.macs, sealed: sealed}).check
	})
}

// salvage is Salvage for a file that is known to be damaged, with the lines that judges keep. The caller has the lock.
func (l *Ledger) salvage(ctx context.Context, f io.ReaderAt, size int64, dry bool, judges func() judge,
) (Salvaged, error) {
	o, now := l.opt, l.now()
	w := newSalvager(l.macs, judges())
	if err := w.read(f, size, nil, nil); err != nil || dry {
		return w.result, err
	}
	name := strings.TrimSuffix(filepath.Base(o.Path), ".ndjson")
	w.result.Aside = name + ".damaged-" + now.Format("20060102T150405.000Z")
	aside, err := os.OpenFile(filepath.Join(filepath.Dir(o.Path), w.result.Aside), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return Salvaged{}, err
	}
	lost := &appender{f: aside}
	err = replaceFile(o.Path, func(out *appender) error {
		again := newSalvager(l.macs, judges())
		if err := again.read(f, size, out, lost); err != nil {
			return err
		}
		// Before the rename: what is lost from the ledger is on the disk.
		if err := errors.Join(lost.flush(nil), aside.Sync(), syncDir(osFS{}, filepath.Dir(o.Path))); err != nil {
			return err
		}
		l.cur = again.cur
		b, err := l.encode(now, again.drafts(w.result))
		if err != nil {
			return err
		}
		return out.flush(b.lines)
	})
	if err = errors.Join(err, aside.Close()); err != nil {
		return Salvaged{}, fmt.Errorf("salvage %s: %w", o.Path, err)
	}
	report, err := Verify(ctx, o.Path, o.Name, l.macs.key)
	if err == nil && !report.Intact() {
		err = fmt.Errorf("salvage %s: %w", o.Path, report.Bad)
	}
	if err == nil && o.Head != "" {
		err = AcceptHead(o.Head, report)
	}
	return w.result, err
}

// sealedHere reports whether lines of version 1 can be trusted to be this ledger's: a line of version 2 is, or there is
// none. The error is a ForeignError if there are lines of another ledger.
func (l *Ledger) sealedHere(f io.ReaderAt, size int64) (bool, error) {
	s, none, other := scanner{r: f, size: size}, true, error(nil)
	for {
		raw, err := s.next()
		if errors.Is(err, io.EOF) {
			return none, other
		}
		if err != nil {
			return false, err
		}
		if !strings.HasPrefix(string(raw.text[:min(len(raw.text), maxHead)]), `{"v":2,`) {
			continue
		}
		none = false
		decoded, err := decodeLine(raw.text)
		if err != nil {
			continue
		}
		err = l.macs.check(decoded)
		if _, foreign := errors.AsType[*ForeignError](err); foreign {
			other = err // lines of another ledger among this one's are set aside
		}
		if err == nil {
			return true, nil
		}
	}
}

// judge decides about the line number n of a damaged ledger, from 1, which it gets in the order of the file. The error
// is why it is not kept.
type judge func(n int64, raw rawLine) (line, error)

// keyed keeps the lines that were written with the key.
type keyed struct {
	macs   *macs
	sealed bool
	last   line
}

// salvager writes the good lines of a ledger as a new one.
type salvager struct {
	macs   *macs
	judge  judge
	cur    cursor          // of the new ledger
	erased map[string]bool // ids of erased entries without a deletion so far
	result Salvaged
}

func newSalvager(m *macs, j judge) *salvager {
	return &salvager{macs: m, judge: j, cur: origin(), erased: map[string]bool{}, result: Salvaged{Lost: []LostLine{}}}
}

// read reads all lines, and writes the good ones to kept and the others to lost, which may be nil.
func (w *salvager) read(f io.ReaderAt, size int64, kept, lost *appender) error {
	s := scanner{r: f, size: size}
	newer := false // the last lines
	for n := int64(1); ; n++ {
		raw, err := s.next()
		if errors.Is(err, io.EOF) && newer {
			return errNewer
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		decoded, err := w.judge(n, raw)
		newer = errors.Is(err, ErrVersion) || newer && err != nil
		if err != nil {
			w.result.Lost = append(w.result.Lost, LostLine{n, err.Error()})
			if lost != nil {
				if err := lost.line(raw.text); err != nil {
					return err
				}
			}
			continue
		}
		w.result.Kept++
		text := w.rechain(decoded)
		if kept != nil {
			if err := kept.line(text); err != nil {
				return err
			}
		}
	}
}

// check is a judge: a line must be good and come after those that are kept.
func (k *keyed) check(_ int64, raw rawLine) (line, error) {
	l, err := whole(raw)
	if err == nil {
		err = k.macs.check(l)
	}
	switch {
	case err != nil:
		return line{}, err
	case l.version == 1 && !k.sealed:
		return line{}, errSealed
	case l.seq <= k.last.seq || l.version < k.last.version:
		return line{}, errRepeats
	}
	k.last.seq, k.last.version = l.seq, l.version
	return l, nil
}

// whole decodes a line and checks it against its own hashes.
func whole(raw rawLine) (line, error) {
	if raw.text == nil {
		return line{}, errTooLong
	}
	l, err := decodeLine(raw.text)
	if err != nil {
		return line{}, err
	}
	if l.op == OpDelete && l.body == nil {
		return line{}, errEmptied
	}
	_, err = l.entry(string(l.prev))
	return l, err
}

// rechain returns l as the next line of the new ledger, without its newline.
func (w *salvager) rechain(l line) []byte {
	var bodyHash [sha256.Size]byte
	_, _ = hex.Decode(bodyHash[:], l.bodyHash) // decodeHead has checked the digits
	text := appendHead(nil, w.macs.name, w.cur.seq+1, l.time, l.op, l.id, bodyHash, w.cur.hash)
	hash := digest(string(text) + "}")
	text = w.macs.appendProof(text, 0)
	if l.body == nil {
		text = append(text, erasedEnd...)
		w.erased[l.id] = true
	} else {
		text = append(append(text, l.body...), '}')
	}
	if l.op == OpDelete {
		delete(w.erased, l.id)
	}
	w.cur = cursor{seq: w.cur.seq + 1, hash: hash, start: w.cur.end, end: w.cur.end + int64(len(text)) + 1, version: 2}
	return text
}

// drafts returns the entries that end the new ledger: deletions of erased entries whose own are lost, and what was
// done.
func (w *salvager) drafts(result Salvaged) (list []Draft) {
	for _, id := range slices.Sorted(maps.Keys(w.erased)) {
		list = append(list, Draft{Op: OpDelete, ID: id})
	}
	return append(list, Draft{Op: OpSalvage, Data: result})
}
