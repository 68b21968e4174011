package brief

import (
	"context"
	"strconv"

	"github.com/yamo-protocol/yamo-mcp/internal/dream"
	"github.com/yamo-protocol/yamo-mcp/internal/dream/trust"
	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// speakers are what the sources of memories call the agent and the user.
func (g *gatherer) speakers() trust.Names {
	return trust.Names{Agent: g.Workspace.AgentName(), AgentID: g.Memory.AgentID, User: g.Workspace.UserName()}
}

// said marks in a DM whose words a memory is, if they are not the user's or the agent's; with all also if they are. Of
// one that replaced another, it tells that the user confirmed it, or else whose word of more authority it would
// replace. In a group all words are the group's.
func (g *gatherer) said(ctx context.Context, names trust.Names, hit record.Hit, all bool) (mark string) {
	if !g.Workspace.Audience().IsDM() {
		return ""
	}
	speaker := names.SpeakerOf(hit)
	if speaker.Authority() == 0 || all && speaker != trust.Unknown {
		mark = " [said by " + string(speaker) + "]"
	}
	if len(hit.Replaced) == 0 || speaker == trust.Person {
		return mark
	}
	confirmed := g.confirmed(ctx)
	if confirmed[hit.ID] {
		return mark + " [confirmed by the user]"
	}
	old, found, err := trust.Overruled(hit, func(hit record.Hit) int {
		if confirmed[hit.ID] {
			return trust.Person.Authority()
		}
		return names.SpeakerOf(hit).Authority()
	}, func(id string) (record.Hit, bool, error) {
		hit, err := g.Memory.Get(ctx, id)
		if _, ok := fault.As(err); ok {
			return record.Hit{}, false, nil
		}
		return hit, err == nil, err
	})
	if err != nil {
		g.failed("replaced memories", err)
	}
	switch {
	case !found:
		return mark
	case mark == "":
		mark = " [from " + string(speaker) + "]"
	}
	said := string(names.SpeakerOf(old)) + " said"
	if confirmed[old.ID] {
		said = "the user confirmed"
	}
	return mark + " [not confirmed; " + said + ": " + strconv.Quote(line(old.Content, itemChars/2)) + "]"
}

// confirmed returns the ids of the memories that the user put into MEMORY.md. The record of edits is read only if a
// memory replaced another.
func (g *gatherer) confirmed(ctx context.Context) map[string]bool {
	if g.chosen != nil {
		return g.chosen
	}
	g.chosen = map[string]bool{}
	if g.Editor == nil {
		return g.chosen
	}
	found, err := dream.Confirmed(ctx, g.Editor)
	if err != nil {
		g.failed("confirmed memories", err)
		return g.chosen
	}
	g.chosen = found
	return g.chosen
}
