// Package ledger is the append-only record of one compartment of the memory, or of the edits of a
// workspace's files: an NDJSON file that several processes append to and that everything else can be rebuilt
// from.
//
// Its invariants: an entry that Append returned is durable (acknowledged equals durable); every
// process sees the same entries in the same order, none twice; no byte that was acknowledged is ever
// dropped in silence; what was erased is gone from the file while the chain of hashes still verifies.
//
// Written by hand: a log library or a database either keeps erased content in its own files or cannot show afterwards
// that nothing else has changed. Here the chain covers the heads of the lines and the bodies are salted, so that one
// body can be removed. Several processes append to one file, and each trusts only its own fsync.
//
// # Format
//
// Line n of the file is the entry with seq n, a JSON object with exactly these members in this order
// and no white space between them (here on two lines):
//
//	{"v":2,"ledger":"private","seq":1,"time":"2026-01-02T03:04:05.678Z","op":"retain","id":"mem_1",
//	"body_hash":"…","prev":"…","hash":"…","mac":"…","body":{"salt":"…","block":"…","data":{…}}}
//
//	  - ledger is the name of the ledger and matches [A-Za-z0-9_.:-]{1,128}, op matches [a-z][a-z0-9_]{0,31}
//	    and id [A-Za-z0-9_.:-]{0,128}; time is UTC in milliseconds. None of the head's strings ever needs a
//	    JSON escape, so its bytes are determined by its values.
//	  - body is hashed and compared as the raw bytes between `"body":` and the line's last `}`; nothing is
//	    ever re-encoded. salt is 16 random bytes in hexadecimal: without it a short content that was erased
//	    could be confirmed by guessing. block is the YAMO block's text, data the operation's own record.
//	  - body_hash = SHA-256(body).
//	  - prev is the hash of the line before, of the first line SHA-256("GENESIS").
//	  - hash = SHA-256(head), head being the line from its first byte to before `,"hash"`, closed by `}`:
//	    {"v":2,"ledger":"…","seq":…,"time":"…","op":"…","id":"…","body_hash":"…","prev":"…"}
//	  - mac = HMAC-SHA256(key, "yamo-mcp ledger 2\n" + ledger + "\n" + hash), with hash as its 64 hexadecimal
//	    digits. So it covers the version, the ledger, and by the chain every line before.
//	  - Hashes and macs are 64 lowercase hexadecimal digits. testdata/vector.ndjson is a test vector.
//	  - An erased line ends in `"body":null,"erased":true}`; its head, hash and mac stay as they were. Only
//	    an entry "delete" with the same id later in the file justifies that, which Verify checks.
//	  - A line has at most 16 MiB, its newline included.
//
// A line of version 1, the first format, has no member ledger, and mac = HMAC-SHA256(key, hash). It may follow lines of
// version 1 only. The first line of version 2 after them seals them: its prev shows whose they are, and is checked
// before any of them is delivered. Until the first write by a newer program such a ledger has no seal, and a file of
// another compartment in its place cannot be noticed.
//
// Every mac is checked before its line is delivered.
//
// The block_hash of RFC-0011 §2.3 is not in the file: it hashes the block without a salt, and outside the body it
// would let anyone who guesses an erased block's text confirm the guess. Entry.BlockHash computes it.
//
// # Damage
//
// A writer that is killed or a machine that loses power leaves bytes of a write that was never
// acknowledged. They count as torn, and the next Append or Erase cuts them off under the lock; Sync
// passes over them. The bytes from the first bad line to the end of the file are torn exactly if
//
//   - they hold no newline (a write that was cut short, or a tail of zeros), or
//   - they hold a NUL byte, which is never written, and no intact line (pages of one write that reached
//     the disk while others did not).
//
// One exception: a complete, valid line that lacks only its newline is kept and gets its newline.
// Everything else is corruption, a *CorruptError with the line's number: entries before it are
// delivered, nothing is appended after it, nothing is dropped.
package ledger

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"hash"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/lockfile"
	"github.com/yamo-protocol/yamo-mcp/internal/sysclock"
)

// ErrReplaced means that the file no longer contains what this Ledger has delivered: it was removed,
// replaced or restored from an older copy. Start over with a new Ledger and empty state.
var ErrReplaced = errors.New("the ledger file holds another history than the one already read")

// Options are a Ledger's settings. Path, Name, Lock and Key are required.
type Options struct {
	Path string // the file
	Name string // in every line: [A-Za-z0-9_.:-]{1,128}. A file with the lines of another ledger is refused
	Lock string // the lock file, the same for every process that uses Path, another for another ledger
	// Key returns the secret of the macs. It is called before lines are read, and before each write. With create, the
	// ledger has no lines, and a missing key may be created; otherwise that is ErrNoKey.
	Key func(create bool) ([]byte, error)
	// Head is a file outside of the workspace that notes the last durable entry, so that missing entries are noticed: see
	// CheckHead. "" for none.
	Head string
	// Wait bounds the wait for another process's lock; 0 is 30 seconds.
	Wait   time.Duration
	Now    func() time.Time // nil is time.Now
	Rand   io.Reader        // of the salts; nil is crypto/rand
	FS     FS               // nil is the operating system's
	Logger *slog.Logger     // nil discards
}

// Ledger reads and writes one file. All methods may be called concurrently; they run one after the
// other. apply and prepare must not call the Ledger.
//
// apply gets every entry of the file exactly once, in order, over the lifetime of the Ledger: its own
// as well as those of other processes. When apply returns an error, delivery stops, the error is
// returned, and the entry is delivered again by the next call. A nil apply discards. Append and Erase
// call apply with the lock held, so it should be quick; a Sync before the first of them, when much is
// new, spares other processes the wait.
type Ledger struct {
	opt  Options
	turn chan struct{} // holds one token; a channel so that waiting ends with its context

	// The fields below are used only by the goroutine that holds the turn.
	macs     *macs
	cur      cursor      // the last entry delivered
	anchored os.FileInfo // the file whose directory entry is known to be durable
	synced   int64       // the file's size at this Ledger's last successful fsync of it, 0 if unknown
	suspect  bool        // an fsync failed: what lies behind synced may be in memory only
	read     hash.Hash   // SHA-256 of the file up to l.cur, nil if not known: see Checkpoint
	partial  bool        // the last delivery failed, so that what callers made of it is of no place in the file
	compared bool        // with the head
	unnoted  bool        // the head could not be written, which has been logged
}

// New returns the ledger of a file. It touches no file: folders and files come with the first Append.
func New(opt Options) *Ledger {
	opt.Wait = cmp.Or(opt.Wait, 30*time.Second)
	if opt.Now == nil {
		opt.Now = sysclock.Now
	}
	if opt.Rand == nil {
		opt.Rand = rand.Reader
	}
	if opt.FS == nil {
		opt.FS = osFS{}
	}
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	if !isName(opt.Name) {
		panic(fmt.Sprintf("ledger: %q cannot be a name", opt.Name))
	}
	l := &Ledger{opt: opt, turn: make(chan struct{}, 1), cur: origin(), macs: newMACs(opt.Name, opt.Key)}
	l.turn <- struct{}{}
	return l
}

// Sync delivers every committed entry that this Ledger has not delivered yet, whichever process wrote
// it. A file that is not there is an empty ledger. Sync writes nothing to the ledger.
func (l *Ledger) Sync(ctx context.Context, apply func(Entry) error) error {
	if err := l.enter(ctx); err != nil {
		return err
	}
	defer l.leave()
	f, size, err := l.openCommitted(ctx)
	if err != nil {
		return err
	}
	if f == nil {
		l.compareHead(nil, 0)
		return nil
	}
	defer func() { _ = f.Close() }() // opened for reading
	_, err = l.deliver(ctx, f, size, apply)
	return err
}

// Append adds entries durably. Under the lock that excludes all other writers it delivers what others
// wrote, calls prepare with the entries' common time, and writes the drafts that prepare returns in one
// write. What is returned is on disk and has been delivered. prepare may look at everything ever
// written, through what apply made of it; no drafts and no error means nothing to do.
//
// Append returns no earlier than the millisecond after its entries' time, and so does Erase. So whatever is appended
// afterwards, to any ledger and by any process of this machine, has a later time, and the times give the order of
// writes however fast the machine is. Entries of one ledger that share a millisecond are ordered by Seq.
//
// With an error and no entries nothing was written, or it was taken back and nothing delivered, unless the
// error states otherwise. With an error and entries these are durable, and apply refused one. Of
// several drafts a crash may leave the first few, never others.
func (l *Ledger) Append(ctx context.Context, apply func(Entry) error,
	prepare func(now time.Time) ([]Draft, error),
) ([]Entry, error) {
	return settle(l.append(ctx, true, apply, prepare))
}

// AppendRelaxed is Append without waiting for the disk, for entries whose durability no caller depends on: a
// crash of the process loses nothing, a power failure may lose them. A later Append makes them durable as well.
func (l *Ledger) AppendRelaxed(ctx context.Context, apply func(Entry) error,
	prepare func(now time.Time) ([]Draft, error),
) ([]Entry, error) {
	return l.append(ctx, false, apply, prepare)
}

// append writes the drafts of prepare as one transaction. Without durable it does not wait for the disk.
func (l *Ledger) append(ctx context.Context, durable bool, apply func(Entry) error,
	prepare func(time.Time) ([]Draft, error),
) ([]Entry, error) {
	return l.transact(ctx, durable, apply, prepare, func(w *writing, now time.Time, drafts []Draft) (batch, error) {
		b, err := l.encode(now, drafts)
		if err != nil {
			return batch{}, err
		}
		if err := w.create(); err != nil {
			return batch{}, err
		}
		if err := l.commit(w.file, b.lines, durable); err != nil {
			return batch{}, fmt.Errorf("append to %s: %w", l.opt.Path, err)
		}
		return b, nil
	})
}

// transact takes the lock, delivers other processes' entries, and lets put write the drafts of prepare, if any. What is
// durable becomes the head.
func (l *Ledger) transact(ctx context.Context, durable bool, apply func(Entry) error,
	prepare func(time.Time) ([]Draft, error), put func(w *writing, now time.Time, drafts []Draft) (batch, error),
) ([]Entry, error) {
	if err := l.enter(ctx); err != nil {
		return nil, err
	}
	defer l.leave()
	w, err := l.begin(ctx, apply)
	if err != nil {
		return nil, err
	}
	defer w.end()
	now := l.now()
	drafts, err := prepare(now)
	if err != nil || len(drafts) == 0 {
		return nil, err
	}
	advances := durable && l.advances(w.file)
	b, err := put(w, now, drafts)
	if err != nil {
		return nil, err
	}
	if advances {
		l.noteHead(b)
	}
	w.end()
	return b.entries, l.deliverOwn(b, apply)
}

// settle waits until the millisecond of the entries has passed. It uses the machine's clock, not Options.Now: entries
// with times of a fake clock are not waited for.
func settle(entries []Entry, err error) ([]Entry, error) {
	if len(entries) > 0 {
		if rest := time.Until(entries[0].Time.Add(time.Millisecond)); rest <= time.Millisecond {
			time.Sleep(rest)
		}
	}
	return entries, err
}

// now is the clock's time as it is written: UTC, whole milliseconds.
func (l *Ledger) now() time.Time { return l.opt.Now().UTC().Truncate(time.Millisecond) }

// enter waits for the turn, which one goroutine of this process has at a time, until ctx is done.
func (l *Ledger) enter(ctx context.Context) error {
	select {
	case <-l.turn:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *Ledger) leave() { l.turn <- struct{}{} }

// writing is one write transaction: begin takes the lock, end releases it.
type writing struct {
	l      *Ledger
	unlock func() error
	file   File // nil until the file exists
}

// begin locks the ledger against other processes, opens the file if there is one, delivers what is new
// in it and repairs a torn tail. Afterwards l.cur is the end of the file.
func (l *Ledger) begin(ctx context.Context, apply func(Entry) error) (*writing, error) {
	unlock, err := l.lock(ctx, lockfile.Exclusive)
	if err != nil {
		return nil, err
	}
	w := &writing{l: l, unlock: unlock}
	if err := w.catchUp(ctx, apply); err != nil {
		w.end()
		return nil, err
	}
	return w, nil
}

// end closes the file and releases the lock. It may be called twice.
func (w *writing) end() {
	if w.file != nil {
		// Nothing depends on close: what matters was fsynced before.
		_ = w.file.Close()
		w.file = nil
	}
	if w.unlock != nil {
		_ = w.unlock() // closes the lock's descriptor in any case, which releases it
		w.unlock = nil
	}
}

// catchUp opens the file and delivers what other processes have appended. It completes a last line that lacks its line
// feed, and removes an incomplete one: a crash while writing leaves either.
func (w *writing) catchUp(ctx context.Context, apply func(Entry) error) error {
	f, size, err := w.l.open(os.O_RDWR)
	if err != nil {
		return err
	}
	if f == nil {
		w.l.compareHead(nil, 0)
		return nil
	}
	w.file = f
	t, err := w.l.deliver(ctx, f, size, apply)
	if err != nil {
		return err
	}
	switch {
	case t.complete:
		if _, err := f.WriteAt([]byte{'\n'}, size); err != nil {
			return fmt.Errorf("complete the last line of %s: %w", w.l.opt.Path, err)
		}
		_, err = w.l.deliver(ctx, f, size+1, apply)
		return err
	case t.torn:
		// Unacknowledged bytes only: see the package comment for the rule.
		if err := f.Truncate(w.l.cur.end); err != nil {
			return fmt.Errorf("cut the torn tail of %s: %w", w.l.opt.Path, err)
		}
	}
	return nil
}

// create creates the file and its folder if they do not exist.
func (w *writing) create() error {
	if w.file != nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(w.l.opt.Path), 0o700); err != nil {
		return fmt.Errorf("create the ledger's folder: %w", err)
	}
	f, err := w.l.opt.FS.OpenFile(w.l.opt.Path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("create the ledger: %w", err)
	}
	w.file = f
	return nil
}
