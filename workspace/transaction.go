package workspace

import (
	"context"
	"errors"
	"io/fs"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/workspace/plain"
)

// Transaction is the change of one file, under the lock on all files: between [View.Begin] and [Transaction.Close] no
// other session replaces a file, and only hand edits can intervene, which Stage notices. Stage and Commit replace the
// file; without them nothing is changed.
type Transaction struct {
	view    *View
	name    string
	class   audience.Class
	release func() error
	file    *plain.Replacement
	before  *recording
}

// Begin starts a change of the file called name, which need not exist. The error is fs.ErrPermission for a file that
// the audience may only read, and fs.ErrNotExist for one that it may not see. The caller closes the transaction; until
// then it must not write files in another way.
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

// begin is Begin for a caller that has asked whether it may.
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

// Present returns the content of the file, nil for a missing one.
func (tx *Transaction) Present() []byte { return tx.file.Present() }

// Stage has data on disk under another name. If a person changed the file since Present, ok is false and nothing is
// staged: the caller looks at Present again. The error is ErrCredentials or ErrTooLarge for data that a workspace file
// must not contain.
func (tx *Transaction) Stage(data []byte) (ok bool, err error) {
	if err := tx.view.acceptable(tx.name, tx.Present(), data); err != nil {
		return false, err
	}
	ok, err = tx.file.Stage(data)
	return ok, tx.fault(err)
}

// Commit replaces the file with what is staged, and returns when that is on disk. note is what a record of changes says
// of it.
func (tx *Transaction) Commit(ctx context.Context, note Note) error {
	if err := tx.file.Commit(); err != nil {
		return tx.fault(err)
	}
	tx.before.finish(ctx, note)
	return nil
}

// Close ends the transaction: what is staged and was not committed is gone, and the lock is released.
func (tx *Transaction) Close() error { return tx.fault(errors.Join(tx.file.Close(), tx.release())) }

func (tx *Transaction) fault(err error) error {
	if err == nil {
		return nil
	}
	return tx.view.fault("write", tx.name, tx.class, err)
}

// replace writes the file called name, if check, which sees its present content, agrees. The caller has asked whether
// it may.
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
