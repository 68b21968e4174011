package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/internal/config"
	"github.com/yamo-protocol/yamo-mcp/workspace"
)

// newReconfigureCommand returns `yamo-mcp reconfigure`, the only way besides an editor to change who the agent is:
// RFC-0009 §2.1 requires the owner's explicit decision, and a session can be talked into anything by what it reads.
func newReconfigureCommand(env cli.Env) *cobra.Command {
	var soul, identity string
	cmd := &cobra.Command{
		Use:   "reconfigure [DIR]",
		Short: "Replace SOUL.md or IDENTITY.md, which define who the agent is",
		Long: `Replace SOUL.md or IDENTITY.md of the workspace in DIR (default YAMO_WORKSPACE) with a file, or with
the input for "-".

Only an explicit decision of a person changes who the agent is (RFC-0009 §2.1): no session has a
tool for it. The agent can draft a new SOUL.md as a note; read it, then run this command. The new
text is checked first and replaces the file completely or not at all. The earlier text is kept in
.yamo/replaced. Running sessions are notified if their host follows the file; new sessions start
with the new text.`,
		Example: "  yamo-mcp reconfigure ~/agent --soul ~/agent/notes/soul-draft.md",
		Args:    cli.AtMost("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := config.FolderArgument(args, env.Getenv)
			if err != nil {
				return err
			}
			folder, err := env.OpenWorkspace(dir)
			if err != nil {
				return err
			}
			defer folder.Close() //nolint:errcheck // what was written is on disk
			// One after the other and not both or none: each file is complete in itself.
			for _, file := range []struct{ flag, name, from string }{
				{"soul", workspace.SoulFile, soul}, {"identity", workspace.IdentityFile, identity},
			} {
				if !cmd.Flags().Changed(file.flag) {
					continue
				}
				text, err := readFileOr(env.Stdin, file.from)
				if err != nil {
					return fmt.Errorf("--%s: %w", file.flag, err)
				}
				if err := reconfigure(cmd.Context(), folder, file.name, text, env.Stdout); err != nil {
					return fmt.Errorf("--%s: %w", file.flag, err)
				}
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&soul, "soul", "", "file with the new SOUL.md")
	flags.StringVar(&identity, "identity", "", "file with the new IDENTITY.md")
	// Cobra can require one of several flags, but its error names neither the command nor the reason.
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if !cmd.Flags().Changed("soul") && !cmd.Flags().Changed("identity") {
			return fmt.Errorf("%q requires --soul or --identity", cmd.Name())
		}
		return nil
	}
	return cmd
}

// readFileOr returns the content of the file called name, or the input for "-". It reads at most one byte more than a
// workspace file may have, and fails with workspace.ErrTooLarge if there is that one.
func readFileOr(stdin io.Reader, name string) ([]byte, error) {
	from := stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close() //nolint:errcheck // it was only read
		from = file
	}
	data, err := io.ReadAll(io.LimitReader(from, workspace.MaxFileSize+1))
	if err == nil && len(data) > workspace.MaxFileSize {
		err = workspace.ErrTooLarge
	}
	return data, err
}

// reconfigure replaces a file of the workspace and prints what became of it, with the warnings about the new text.
// Errors in the new text prevent the replacement.
func reconfigure(ctx context.Context, folder *workspace.Workspace, name string, text []byte, stdout io.Writer) error {
	done, err := folder.Reconfigure(ctx, name, text)
	if invalid, ok := errors.AsType[*workspace.InvalidFileError](err); ok {
		return fmt.Errorf("nothing was written: %w", invalid)
	}
	if err != nil {
		return err
	}
	for _, finding := range done.Findings {
		fmt.Fprintln(stdout, finding)
	}
	switch {
	case !done.Changed:
		fmt.Fprintf(stdout, "%s already has this text\n", name)
	case done.Kept != "":
		fmt.Fprintf(stdout, "replaced %s; its earlier text is in %s\n", name, done.Kept)
	default:
		fmt.Fprintln(stdout, "created", name)
	}
	return nil
}
