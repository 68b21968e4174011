package editcmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/internal/session"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
)

// newRecord returns `yamo-mcp record`, whose commands maintain the record itself. verify fails at the first damaged
// line, and for lines that this machine has seen and that are missing.
func (e command) newRecord() *cobra.Command {
	verify := e.command(&cobra.Command{
		Use:   "verify",
		Short: "Check every line of the record of edits",
		Long: `Check every line of the record of edits: its format, its place in the hash chain, its
authentication code, and its own hash with the key of its salt version. Prints intact, or names
the first damaged line and exits with 1.`,
		Args: cli.NoArguments,
	}, func(ctx context.Context, editor *edit.Editor, _ []string) error {
		found, err := editor.Verify(ctx)
		if err != nil {
			return fmt.Errorf("%w; restore the record from a backup", err)
		}
		if found.Missing != nil {
			return fmt.Errorf("the record of edits: %w; `yamo-mcp ledger accept` if that is right", found.Missing)
		}
		return e.Answer(map[string]any{
			"intact": true, "events": found.Events, "last_hash": found.LastHash, "torn_bytes": found.Torn,
		},
			fmt.Sprintf("intact, %d events\n", found.Events))
	})
	rotate := e.command(&cobra.Command{
		Use:   "rotate-key",
		Short: "Use a new key for new hashes of the record",
		Long: `Create a new key for the hashes of the record of edits. Existing lines are not changed and are
still verified with the key of their salt version: keep the files in .yamo/private/edits.keys.`,
		Args: cli.NoArguments,
	}, func(ctx context.Context, editor *edit.Editor, _ []string) error {
		version, err := editor.RotateKey(ctx, session.Operator)
		if err != nil {
			return err
		}
		return e.Answer(map[string]int{"salt_version": version}, fmt.Sprintf("salt version %d\n", version))
	})
	var why string
	erase := e.command(&cobra.Command{
		Use:   "erase FILE",
		Short: "Erase the earlier contents of a workspace file from the record",
		Long: `Permanently erase the earlier contents of a workspace file from the record of edits: its former
text, additions, removals and their reasons. The file itself is not changed, and its history
starts again. The record keeps the fact and the time of each event, and the evidence it cited.
The current file, backups, and commits in the workspace's git repository are not affected.`,
		Args: cli.Exactly("FILE"),
	}, func(ctx context.Context, editor *edit.Editor, args []string) error {
		erased, err := editor.Erase(ctx, args[0], session.Operator, why)
		if err != nil {
			return err
		}
		// Commits are not the record's to change, but the person must know of them.
		e.WarnGitKeeps(ctx, e.Config.Workspace, args[0])
		return e.Answer(map[string]any{"file": args[0], "erased": erased},
			fmt.Sprintf("erased %d events of %s; its history starts again\n", erased, args[0]))
	})
	erase.Flags().StringVar(&why, "why", "asked for", "reason, kept in the record")
	return cli.Group("record", "Verify or erase the record of edits", verify, rotate, erase)
}
