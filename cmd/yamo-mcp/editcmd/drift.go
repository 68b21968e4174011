package editcmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/internal/session"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
)

// newDrift returns `yamo-mcp drift` (seed 004 §10). Without a subcommand it lists, so that the command that a notice
// names shows something.
func (e command) newDrift() *cobra.Command {
	list := e.command(&cobra.Command{
		Use:   "list",
		Short: "List the drifted files that need a decision",
		Args:  cli.NoArguments,
	}, e.listDrifts)
	group := cli.Group("drift", "Review files whose manual changes conflict with their recorded edits", list,
		e.newDecision("accept", "Accept a drifted file as it is",
			func(ctx context.Context, editor *edit.Editor, name, why string) (string, error) {
				n, err := editor.Accept(ctx, name, session.Operator, why)
				return fmt.Sprintf("accepted %s (%d)\n", name, n), err
			}),
		e.newDecision("restore", "Restore a file to its content before it drifted, with the edits made since",
			func(ctx context.Context, editor *edit.Editor, name, why string) (string, error) {
				return "restored " + name + "\n", editor.Restore(ctx, name, session.Operator, why)
			}))
	group.Long = `A file drifts when a manual change removes something that recorded edits depend on: an edited
section, or in a profile also an anchor, an ID or the Change Log. So does a file whose record does
not reproduce it. Sessions continue to use the
file, but it cannot be replayed until you accept or restore it here. Without a subcommand, the
files that need a decision are listed.`
	return e.command(group, e.listDrifts)
}

// listDrifts reads every file of the record, so that changes by hand since the last session are found as well.
func (e command) listDrifts(ctx context.Context, editor *edit.Editor, _ []string) error {
	drifts, err := editor.Scan(ctx)
	if err != nil {
		return err
	}
	// in JSON [] instead of null
	if drifts == nil {
		drifts = []edit.Event{}
	}
	var text strings.Builder
	for _, d := range drifts {
		fmt.Fprintf(&text, "%s\t%s\t%s\t%s\n", d.File, d.Time, d.ID, d.Rationale)
	}
	if len(drifts) == 0 {
		text.WriteString("no file has drifted\n")
	} else {
		text.WriteString("Run yamo-mcp diff FILE to see the changes, then yamo-mcp drift accept FILE or " +
			"yamo-mcp drift restore FILE\n")
	}
	return e.Answer(drifts, text.String())
}

// newDecision returns a subcommand that decides about the drift of a file. The decision is an event of its own: who
// decided, when and why.
func (e command) newDecision(use, short string,
	decide func(ctx context.Context, editor *edit.Editor, name, why string) (string, error),
) *cobra.Command {
	var why string
	cmd := e.command(&cobra.Command{
		Use: use + " FILE", Short: short, Args: cli.Exactly("FILE"),
	}, func(ctx context.Context, editor *edit.Editor, args []string) error {
		text, err := decide(ctx, editor, args[0], why)
		if err != nil {
			return err
		}
		return e.Answer(map[string]string{"file": args[0], "decision": use}, text)
	})
	cmd.Flags().StringVar(&why, "why", "", "reason, kept in the record")
	return cmd
}
