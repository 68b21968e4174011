package edit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// sync applies what is new in the record.
func (e *Editor) sync(ctx context.Context) error {
	err := e.ledger.Sync(ctx, e.state.apply)
	if errors.Is(err, ledger.ErrReplaced) { // restored from a copy, or removed
		e.reset()
		err = e.ledger.Sync(ctx, e.state.apply)
	}
	return err
}

// record writes events durably and applies them.
func (e *Editor) record(ctx context.Context, k key, events ...Event) error {
	_, err := e.ledger.Append(ctx, e.state.apply, func(time.Time) ([]ledger.Draft, error) {
		drafts := make([]ledger.Draft, len(events))
		for i := range events {
			data, err := k.seal(&events[i])
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

// replaced is called when a file has been replaced.
func (e *Editor) replaced() {
	if e.crash == nil || !e.crash("replaced") {
		e.applied()
	}
}

// key is the key that hashes are made with now. The very first event makes it.
func (e *Editor) key() (key, error) {
	if e.state.version == 0 {
		return e.keys.of(1, true)
	}
	return e.keys.of(e.state.version, false)
}

// keyOf is the key of what was written earlier.
func (e *Editor) keyOf(version int) (key, error) { return e.keys.of(version, false) }

// RotateKey has all further hashes made with a new key, and returns its salt version. The old one stays where
// it is, to verify what was made with it.
func (e *Editor) RotateKey(ctx context.Context, actor string) (version int, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.sync(ctx); err != nil {
		return 0, err
	}
	version = max(e.state.version, 1) + 1
	k, err := e.keys.of(version, true)
	if err != nil {
		return 0, err
	}
	event := e.newEvent(e.now(), OpRotate, "")
	event.EntityID, event.Actor = "", actor
	return version, e.record(ctx, k, event)
}

// The file edits.applied says up to which line of the record edits are known to be in their files, and how
// long the record was then. It is written under the lock on all files and not synced: when it is lost or
// behind, the file of the last edit is looked at.
func (e *Editor) appliedPath() string { return filepath.Join(e.opt.Dir, "private", "edits.applied") }

// applied notes that everything in the record is in its files.
func (e *Editor) applied() {
	size := int64(0)
	if info, err := os.Stat(e.path()); err == nil {
		size = info.Size()
	}
	if err := os.WriteFile(e.appliedPath(), fmt.Appendf(nil, "%020d %020d\n", e.state.lastSeq, size), 0o600); err != nil {
		e.opt.Logger.Warn("note that an edit is complete", "error", err)
	}
}

// appliedUpTo reads what applied wrote, zeros if there is nothing.
func (e *Editor) appliedUpTo() (seq, size int64) {
	data, err := os.ReadFile(e.appliedPath())
	if err != nil {
		return 0, 0
	}
	if n, err := fmt.Sscanf(string(data), "%d %d\n", &seq, &size); err != nil || n != 2 {
		return 0, 0
	}
	return seq, size
}

// pending is the last event that writes a file, if it is not known that it did.
func (e *Editor) pending() *Event {
	if e.state.last == nil {
		return nil
	}
	if seq, _ := e.appliedUpTo(); seq >= e.state.lastSeq {
		return nil
	}
	return e.state.last
}

// Recover finishes an edit that was interrupted between the record and the file, or says in the record that
// it is undone. It is for the start of a session, and cheap when there is nothing to do.
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
	if _, size := e.appliedUpTo(); size == info.Size() {
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

// complete makes the file what p says it is, or records that p is undone. done is false when a person changed the file
// meanwhile, and it has to be looked at again.
func (tx *transaction) complete(ctx context.Context, p Event) (done bool, err error) {
	k, err := tx.keyOf(p.Integrity.SaltVersion)
	if err != nil {
		return false, err
	}
	present := tx.present()
	switch there := k.file(present); {
	case there == p.FileAfter:
		tx.applied()
		return true, nil
	case there == p.FileBefore:
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
		// A person changed the file after the edit reached it.
		tx.applied()
		return true, nil
	}
	return true, tx.undo(ctx, p, k)
}

// undo records that an edit never reached its file, because a person changed the file before. It was never
// acknowledged.
func (tx *transaction) undo(ctx context.Context, p Event, k key) error {
	current, err := tx.key()
	if err != nil {
		return err
	}
	undone := tx.newEvent(tx.now(), OpUndone, p.File)
	undone.RefersTo, undone.FileAfter, undone.Actor = p.ID, p.FileBefore, Hand
	undone.Section, undone.Anchor = p.Section, p.Anchor
	undone.Rationale = "the edit was interrupted, and the file was changed by hand before it could be finished"
	if current.version != k.version {
		undone.FileAfter = "" // made with another key: whatever is there counts as changed
	}
	if err := tx.record(ctx, current, undone); err != nil {
		return err
	}
	tx.applied()
	return nil
}

// holds reports whether every section that p changed is in the file as p left it.
func holds(k key, p Event, present []byte) bool {
	d := grammar.Parse(string(present))
	for _, c := range p.Changes {
		i := index(d, c.Section, c.Anchor)
		if i < 0 || k.section(d.Parts[i].Body) != c.After {
			return false
		}
	}
	return present != nil
}
