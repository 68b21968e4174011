package edit

import (
	"context"
	"fmt"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// Dismiss records that the owner wants none of the memories called refs promoted to a file, so that no sweep offers
// them again. The file stays as it is. An id that cannot be cited is a fault, and then nothing is recorded.
func (e *Editor) Dismiss(ctx context.Context, name string, refs []string, actor string) (Event, error) {
	event := e.newEvent(e.now(), OpDismiss, name)
	event.Actor = actor
	for _, ref := range refs {
		token, err := grammar.ParseToken(ref)
		if err != nil || token.MemoryID() != ref {
			return Event{}, fault.New("reject: %q is not the id of a memory; yamo-mcp dream --review lists them", ref)
		}
		event.Evidence = append(event.Evidence, token.String())
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.sync(ctx); err != nil {
		return Event{}, err
	}
	k, err := e.key()
	if err != nil {
		return Event{}, err
	}
	if err := e.record(ctx, k, event); err != nil {
		return Event{}, fmt.Errorf("record what was rejected: %w", err)
	}
	return event, nil
}
