package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/config"
	"github.com/yamo-protocol/yamo-mcp/mesh"
)

// memoryCommand completes cmd, which works on the whole memory of a workspace, the groups' included, and takes no
// arguments.
func memoryCommand(env cli.Env, cmd *cobra.Command,
	perform func(context.Context, *cli.Command, *mesh.View) error,
) *cobra.Command {
	return memoryCommandOf(cli.New(env), cmd, perform)
}

// memoryCommandOf is memoryCommand with c's settings, for a command that completes from them.
func memoryCommandOf(c *cli.Command, cmd *cobra.Command,
	perform func(context.Context, *cli.Command, *mesh.View) error,
) *cobra.Command {
	c.AddFlags(cmd.Flags(), config.EmbedderSettings...)
	cmd.Args = cli.NoArguments
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := c.Load(cmd); err != nil {
			return err
		}
		// SECURITY: the operator owns the workspace, with all compartments. No client reaches this.
		return c.WithMemory(audience.DM(), func(memory *mesh.View) error { return perform(cmd.Context(), c, memory) })
	}
	return cmd
}
