package editcmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/internal/session"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
)

func (e command) newRecord() *cobra.Command {
	verify := e.command(&cobra.Command{
		Use:   "verify",
		Short: "Check every line of the record of edits",
		Long: `Check every line of the record of edits: its form, its place in the hash chain, its authentication code, and its own
hash with the key of its salt version. Says intact, or names the first bad line; then it exits with 1.`,
		Args: cli.NoArguments,
	}, func(ctx context.Context, editor *edit.Editor, _ []string) error {
		found, err := editor.Verify(ctx)
		if err != nil {
			return fmt.Errorf("%w; restore the record from a backup", err)
		}
		return e.Answer(map[string]any{"intact": true, "events": found.Events, "last_hash": found.LastHash, "torn_bytes": found.Torn},
			fmt.Sprintf("intact, %d events\n", found.Events))
	})
	rotate := e.command(&cobra.Command{
		Use:   "rotate-key",
		Short: "Have all further hashes of the record made with a new key",
		Long: `Make a new key for the hashes of the record of edits. What was written stays as it is, and is verified with the key
of its salt version: keep the files in .yamo/private/edits.keys.`,
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
		Short: "Erase the former texts of a workspace file from the record",
		Long: `Take what is recorded of a workspace file out of the record of edits for good: what it said before, what was added
and taken away, and why. The file stays as it is, and its history begins anew. Of each event it stays on record that
it was there, when, and which evidence it cited. What the file itself still says, backups, and commits of the
workspace's own git repository are not touched.`,
		Args: cli.Exactly("FILE"),
	}, func(ctx context.Context, editor *edit.Editor, args []string) error {
		erased, err := editor.Erase(ctx, args[0], session.Operator, why)
		if err != nil {
			return err
		}
		e.WarnGitKeeps(ctx, e.Config.Workspace, args[0])
		return e.Answer(map[string]any{"file": args[0], "erased": erased}, fmt.Sprintf("erased %d events of %s; its history begins anew\n", erased, args[0]))
	})
	erase.Flags().StringVar(&why, "why", "asked for", "the reason, for the record")
	return cli.Group("record", "Look after the record of edits", verify, rotate, erase)
}
