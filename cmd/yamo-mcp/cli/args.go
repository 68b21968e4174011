package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/yamo-protocol/yamo-mcp/internal/config"
)

// UsageError is a command line that cannot be understood, or whose flags cannot be combined. Nothing was done; the
// program exits with 2 instead of 1.
type UsageError struct{ Err error }

// Error implements error.
func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UsageError) Unwrap() error { return e.Err }

// Misused formats a UsageError that a command finds after its flags are parsed.
func Misused(format string, values ...any) error {
	return &UsageError{fmt.Errorf(format, values...)}
}

// Group returns a command that only has others below it. Without one of them it prints its help and succeeds; with an
// argument that is none of them it fails and suggests those with a similar name.
func Group(use, short string, below ...*cobra.Command) *cobra.Command {
	group := &cobra.Command{
		Use:                        use,
		Short:                      short,
		SuggestionsMinimumDistance: typos,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return fmt.Errorf("unknown command %q for %q%s", args[0], cmd.CommandPath(),
				suggestion(cmd, "", cmd.SuggestionsFor(args[0])))
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	group.AddCommand(below...)
	return group
}

// typos is the number of wrong letters up to which a name is suggested.
const typos = 2

// suggestion asks for one of names, each with the prefix, or refers to the help of cmd if there are none.
func suggestion(cmd *cobra.Command, prefix string, names []string) string {
	if len(names) == 0 {
		return fmt.Sprintf(" (see %s --help)", cmd.CommandPath())
	}
	return ": did you mean " + prefix + strings.Join(names, " or "+prefix) + "?"
}

// FlagError rewrites an error about a flag: it names the type of value that the flag takes, or suggests a flag. pflag's
// own messages name Go's types and functions, such as strconv.ParseInt.
func FlagError(cmd *cobra.Command, err error) error {
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return fmt.Errorf("--%s: %w", invalid.GetFlag().Name, config.ValueError(err))
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return err
	}
	dashes, similar := "-", []string(nil)
	// The only short flags are -h and -v: there is nothing similar to suggest for one letter.
	if unknown.GetSpecifiedShortnames() == "" {
		dashes, similar = "--", similarFlags(cmd, unknown.GetSpecifiedName())
	}
	return fmt.Errorf("unknown flag %s%s for %q%s",
		dashes, unknown.GetSpecifiedName(), cmd.CommandPath(), suggestion(cmd, dashes, similar))
}

// similarFlags returns the flags of cmd whose names are similar. Cobra suggests commands only, so that the flags become
// commands for this question.
func similarFlags(cmd *cobra.Command, name string) []string {
	flags := &cobra.Command{SuggestionsMinimumDistance: typos}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		flags.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
	})
	return flags.SuggestionsFor(name)
}

// NoArguments accepts flags only. An argument is refused rather than ignored: it may be the value of a flag that was
// forgotten.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%q accepts flags only, no arguments: %q", cmd.Name(), args[0])
	}
	return nil
}

// Exactly accepts one argument, which the usage calls name.
func Exactly(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fmt.Errorf("%q requires %s (see %s --help)", cmd.Name(), name, cmd.CommandPath())
		}
		return AtMost(strings.TrimPrefix(name, "a "))(cmd, args)
	}
}

// AtMost accepts one argument, which the usage calls name, or none.
func AtMost(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return fmt.Errorf("%q accepts one %s, got %d arguments: quote an argument that contains spaces",
				cmd.Name(), name, len(args))
		}
		return nil
	}
}

// PlainText accepts exactly one argument, which the usage calls name, and no JSON object (RFC-0011 §9). Text that
// begins with a brace but is not JSON is accepted.
func PlainText(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := Exactly("a "+name)(cmd, args); err != nil {
			return err
		}
		// Callers of version 3.0 pass JSON (RFC-0011, Backwards Compatibility). A search for that text would find
		// nothing, without saying why.
		if strings.HasPrefix(strings.TrimSpace(args[0]), "{") && json.Valid([]byte(args[0])) {
			return fmt.Errorf("%q does not accept JSON: the %s is plain text, everything else is a flag", cmd.Name(), name)
		}
		return nil
	}
}

// Require makes flags required. An empty value counts as given. Cobra's MarkFlagRequired would report all of them at
// once and without the command's name. It sets PreRunE and returns cmd.
func Require(cmd *cobra.Command, names ...string) *cobra.Command {
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		for _, name := range names {
			if !cmd.Flags().Changed(name) {
				return fmt.Errorf("%q requires --%s", cmd.Name(), name)
			}
		}
		return nil
	}
	return cmd
}

// Exclusive refuses two flags together. It sets PreRunE, as Require does, so that a command has one of them.
func Exclusive(cmd *cobra.Command, one, other string) {
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if cmd.Flags().Changed(one) && cmd.Flags().Changed(other) {
			return fmt.Errorf("--%s and --%s cannot be combined", one, other)
		}
		return nil
	}
}

// Argument returns what follows flag in a command line that another program runs, "" if it is not there.
func Argument(words []string, flag string) string {
	if i := slices.Index(words, flag); i >= 0 && i+1 < len(words) {
		return words[i+1]
	}
	for _, word := range words {
		if value, ok := strings.CutPrefix(word, flag+"="); ok {
			return value
		}
	}
	return ""
}
