package edit

import (
	"context"
	"errors"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/workspace"
)

// Erase takes what is recorded of a file out of the record for good: former texts, reasons and items, of the file's
// edits and of changes by hand. The file stays as it is, and its history begins anew with it. Pins and locks stay
// too, and of each event that it was there, when, and which evidence it cited, so that nothing is done twice that was
// done once. It returns how many events were erased. A drift has to be decided about before.
func (e *Editor) Erase(ctx context.Context, name, actor, why string) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.opt.View.CheckText(why); err != nil {
		return 0, fault.New("why: %v", err)
	}
	if events, err := e.erasable(ctx, name); err != nil {
		return 0, err
	} else if len(events) == 0 {
		return 0, fault.New("%s: nothing is recorded of it that could be erased", name)
	}
	// What is pending is settled, and what was changed by hand recorded: the text before it goes as well.
	if err := e.look(ctx, name); err != nil {
		return 0, err
	}
	erased := 0
	_, err := e.opt.View.Update(ctx, name, func(present []byte) (workspace.Change, error) {
		k, err := e.key()
		if err != nil {
			return workspace.Change{}, err
		}
		events, err := e.erasable(ctx, name)
		if err != nil {
			return workspace.Change{}, err
		}
		erased = len(events)
		_, err = e.ledger.Erase(ctx, e.state.apply, func(time.Time) ([]ledger.Draft, error) {
			drafts := make([]ledger.Draft, len(events))
			for i, old := range events {
				event := e.newEvent(e.now(), OpErase, name)
				event.RefersTo, event.Evidence, event.Key, event.Actor, event.Rationale = old.ID, old.Evidence, old.Key, actor, oneLine(why)
				data, err := k.seal(&event)
				if err != nil {
					return nil, err
				}
				drafts[i] = ledger.Draft{ID: old.ID, Data: data}
			}
			return drafts, nil
		})
		if err != nil {
			return workspace.Change{}, err
		}
		if present != nil {
			if err := e.record(ctx, k, e.whole(k, e.now(), OpSnapshot, name, string(present))); err != nil {
				return workspace.Change{}, err
			}
		}
		e.applied()
		return workspace.Change{}, errNothing
	})
	if !errors.Is(err, errNothing) {
		return 0, err
	}
	return erased, nil
}

// erasable are the events of a file that have something to erase.
func (e *Editor) erasable(ctx context.Context, name string) ([]Event, error) {
	if err := e.sync(ctx); err != nil {
		return nil, err
	}
	if f := e.state.files[name]; f != nil && len(f.drifts) > 0 {
		return nil, fault.New("%s: it has drifted; decide first, with yamo-mcp drift accept or restore", name)
	}
	all, err := e.of(ctx, name)
	if err != nil {
		return nil, err
	}
	var events []Event
	for _, event := range all {
		switch event.Op {
		case OpPin, OpUnpin, OpLock, OpUnlock, OpErase:
		default:
			events = append(events, event)
		}
	}
	return events, nil
}

// erase takes back what was read of an event that is erased now.
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
