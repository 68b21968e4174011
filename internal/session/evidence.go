package session

import (
	"context"
	"errors"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/cite"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
)

// Evidence is the event, the memory, the passage of a file or the turn of a session log that an evidence token names.
type Evidence struct {
	Token    string        `json:"token"`
	Event    *edit.Event   `json:"event,omitempty"`
	State    string        `json:"state,omitempty"`    // of a proposal
	Decision *edit.Event   `json:"decision,omitempty"` // about the proposal
	Memory   *Memory       `json:"memory,omitempty"`
	Passage  *cite.Passage `json:"passage,omitempty"`
	Turn     *cite.Turn    `json:"turn,omitempty"`
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

// Sources is what evidence is followed in: the record of edits, the memory, the files and the session logs.
type Sources struct {
	View   *workspace.View // of a DM, as the others are
	Memory *mesh.View
	Editor *edit.Editor
}

// OpenSources opens what a DM's evidence is followed in, for commands. release closes it again.
//
// SECURITY: it reads everything private. Only the operator's commands call it.
func OpenSources(o Options) (s Sources, release func() error, err error) {
	p := &parts{settings: o.Config.Session, logger: o.Logger}
	who := audience.DM()
	folder, err := OpenFolder(o, who, Operator)
	if err != nil {
		return Sources{}, nil, err
	}
	p.closers = append(p.closers, folder.Close)
	p.view = folder.View(who)
	var closeMemory func() error
	if p.memory, closeMemory, err = openMemory(o, who, nil, zoneOf(p.view)); err != nil {
		return Sources{}, nil, errors.Join(err, p.close())
	}
	p.closers = append(p.closers, closeMemory)
	logs, closeLogs, err := OpenLogs(o, who)
	if err != nil {
		return Sources{}, nil, errors.Join(err, p.close())
	}
	p.closers = append(p.closers, closeLogs)
	if p.editor, err = OpenEditor(o, p.view, p.memory, logs); err != nil {
		return Sources{}, nil, errors.Join(err, p.close())
	}
	return Sources{View: p.view, Memory: p.memory, Editor: p.editor}, p.close, nil
}

// Resolve finds what an evidence token or an id names (see ResolveEvidence).
func (s Sources) Resolve(ctx context.Context, ref string) (Evidence, error) {
	return ResolveEvidence(ctx, s.Editor, s.Memory, ref)
}

// ResolveEvidence finds what an evidence token or the id of an event or a memory names.
func ResolveEvidence(ctx context.Context, editor *edit.Editor, memory *mesh.View, ref string) (Evidence, error) {
	found, err := editor.Resolve(ctx, ref)
	if err != nil {
		return Evidence{}, err
	}
	e := Evidence{
		Token: found.Token, Event: found.Event, State: found.State, Decision: found.Decision, Passage: found.Passage,
		Turn: found.Turn,
	}
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
