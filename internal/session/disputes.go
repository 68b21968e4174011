package session

import (
	"context"

	"github.com/yamo-protocol/yamo-mcp/internal/dream"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/workspace"
)

// Disputes marks memories for a hook or a command. The record of edits is opened only with the first memory that
// replaced another one. It is not safe for concurrent use; the caller closes it.
type Disputes struct {
	options Options
	memory  *mesh.View

	folder  *workspace.Workspace
	decided *dream.Decisions // nil before the record of edits was opened
}

// NewDisputes returns the disputes about the memories of a view.
func NewDisputes(o Options, memory *mesh.View) *Disputes {
	return &Disputes{options: o, memory: memory}
}

// Mark returns who said a memory of a DM that replaced the word of someone with more authority, and what they said, in
// up to n characters; "" for any other memory, and in a group, where all words are the group's.
func (d *Disputes) Mark(ctx context.Context, hit record.Hit, n int) (string, error) {
	// SECURITY: a group opens nothing of the DM.
	if !d.memory.Audience.IsDM() || len(hit.Replaced) == 0 || hit.Type == record.FileType {
		return "", nil
	}
	if err := d.open(); err != nil {
		return "", err
	}
	return d.decided.Mark(ctx, hit, n)
}

func (d *Disputes) open() (err error) {
	if d.decided != nil {
		return nil
	}
	if d.folder == nil {
		if d.folder, err = OpenFolder(d.options, d.memory.Audience, d.options.Config.Session.AgentID); err != nil {
			return err
		}
	}
	view := d.folder.View(d.memory.Audience)
	editor, err := OpenEditor(d.options, view, d.memory, nil)
	if err != nil {
		return err
	}
	d.decided = dream.Decided(d.memory, view, editor)
	return nil
}

// Close closes what was opened.
func (d *Disputes) Close() error {
	if d.folder == nil {
		return nil
	}
	return d.folder.Close()
}
