package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/prompts"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
)

// review is a proposal in `yamo-mcp proposals --json`.
type review struct {
	Proposal edit.Event `json:"proposal"`
	Diff     string     `json:"diff"`              // what accepting it does to the file
	Changed  bool       `json:"changed"`           // its section is another than when it was made
	Pin      string     `json:"pin,omitempty"`     // pin or lock, which accepting it overrules
	Problem  string     `json:"problem,omitempty"` // why it cannot be accepted as things are
}

func newReview(r edit.Review) review {
	return review{r.Event, unified(r.Would), r.Changed, r.Pin, r.Problem}
}

func unified(c edit.Changed) string {
	return string(diff.Diff(c.From, []byte(c.Before), c.To, []byte(c.After)))
}

// String is the proposal as a person decides about it.
func (r review) String() string {
	text := describeEvent(r.Proposal)
	if r.Pin != "" {
		text += "    the section has a " + r.Pin + ", which accepting this overrules\n"
	}
	if r.Changed {
		text += "    the section was changed since: yamo-mcp diff " + r.Proposal.File + " --from " + r.Proposal.ID + "\n"
	}
	if r.Problem != "" {
		text += "    it cannot be accepted as things are: " + r.Problem + "\n" + asked(r.Proposal.Asked)
	}
	return text + r.Diff
}

// asked is the text that a proposal would write, for when there is no diff to show it.
func asked(a *edit.Asked) string {
	if a == nil {
		return ""
	}
	lines := strings.Split(a.Content, "\n")
	for _, item := range a.Items {
		lines = append(lines, "- "+strings.ReplaceAll(item, "\n", "\n  "))
	}
	for _, item := range a.Retire {
		lines = append(lines, "without: "+item)
	}
	text := strings.TrimSpace(strings.Join(lines, "\n"))
	return "    > " + strings.ReplaceAll(text, "\n", "\n    > ") + "\n"
}

// newProposalsCommand is `yamo-mcp proposals`: alone it lists, as its subcommand list does.
func (e *edits) newProposalsCommand() *cobra.Command {
	list := e.command(&cobra.Command{
		Use:   "list",
		Short: "List the proposals that wait, with what each would change",
		Args:  noArguments,
	}, e.listProposals)
	group := newGroup("proposals", "Decide about the edits that the agent proposes", list, e.newAcceptCommand(), e.newRejectCommand())
	group.Long = `An agent can propose an edit instead of making it, also where a section is pinned or locked. Nothing is changed before
it is accepted here. Alone, the command lists the proposals that wait, each with a diff of what it would do to the file.`
	return e.command(group, e.listProposals)
}

func (e *edits) listProposals(ctx context.Context, editor *edit.Editor, _ []string) error {
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
		texts = []string{"no proposal waits\n"}
	} else {
		texts = append(texts, "Decide with yamo-mcp proposals accept ID or yamo-mcp proposals reject ID --why WHY\n")
	}
	return e.print(list, strings.Join(texts, "\n"))
}

func (e *edits) newAcceptCommand() *cobra.Command {
	var anyway bool
	var override string
	cmd := e.command(&cobra.Command{
		Use:   "accept ID",
		Short: "Make the edit that a proposal asks for",
		Long: `Make the edit that a proposal asks for, and print what it changed. Pins and locks do not hold it back: you decide.
Where it would replace what was changed since the proposal was made, both are shown and nothing is done without --anyway.`,
		Args: exactly("ID"),
	}, func(ctx context.Context, editor *edit.Editor, args []string) error {
		done, changed, err := editor.AcceptProposal(ctx, args[0], operator, override, anyway)
		if errors.Is(err, edit.ErrChanged) {
			return e.showChanged(ctx, editor, args[0], err)
		}
		if err != nil {
			return err
		}
		text := unified(changed)
		return e.print(map[string]any{"edit": done.Event, "diff": text}, describeEvent(done.Event)+text)
	})
	cmd.Flags().BoolVar(&anyway, "anyway", false, "also where it replaces what was changed since")
	cmd.Flags().StringVar(&override, "override", "", "why a cap is exceeded, for how long, when it is curated")
	return cmd
}

// showChanged shows what was changed since a proposal was made, and what accepting it would do now.
func (e *edits) showChanged(ctx context.Context, editor *edit.Editor, id string, cause error) error {
	r, err := editor.Review(ctx, id)
	if err != nil {
		return err
	}
	since, err := editor.Diff(ctx, r.Event.File, r.Event.ID, "")
	if err != nil {
		return err
	}
	shown, before := newReview(r), unified(since)
	if err := e.print(map[string]any{"since": before, "would": shown}, "What was changed since:\n"+before+"\nWhat accepting it would do:\n"+shown.Diff); err != nil {
		return err
	}
	return fmt.Errorf("%w: accept it --anyway, or reject it", cause)
}

func (e *edits) newRejectCommand() *cobra.Command {
	var why string
	cmd := e.command(&cobra.Command{
		Use:   "reject ID",
		Short: "Decide against a proposal; the agent learns the reason when it asks again",
		Args:  exactly("ID"),
	}, func(ctx context.Context, editor *edit.Editor, args []string) error {
		p, err := editor.RejectProposal(ctx, args[0], operator, why)
		if err != nil {
			return err
		}
		return e.print(p, "rejected "+p.Event.ID+"\n")
	})
	cmd.Flags().StringVar(&why, "why", "", "the reason, for the record and the agent")
	return cmd
}

// A rejection is told at the start of sessions for a week, the last few of them.
const (
	toldFor  = 7 * 24 * time.Hour
	toldMost = 5
)

// proposals is, for the start of a session, how many proposals wait, and what was rejected lately. The session does not
// fail for want of it.
func proposals(v *workspace.View, editor *edit.Editor, logger *slog.Logger) prompts.Section {
	return func(ctx context.Context) (string, error) {
		all, err := editor.Proposals(ctx)
		if err != nil {
			logger.ErrorContext(ctx, "read proposals for the start of a session", "error", err)
			return "", nil
		}
		waiting := 0
		var rejected []string
		for _, p := range all {
			switch {
			case p.State == edit.Pending:
				waiting++
			case p.State == edit.Rejected && p.Decision.Time > v.Now().UTC().Add(-toldFor).Format(time.RFC3339):
				line := "- " + p.Event.File + "#" + p.Event.Section + ": " + p.Event.Rationale
				if why := p.Why(); why != "" {
					line += " (the reason: " + why + ")"
				}
				rejected = append(rejected, line)
			}
		}
		text := ""
		if waiting > 0 {
			text = fmt.Sprintf("\nTell your human that proposals of yours wait (%d): `yamo-mcp proposals` shows them.\n", waiting)
		}
		if len(rejected) > 0 {
			text += "\nYour human rejected lately:\n\n" + strings.Join(rejected[max(0, len(rejected)-toldMost):], "\n") + "\n"
		}
		if text == "" {
			return "", nil
		}
		return "## Proposals\n" + text, nil
	}
}
