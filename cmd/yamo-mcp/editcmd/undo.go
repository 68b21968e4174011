package editcmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/internal/session"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
)

// newUndo returns `yamo-mcp undo`, which pins do not bind: the operator runs it.
func (e command) newUndo() *cobra.Command {
	var why string
	cmd := e.command(&cobra.Command{
		Use:   "undo EVENT",
		Short: "Take back one edit of a workspace file",
		Long: `Take back the edit with the ID or evidence token EVENT; yamo-mcp history FILE lists them. If
nothing changed the file since, it is byte for byte as it was before the edit. Otherwise only the
items and paragraphs that the edit changed are restored; if they are not as the edit left them, both
texts are shown and nothing is written.
An undo is an event of its own, and can be undone.`,
		Args: cli.Exactly("EVENT"),
	}, func(ctx context.Context, editor *edit.Editor, args []string) error {
		done, changed, err := editor.Undo(ctx, args[0], session.Operator, why)
		if err != nil {
			return err
		}
		text := fmt.Sprintf("undone: %s\n%s", done.Event.RefersTo, unified(changed))
		return e.Answer(done.Event, text)
	})
	cmd.ValidArgsFunction = e.completeEvents(undoable)
	cmd.Flags().StringVar(&why, "why", "asked for", "reason, kept in the record")
	return cmd
}
