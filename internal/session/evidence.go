package session

import (
	"context"
	"time"

	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
)

// Evidence is the event or the memory that an evidence token names.
type Evidence struct {
	Token    string      `json:"token"`
	Event    *edit.Event `json:"event,omitempty"`
	State    string      `json:"state,omitempty"`    // of a proposal
	Decision *edit.Event `json:"decision,omitempty"` // about the proposal
	Memory   *Memory     `json:"memory,omitempty"`
}

// Memory is a memory in JSON answers and in exports.
type Memory struct {
	*record.Record
	Heritage   *record.Heritage  `json:"heritage,omitempty"`
	Visibility record.Visibility `json:"visibility"`
	// SupersededAt is when it stopped being true, and SupersededBy the id of what replaced it.
	SupersededAt *time.Time `json:"superseded_at,omitempty"`
	SupersededBy string     `json:"superseded_by,omitempty"`
	Sightings    int        `json:"sightings,omitempty"`
}

// NewMemory returns the memory of a hit.
func NewMemory(h record.Hit) Memory {
	m := Memory{Record: h.Record, Heritage: h.Heritage, Visibility: h.Visibility, Sightings: h.Sightings}
	if h.Past != nil {
		m.SupersededAt, m.SupersededBy = &h.Past.At, h.Past.New
	}
	return m
}

// ResolveEvidence finds the event or the memory that an evidence token or an id names.
func ResolveEvidence(ctx context.Context, editor *edit.Editor, memory *mesh.View, ref string) (Evidence, error) {
	found, err := editor.Resolve(ctx, ref)
	if err != nil {
		return Evidence{}, err
	}
	e := Evidence{Token: found.Token, Event: found.Event, State: found.State, Decision: found.Decision}
	if found.MemoryID != "" {
		// SECURITY: through the view, so that a token shows no memory of another audience.
		hit, err := memory.Get(ctx, found.MemoryID)
		if err != nil {
			return Evidence{}, err
		}
		memory := NewMemory(hit)
		e.Memory = &memory
	}
	return e, nil
}

// evidence resolves a token for the resource of evidence. A group has none.
func (p *parts) evidence(ctx context.Context, token string) (any, error) {
	return ResolveEvidence(ctx, p.editor, p.memory, token)
}
