package brief

import (
	"context"

	"github.com/yamo-protocol/yamo-mcp/internal/dream"
	"github.com/yamo-protocol/yamo-mcp/internal/dream/trust"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// decisions are what the user decided about memories.
func (g *gatherer) decisions() *dream.Decisions {
	if g.decided == nil {
		g.decided = dream.Decided(g.Memory, g.Workspace, g.Editor)
	}
	return g.decided
}

// said marks in a DM whose words a memory is, if they are not the user's or the agent's; with all also if they are. Of
// one that replaced another, it tells that the user confirmed it, or else whose word of more authority it would
// replace. In a group all words are the group's.
func (g *gatherer) said(ctx context.Context, hit record.Hit, all bool) (mark string) {
	if !g.Workspace.Audience().IsDM() {
		return ""
	}
	speaker := g.decisions().Speaker(hit)
	if speaker.Authority() == 0 || all && speaker != trust.Unknown {
		mark = " [said by " + string(speaker) + "]"
	}
	dispute, err := g.decisions().Dispute(ctx, hit)
	switch {
	case err != nil:
		g.failed("replaced memories", err)
		return mark
	case dispute.Confirmed:
		return mark + " [confirmed by the user]"
	case dispute.Said == "":
		return mark
	case mark == "":
		mark = " [from " + string(speaker) + "]"
	}
	return mark + " [" + dispute.Mark(itemChars/2) + "]"
}

// useful reports whether what was recalled often is of use in the next session: not what the user rejected, nor what is
// over.
func (g *gatherer) useful(ctx context.Context, hit record.Hit) bool {
	if dream.IsOver(hit.Record, g.now) {
		return false
	}
	rejected, err := g.decisions().Rejected(ctx, hit.ID)
	if err != nil {
		g.failed("decisions about memories", err)
	}
	return !rejected
}
