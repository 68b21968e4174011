package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
)

// evidence is what a token leads to, for people and models.
type evidence struct {
	Token    string      `json:"token"`
	Event    *edit.Event `json:"event,omitempty"`
	State    string      `json:"state,omitempty"`    // of a proposal
	Decision *edit.Event `json:"decision,omitempty"` // about it
	Memory   *match      `json:"memory,omitempty"`
}

// resolveEvidence follows a token to an edit or to a memory.
func resolveEvidence(ctx context.Context, editor *edit.Editor, memory *mesh.View, ref string) (evidence, error) {
	found, err := editor.Resolve(ctx, ref)
	if err != nil {
		return evidence{}, err
	}
	e := evidence{Token: found.Token, Event: found.Event, State: found.State, Decision: found.Decision}
	if found.MemoryID != "" {
		hit, err := memory.Get(ctx, found.MemoryID)
		if err != nil {
			return evidence{}, err
		}
		memory := newMatch(hit, nil)
		e.Memory = &memory
	}
	return e, nil
}

func (e *edits) newEvidenceCommand() *cobra.Command {
	return e.command(&cobra.Command{
		Use:   "evidence TOKEN",
		Short: "Show what an evidence token leads to: an edit, or a memory",
		Long: `Show what an evidence token (ev:YYYYMMDDThhmmssZ-ULID) leads to: the record of an edit, or a memory. An edit's
event id and a memory's id (mem_…) are taken as well; the first line is their token.`,
		Args: exactly("TOKEN"),
	}, func(ctx context.Context, editor *edit.Editor, args []string) (err error) {
		logger, err := newLogger(e.stderr, "warn")
		if err != nil {
			return err
		}
		memory, release, err := openMemory(e.options, audience.DM(), e.getenv, logger)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, release()) }()
		found, err := resolveEvidence(ctx, editor, memory, args[0])
		if err != nil {
			return err
		}
		text := found.Token + "\n"
		if found.Event != nil {
			text += describeEvent(*found.Event)
			if found.Event.IsEdit() {
				text += fmt.Sprintf("    what it changed: yamo-mcp diff %s --to %s\n", found.Event.File, found.Event.ID)
			}
			if found.State != "" {
				text += "    " + found.State + "\n"
			}
			if found.Decision != nil {
				text += describeEvent(*found.Decision)
			}
		} else {
			m := found.Memory
			text += fmt.Sprintf("%s  %s  %s  %s, %s\n%s\n", m.ID, m.CreatedAt.UTC().Format("2006-01-02T15:04:05.000Z"), m.AgentID, m.Type, m.Visibility, m.Content)
		}
		return e.print(found, text)
	})
}
