package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/meshcmd"
	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/brief"
	"github.com/yamo-protocol/yamo-mcp/internal/config"
	"github.com/yamo-protocol/yamo-mcp/internal/session"
	"github.com/yamo-protocol/yamo-mcp/mesh"
)

// newBriefCommand returns `yamo-mcp brief`.
func newBriefCommand(env cli.Env) *cobra.Command {
	c := cli.New(env)
	c.Nearby = true
	var group string
	options := brief.Options{Tokens: brief.DefaultTokens}
	cmd := &cobra.Command{
		Use:   "brief",
		Short: "Print what a session starts with",
		Long: `Print what an agent knows at the start of a session: the time, who it is and whom it serves, its
memory, the last session, the newest log entries, open items, active lessons, memories, and pending
decisions; then a line for each part that was cut or could not be read. The most valuable comes
first, within --tokens. Hosts that run commands can put it before a conversation.`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if options.Tokens < brief.MinTokens {
				return cli.Misused("--tokens must be at least %d", brief.MinTokens)
			}
			if err := c.Load(cmd); err != nil {
				return err
			}
			who := audience.DM() // of the operator, who owns the workspace
			if cmd.Flags().Changed("group") {
				if who, err = audience.Group(group); err != nil {
					return cli.Misused("--group: %w", err)
				}
			}
			settings, err := c.Options()
			if err != nil {
				return err
			}
			sources, release, err := session.OpenBrief(settings, who)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, release()) }()
			ctx := mesh.WithProject(cmd.Context(), c.Project)
			built, err := sources.Build(ctx, options)
			if err != nil {
				return fmt.Errorf("build the brief: %w", err)
			}
			return c.Answer(built, built.Text)
		},
	}
	flags := cmd.Flags()
	c.AddFlags(flags, config.LearningSettings...)
	flags.IntVar(&options.Tokens, "tokens", options.Tokens, "maximum size in tokens, estimated")
	flags.StringVar(&options.Project, "project", "",
		"name of the folder or repository that the session is about (default that of the current folder)")
	flags.StringVar(&group, "group", "", "print what this group's session starts with")
	meshcmd.CompleteGroupsOf(cmd, c)
	return cmd
}
