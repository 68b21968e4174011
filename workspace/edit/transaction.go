package edit

import (
	"context"
	"errors"
	"io/fs"

	"github.com/yamo-protocol/yamo-mcp/workspace"
)

// transaction is one change of a file and of the record, from begin to close. It has the lock on all files, so that no
// other process edits meanwhile. It ends with commit, with events that only the record gets (record), or with nothing.
type transaction struct {
	*Editor
	name string
	file *workspace.Transaction
}

// begin starts a change of a file, after it has finished the edit that was interrupted last, of whatever file.
func (e *Editor) begin(ctx context.Context, name string) (*transaction, error) {
	for {
		tx, err := e.lock(ctx, name)
		if err != nil {
			return nil, err
		}
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

// lock is begin without regard to interrupted edits.
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

// present is the content of the file, nil for a missing one.
func (tx *transaction) present() []byte { return tx.file.Present() }

// commit has events in the record, in this order, and then data in the file. If a person changed the file since
// present, ok is false and nothing is written. about is the event that a record of the files describes.
func (tx *transaction) commit(
	ctx context.Context, data []byte, about Event, k key, events ...Event,
) (ok bool, err error) {
	if ok, err = tx.stage(ctx, data, k, events...); !ok || err != nil {
		return ok, err
	}
	if err := tx.file.Commit(ctx, note(about)); err != nil {
		return false, err
	}
	tx.replaced()
	return true, nil
}

// stage is commit up to the record: the new content is on disk under another name, and the file stays as it is.
func (tx *transaction) stage(ctx context.Context, data []byte, k key, events ...Event) (ok bool, err error) {
	if ok, err = tx.file.Stage(data); !ok || err != nil {
		return ok, err
	}
	if len(events) > 0 {
		err = tx.record(ctx, k, events...)
	}
	return err == nil, err
}

// close ends the transaction. Its error becomes *err, unless there is one.
func (tx *transaction) close(err *error) {
	if closed := tx.file.Close(); *err == nil {
		*err = closed
	}
}

// settle finishes the edit of a file that was interrupted between the record and the file.
func (e *Editor) settle(ctx context.Context, name string) (err error) {
	tx, err := e.lock(ctx, name)
	if err != nil {
		return err
	}
	defer tx.close(&err)
	for {
		p := e.pending()
		if p == nil || p.File != name {
			return nil // another process has finished it
		}
		if done, err := tx.complete(ctx, *p); done || err != nil {
			return err
		}
	}
}

// catchUp records what was changed by hand in a file. Of a file without events there is nothing to record: it may be
// one that is not edited at all.
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

// catchUp records what was changed by hand.
func (tx *transaction) catchUp(ctx context.Context) error {
	f := tx.state.files[tx.name]
	if f == nil || !f.known || tx.unchanged(f, tx.present()) { // the record may be another by now
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
