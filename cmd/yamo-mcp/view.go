package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/doctorcmd"
	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/meshcmd"
	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/config"
	"github.com/yamo-protocol/yamo-mcp/internal/hosts"
	"github.com/yamo-protocol/yamo-mcp/internal/session"
	"github.com/yamo-protocol/yamo-mcp/internal/viewer"
)

// newViewCommand returns `yamo-mcp view`. It returns when a signal stops it or the pages are not used any more, which
// is not an error.
func newViewCommand(env cli.Env) *cobra.Command {
	settings := config.Default()
	var o viewOptions
	cmd := &cobra.Command{
		Use:   "view",
		Short: "See in the browser what the agent remembers, and correct, forget, share or undo it",
		Long: `Open local pages in the browser that show what the agent remembers: memories by day, their history,
lessons and skills, workspace files with the origin of each line, proposals to decide about, and what
each group sees. From there memories can be corrected, retired, shared or forgotten, and edits undone.

The pages are served to this machine only. The link works once: the browser that follows it first has
the pages until the command ends, with Ctrl-C or after they have not been used for a while. The settings
come from the environment and the config files, as for serve.`,
		Example: "  yamo-mcp view --workspace ~/agent\n  yamo-mcp view --workspace ~/agent --group book-club",
		Args:    cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.idle <= 0 {
				return cli.Misused("--idle: must be more than 0, such as 30m")
			}
			first := audience.DM()
			if o.group != "" {
				var err error
				if first, err = audience.Group(o.group); err != nil {
					return cli.Misused("--group: %v", err)
				}
			}
			if err := config.Load(cmd.Flags(), &settings, env.Getenv); err != nil {
				return err
			}
			return view(cmd.Context(), env, settings.Workspace, first, o)
		},
	}
	cmd.Flags().SortFlags = false
	config.AddFlags(cmd.Flags(), &settings)
	cmd.Flags().StringVar(&o.group, "group", "", "begin with what this group sees instead of the timeline")
	meshcmd.CompleteGroups(cmd, func(cmd *cobra.Command) (string, error) {
		err := config.Load(cmd.Flags(), &settings, env.Getenv)
		return settings.Workspace, err
	})
	cmd.Flags().DurationVar(&o.idle, "idle", 30*time.Minute, "end when no page was used for this long")
	cmd.Flags().BoolVar(&o.quiet, "no-browser", false, "print the link without opening a browser")
	return cmd
}

// viewOptions are the flags of `yamo-mcp view` that no other command has.
type viewOptions struct {
	group string // "" for the timeline
	idle  time.Duration
	quiet bool // open no browser
}

// view serves the pages of a workspace, beginning with those of an audience, until they end.
func view(ctx context.Context, env cli.Env, workspace string, first audience.Audience, v viewOptions) (err error) {
	read, err := config.Read(workspace, env.Getenv, viewedSettings()...)
	if err != nil {
		return err
	}
	logger, err := cli.NewLogger(env.Stderr, "warn")
	if err != nil {
		return err
	}
	if read.Ignored != "" {
		fmt.Fprintf(env.Stderr, "yamo-mcp: %s\n", read.Ignored)
	}
	o := session.Options{Config: read, Getenv: env.Getenv, Logger: logger, Version: env.Version}
	// A workspace that cannot be opened is an error here, and not one of the first page.
	// SECURITY: as a group opens it, so that nothing private is touched before a page of the person is.
	folder, err := session.OpenFolder(o, audience.Audience{}, session.Operator)
	if err != nil {
		return err
	}
	if err := folder.Close(); err != nil {
		return err
	}
	site, err := viewer.New(viewer.Options{
		Actor: session.Operator, Logger: logger, Version: env.Version,
		// SECURITY: the operator owns the workspace. No client reaches this.
		Open: func(who audience.Audience) (viewer.Member, func() error, error) {
			o := o
			// SECURITY: a host's folder is the person's own: a group has what the operator has set up for groups.
			if who.IsDM() && o.Config.Session.Transcripts == "" {
				place := hosts.Place{Home: env.Getenv("HOME"), Getenv: env.Getenv}
				o.Config.Session.Transcripts = place.SessionLogs()
			}
			return session.OpenMember(o, who)
		},
		Doctor: func(ctx context.Context) ([]viewer.Finding, error) {
			return diagnose(ctx, env, workspace)
		},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, site.Close()) }()
	// SECURITY: what a group sees opens nothing of the person's.
	if first.IsDM() {
		prepared := site.Prepare(ctx)
		if v.quiet { // a browser would need longer to start
			<-prepared
		}
	}
	// Port 0: a fixed one could be taken, or be known to a page that waits for it.
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen on this machine: %w", err)
	}
	remove := func() {}
	defer func() { remove() }()
	err = site.Serve(ctx, listener, viewer.Path(first), v.idle, func(link string) {
		fmt.Fprintf(env.Stdout, "%s\n", link)
		fmt.Fprintln(env.Stderr, "The link works once. Ctrl-C ends the pages.")
		if v.quiet {
			return
		}
		var problem error
		if remove, problem = openBrowser(ctx, link, env.Getenv); problem != nil {
			fmt.Fprintf(env.Stderr, "No browser could be opened (%v): open the link yourself.\n", problem)
		}
	})
	if err == nil && ctx.Err() == nil {
		fmt.Fprintf(env.Stderr, "The pages have ended: none was used for %s. yamo-mcp view opens them again.\n", v.idle)
	}
	return err
}

// viewedSettings are the settings of a session that its pages depend on: none of those that choose the audience or the
// transport.
func viewedSettings() []config.Setting {
	return slices.DeleteFunc(config.All(), func(s config.Setting) bool {
		return config.IsHTTP(s.Flag()) || slices.Contains([]string{"connection", "group", "transport", "log-level"}, s.Flag())
	})
}

// diagnose returns the findings of `yamo-mcp doctor`.
func diagnose(ctx context.Context, env cli.Env, workspace string) ([]viewer.Finding, error) {
	var out bytes.Buffer
	env.Stdout, env.Stderr = &out, io.Discard
	cmd := doctorcmd.New(env)
	cmd.SetArgs([]string{"--json", "--workspace", workspace})
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	failed := cmd.ExecuteContext(ctx) // problems that were found are an error too
	var report struct {
		Findings []viewer.Finding `json:"findings"`
	}
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		return nil, errors.Join(failed, err)
	}
	return report.Findings, nil
}
