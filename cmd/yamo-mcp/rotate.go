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

// rotateOptions are the options of `yamo-mcp rotate`. Without archive and remove it lists.
type rotateOptions struct {
	olderThan int
	archive   bool
	remove    []string
	consent   bool
	json      bool

	deleted func(name string) // called for each deleted log
}

// newRotateCommand returns `yamo-mcp rotate` (RFC-0009 §5.2). The command line is the person's explicit consent only
// with --consent.
func newRotateCommand(env cli.Env) *cobra.Command {
	var o rotateOptions
	cmd := &cobra.Command{
		Use:   "rotate [DIR]",
		Short: "List, archive or delete old daily logs",
		Long: `List the daily logs of the workspace in DIR (default YAMO_WORKSPACE), and the dated files of its notes,
that are older than 30 days.

--archive compresses them into memory/archive/, where they stay readable and searchable. --delete
removes a log permanently. Logs younger than 7 days are changed only with --consent.`,
		Args: cli.AtMost("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := config.FolderArgument(args, env.Getenv)
			if err != nil {
				return err
			}
			if o.olderThan < 0 {
				return cli.Misused("--older-than must be 0 or more")
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
	flags.IntVar(&o.olderThan, "older-than", workspace.ReviewAge, "list logs older than this number of days")
	flags.BoolVar(&o.archive, "archive", false, "archive the listed logs")
	flags.StringArrayVar(&o.remove, "delete", nil, "delete this log, such as memory/2026-01-02.md (may be repeated)")
	flags.BoolVar(&o.consent, "consent", false, "also change logs younger than 7 days")
	flags.BoolVar(&o.json, "json", false, "print JSON instead of text")
	cli.Exclusive(cmd, "archive", "delete")
	return cmd
}

// rotation is the answer of rotate.
type rotation struct {
	Logs     []oldLog `json:"logs"`     // listed or archived
	Archived bool     `json:"archived"` // whether Logs were archived
	Deleted  []string `json:"deleted"`
}

// oldLog is a daily log.
type oldLog struct {
	Name  string `json:"name"`
	Days  int    `json:"days"` // its age
	Bytes int64  `json:"bytes"`
}

// rotate lists, archives or deletes logs. If it fails, the answer has what was done before.
func rotate(ctx context.Context, v *workspace.View, o rotateOptions, stdout io.Writer) error {
	done := rotation{Logs: []oldLog{}, Archived: o.archive, Deleted: []string{}}
	err := done.perform(ctx, v, o)
	if err != nil && len(done.Logs)+len(done.Deleted) == 0 {
		return err
	}
	return errors.Join(cli.Answer(stdout, o.json, done, done.text(o)), err)
}

// perform does what o asks for and notes each step in r, so that r is right if a later step fails.
func (r *rotation) perform(ctx context.Context, v *workspace.View, o rotateOptions) error {
	// Deleting is by name only: no age makes a log worthless.
	for _, name := range o.remove {
		err := v.DeleteLog(ctx, name, o.consent)
		// The view's error has the path that was tried, which is the same for a missing and for a refused name.
		if errors.Is(err, fs.ErrNotExist) {
			err = errors.New("no such daily log")
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
		// Archived logs are listed nowhere: there is nothing left to do about them.
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

// withConsent names the log in an error, and the flag that gives consent if that is missing.
func withConsent(name string, err error) error {
	if errors.Is(err, workspace.ErrProtected) {
		return fmt.Errorf("%s: %w (--consent)", name, err)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// text formats the answer.
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
		fmt.Fprintf(&b, "no daily logs older than %d days\n", o.olderThan)
	}
	return b.String()
}
