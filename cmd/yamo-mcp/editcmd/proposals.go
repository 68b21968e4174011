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

// newProposals is `yamo-mcp proposals`: alone it lists, as its subcommand list does.
func (e command) newProposals() *cobra.Command {
	list := e.command(&cobra.Command{
		Use:   "list",
		Short: "List the proposals that wait, with what each would change",
		Args:  cli.NoArguments,
	}, e.listProposals)
	group := cli.Group("proposals", "Decide about the edits that the agent proposes", list, e.newAccept(), e.newReject())
	group.Long = `An agent can propose an edit instead of making it, also where a section is pinned or locked. Nothing is changed before
it is accepted here. Alone, the command lists the proposals that wait, each with a diff of what it would do to the file.`
	return e.command(group, e.listProposals)
}

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
		texts = []string{"no proposal waits\n"}
	} else {
		texts = append(texts, "Decide with yamo-mcp proposals accept ID or yamo-mcp proposals reject ID --why WHY\n")
	}
	return e.Answer(list, strings.Join(texts, "\n"))
}

func (e command) newAccept() *cobra.Command {
	var anyway bool
	var override string
	cmd := e.command(&cobra.Command{
		Use:   "accept ID",
		Short: "Make the edit that a proposal asks for",
		Long: `Make the edit that a proposal asks for, and print what it changed. Pins and locks do not hold it back: you decide.
Where it would replace what was changed since the proposal was made, both are shown and nothing is done without --anyway.`,
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
	cmd.Flags().BoolVar(&anyway, "anyway", false, "also where it replaces what was changed since")
	cmd.Flags().StringVar(&override, "override", "", "why a cap is exceeded, for how long, when it is curated")
	return cmd
}

// showChanged shows what was changed since a proposal was made, and what accepting it would do now.
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
	if err := e.Answer(map[string]any{"since": before, "would": shown}, "What was changed since:\n"+before+"\nWhat accepting it would do:\n"+shown.Diff); err != nil {
		return err
	}
	return fmt.Errorf("%w: accept it --anyway, or reject it", cause)
}

func (e command) newReject() *cobra.Command {
	var why string
	cmd := e.command(&cobra.Command{
		Use:   "reject ID",
		Short: "Decide against a proposal; the agent learns the reason when it asks again",
		Args:  cli.Exactly("ID"),
	}, func(ctx context.Context, editor *edit.Editor, args []string) error {
		p, err := editor.RejectProposal(ctx, args[0], session.Operator, why)
		if err != nil {
			return err
		}
		return e.Answer(p, "rejected "+p.Event.ID+"\n")
	})
	cmd.Flags().StringVar(&why, "why", "", "the reason, for the record and the agent")
	return cmd
}
