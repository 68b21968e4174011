package edit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit/applied"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit/seal"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit/splice"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// sync reads what is new in the record. e.mu is held.
func (e *Editor) sync(ctx context.Context) error {
	err := e.ledger.Sync(ctx, e.state.apply)
	if errors.Is(err, ledger.ErrReplaced) { // restored from a backup, or removed: what was read before is void
		e.reset()
		err = e.ledger.Sync(ctx, e.state.apply)
	}
	return damage(err)
}

// DamagedError means that the record of edits cannot be read, or not trusted. It is a fault.
type DamagedError struct{ Cause error }

// Error names the damage without paths, and the next step.
func (e *DamagedError) Error() string {
	what := e.Cause.Error()
	if corrupt, ok := errors.AsType[*ledger.CorruptError](e.Cause); ok {
		what = fmt.Sprintf("line %d of it: %v", corrupt.Line, corrupt.Err)
	}
	return fmt.Sprintf("the record of edits is damaged, so nothing was written. Ask the workspace owner to check it with "+
		"yamo-mcp record verify and to restore a backup of .yamo/private (%s)", what)
}

// Unwrap returns the error as a fault, so that a client sees it, and its cause.
func (e *DamagedError) Unwrap() []error { return []error{fault.New("%s", e.Error()), e.Cause} }

// damage returns err as a *DamagedError if it tells of damage of the record or of the loss of a key of its hashes.
func damage(err error) error {
	_, corrupt := errors.AsType[*ledger.CorruptError](err)
	if _, keyless := errors.AsType[seal.MissingError](err); corrupt || keyless {
		return &DamagedError{Cause: err}
	}
	return err
}

// uncut returns a fault if lines are missing at the end of the record that were in their files: another line would
// take the place of the first of them, and hide the loss. Where the note of that is gone too, this machine's own
// counts.
func (e *Editor) uncut() error {
	switch noted := applied.Read(e.opt.Dir).Seq; {
	case noted > e.state.lines:
		return fault.New("%v. Nothing was written", &applied.IncompleteError{Missing: noted - e.state.lines})
	case noted > 0:
		return nil
	}
	missing, err := ledger.CheckHead(e.head(), e.path())
	if err != nil || missing == nil {
		return err
	}
	return fault.New("%v. Nothing was written", incomplete(missing))
}

// incomplete returns the error for what the record lacks of what this machine has seen.
func incomplete(missing *ledger.Missing) error {
	return fmt.Errorf("the record of edits is not complete: %w; restore .yamo/private from a backup, or accept the "+
		"loss with yamo-mcp ledger accept", missing)
}

// record appends events to the record, all or none, and applies them. When it returns nil they are on disk.
func (e *Editor) record(ctx context.Context, k seal.Key, events ...Event) error {
	_, err := e.ledger.Append(ctx, e.state.apply, func(time.Time) ([]ledger.Draft, error) {
		if err := e.uncut(); err != nil {
			return nil, err
		}
		drafts := make([]ledger.Draft, len(events))
		for i := range events {
			data, err := sealed(k, &events[i])
			if err != nil {
				return nil, err
			}
			drafts[i] = ledger.Draft{Op: events[i].Op, ID: events[i].ID, Data: data}
		}
		return drafts, nil
	})
	if err == nil && e.crash != nil && e.crash("recorded") {
		return errCrash
	}
	return err
}

var errCrash = errors.New("stopped by a test")

// replaced is called after a file has been replaced.
func (e *Editor) replaced() {
	if e.crash == nil || !e.crash("replaced") {
		e.applied()
	}
}

// key returns the key for new hashes. The very first event creates it.
func (e *Editor) key() (seal.Key, error) {
	if e.state.version == 0 {
		return e.keys.Load(1, true)
	}
	return e.keys.Load(e.state.version, false)
}

// keyOf returns the key that earlier hashes were made with.
func (e *Editor) keyOf(version int) (seal.Key, error) { return e.keys.Load(version, false) }

// RotateKey creates a new key for all later hashes, and returns its salt version (seed 004 §11). The old key stays, to
// verify what was made with it.
func (e *Editor) RotateKey(ctx context.Context, actor string) (version int, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.sync(ctx); err != nil {
		return 0, err
	}
	version = max(e.state.version, 1) + 1
	k, err := e.keys.Load(version, true)
	if err != nil {
		return 0, err
	}
	event := e.newEvent(e.now(), OpRotate, "")
	event.EntityID, event.Actor = "", actor
	return version, e.record(ctx, k, event)
}

// applied notes that all edits in the record are in their files.
func (e *Editor) applied() {
	e.done = e.state.lastSeq
	if err := applied.Write(e.opt.Dir, e.state.lastSeq); err != nil {
		e.opt.Logger.Warn("note that an edit is complete", "error", err)
	}
}

// Complete reports lines that are missing at the end of the record: any that this machine has seen, and those of edits
// that are in their files (see applied.Check), of which another machine knows too. It takes no lock and checks no line.
func (e *Editor) Complete() error {
	missing, err := ledger.CheckHead(e.head(), e.path())
	if err != nil {
		return err
	}
	if missing != nil {
		return incomplete(missing)
	}
	return applied.Check(e.opt.Dir)
}

// pending returns the last event that writes a file, if it is not known to be in the file. Only the last one can be
// interrupted: every later write completes it first.
func (e *Editor) pending() *Event {
	if e.state.last == nil {
		return nil
	}
	if e.done >= e.state.lastSeq || applied.Read(e.opt.Dir).Seq >= e.state.lastSeq {
		return nil
	}
	return e.state.last
}

// Recover completes an edit that was interrupted between the record and the file, or records it as undone if the file
// was changed by hand since. It is called at the start of a session, and cheap if there is nothing to do: it compares
// the record's size and reads nothing.
func (e *Editor) Recover(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	info, err := os.Stat(e.path())
	if errors.Is(err, fs.ErrNotExist) {
		return nil // nothing was ever edited
	}
	if err != nil {
		return fmt.Errorf("look at the record of edits: %w", err)
	}
	// The record has not grown since the last complete edit.
	if applied.Read(e.opt.Dir).Size == info.Size() {
		return nil
	}
	if err := e.sync(ctx); err != nil {
		return err
	}
	if p := e.pending(); p != nil {
		return e.settle(ctx, p.File)
	}
	return nil
}

// complete brings the file to the state after p, or records that p is undone. done is false if a person changed the
// file meanwhile, and then the caller tries again.
func (tx *transaction) complete(ctx context.Context, p Event) (done bool, err error) {
	k, err := tx.keyOf(p.Integrity.SaltVersion)
	if err != nil {
		return false, err
	}
	present := tx.present()
	switch there := k.File(present); {
	case there == p.FileAfter: // only the note that it is applied was lost
		tx.applied()
		return true, nil
	case there == p.FileBefore: // the event contains all that is needed to repeat the write
		text := string(present)
		if p.Base != nil {
			text = *p.Base
		}
		t, _ := grammar.TypeOf(p.File)
		d := grammar.Parse(text)
		if err := redo(k, d, t, p); err == nil {
			return tx.commit(ctx, []byte(d.String()), p, k)
		}
	case p.IsEdit() && holds(k, p, present):
		// The edit reached the file, and a person changed other sections afterwards.
		tx.applied()
		return true, nil
	}
	return true, tx.undo(ctx, p, k)
}

// undo records that an edit never reached its file, because a person changed the file first. The edit was never
// acknowledged to its caller, so that nothing acknowledged is lost.
func (tx *transaction) undo(ctx context.Context, p Event, k seal.Key) error {
	current, err := tx.key()
	if err != nil {
		return err
	}
	undone := tx.newEvent(tx.now(), OpUndone, p.File)
	undone.RefersTo, undone.FileAfter, undone.Actor = p.ID, p.FileBefore, Hand
	undone.Section, undone.Anchor = p.Section, p.Anchor
	undone.Rationale = "the edit was interrupted, and the file was changed by hand before it could be finished"
	if current.Version != k.Version {
		undone.FileAfter = "" // that hash was made with another key: the file counts as changed
	}
	if err := tx.record(ctx, current, undone); err != nil {
		return err
	}
	tx.applied()
	return nil
}

// holds reports whether the file still has every section that p changed as p left it.
func holds(k seal.Key, p Event, present []byte) bool {
	d := grammar.Parse(string(present))
	for _, c := range p.Changes {
		i := splice.Index(d, c.Section, c.Anchor)
		if c.Gone && i < 0 {
			continue
		}
		if i < 0 || c.Gone || k.Section(d.Parts[i].Body) != c.After {
			return false
		}
	}
	return present != nil
}
