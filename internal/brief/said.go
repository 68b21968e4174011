package brief

import (
	"strconv"

	"github.com/yamo-protocol/yamo-mcp/internal/dream/trust"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// speakers are what the sources of memories call the agent and the user.
func (g *gatherer) speakers() trust.Names {
	return trust.Names{Agent: g.Workspace.AgentName(), AgentID: g.Memory.AgentID, User: g.Workspace.UserName()}
}

// said marks in a DM whose words a memory is, if they are not the user's or the agent's; with all also if they are. It
// names what the user said otherwise, if the memory claims to replace it. In a group all words are the group's.
func (g *gatherer) said(names trust.Names, hit record.Hit, all bool) (mark string) {
	if !g.Workspace.Audience().IsDM() {
		return ""
	}
	speaker := names.SpeakerOf(hit)
	if speaker.Authority() == 0 || all && speaker != trust.Unknown {
		mark = " [said by " + string(speaker) + "]"
	}
	for _, old := range hit.Replaced {
		before := names.SpeakerOf(record.Hit{Record: old.Record, Visibility: hit.Visibility})
		if before.Authority() > speaker.Authority() {
			if mark == "" {
				mark = " [from " + string(speaker) + "]"
			}
			mark += " [not confirmed; " + string(before) + " said: " + strconv.Quote(line(old.Content, itemChars/2)) + "]"
		}
	}
	return mark
}
