package session

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/prompts"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
)

// startSections are what the prompt startup shows besides the files of the workspace. The start of a session does not
// fail if one of them cannot be read.
func (p *parts) startSections() []prompts.Section {
	sections := []prompts.Section{p.constraints}
	// SECURITY: a group has no edits, and learns of none.
	if p.editor != nil {
		sections = append(sections, p.proposals)
	}
	return sections
}

// constraints is the active lessons.
func (p *parts) constraints(ctx context.Context) (string, error) {
	text, err := p.memory.Constraints(ctx)
	if err != nil {
		p.logger.ErrorContext(ctx, "read lessons for the start of a session", "error", err)
		return "## Active lessons\n\nThey cannot be read at the moment; the server's log has the reason.\n", nil
	}
	return text, nil
}

// The start of a session names proposals that were rejected within a week, at most five.
const (
	rejectedWithin = 7 * 24 * time.Hour
	rejectedMost   = 5
)

// proposals is the number of pending proposals and those that were rejected lately, with the reasons.
func (p *parts) proposals(ctx context.Context) (string, error) {
	all, err := p.editor.Proposals(ctx)
	if err != nil {
		p.logger.ErrorContext(ctx, "read proposals for the start of a session", "error", err)
		return "", nil
	}
	// Times of events are RFC 3339 in UTC, which compare as strings.
	since := p.view.Now().UTC().Add(-rejectedWithin).Format(time.RFC3339)
	pending := 0
	var rejected []string
	for _, proposal := range all {
		switch {
		case proposal.State == edit.Pending:
			pending++
		case proposal.State == edit.Rejected && proposal.Decision.Time > since:
			line := "- " + proposal.Event.File + "#" + proposal.Event.Section + ": " + proposal.Event.Rationale
			if why := proposal.Why(); why != "" {
				line += " (the reason: " + why + ")"
			}
			rejected = append(rejected, line)
		}
	}
	text := ""
	if pending > 0 {
		text = fmt.Sprintf("\nTell the user that %d of your proposals need a decision: `yamo-mcp proposals` shows them.\n",
			pending)
	}
	if len(rejected) > 0 {
		text += "\nThe user rejected recently:\n\n" + strings.Join(rejected[max(0, len(rejected)-rejectedMost):], "\n") + "\n"
	}
	if text == "" {
		return "", nil
	}
	return "## Proposals\n" + text, nil
}
