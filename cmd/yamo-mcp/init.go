package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/internal/session"
	"github.com/yamo-protocol/yamo-mcp/workspace"
)

// newInitCommand is `yamo-mcp init`: it makes a workspace. What it made is printed on stdout, what to do next on stderr.
func newInitCommand(env cli.Env) *cobra.Command {
	var ready bool
	var profile workspace.Profile
	cmd := &cobra.Command{
		Use:   "init DIR",
		Short: "Make a workspace",
		Long: `Make a workspace in DIR, which is made if it is missing. Nothing that is there is overwritten.

Its first session finds a BOOTSTRAP.md and asks what it has to know: who it is, and whom it serves. With
--yes, --name, --user and --timezone the workspace is ready without that dialogue.`,
		Args: cli.Exactly("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var given *workspace.Profile
			for _, flag := range []string{"name", "role", "user", "timezone"} {
				if cmd.Flags().Changed(flag) && !ready {
					return cli.Misused("--%s: it is used with --yes alone; without, the first session asks for it", flag)
				}
			}
			if ready {
				given = &profile
				for _, flag := range []string{"name", "user", "timezone"} {
					if cmd.Flag(flag).Value.String() == "" {
						return cli.Misused("--%s: it is empty; a workspace that is ready without a dialogue needs --name, --user and --timezone", flag)
					}
				}
			}
			if info, err := os.Stat(args[0]); err == nil && !info.IsDir() {
				return fmt.Errorf("%s: it is a file, and a workspace is a folder", args[0])
			}
			made, kept, err := workspace.Init(cmd.Context(), args[0], given, workspace.WithScrubber(session.CredentialScrubber()))
			for _, name := range made {
				fmt.Fprintln(env.Stdout, "made", filepath.Join(args[0], name))
			}
			for _, name := range kept {
				fmt.Fprintln(env.Stdout, "kept", filepath.Join(args[0], name))
			}
			if errors.Is(err, workspace.ErrInitialized) || errors.Is(err, workspace.ErrFirstBoot) {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			if err != nil {
				return err
			}
			return tellHost(env.Stderr, args[0])
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&ready, "yes", false, "make it ready, without the dialogue of the first session")
	flags.StringVar(&profile.Name, "name", "", "with --yes: the agent's name")
	flags.StringVar(&profile.Role, "role", "a personal assistant", "with --yes: what the agent is")
	flags.StringVar(&profile.User, "user", "", "with --yes: what to call its human")
	flags.StringVar(&profile.Timezone, "timezone", "", "with --yes: the human's time zone, as Europe/Lisbon")
	return cmd
}

// tellHost says what a host is to start for the workspace in dir. A host knows neither PATH nor the current folder.
func tellHost(stderr io.Writer, dir string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	_, err = fmt.Fprintf(stderr, "Tell your host to start: %q serve --workspace %q --connection dm\n", program, dir)
	return err
}
