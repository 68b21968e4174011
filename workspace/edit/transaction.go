package edit

import (
	"context"
	"errors"
	"io/fs"

	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit/seal"
)

// transaction is one change of a file and of the record, from begin to close. It holds the lock on all files, so that
// no other process edits meanwhile. Before close it writes both (commit), only the record (record), or nothing.
type transaction struct {
	*Editor
	name string
	file *workspace.Transaction
}

// begin starts a change of a file, after it has completed an interrupted edit, if there is one. That edit may be of
// another file, and a transaction is about one file: the lock is released in between, and the check repeated.
func (e *Editor) begin(ctx context.Context, name string) (*transaction, error) {
	for {
		tx, err := e.lock(ctx, name)
		if err != nil {
			return nil, err
		}
		// Under the lock: no other process can complete it or begin another now.
		interrupted := e.pending()
		if interrupted == nil {
			return tx, nil
		}
		tx.close(&err)
		if err == nil {
			err = e.settle(ctx, interrupted.File)
		}
		if err != nil {
			return nil, err
		}
	}
}

// lock is begin without completing interrupted edits. The record is read under the lock: what it shows is then current.
func (e *Editor) lock(ctx context.Context, name string) (tx *transaction, err error) {
	file, err := e.opt.View.Begin(ctx, name)
	if err != nil {
		return nil, err
	}
	tx = &transaction{Editor: e, name: name, file: file}
	if err := e.sync(ctx); err != nil {
		tx.close(&err)
		return nil, err
	}
	return tx, nil
}

// present returns the content of the file as it was read last, nil if it is missing.
func (tx *transaction) present() []byte { return tx.file.Present() }

// commit writes events to the record, in this order, and then data to the file. If a person changed the file since
// present, ok is false and nothing is written. about is the event that a workspace.Recorder gets as the note.
func (tx *transaction) commit(
	ctx context.Context, data []byte, about Event, k seal.Key, events ...Event,
) (ok bool, err error) {
	if ok, err = tx.stage(ctx, data, k, events...); !ok || err != nil {
		return ok, err
	}
	// From here on a crash loses nothing: the next process repeats the write from the event.
	if err := tx.file.Commit(ctx, note(about)); err != nil {
		return false, err
	}
	tx.replaced()
	return true, nil
}

// stage is commit up to the record: the new content is on disk under another name, and the file is unchanged. Staging
// comes first, so that a full disk is noticed before the record names an edit.
func (tx *transaction) stage(ctx context.Context, data []byte, k seal.Key, events ...Event) (ok bool, err error) {
	if ok, err = tx.file.Stage(data); !ok || err != nil {
		return ok, err
	}
	if len(events) > 0 {
		err = tx.record(ctx, k, events...)
	}
	return err == nil, err
}

// close ends the transaction. Its error becomes *err, unless that is set.
func (tx *transaction) close(err *error) {
	if closed := tx.file.Close(); *err == nil {
		*err = closed
	}
}

// settle completes the edit of a file that was interrupted between the record and the file.
func (e *Editor) settle(ctx context.Context, name string) (err error) {
	tx, err := e.lock(ctx, name)
	if err != nil {
		return err
	}
	defer tx.close(&err)
	for {
		p := e.pending()
		if p == nil || p.File != name {
			return nil // another process has completed it
		}
		if done, err := tx.complete(ctx, *p); done || err != nil {
			return err
		}
	}
}

// catchUp records what was changed by hand in a file since its last event. A file without events has nothing to compare
// with, and may be one that is never edited.
func (e *Editor) catchUp(ctx context.Context, name string) (err error) {
	if err := e.sync(ctx); err != nil {
		return err
	}
	if f := e.state.files[name]; f == nil || !f.known {
		return nil
	}
	tx, err := e.begin(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer tx.close(&err)
	return tx.catchUp(ctx)
}

// catchUp is Editor.catchUp within a transaction.
func (tx *transaction) catchUp(ctx context.Context) error {
	f := tx.state.files[tx.name]
	if f == nil || !f.known || tx.unchanged(f, tx.present()) { // the record may have been replaced meanwhile
		return nil
	}
	k, err := tx.key()
	if err != nil {
		return err
	}
	seen, err := tx.observe(k, tx.now(), tx.name, tx.present())
	if err != nil {
		return err
	}
	return tx.record(ctx, k, seen)
}
