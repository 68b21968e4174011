package editcmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/internal/session"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
)

// review is a proposal in `yamo-mcp proposals --json`.
type review struct {
	Proposal edit.Event `json:"proposal"`
	Diff     string     `json:"diff"`              // of the file, if it is accepted
	Changed  bool       `json:"changed"`           // the section was changed since it was made
	Pin      string     `json:"pin,omitempty"`     // pin or lock that accepting it overrides
	Problem  string     `json:"problem,omitempty"` // why it cannot be accepted now
}

// newReview converts a review for JSON and String.
func newReview(r edit.Review) review {
	return review{r.Event, unified(r.Would), r.Changed, r.Pin, r.Problem}
}

// unified returns the change as a unified diff, "" if nothing changes.
func unified(c edit.Changed) string {
	return string(diff.Diff(c.From, []byte(c.Before), c.To, []byte(c.After)))
}

// String formats the proposal for the person who decides about it.
func (r review) String() string {
	text := describeEvent(r.Proposal)
	if r.Pin != "" {
		text += "    the section has a " + r.Pin + ", which accepting this overrides\n"
	}
	if r.Changed {
		text += "    the section was changed since: yamo-mcp diff " + r.Proposal.File + " --from " + r.Proposal.ID + "\n"
	}
	if r.Problem != "" {
		text += "    it cannot be accepted now: " + r.Problem + "\n" + asked(r.Proposal.Asked)
	}
	return text + r.Diff
}

// asked formats the text that a proposal would write, for proposals that have no diff.
func asked(a *edit.Asked) string {
	if a == nil {
		return ""
	}
	lines := strings.Split(a.Content, "\n")
	for _, item := range a.Items {
		lines = append(lines, "- "+strings.ReplaceAll(item, "\n", "\n  "))
	}
	for _, item := range a.Retire {
		lines = append(lines, "removed: "+item)
	}
	text := strings.TrimSpace(strings.Join(lines, "\n"))
	return "    > " + strings.ReplaceAll(text, "\n", "\n    > ") + "\n"
}

// newProposals returns `yamo-mcp proposals`. Without a subcommand it lists. Only a person on the command line can
// accept a proposal, for the same reason as with pins.
func (e command) newProposals() *cobra.Command {
	list := e.command(&cobra.Command{
		Use:   "list",
		Short: "List pending proposals, with what each would change",
		Args:  cli.NoArguments,
	}, e.listProposals)
	group := cli.Group("proposals", "Review the edits that the agent proposes", list, e.newAccept(), e.newReject())
	group.Long = `An agent can propose an edit instead of making it, even where a section is pinned or locked. The
file is not changed until you accept the proposal here. Without a subcommand, the pending
proposals are listed, each with a diff.`
	return e.command(group, e.listProposals)
}

// listProposals prints the pending proposals with their diffs: a person must not accept what was not shown.
func (e command) listProposals(ctx context.Context, editor *edit.Editor, _ []string) error {
	waiting, err := editor.Reviews(ctx)
	if err != nil {
		return err
	}
	list, texts := make([]review, len(waiting)), make([]string, len(waiting))
	for i, r := range waiting {
		list[i] = newReview(r)
		texts[i] = list[i].String()
	}
	if len(list) == 0 {
		texts = []string{"no pending proposals\n"}
	} else {
		texts = append(texts, "Run yamo-mcp proposals accept ID or yamo-mcp proposals reject ID --why WHY\n")
	}
	return e.Answer(list, strings.Join(texts, "\n"))
}

// overrideHelp describes the flag --override.
const overrideHelp = "reason for exceeding a size cap, for how long, and when it will be curated"

// newAccept returns `yamo-mcp proposals accept`.
func (e command) newAccept() *cobra.Command {
	var anyway bool
	var override string
	cmd := e.command(&cobra.Command{
		Use:   "accept ID",
		Short: "Apply a proposed edit",
		Long: `Apply a proposed edit and print what it changed. Pins and locks do not prevent it. If the
section was changed since the proposal was made, both changes are shown and the proposal is not
applied, unless you add --anyway.`,
		Args: cli.Exactly("ID"),
	}, func(ctx context.Context, editor *edit.Editor, args []string) error {
		done, changed, err := editor.AcceptProposal(ctx, args[0], session.Operator, override, anyway)
		if errors.Is(err, edit.ErrChanged) {
			return e.showChanged(ctx, editor, args[0], err)
		}
		if err != nil {
			return err
		}
		text := unified(changed)
		return e.Answer(map[string]any{"edit": done.Event, "diff": text}, describeEvent(done.Event)+text)
	})
	cmd.ValidArgsFunction = e.completeEvents(waiting)
	cmd.Flags().BoolVar(&anyway, "anyway", false, "apply it even if the section was changed since")
	cmd.Flags().StringVar(&override, "override", "", overrideHelp)
	return cmd
}

// showChanged prints what was changed since a proposal was made and what accepting it would do now, and fails with the
// cause.
func (e command) showChanged(ctx context.Context, editor *edit.Editor, id string, cause error) error {
	r, err := editor.Review(ctx, id)
	if err != nil {
		return err
	}
	since, err := editor.Diff(ctx, r.Event.File, r.Event.ID, "")
	if err != nil {
		return err
	}
	shown, before := newReview(r), unified(since)
	text := "Changed since:\n" + before + "\nAccepting it would change:\n" + shown.Diff
	if err := e.Answer(map[string]any{"since": before, "would": shown}, text); err != nil {
		return err
	}
	// A failure although something was printed: scripts must not take it for an accepted proposal.
	return fmt.Errorf("%w: accept it with --anyway, or reject it", cause)
}

// newReject returns `yamo-mcp proposals reject`.
func (e command) newReject() *cobra.Command {
	var why string
	cmd := e.command(&cobra.Command{
		Use:   "reject ID",
		Short: "Reject a proposal; the agent is told the reason if it proposes it again",
		Args:  cli.Exactly("ID"),
	}, func(ctx context.Context, editor *edit.Editor, args []string) error {
		p, err := editor.RejectProposal(ctx, args[0], session.Operator, why)
		if err != nil {
			return err
		}
		return e.Answer(p, "rejected "+p.Event.ID+"\n")
	})
	cmd.ValidArgsFunction = e.completeEvents(waiting)
	cmd.Flags().StringVar(&why, "why", "", "reason, kept in the record and told to the agent")
	return cmd
}
