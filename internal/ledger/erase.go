package ledger

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// ErrNotDurable means that content is erased and entries are recorded, but that a power failure may undo both. The
// next Sync delivers the entries.
var ErrNotDurable = errors.New("it is erased, but a power failure may undo that")

// Erase permanently removes content. Under the lock, prepare returns one "delete" draft (OpDelete, or an
// empty Op) for each id to erase, which may be the [Entry.Name] of an entry without one; Erase takes block and
// data out of every earlier entry with such an id, other "delete" entries excepted, and appends the drafts as
// entries. It is durable like Append; the chain of hashes still verifies. Other processes learn of it by the
// "delete" entries that Sync gives them. No drafts and no error means nothing to do.
//
// The file is rewritten and replaces the old one atomically, so no old content stays under any name;
// whether the disk still holds it in free blocks is beyond a program's reach. With an error and no
// entries either nothing has happened, or the error is ErrNotDurable.
func (l *Ledger) Erase(ctx context.Context, apply func(Entry) error,
	prepare func(now time.Time) ([]Draft, error),
) ([]Entry, error) {
	return l.erase(ctx, apply, func(now time.Time) ([]Draft, error) {
		drafts, err := prepare(now)
		if err != nil {
			return nil, err
		}
		for i := range drafts {
			d := &drafts[i]
			if d.ID == "" || d.Op != "" && d.Op != OpDelete {
				return nil, fmt.Errorf("erase: draft %d (%s): needs an id and the operation %q", i, d.Op, OpDelete)
			}
			d.Op = OpDelete
		}
		return drafts, nil
	})
}

// Rewrite is Erase for drafts that may be of any operation: those that are no "delete" are appended in their place
// among the others, with the time that they have in At. So content is erased and other content recorded instead of it
// in one step: no crash leaves one without the other.
func (l *Ledger) Rewrite(ctx context.Context, apply func(Entry) error,
	prepare func(now time.Time) ([]Draft, error),
) ([]Entry, error) {
	return l.erase(ctx, apply, prepare)
}

// erase takes the bodies of the entries that the "delete" drafts name out of the file, and appends all drafts.
func (l *Ledger) erase(ctx context.Context, apply func(Entry) error,
	prepare func(now time.Time) ([]Draft, error),
) ([]Entry, error) {
	return settle(l.transact(ctx, true, apply, prepare, func(w *writing, now time.Time, drafts []Draft) (batch, error) {
		ids := make(map[string]bool, len(drafts))
		for _, d := range drafts {
			if d.Op == OpDelete {
				ids[d.ID] = true
			}
		}
		if err := w.create(); err != nil {
			return batch{}, err
		}
		b, err := w.replace(ctx, ids, now, drafts)
		if err != nil {
			return batch{}, fmt.Errorf("erase from %s: %w", l.opt.Path, err)
		}
		return b, nil
	}))
}

// replace rewrites the file without the bodies of ids, appends drafts, and puts it in the old one's place.
func (w *writing) replace(ctx context.Context, ids map[string]bool, now time.Time, drafts []Draft) (batch, error) {
	l, fs := w.l, w.l.opt.FS
	// One fixed name: if a process died in here, its half-written copy is removed by the next one and
	// cannot keep what that one erases.
	temp := l.opt.Path + ".tmp"
	if err := fs.Remove(temp); err != nil && !errors.Is(err, os.ErrNotExist) {
		return batch{}, err
	}
	f, err := fs.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return batch{}, err
	}
	// copyTo fsyncs the copy before the rename: after a power failure the name is of the old file or of a whole new one.
	b, kept, err := w.copyTo(ctx, f, ids, now, drafts)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = fs.Rename(temp, l.opt.Path)
	}
	if err != nil {
		if rerr := fs.Remove(temp); rerr != nil && !errors.Is(rerr, os.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
		return batch{}, err
	}
	// From here on every process sees the new file. The entry at l.cur is in it, at another offset.
	l.cur, l.anchored, l.suspect, l.synced, l.read = kept, nil, false, 0, nil
	nf, size, err := openRegular(fs, l.opt.Path, os.O_RDONLY)
	if err == nil {
		err = errors.Join(l.anchor(nf), nf.Close())
		l.synced = size
	}
	if err != nil {
		return batch{}, fmt.Errorf("%w: %w", ErrNotDurable, err)
	}
	return b, nil
}

// copyTo fills the new file and fsyncs it. kept is l.cur in the new file.
func (w *writing) copyTo(ctx context.Context, f File, ids map[string]bool, now time.Time, drafts []Draft) (b batch,
	kept cursor, err error,
) {
	l := w.l
	out := appender{f: f}
	kept = origin()
	cur := origin()
	s := scanner{r: w.file, size: l.cur.end}
	for cur.seq < l.cur.seq {
		if cur.seq%1024 == 0 && ctx.Err() != nil {
			return batch{}, cursor{}, ctx.Err()
		}
		raw, err := s.next()
		if err != nil {
			return batch{}, cursor{}, err
		}
		// Checked again: a copy must not make valid what the disk has damaged since it was read.
		decoded, err := decodeLine(raw.text)
		if err == nil {
			err = cur.precedes(decoded)
		}
		if err == nil {
			err = l.macs.check(decoded)
		}
		if err != nil {
			return batch{}, cursor{}, &CorruptError{Path: l.opt.Path, Line: cur.seq + 1, Offset: raw.off, Err: err}
		}
		cur = cur.past(decoded, string(decoded.hash), raw.off, len(raw.text))
		text := raw.text
		name := Entry{Op: decoded.op, ID: decoded.id, Time: decoded.time, Seq: decoded.seq}.Name()
		if ids[name] && decoded.op != OpDelete && decoded.body != nil {
			text = append(text[:len(text)-len(decoded.body)-1:len(text)-len(decoded.body)-1], erasedEnd...)
			decoded.body = nil
		}
		kept = kept.past(decoded, cur.hash, out.size(), len(text))
		if err := out.line(text); err != nil {
			return batch{}, cursor{}, err
		}
	}
	saved := l.cur
	l.cur = kept
	b, err = l.encode(now, drafts)
	l.cur = saved
	if err != nil {
		return batch{}, cursor{}, err
	}
	if err := out.flush(b.lines); err != nil {
		return batch{}, cursor{}, err
	}
	return b, kept, f.Sync()
}

// appender writes lines to a new file in large pieces.
type appender struct {
	f   File
	off int64
	buf []byte
}

func (a *appender) size() int64 { return a.off + int64(len(a.buf)) }

// line collects a line, and writes when 1 MiB is full.
func (a *appender) line(text []byte) error {
	a.buf = append(append(a.buf, text...), '\n')
	if len(a.buf) < 1<<20 {
		return nil
	}
	return a.flush(nil)
}

// flush writes what was collected, and more.
func (a *appender) flush(more []byte) error {
	a.buf = append(a.buf, more...)
	n, err := a.f.WriteAt(a.buf, a.off)
	a.off += int64(n)
	a.buf = a.buf[:0]
	return err
}
