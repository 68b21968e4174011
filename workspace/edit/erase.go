package edit

import (
	"context"
	"slices"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
)

// Erase permanently removes the recorded contents of a file: former texts, reasons and items, of its edits and of
// changes by hand. The file itself stays, and its history begins again with a snapshot of it. Pins and locks stay, too.
// Of each erased event the record keeps its time, the evidence that it cited and its idempotency key, so that no edit
// is made twice. It returns the number of erased events. It is a fault if the file has a drift that is not decided yet.
func (e *Editor) Erase(ctx context.Context, name, actor, why string) (erased int, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.checkReason("why", why); err != nil {
		return 0, err
	}
	if err := e.sync(ctx); err != nil {
		return 0, err
	}
	if !e.state.erasable(name) {
		return 0, fault.New("%s: nothing recorded to erase", name)
	}
	tx, err := e.begin(ctx, name)
	if err != nil {
		return 0, err
	}
	defer tx.close(&err)
	// First record what was changed by hand: the text before that change must be erased as well.
	if err := tx.catchUp(ctx); err != nil {
		return 0, err
	}
	if len(e.state.files[name].drifts) > 0 {
		return 0, fault.New("%s: it has drifted; first run yamo-mcp drift accept or restore", name)
	}
	return tx.erase(ctx, actor, why)
}

// erase replaces the file's events that have contents with OpErase, and records a snapshot.
func (tx *transaction) erase(ctx context.Context, actor, why string) (int, error) {
	k, err := tx.key()
	if err != nil {
		return 0, err
	}
	events, err := tx.fileEvents(ctx, tx.name)
	if err != nil {
		return 0, err
	}
	events = slices.DeleteFunc(events, func(event Event) bool {
		switch event.Op {
		// These have no contents of the file.
		case OpPin, OpUnpin, OpLock, OpUnlock, OpErase, OpDismiss:
			return true
		}
		return false
	})
	_, err = tx.ledger.Erase(ctx, tx.state.apply, func(time.Time) ([]ledger.Draft, error) {
		drafts := make([]ledger.Draft, len(events))
		for i, old := range events {
			event := tx.newEvent(tx.now(), OpErase, tx.name)
			event.RefersTo, event.Evidence, event.Key = old.ID, old.Evidence, old.Key
			event.Actor, event.Rationale = actor, oneLine(why)
			data, err := sealed(k, &event)
			if err != nil {
				return nil, err
			}
			drafts[i] = ledger.Draft{ID: old.ID, Data: data}
		}
		return drafts, nil
	})
	if err != nil {
		return 0, err
	}
	// The present text is what the history begins with; a file that is gone has none.
	if present := tx.present(); present != nil {
		if err := tx.record(ctx, k, tx.whole(k, tx.now(), OpSnapshot, tx.name, string(present))); err != nil {
			return 0, err
		}
	}
	tx.applied()
	return len(events), nil
}

// erasable reports whether the record has contents of a file, that is more than pins, locks and erased events.
func (s *state) erasable(name string) bool {
	if f := s.files[name]; f != nil && f.known {
		return true
	}
	for _, p := range s.proposals {
		if p.Event.File == name {
			return true
		}
	}
	return false
}

// erase reverts what the state had from an event that is now erased.
func (s *state) erase(e Event) {
	s.files[e.File] = newFile()
	delete(s.seqs, e.RefersTo)
	delete(s.proposals, e.RefersTo)
	if first, ok := s.byKey[e.Key]; ok && first.ID == e.RefersTo {
		delete(s.byKey, e.Key)
	}
	if s.last != nil && s.last.File == e.File {
		s.last = nil
	}
}
