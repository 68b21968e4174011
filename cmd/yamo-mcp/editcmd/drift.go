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

func (e command) newDrift() *cobra.Command {
	list := e.command(&cobra.Command{
		Use:   "list",
		Short: "List the drifts that nobody has decided about",
		Args:  cli.NoArguments,
	}, e.listDrifts)
	group := cli.Group("drift", "Decide about files whose changes by hand took away what their edits are about", list,
		e.newDecision("accept", "Take a drifted file as it is", func(ctx context.Context, editor *edit.Editor, name, why string) (string, error) {
			n, err := editor.Accept(ctx, name, session.Operator, why)
			return fmt.Sprintf("accepted %s (%d)\n", name, n), err
		}),
		e.newDecision("restore", "Write back what a file was before it drifted, with the edits made since", func(ctx context.Context, editor *edit.Editor, name, why string) (string, error) {
			return "restored " + name + "\n", editor.Restore(ctx, name, session.Operator, why)
		}))
	group.Long = `A file that is changed by hand drifts when what its edits are about cannot be found any more, or when the change is one
that the write rules forbid: an edited section is gone, in a profile also an anchor, an id, or the Change Log. Sessions
go on with the file and nobody is asked; replays of it halt until the maintainer decides here. Alone, the command
lists the drifts that nobody has decided about.`
	return e.command(group, e.listDrifts)
}

func (e command) listDrifts(ctx context.Context, editor *edit.Editor, _ []string) error {
	drifts, err := editor.Scan(ctx)
	if err != nil {
		return err
	}
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
		text.WriteString("Look with yamo-mcp diff FILE, then decide with yamo-mcp drift accept FILE or yamo-mcp drift restore FILE\n")
	}
	return e.Answer(drifts, text.String())
}

func (e command) newDecision(use, short string, decide func(ctx context.Context, editor *edit.Editor, name, why string) (string, error)) *cobra.Command {
	var why string
	cmd := e.command(&cobra.Command{Use: use + " FILE", Short: short, Args: cli.Exactly("FILE")}, func(ctx context.Context, editor *edit.Editor, args []string) error {
		text, err := decide(ctx, editor, args[0], why)
		if err != nil {
			return err
		}
		return e.Answer(map[string]string{"file": args[0], "decision": use}, text)
	})
	cmd.Flags().StringVar(&why, "why", "", "the reason, for the record")
	return cmd
}
