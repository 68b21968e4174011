package ledger

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"

	"github.com/yamo-protocol/yamo-mcp/internal/lockfile"
)

// A program that keeps what it made of a ledger need not read all of it again: it keeps a Checkpoint too, and continues
// behind it if the file still begins with the same bytes. Every byte before the checkpoint is hashed again, so that a
// line that was altered is noticed as if it had been read. What is kept is sealed with the key of the macs, so that
// no process without the key can pass off something else as a ledger's content.

// Checkpoint is a place behind an entry, and the hash of the file up to there.
type Checkpoint struct {
	Seq        int64
	Hash       string // of the entry's line
	Start, End int64  // bytes of that line
	Erased     bool
	Version    int    // of that line
	File       []byte // SHA-256 of the bytes before End
}

// ErrChanged means that a file does not begin with the bytes of a checkpoint.
var ErrChanged = errors.New("the ledger is not the one of the checkpoint")

// sealDomain begins what a seal covers. It has another form than a line's hash, so that no seal is a line's mac.
const sealDomain = "yamo-mcp sealed state 1\n"

// Checkpoint calls save with the place behind the last entry that was delivered. No entry is delivered meanwhile. It
// does nothing if nothing was delivered yet, or if the last delivery failed.
//
// SECURITY: after one that failed the caller may still have what was erased in the part that it did not get to.
func (l *Ledger) Checkpoint(ctx context.Context, save func(Checkpoint) error) error {
	if err := l.enter(ctx); err != nil {
		return err
	}
	defer l.leave()
	if l.cur.seq == 0 || l.partial {
		return nil
	}
	if l.read == nil {
		if err := l.hashRead(ctx); err != nil {
			return err
		}
	}
	c := l.cur
	return save(Checkpoint{
		Seq: c.seq, Hash: c.hash, Start: c.start, End: c.end, Erased: c.erased, Version: c.version, File: l.read.Sum(nil),
	})
}

// hashRead hashes what was delivered, and checks it: it may have been altered since it was read.
func (l *Ledger) hashRead(ctx context.Context) error {
	f, size, err := l.open(os.O_RDONLY)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // opened for reading
	if size < l.cur.end {
		return ErrChanged
	}
	read := sha256.New()
	t, err := scan(ctx, l.opt.Path, f, l.cur.end, origin(), l.macs, read, func(Entry, cursor) error { return nil })
	if err != nil {
		return err
	}
	if t.last != l.cur {
		return ErrChanged
	}
	l.read = read
	return nil
}

// Resume makes a Ledger that has delivered nothing continue behind c, after it called restore, which must make the
// state of the caller as if all entries up to c had been delivered. prepare runs while the file is read, and its error
// is returned; restore runs only if the file begins with the bytes of c, otherwise the error is ErrChanged.
func (l *Ledger) Resume(ctx context.Context, c Checkpoint, prepare func() error, restore func()) error {
	if err := l.enter(ctx); err != nil {
		return err
	}
	defer l.leave()
	if l.cur.seq != 0 {
		return errors.New("the ledger was read already")
	}
	f, size, err := l.open(os.O_RDONLY)
	if err != nil {
		return err
	}
	if f == nil || size < c.End {
		return ErrChanged
	}
	prepared := make(chan error, 1)
	go func() { prepared <- prepare() }()
	read, err := hashFile(ctx, f, c.End)
	err = errors.Join(err, <-prepared, f.Close())
	if err != nil {
		return err
	}
	// SECURITY: every byte counts, so that an altered line is noticed before anything derived from it is used.
	if !bytes.Equal(read.Sum(nil), c.File) {
		return ErrChanged
	}
	if err := l.macs.load(false); err != nil {
		return err
	}
	l.cur = cursor{seq: c.Seq, hash: c.Hash, start: c.Start, end: c.End, erased: c.Erased, version: c.Version}
	l.read = read
	restore()
	return nil
}

// hashFile hashes the first n bytes of f.
func hashFile(ctx context.Context, f io.ReaderAt, n int64) (hash.Hash, error) {
	read, buf := sha256.New(), make([]byte, 128<<10)
	for off := int64(0); off < n && ctx.Err() == nil; {
		part := buf[:min(n-off, int64(len(buf)))]
		if _, err := f.ReadAt(part, off); err != nil {
			return nil, err
		}
		read.Write(part)
		off += int64(len(part))
	}
	return read, ctx.Err()
}

// Seal returns a mac of data's SHA-256, made with the key of this ledger, that is valid for this ledger only.
func (l *Ledger) Seal(ctx context.Context, data []byte) ([]byte, error) {
	if err := l.enter(ctx); err != nil {
		return nil, err
	}
	defer l.leave()
	// Read again each time: `yamo-mcp ledger rekey` may have replaced it.
	if _, err := l.macs.reload(false); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	mac := hmac.New(sha256.New, l.macs.key)
	_, _ = io.WriteString(mac, sealDomain+l.opt.Name+"\n"+hex.EncodeToString(sum[:]))
	return mac.Sum(nil), nil
}

// Replace calls write while no other process writes to the ledger, unless entries were erased since c: write stores
// what was derived from the ledger, which must not bring back what was erased. Then the error is ErrChanged.
func (l *Ledger) Replace(ctx context.Context, c Checkpoint, write func() error) error {
	return l.Exclude(ctx, func() error {
		f, size, err := openRegular(l.opt.FS, l.opt.Path, os.O_RDONLY)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }() // opened for reading
		at := cursor{seq: c.Seq, hash: c.Hash, start: c.Start, end: c.End, erased: c.Erased, version: c.Version}
		if same, err := at.in(f, size); err != nil || !same {
			return errors.Join(err, fmt.Errorf("%s: %w", l.opt.Path, ErrChanged))
		}
		return write()
	})
}

// Exclude calls f while no process writes to the ledger.
func (l *Ledger) Exclude(ctx context.Context, f func() error) error {
	unlock, err := l.lock(ctx, lockfile.Exclusive)
	if err != nil {
		return err
	}
	defer func() { _ = unlock() }() // closing the descriptor releases it
	return f()
}
