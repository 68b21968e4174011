package ledger

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"sync/atomic"

	"github.com/yamo-protocol/yamo-mcp/internal/lockfile"
)

// CorruptError reports where a ledger is damaged in a way that no interrupted write explains.
type CorruptError struct {
	Path   string
	Line   int64 // from 1; lines before it are intact
	Offset int64 // of the line's first byte
	Err    error // what is wrong with it; ErrVersion if a newer program wrote it
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("ledger %s is damaged: line %d (byte %d): %v", e.Path, e.Line, e.Offset, e.Err)
}

func (e *CorruptError) Unwrap() error { return e.Err }

// cursor is a place in the file: behind the entry seq, whose line is the bytes from start to end.
type cursor struct {
	seq        int64
	hash       string
	start, end int64
	erased     bool
	version    int // of the line, 0 at the beginning
}

func origin() cursor { return cursor{hash: Genesis} }

// next decodes the line after c, which starts at byte off and is given without its newline. It checks the mac unless
// macs is nil.
func (c cursor) next(text []byte, off int64, macs *macs) (Entry, cursor, error) {
	l, err := decodeLine(text)
	if err != nil {
		return Entry{}, c, err
	}
	if err := c.precedes(l); err != nil {
		return Entry{}, c, err
	}
	// SECURITY: the hashes show damage only, anyone can compute them. The mac shows that the line was written with the
	// workspace's key, and for this ledger.
	if err := macs.check(l); err != nil {
		return Entry{}, c, err
	}
	e, err := l.entry(c.hash)
	if err != nil {
		return Entry{}, c, err
	}
	return e, c.past(l, e.Hash, off, len(text)), nil
}

// precedes checks that l continues the chain.
func (c cursor) precedes(l line) error {
	if l.seq != c.seq+1 {
		return fmt.Errorf("its number is %d, expected %d", l.seq, c.seq+1)
	}
	if string(l.prev) != c.hash {
		return errors.New("it does not continue the line before it: prev differs")
	}
	if l.version < c.version {
		return fmt.Errorf("it has version %d, and the line before it version %d", l.version, c.version)
	}
	return nil
}

// past returns the position after the line l of n bytes at offset off.
func (c cursor) past(l line, hash string, off int64, n int) cursor {
	return cursor{
		seq: l.seq, hash: hash, start: off, end: off + int64(n) + 1, erased: l.body == nil, version: l.version,
	}
}

// in reports whether c's line is still where it was, so that reading can go on behind it. Erase makes
// lines shorter and never longer, so a rewritten file has another line, or none, or an erased one there.
func (c cursor) in(f io.ReaderAt, size int64) (bool, error) {
	if c.seq == 0 {
		return true, nil
	}
	if size < c.end {
		return false, nil
	}
	head := make([]byte, min(c.end-c.start, maxHead))
	if _, err := f.ReadAt(head, c.start); err != nil {
		return false, err
	}
	l, rest, err := decodeHead(head)
	erased := bytes.HasPrefix(rest, []byte(erasedEnd))
	return err == nil && l.seq == c.seq && string(l.hash) == c.hash && erased == c.erased, nil
}

// deliver gives apply the entries of the file's first size bytes that come after l.cur. It says what is
// at the end of them.
func (l *Ledger) deliver(ctx context.Context, f File, size int64, apply func(Entry) error) (tail, error) {
	seen, cur := l.cur, l.cur
	same, err := cur.in(f, size)
	if err != nil {
		return tail{}, fmt.Errorf("read ledger %s: %w", l.opt.Path, err)
	}
	if !same {
		// Another process erased something, so the file is a new one: find the place again.
		cur = origin()
		l.anchored, l.synced, l.suspect = nil, 0, false
	}
	if size > cur.end {
		// A ledger with lines has a key; a new key instead of a lost one would make all lines look forged.
		if err := l.macs.load(false); err != nil {
			return tail{}, err
		}
	}
	if cur.seq == 0 {
		if err := l.checkSeal(ctx, f, size); err != nil {
			return tail{}, err
		}
	}
	if cur.seq == 0 {
		l.read = sha256.New()
	}
	read := l.read
	l.read, l.partial = nil, true // until the end is reached without an error
	t, err := scan(ctx, l.opt.Path, f, size, cur, l.macs, read, func(e Entry, at cursor) error {
		switch {
		case e.Seq < seen.seq:
			return nil
		case e.Seq == seen.seq && e.Hash != seen.hash:
			return fmt.Errorf("%s: %w", l.opt.Path, ErrReplaced)
		case e.Seq > seen.seq && apply != nil:
			if err := apply(e); err != nil {
				return err
			}
		}
		l.cur = at
		return nil
	})
	if err != nil {
		return tail{}, err
	}
	if t.last.seq < seen.seq {
		return tail{}, fmt.Errorf("%s: %w", l.opt.Path, ErrReplaced)
	}
	l.compareHead(f, t.last.end)
	l.read, l.partial = read, false
	return t, nil
}

// checkSeal checks the first line of version 2 that follows lines of version 1, if there is one.
//
// SECURITY: lines of version 1 do not name their ledger, so that those of another one, such as a private ledger in a
// group's folder, are known by this line only. Nothing may be delivered before.
func (l *Ledger) checkSeal(ctx context.Context, f File, size int64) error {
	s := scanner{r: f, size: size}
	for n := int64(1); ; n++ {
		raw, err := s.next()
		if errors.Is(err, io.EOF) {
			return nil // all lines are of version 1: the first write seals them
		}
		if err != nil {
			return fmt.Errorf("read ledger %s: %w", l.opt.Path, err)
		}
		if !bytes.HasPrefix(raw.text, []byte(`{"v":2,`)) {
			continue
		}
		if n == 1 {
			return nil // nothing is delivered before this line
		}
		decoded, err := decodeLine(raw.text)
		if err == nil {
			err = l.macs.check(decoded)
		}
		if foreign := (*ForeignError)(nil); errors.As(err, &foreign) {
			return &CorruptError{Path: l.opt.Path, Line: 1, Err: foreign}
		}
		if err == nil {
			return nil
		}
		// It may be torn. If it is not, the lines before it cannot be trusted to be of this ledger.
		_, err = scan(ctx, l.opt.Path, f, size, origin(), l.macs, nil, func(Entry, cursor) error { return nil })
		return err
	}
}

// deliverOwn gives apply the entries that were just written.
func (l *Ledger) deliverOwn(b batch, apply func(Entry) error) error {
	read := l.read
	l.partial = true
	if l.read = nil; l.cur.seq == 0 {
		read = sha256.New()
	}
	for i, e := range b.entries {
		if apply != nil {
			if err := apply(e); err != nil {
				return err
			}
		}
		l.cur = b.cursors[i]
	}
	if read != nil {
		read.Write(b.lines)
		l.read = read
	}
	l.partial = false
	return nil
}

// tail is how the intact part of a file ends: behind last, where there may be bytes that are no line yet.
type tail struct {
	last     cursor
	torn     bool // they are what an interrupted write left
	complete bool // they are a valid line but for its newline
}

// scan decodes the lines of the file's first size bytes that follow from, and calls visit for each.
// Errors of visit are returned as they are, damage as *CorruptError. With nil macs none is checked. read, unless it is
// nil, gets the bytes of the lines that were visited.
func scan(ctx context.Context, path string, f io.ReaderAt, size int64, from cursor, macs *macs, read hash.Hash,
	visit func(Entry, cursor) error,
) (tail, error) {
	if size-from.end < aheadFrom {
		return scanLines(ctx, path, f, size, from, macs, read, visit)
	}
	send, wait := ahead(visit)
	t, err := scanLines(ctx, path, f, size, from, macs, read, send)
	if visitErr := wait(); visitErr != nil {
		return tail{}, visitErr
	}
	return t, err
}

// aheadFrom is the number of bytes from which lines are decoded while earlier ones are visited, on another core: to
// apply an entry takes about as long as to decode it.
const aheadFrom = 1 << 20

// ahead returns a function that hands entries to visit in a goroutine of its own, in their order, and one that waits
// until visit has seen all of them and returns its error. After an error visit is not called again.
func ahead(visit func(Entry, cursor) error) (send func(Entry, cursor) error, wait func() error) {
	type item struct {
		entry Entry
		at    cursor
	}
	const batch = 128
	var pending []item
	batches, done := make(chan []item, 8), make(chan struct{})
	var failed atomic.Pointer[error]
	go func() {
		defer close(done)
		for items := range batches {
			for _, i := range items {
				if failed.Load() != nil {
					break
				}
				if err := visit(i.entry, i.at); err != nil {
					failed.Store(&err)
				}
			}
		}
	}()
	send = func(e Entry, at cursor) error {
		if pending = append(pending, item{e, at}); len(pending) == batch {
			batches <- pending
			pending = make([]item, 0, batch)
		}
		if err := failed.Load(); err != nil {
			return *err
		}
		return nil
	}
	wait = func() error {
		batches <- pending
		close(batches)
		<-done
		if err := failed.Load(); err != nil {
			return *err
		}
		return nil
	}
	return send, wait
}

// scanLines is scan on one core.
func scanLines(ctx context.Context, path string, f io.ReaderAt, size int64, from cursor, macs *macs, read hash.Hash,
	visit func(Entry, cursor) error,
) (tail, error) {
	cur := from
	s := scanner{r: f, off: from.end, size: size}
	for {
		if cur.seq%1024 == 0 && ctx.Err() != nil {
			return tail{}, ctx.Err()
		}
		raw, err := s.next()
		if errors.Is(err, io.EOF) {
			return tail{last: cur}, nil
		}
		if err != nil {
			return tail{}, fmt.Errorf("read ledger %s: %w", path, err)
		}
		e, next, bad := Entry{}, cur, errTooLong
		if raw.text != nil {
			e, next, bad = cur.next(raw.text, raw.off, macs)
		}
		if bad == nil && raw.terminated {
			if read != nil {
				read.Write(raw.text)
				read.Write([]byte{'\n'})
			}
			if err := visit(e, next); err != nil {
				return tail{}, err
			}
			cur = next
			continue
		}
		if bad == nil {
			return tail{last: cur, complete: true}, nil
		}
		torn, err := s.torn(raw)
		if err != nil {
			return tail{}, fmt.Errorf("read ledger %s: %w", path, err)
		}
		if torn {
			return tail{last: cur, torn: true}, nil
		}
		return tail{}, &CorruptError{Path: path, Line: cur.seq + 1, Offset: raw.off, Err: bad}
	}
}

// openCommitted opens the file for reading and returns how much of it is committed: written by writers
// that are done, or dead. file is nil if there is nothing to read.
func (l *Ledger) openCommitted(ctx context.Context) (file File, size int64, err error) {
	f, size, err := l.open(os.O_RDONLY)
	if err != nil || f == nil {
		return nil, 0, err
	}
	same, err := l.cur.in(f, size)
	if err == nil && same && size == l.cur.end {
		return f, size, nil // nothing new, the usual case: no lock needed
	}
	if cerr := f.Close(); err != nil || cerr != nil {
		return nil, 0, fmt.Errorf("read ledger %s: %w", l.opt.Path, errors.Join(err, cerr))
	}
	// A writer may be in the middle of a write that will fail and be taken back. With the lock shared
	// there is none, and what is committed never changes in this file; reading it needs no lock.
	unlock, err := l.lock(ctx, lockfile.Shared)
	if err != nil {
		return nil, 0, err
	}
	f, size, err = l.open(os.O_RDONLY)
	if uerr := unlock(); uerr != nil && err == nil && f != nil {
		return nil, 0, errors.Join(uerr, f.Close())
	}
	return f, size, err
}

// open opens the file without creating it and returns its size. A file that is not there gives nil,
// or ErrReplaced if it was there before.
func (l *Ledger) open(flag int) (File, int64, error) {
	f, size, err := openRegular(l.opt.FS, l.opt.Path, flag)
	if errors.Is(err, os.ErrNotExist) {
		if l.cur.seq > 0 {
			return nil, 0, fmt.Errorf("%s: %w", l.opt.Path, ErrReplaced)
		}
		return nil, 0, nil
	}
	if err == nil {
		if err = makePrivate(f, l.opt.Path, l.opt.Logger); err != nil {
			_ = f.Close() // nothing was written
		}
	}
	if err != nil {
		return nil, 0, fmt.Errorf("open ledger: %w", err)
	}
	return f, size, nil
}
