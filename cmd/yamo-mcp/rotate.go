package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/config"
	"github.com/yamo-protocol/yamo-mcp/workspace"
)

// rotateOptions is what `yamo-mcp rotate` does: it lists, unless it is told to archive or delete.
type rotateOptions struct {
	olderThan int
	archive   bool
	remove    []string
	consent   bool
	json      bool

	deleted func(name string) // is told of each log that is deleted
}

func newRotateCommand(env cli.Env) *cobra.Command {
	var o rotateOptions
	cmd := &cobra.Command{
		Use:   "rotate [DIR]",
		Short: "List, archive or delete old daily logs",
		Long: `List the daily logs of the workspace in DIR (else YAMO_WORKSPACE) that are older than 30 days, for review.

--archive compresses them into memory/archive/, where they are read and searched as before. --delete removes
one log for good. Logs younger than 7 days are touched with --consent alone.`,
		Args: cli.AtMost("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := config.FolderArgument(args, env.Getenv)
			if err != nil {
				return err
			}
			if o.olderThan < 0 {
				return cli.Misused("--older-than: it is a number of days, 0 or more")
			}
			folder, err := env.OpenWorkspace(dir)
			if err != nil {
				return err
			}
			o.deleted = func(name string) { env.WarnGitKeeps(cmd.Context(), dir, name) }
			return errors.Join(rotate(cmd.Context(), folder.View(audience.DM()), o, env.Stdout), folder.Close())
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.IntVar(&o.olderThan, "older-than", workspace.ReviewAge, "how many days old a log is at least, and a day")
	flags.BoolVar(&o.archive, "archive", false, "archive the logs that would be listed")
	flags.StringArrayVar(&o.remove, "delete", nil, "delete this log, as memory/2026-01-02.md (may be repeated)")
	flags.BoolVar(&o.consent, "consent", false, "also if it is younger than 7 days")
	flags.BoolVar(&o.json, "json", false, "answer with one JSON object")
	cli.Exclusive(cmd, "archive", "delete")
	return cmd
}

// rotation is the answer of rotate.
type rotation struct {
	Logs     []oldLog `json:"logs"`     // that are old, or were archived
	Archived bool     `json:"archived"` // they were
	Deleted  []string `json:"deleted"`
}

type oldLog struct {
	Name  string `json:"name"`
	Days  int    `json:"days"`
	Bytes int64  `json:"bytes"`
}

// rotate does what o says. What was done before an error is in the answer.
func rotate(ctx context.Context, v *workspace.View, o rotateOptions, stdout io.Writer) error {
	done := rotation{Logs: []oldLog{}, Archived: o.archive, Deleted: []string{}}
	err := done.perform(ctx, v, o)
	if err != nil && len(done.Logs)+len(done.Deleted) == 0 {
		return err
	}
	return errors.Join(cli.Answer(stdout, o.json, done, done.text(o)), err)
}

func (r *rotation) perform(ctx context.Context, v *workspace.View, o rotateOptions) error {
	for _, name := range o.remove {
		err := v.DeleteLog(ctx, name, o.consent)
		if errors.Is(err, fs.ErrNotExist) {
			err = errors.New("there is no such daily log")
		}
		if err != nil {
			return withConsent(name, err)
		}
		r.Deleted = append(r.Deleted, name)
		o.deleted(name)
	}
	if len(o.remove) > 0 {
		return nil
	}
	for _, log := range v.Logs(o.olderThan) {
		if log.Archived {
			continue
		}
		if o.archive {
			if err := v.ArchiveLog(ctx, log.Name, o.consent); err != nil {
				return withConsent(log.Name, err)
			}
		}
		r.Logs = append(r.Logs, oldLog{log.Name, log.Days, log.Size})
	}
	return nil
}

// withConsent is an error about a log, and how a person at the command line consents.
func withConsent(name string, err error) error {
	if errors.Is(err, workspace.ErrProtected) {
		return fmt.Errorf("%s: %w (--consent)", name, err)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// text is the answer for people.
func (r *rotation) text(o rotateOptions) string {
	var b strings.Builder
	for _, name := range r.Deleted {
		fmt.Fprintln(&b, "deleted", name)
	}
	for _, log := range r.Logs {
		if r.Archived {
			fmt.Fprintln(&b, "archived", log.Name)
		} else {
			fmt.Fprintf(&b, "%s\t%d days\t%d bytes\n", log.Name, log.Days, log.Bytes)
		}
	}
	if len(r.Deleted)+len(r.Logs) == 0 {
		fmt.Fprintf(&b, "no daily log is older than %d days\n", o.olderThan)
	}
	return b.String()
}
