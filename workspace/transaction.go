package workspace

import (
	"context"
	"errors"
	"io/fs"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/workspace/plain"
)

// Transaction is the change of one file, under the lock on all files: between [View.Begin] and [Transaction.Close] no
// other session replaces a file. Only a person's editor, which does not know the lock, can intervene, and Stage notices
// that. Stage and Commit replace the file; without them nothing is changed. It is not safe for concurrent use.
type Transaction struct {
	view    *View
	name    string
	class   audience.Class
	release func() error
	file    *plain.Replacement
	before  *recording
}

// Begin starts a change of the file called name, which need not exist. It waits for the lock until ctx is done. The
// error is fs.ErrPermission for a file that the audience may only read, and fs.ErrNotExist for one that it may not see.
// The caller closes the transaction; until then it must not write files in another way, which would wait for the same
// lock forever.
func (v *View) Begin(ctx context.Context, name string) (*Transaction, error) {
	class := classify(v.who, name)
	// SECURITY: the access check.
	switch {
	case v.who.May(audience.Write, class):
	case v.who.May(audience.Read, class):
		return nil, &fs.PathError{Op: "write", Path: name, Err: fs.ErrPermission}
	default:
		return nil, missing("write", name)
	}
	return v.begin(ctx, name, class)
}

// begin is Begin without the access check, which the caller has done.
func (v *View) begin(ctx context.Context, name string, class audience.Class) (*Transaction, error) {
	tx := &Transaction{view: v, name: name, class: class}
	var err error
	if tx.release, err = v.ws.lock(ctx); err != nil {
		return nil, tx.fault(err)
	}
	tx.before = v.startRecording(name)
	if tx.file, err = plain.Begin(v.ws.root, name); err != nil {
		return nil, tx.fault(errors.Join(err, tx.release()))
	}
	return tx, nil
}

// Present returns the content of the file as it was read last, nil if it is missing. The caller must not change it.
func (tx *Transaction) Present() []byte { return tx.file.Present() }

// Stage writes data to disk under another name, so that Commit only renames: a crash leaves the old file or the new
// one. If a person changed the file since Present, ok is false and nothing is staged; the caller starts again from the
// new Present. The error is ErrCredentials or ErrTooLarge for data that a workspace file must not contain.
func (tx *Transaction) Stage(data []byte) (ok bool, err error) {
	if err := tx.view.acceptable(tx.name, tx.Present(), data); err != nil {
		return false, err
	}
	ok, err = tx.file.Stage(data)
	return ok, tx.fault(err)
}

// Commit replaces the file with the staged data, and returns when that is on disk. note describes the change to the
// Recorder, if there is one.
func (tx *Transaction) Commit(ctx context.Context, note Note) error {
	if err := tx.file.Commit(); err != nil {
		return tx.fault(err)
	}
	tx.before.finish(ctx, note)
	return nil
}

// Close ends the transaction: staged data that was not committed is removed, and the lock is released.
func (tx *Transaction) Close() error { return tx.fault(errors.Join(tx.file.Close(), tx.release())) }

func (tx *Transaction) fault(err error) error {
	if err == nil {
		return nil
	}
	return tx.view.fault("write", tx.name, tx.class, err)
}

// replace writes data to the file called name if check, which receives the present content, agrees; check is called
// again when a person changed the file meanwhile. The caller has done the access check.
func (v *View) replace(
	ctx context.Context, name string, class audience.Class, data []byte, note Note,
	check func(present []byte) (bool, error),
) (replaced bool, err error) {
	tx, err := v.begin(ctx, name, class)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, tx.Close()) }()
	for {
		if err := v.acceptable(name, tx.Present(), data); err != nil {
			return false, err
		}
		ok, err := check(tx.Present())
		if conflict, ok := errors.AsType[*ConflictError](err); ok {
			return false, conflict
		}
		if !ok || err != nil {
			return false, tx.fault(err)
		}
		if ok, err = tx.Stage(data); err != nil {
			return false, err
		}
		if ok {
			return true, tx.Commit(ctx, note)
		}
	}
}
