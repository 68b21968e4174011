package main

import (
	"fmt"
	"log/slog"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/meshcmd"
	"github.com/yamo-protocol/yamo-mcp/internal/config"
	"github.com/yamo-protocol/yamo-mcp/internal/garbage"
	"github.com/yamo-protocol/yamo-mcp/internal/session"
)

const serveHelpFormat = `Serve a workspace to MCP hosts: over stdio to the host that starts this command, until its
input ends; or with --transport http to every client that has a token, until it is stopped.

A setting is taken from its flag, else from its environment variable, else from its key in your
config.toml or, once you have approved it with yamo-mcp trust, in <workspace>/.yamo/config.toml,
else it has its default. An empty environment variable counts as unset.

%s
A session is a direct conversation (DM) only if the connection is exactly "dm" and no group is set
in any of these places. If one place sets a group and another sets dm, the session is the group's.
To override a group that another place sets, give both flags: --connection dm --group "". Every
other session is a group's: it has a memory of its own and cannot see the DM's. Nothing that a
client sends changes this.

Over HTTP (/mcp, and /sse for older hosts) the token determines the session; create one with
` + "`yamo-mcp token create`" + `. There --connection is not used, and --group names the group of clients
without a token, and of DM tokens that are sent with the header X-YAMO-Connection: group.`

// newServeCommand returns `yamo-mcp serve`. It returns when the input ends or a signal stops it, which is not an error.
func newServeCommand(env cli.Env) *cobra.Command {
	settings := config.Default()
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve a workspace to MCP hosts",
		Long:  fmt.Sprintf(serveHelpFormat, config.Places()),
		Example: `  yamo-mcp serve --workspace ~/agent --connection dm
  yamo-mcp serve --workspace ~/agent --connection group --group hiking
  yamo-mcp serve --workspace ~/agent --transport http`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var typed []string // before Load adds the flags that other places set
			cmd.Flags().Visit(func(f *pflag.Flag) { typed = append(typed, f.Name) })
			// SECURITY: an empty --group makes a DM of a group that another place sets only together with --connection dm:
			// a host that passes empty arguments on must not do that by accident.
			if settings.Session.Group == "" && !slices.Contains(typed, "connection") {
				cmd.Flags().Lookup("group").Changed = false
			}
			if err := config.Load(cmd.Flags(), &settings, env.Getenv, config.All()...); err != nil {
				return err
			}
			if err := checkTransport(settings.Session.Transport, typed); err != nil {
				return err
			}
			// Not stdout: over stdio it carries the protocol.
			logger, flush, err := cli.NewServerLogger(env.Stderr, settings.Session.LogLevel)
			if err != nil {
				return err
			}
			defer flush()
			o := session.Options{Config: settings, Getenv: env.Getenv, Logger: logger, Version: env.Version}
			// SECURITY: before anything of the workspace is read. Over HTTP the process serves DMs too.
			if settings.Session.Transport != config.OverHTTP {
				session.Isolate(cmd.Context(), o, env.Stdin, env.Stdout)
			}
			garbage.Bound(cmd.Context())
			if settings.Ignored != "" {
				logger.Warn("config file ignored", slog.String("notice", settings.Ignored))
			}
			for _, destination := range settings.Destinations(env.Getenv) {
				logger.Warn("texts leave this machine", slog.String("destination", destination))
			}
			if settings.Session.Transport == config.OverHTTP {
				return session.ServeHTTP(cmd.Context(), o)
			}
			return session.ServeStdio(cmd.Context(), o, env.Stdin, env.Stdout)
		},
	}
	cmd.Flags().SortFlags = false
	config.AddFlags(cmd.Flags(), &settings, config.All()...)
	meshcmd.CompleteGroups(cmd, func(cmd *cobra.Command) (string, error) {
		err := config.Load(cmd.Flags(), &settings, env.Getenv, config.All()...)
		return settings.Workspace, err
	})
	return cmd
}

// checkTransport refuses flags that have no effect with the transport: an operator who adds --connection dm over HTTP
// expects DMs, but the token decides. Only the command line is checked, because servers of the other transport share
// the environment and the config file.
func checkTransport(transport string, typed []string) error {
	for _, name := range typed {
		switch {
		case transport == config.Stdio && config.IsHTTP(name):
			return cli.Misused("--%s requires --transport http", name)
		case transport == config.OverHTTP && name == "connection":
			return cli.Misused("--connection requires --transport stdio: over HTTP the token determines the session" +
				" (yamo-mcp token create)")
		}
	}
	return nil
}
