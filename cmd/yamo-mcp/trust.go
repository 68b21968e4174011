package main

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/internal/config"
)

// newTrustCommand returns `yamo-mcp trust`, which shows the settings in a workspace's own config file and approves
// them.
func newTrustCommand(env cli.Env) *cobra.Command {
	var yes, revoke bool
	settings := config.Default()
	cmd := &cobra.Command{
		Use:   "trust",
		Short: "Approve the settings in a workspace's config file",
		Long: `Show the settings in <workspace>/.yamo/config.toml and approve them.

Until you approve it, the file is ignored, because someone else may have made the workspace. The approval
is for the file as it is now, at this place. After any change it must be approved again. It is kept
in your configuration folder, not in the workspace.

What reaches the network, keys, transports and audiences cannot be set in a workspace at all; use
flags, the environment, or your own config.toml for them.`,
		Example: `  yamo-mcp trust --workspace ~/agent
  yamo-mcp trust --workspace ~/agent --revoke`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := config.FromEnv(cmd.Flags(), env.Getenv, config.Workspace); err != nil {
				return err
			}
			workspace := config.Expand(settings.Workspace, env.Getenv)
			if err := config.CheckWorkspace(workspace, "--workspace"); err != nil {
				return err
			}
			file, err := config.Inspect(workspace, env.Getenv)
			if err != nil {
				return err
			}
			if len(file.Settings) == 0 {
				fmt.Fprintf(env.Stdout, "%s sets nothing: there is nothing to approve\n", config.FileName)
				return nil
			}
			fmt.Fprintf(env.Stdout, "%s in %s:\n  %s\n", config.FileName, workspace, strings.Join(file.Settings, "\n  "))
			return decideTrust(env, file, yes, revoke)
		},
	}
	config.AddFlags(cmd.Flags(), &settings)
	cmd.Flags().BoolVar(&yes, "yes", false, "approve without asking")
	cmd.Flags().BoolVar(&revoke, "revoke", false, "remove the approval")
	cli.Exclusive(cmd, "yes", "revoke")
	return cmd
}

// decideTrust approves or revokes, after it has asked the operator if there is a terminal.
func decideTrust(env cli.Env, file config.Approval, yes, revoke bool) error {
	switch {
	case revoke:
		if err := file.Revoke(); err != nil {
			return err
		}
		fmt.Fprintln(env.Stdout, "not approved any more; servers that are running keep these settings until they restart")
		return nil
	case file.Trusted:
		fmt.Fprintln(env.Stdout, "already approved")
		return nil
	case !yes && !cli.IsTerminal(env.Stdin):
		return cli.Misused("there is no terminal to ask on: --yes approves these settings")
	case !yes:
		if agreed, _ := confirm(env.Stdout, bufio.NewReader(env.Stdin), "Approve these settings?"); !agreed {
			fmt.Fprintln(env.Stdout, "not approved")
			return nil
		}
	}
	if err := file.Approve(); err != nil {
		return err
	}
	fmt.Fprintln(env.Stdout, "approved; servers that are running must be restarted")
	return nil
}
