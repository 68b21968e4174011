package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/audience"
)

// rotateOptions is what `yamo-mcp rotate` does: it lists, unless it is told to archive or delete.
type rotateOptions struct {
	olderThan int
	archive   bool
	remove    []string
	consent   bool
}

func newRotateCommand(getenv func(string) string, stdout io.Writer) *cobra.Command {
	var o rotateOptions
	cmd := &cobra.Command{
		Use:   "rotate [DIR]",
		Short: "List, archive or delete old daily logs",
		Long: `List the daily logs of the workspace in DIR (else YAMO_WORKSPACE) that are older than 30 days, for review.

--archive compresses them into memory/archive/, where they are read and searched as before. --delete removes
one log for good. Logs younger than 7 days are touched with --consent alone.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := getenv("YAMO_WORKSPACE")
			if len(args) > 0 {
				dir = args[0]
			}
			if err := checkWorkspace(dir); err != nil {
				return err
			}
			if o.olderThan < 0 {
				return errors.New("--older-than: it is a number of days")
			}
			folder, err := workspace.Open(dir)
			if err != nil {
				return err
			}
			return errors.Join(rotate(cmd.Context(), folder.View(audience.DM()), o, stdout), folder.Close())
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.IntVar(&o.olderThan, "older-than", workspace.ReviewAge, "how many days old a log is at least, and a day")
	flags.BoolVar(&o.archive, "archive", false, "archive the logs that would be listed")
	flags.StringArrayVar(&o.remove, "delete", nil, "delete this log, as memory/2026-01-02.md (may be repeated)")
	flags.BoolVar(&o.consent, "consent", false, "also if it is younger than 7 days")
	cmd.MarkFlagsMutuallyExclusive("archive", "delete")
	return cmd
}

func rotate(ctx context.Context, v *workspace.View, o rotateOptions, stdout io.Writer) error {
	for _, name := range o.remove {
		err := v.DeleteLog(ctx, name, o.consent)
		if errors.Is(err, fs.ErrNotExist) {
			err = errors.New("there is no such daily log")
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Fprintln(stdout, "deleted", name)
	}
	if len(o.remove) > 0 {
		return nil
	}
	listed := 0
	for _, log := range v.Logs(o.olderThan) {
		if log.Archived {
			continue
		}
		listed++
		if !o.archive {
			fmt.Fprintf(stdout, "%s\t%d days\t%d bytes\n", log.Name, log.Days, log.Size)
			continue
		}
		if err := v.ArchiveLog(ctx, log.Name, o.consent); err != nil {
			return fmt.Errorf("%s: %w", log.Name, err)
		}
		fmt.Fprintln(stdout, "archived", log.Name)
	}
	if listed == 0 {
		fmt.Fprintf(stdout, "no daily log is older than %d days\n", o.olderThan)
	}
	return nil
}
