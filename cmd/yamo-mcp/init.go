package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/internal/config"
	"github.com/yamo-protocol/yamo-mcp/internal/history"
	"github.com/yamo-protocol/yamo-mcp/internal/session"
	"github.com/yamo-protocol/yamo-mcp/workspace"
)

// newInitCommand returns `yamo-mcp init`, which creates a workspace. The created files are printed on stdout, the next
// step on stderr.
func newInitCommand(env cli.Env) *cobra.Command {
	var ready, importing bool
	var profile workspace.Profile
	var dir string
	cmd := &cobra.Command{
		Use:   "init DIR",
		Short: "Create a workspace",
		Long: `Create a workspace in DIR, which is created if it does not exist. Existing files are not overwritten.

On a terminal the command asks for your name, the agent's and your time zone, and offers to add the
server to the hosts of this machine, and to import the conversations that they have kept. Otherwise,
and if you give no name, the agent asks who it is and whom it serves in its first session. With
--yes, --name, --user and --timezone it asks nothing, and with --import it imports.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if dir == "" {
				return cli.Exactly("DIR")(cmd, args)
			}
			if len(args) > 0 {
				return fmt.Errorf("DIR and --workspace are the same; give one of them")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if dir != "" {
				args = []string{dir}
			}
			var given *workspace.Profile
			for _, flag := range []string{"name", "role", "user", "timezone"} {
				if cmd.Flags().Changed(flag) && !ready {
					return cli.Misused("--%s requires --yes; without --yes the first session asks for it", flag)
				}
			}
			if ready {
				given = &profile // nil leaves BOOTSTRAP.md for the first session (RFC-0009 §6.1)
				for _, flag := range []string{"name", "user", "timezone"} {
					if cmd.Flag(flag).Value.String() == "" {
						return cli.Misused("--yes requires --name, --user and --timezone; --%s is not set", flag)
					}
				}
			}
			// workspace.Init would fail as well, but with the error of a file inside it.
			if info, err := os.Stat(args[0]); err == nil && !info.IsDir() {
				return fmt.Errorf("%s: a file; a workspace is a folder", args[0])
			}
			var asking *guide
			if !ready && cli.IsTerminal(env.Stdin) {
				asking = newGuide(env)
				var err error
				if given, err = asking.profile(profile.Role); err != nil {
					return err
				}
			}
			scrubber := session.CredentialScrubber(nil)
			fresh := isEmpty(args[0])
			made, kept, err := workspace.Init(cmd.Context(), args[0], given, workspace.WithScrubber(scrubber))
			// Also when Init failed: what was created before remains.
			for _, name := range made {
				fmt.Fprintln(env.Stdout, "created", filepath.Join(args[0], name))
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
			if fresh {
				// What this machine noted of an earlier workspace in this place is not missing from the new one.
				if err := os.RemoveAll(config.HeadFolder(args[0], env.Getenv)); err != nil {
					return err
				}
			}
			if asking != nil {
				err = asking.hosts(cmd.Context(), args[0])
			} else {
				err = tellHost(env.Stderr, args[0])
			}
			if err == nil && (importing || asking != nil && !cmd.Flags().Changed("import")) {
				err = importAtInit(cmd.Context(), env, args[0], asking, importing)
			}
			return err
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&dir, "workspace", "", "the same as DIR, as other commands name it")
	flags.BoolVar(&ready, "yes", false, "create a ready workspace, without the dialogue of the first session")
	flags.StringVar(&profile.Name, "name", "", "with --yes: name of the agent")
	flags.StringVar(&profile.Role, "role", "a personal assistant", "with --yes: role of the agent")
	flags.StringVar(&profile.User, "user", "", "with --yes: name of the person it serves")
	flags.StringVar(&profile.Timezone, "timezone", "", "with --yes: time zone of that person, such as Europe/Lisbon")
	flags.BoolVar(&importing, "import", false,
		"import the conversations that hosts have kept, as yamo-mcp import auto does; =false: do not ask")
	return cmd
}

// isEmpty reports whether there is no folder dir, or nothing in it.
func isEmpty(dir string) bool {
	entries, err := os.ReadDir(dir)
	return errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0
}

// importAtInit copies the conversations of this machine's hosts into the new workspace in dir, if that is agreed or the
// person agrees.
func importAtInit(ctx context.Context, env cli.Env, dir string, asking *guide, agreed bool) error {
	places, err := historyPlaces(env, allHistories, "")
	// What is read in place has nothing to copy, and may be large.
	places = slices.DeleteFunc(places, func(p historyPlace) bool {
		return history.InPlace(history.Readers[p.source], p.path)
	})
	if errors.Is(err, errNoHistory) || err == nil && len(places) == 0 {
		if agreed {
			fmt.Fprintln(env.Stderr, "No conversations to import.")
		}
		return nil
	}
	if err != nil {
		return err
	}
	c := cli.New(env)
	c.Config = config.Default()
	if c.Config.Workspace, err = filepath.Abs(dir); err != nil {
		return err
	}
	if !agreed {
		if agreed, err = asking.history(ctx, c, places); err != nil || !agreed {
			return err
		}
	}
	done, err := importing{Command: c}.importAll(ctx, places)
	if err != nil {
		return fmt.Errorf("the workspace is ready, but not all was imported; continue with yamo-mcp import auto: %w", err)
	}
	fmt.Fprint(env.Stderr, formatImported(done))
	if err := done.failed(); err != nil {
		return fmt.Errorf("the workspace is ready, but not all was imported; continue with yamo-mcp import auto: %w", err)
	}
	return nil
}

// tellHost prints the command that a host must start for the workspace in dir, with absolute paths: a host has neither
// the shell's PATH nor its current folder.
func tellHost(stderr io.Writer, dir string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	// On stderr: stdout is the list of files, which scripts read.
	_, err = fmt.Fprintf(stderr, "Configure your MCP host to start: %q serve --workspace %q --connection dm\n",
		program, dir)
	return err
}
