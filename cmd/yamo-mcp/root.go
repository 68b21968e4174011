package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// usageError is a command line that cannot be understood, or asks for what does not go together.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// misused is a usageError that a command finds when it has read its flags.
func misused(format string, values ...any) error {
	return &usageError{fmt.Errorf(format, values...)}
}

// run is the program: main calls it with the real thing, tests with their own. Its error has not been
// printed; a *usageError means that nothing was done.
func run(ctx context.Context, args []string, getenv func(string) string, stdin io.Reader, stdout, stderr io.Writer) error {
	root := newRootCommand(getenv, stdin, stdout, stderr)
	understood := false
	for command := range commands(root) {
		if perform := command.RunE; perform != nil {
			command.RunE = func(cmd *cobra.Command, args []string) error {
				understood = true
				return perform(cmd, args)
			}
		}
	}
	root.SetArgs(args)
	command, err := root.ExecuteContextC(ctx)
	if err != nil && !understood {
		err = &usageError{err}
	}
	if err != nil && ofMesh(command) {
		err = &meshError{err}
	}
	return err
}

// commands yields command and all below it.
func commands(command *cobra.Command) func(yield func(*cobra.Command) bool) {
	return func(yield func(*cobra.Command) bool) { visit(command, yield) }
}

func visit(command *cobra.Command, yield func(*cobra.Command) bool) bool {
	if !yield(command) {
		return false
	}
	for _, below := range command.Commands() {
		if !visit(below, yield) {
			return false
		}
	}
	return true
}

func newRootCommand(getenv func(string) string, stdin io.Reader, stdout, stderr io.Writer) *cobra.Command {
	root := newGroup("yamo-mcp", "The memory of a YAMO workspace for MCP hosts")
	root.Long = `yamo-mcp gives an agent in any MCP host (Claude Desktop, Claude Code, Codex, Cursor, a chat gateway)
the memory of a YAMO workspace: its files as resources, recall and learning as tools, the rituals of a
session as prompts. A host starts ` + "`yamo-mcp serve`" + `; ` + "`yamo-mcp setup`" + ` installs what semantic search needs.`
	root.Version = programVersion()
	root.SetVersionTemplate("yamo-mcp {{.Version}}\n")
	root.Flags().BoolP("version", "v", false, "print the version alone; the command version tells more")
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(
		newServeCommand(getenv, stdin, stdout, stderr),
		newSetupCommand(stdout, stderr, getenv),
		newInitCommand(stdout, stderr),
		newLintCommand(getenv, stdout),
		newReconfigureCommand(getenv, stdin, stdout),
		newRotateCommand(getenv, stdout),
		newIndexCommand(getenv, stdout, stderr),
		newLedgerCommand(getenv, stdout, stderr),
		newDreamCommand(getenv, stdout, stderr),
		newMeshCommand(getenv, stdout, stderr),
		newTokenCommand(getenv, stdout, stderr),
		newVersionCommand(getenv, stdout),
	)
	root.AddCommand(editCommands(getenv, stdout, stderr)...)
	return root
}

// newGroup is a command that only has others below it: alone it prints its help.
func newGroup(use, short string, below ...*cobra.Command) *cobra.Command {
	group := &cobra.Command{
		Use:   use,
		Short: short,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			var names []string
			for _, c := range cmd.Commands() {
				if c.IsAvailableCommand() {
					names = append(names, c.Name())
				}
			}
			return fmt.Errorf("unknown command %q for %q%s", args[0], cmd.CommandPath(), suggestion(args[0], names))
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	group.AddCommand(below...)
	return group
}

// noArguments accepts flags alone.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%q takes no arguments, everything is a flag: %q", cmd.Name(), args[0])
	}
	return nil
}

// exactly accepts one argument, which the usage calls name.
func exactly(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fmt.Errorf("%q needs %s (see %s --help)", cmd.Name(), name, cmd.CommandPath())
		}
		return atMost(name)(cmd, args)
	}
}

// atMost accepts one argument, which the usage calls name, or none.
func atMost(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return fmt.Errorf("%q takes one %s and here are %d: put what has spaces in it in quotes", cmd.Name(), name, len(args))
		}
		return nil
	}
}

// exclusive refuses one flag beside the other.
func exclusive(cmd *cobra.Command, one, other string) {
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if cmd.Flags().Changed(one) && cmd.Flags().Changed(other) {
			return fmt.Errorf("--%s and --%s do not go together: choose one", one, other)
		}
		return nil
	}
}

// flagError says what a flag takes, or adds the flag that was probably meant.
func flagError(cmd *cobra.Command, err error) error {
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return fmt.Errorf("--%s: %w", invalid.GetFlag().Name, valueError(err))
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return err
	}
	name, dashes, hint := unknown.GetSpecifiedName(), "-", ""
	if unknown.GetSpecifiedShortnames() == "" {
		dashes = "--"
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if best := nearest(name, names); best != "" {
			hint = fmt.Sprintf(": did you mean --%s?", best)
		}
	}
	if hint == "" {
		hint = fmt.Sprintf(" (%s --help lists those there are)", cmd.CommandPath())
	}
	return fmt.Errorf("unknown flag %s%s for %q%s", dashes, name, cmd.CommandPath(), hint)
}

// suggestion is the name nearest to what was typed, or all of them if none is near.
func suggestion(typed string, names []string) string {
	if best := nearest(typed, names); best != "" {
		return fmt.Sprintf(": did you mean %s?", best)
	}
	return fmt.Sprintf(" (there are %s)", strings.Join(names, ", "))
}

// nearest is the name nearest to what was typed, "" if none is near.
func nearest(typed string, names []string) string {
	best, least := "", 3
	for _, name := range names {
		if d := levenshtein.ComputeDistance(typed, name); d < least || strings.HasPrefix(name, typed) && least > 0 {
			best, least = name, min(d, least)
		}
	}
	return best
}
