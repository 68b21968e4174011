package edit

import (
	"context"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// Evidence is the target of an evidence token: an event or a memory (seed 004 §5).
type Evidence struct {
	Token    string `json:"token"`
	Event    *Event `json:"event,omitempty"`
	State    string `json:"state,omitempty"`    // of a proposal
	Decision *Event `json:"decision,omitempty"` // about the proposal, without texts
	MemoryID string `json:"memory_id,omitempty"`
}

// nowhere is the fault for a reference without a target.
const nowhere = "%s: no such event or memory in this workspace"

// Resolve returns the target of an evidence token, an event's id or a memory's id. A reference without a target is a
// fault; whether a memory exists is checked with Options.Memory.
func (e *Editor) Resolve(ctx context.Context, ref string) (Evidence, error) {
	token, err := grammar.ParseToken(ref)
	if err != nil {
		return Evidence{}, fault.New("%v", err)
	}
	if id := token.MemoryID(); id != "" {
		return Evidence{Token: token.String(), MemoryID: id}, e.memory(ctx, id)
	}
	id := token.ID.String()
	events, err := e.readEvents(ctx, []byte(id), func(event Event) bool {
		return event.ID == id || event.Op == OpErase && event.RefersTo == id
	})
	if err != nil {
		return Evidence{}, err
	}
	if len(events) == 0 {
		return Evidence{}, fault.New(nowhere, ref)
	}
	// The event itself is gone; only the note of its erasure refers to it.
	if events[0].ID != id {
		return Evidence{}, fault.New("%s: what was recorded of this event was erased at %s", ref, events[0].Time)
	}
	found := Evidence{Token: token.String(), Event: &events[0]}
	if found.Event.Op == OpPropose {
		e.mu.Lock()
		defer e.mu.Unlock()
		p, err := e.proposal(ctx, found.Event.ID)
		if err != nil {
			return Evidence{}, err
		}
		found.State, found.Decision = p.State, p.Decision
	}
	return found, nil
}

// memory returns an error unless the memory called id exists. Without Options.Memory every ID is accepted.
func (e *Editor) memory(ctx context.Context, id string) error {
	if e.opt.Memory == nil {
		return nil
	}
	return e.opt.Memory(ctx, id)
}

// resolveAll turns the references of an edit into tokens, and checks that these and the tokens in its texts have a
// target: a citation that cannot be followed is no evidence (seed 004 §5).
func (e *Editor) resolveAll(ctx context.Context, q *Request) error {
	for _, ref := range q.Refs {
		token, err := grammar.ParseToken(ref)
		if err != nil {
			return fault.New("evidence_refs: %v", err)
		}
		q.Evidence = append(q.Evidence, token)
	}
	tokens := append(slices.Clip(q.Evidence), grammar.Tokens(q.Content)...)
	if q.Op == grammar.AppendItem { // curated items keep tokens of what has been deleted since
		for _, item := range q.Items {
			tokens = append(tokens, grammar.Tokens(item)...)
		}
	}
	if len(tokens) == 0 {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.sync(ctx); err != nil {
		return err
	}
	if _, made := e.state.byKey[q.Key]; made {
		return nil // a repeated request: its references had targets when the edit was made
	}
	for _, token := range tokens {
		if id := token.MemoryID(); id != "" {
			// SECURITY: through the session's own view, so that a citation does not reveal whether another audience has a
			// memory.
			err := e.memory(ctx, id)
			if f, ok := fault.As(err); ok {
				return fault.New("evidence_refs: %s", strings.TrimPrefix(f.Error(), "id: "))
			}
			if err != nil {
				return err
			}
		} else if e.state.seqs[token.ID.String()] == 0 {
			return fault.New("evidence_refs: "+nowhere, token)
		}
	}
	return nil
}
