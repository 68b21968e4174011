package config

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// Name is the name of a setting's flag, such as "agent-id". The names that the setting has elsewhere derive from it.
type Name string

// Env is the environment variable: YAMO_AGENT_ID.
func (n Name) Env() string { return "YAMO_" + strings.ToUpper(n.Key()) }

// Key is the key in the config file: agent_id.
func (n Name) Key() string { return strings.ReplaceAll(string(n), "-", "_") }

// Flag is the name of the flag, without dashes.
func (n Name) Flag() string { return string(n) }

// Errorf formats an error about the setting's value and adds the places where the value may have been set.
func (n Name) Errorf(format string, values ...any) error {
	return fmt.Errorf(format+" (--%s, %s or %s in config.toml)", append(values, n, n.Env(), n.Key())...)
}

// Setting is the declaration of a setting: its names, default, help and validation. The declarations are the values of
// type spec in this package. The unexported methods keep others from declaring some elsewhere, where the config file
// and docs/settings.md would not have them.
type Setting interface {
	Flag() string
	Env() string
	Key() string
	// Help is the flag's line in --help, with the default if that is not the flag's own.
	Help() string

	// bind adds the flag, which sets c's field and has set it to the default when bind returns.
	bind(flags *pflag.FlagSet, c *Config)
	// check reports what is wrong with the field's value.
	check(c *Config) error
	// fileType is the type of the value in the config file, fileValue its description for error messages.
	fileType() reflect.Type
	fileValue() string
	// perWorkspace reports whether a workspace that a server serves besides its own sets the value in its own config file.
	perWorkspace() bool
	// inFolder reports whether the config file in a workspace may set the value, once the operator trusts that file.
	inFolder() bool
}

// spec declares a setting with values of type T. The type parameter makes the default, the field and the validation
// agree; Setting hides it, so that settings of all types are in one list.
type spec[T string | int | float64 | bool | []string] struct {
	Name
	initial T                // the default
	shown   string           // describes the default in --help where initial is empty
	help    string           // without a verb or a full stop, as "maximum number of results"
	more    string           // what docs/settings.md adds to help, in Markdown
	list    bool             // a string of several values, separated by commas
	local   bool             // about the content of one workspace: see perWorkspace
	folder  bool             // see inFolder
	field   func(*Config) *T // where the value is kept
	valid   func(T) error    // reports what is wrong with a value; nil if every value is valid
}

// Help implements Setting.
func (s spec[T]) Help() string {
	if s.shown != "" {
		return fmt.Sprintf("%s (default %s)", s.help, s.shown)
	}
	return s.help
}

// bind implements Setting. pflag has one function for each type, which Go's generics cannot choose between.
func (s spec[T]) bind(flags *pflag.FlagSet, c *Config) {
	switch field := any(s.field(c)).(type) {
	case *string:
		flags.StringVar(field, s.Flag(), any(s.initial).(string), s.Help())
	case *int:
		flags.IntVar(field, s.Flag(), any(s.initial).(int), s.Help())
	case *float64:
		flags.Float64Var(field, s.Flag(), any(s.initial).(float64), s.Help())
	case *bool:
		flags.BoolVar(field, s.Flag(), any(s.initial).(bool), s.Help())
	case *[]string:
		flags.StringSliceVar(field, s.Flag(), any(s.initial).([]string), s.Help())
	}
}

// check implements Setting. The error begins with the setting's name in words and ends with the places it may come
// from.
func (s spec[T]) check(c *Config) error {
	if s.valid == nil {
		return nil
	}
	if err := s.valid(*s.field(c)); err != nil {
		return s.Errorf("%s: %w", strings.ReplaceAll(s.Flag(), "-", " "), err)
	}
	return nil
}

// fileType implements Setting. Lists are strings with commas, as they are in flags and environment variables.
func (s spec[T]) fileType() reflect.Type {
	if t := reflect.TypeFor[T](); t.Kind() != reflect.Slice {
		return t
	}
	return reflect.TypeFor[string]()
}

// fileValue implements Setting.
func (s spec[T]) fileValue() string {
	if kind := kinds[s.fileType().String()]; kind != "" {
		return kind
	}
	if _, several := any(s.initial).([]string); several || s.list {
		return "a string in quotes, with commas between several values"
	}
	return "a string in quotes"
}

// perWorkspace implements Setting.
func (s spec[T]) perWorkspace() bool { return s.local }

// inFolder implements Setting.
//
// SECURITY: settings are the operator's unless they are declared otherwise: a workspace is data that may have been made
// by someone else, and must not decide what reaches the network, which keys are read, or whose session it is.
func (s spec[T]) inFolder() bool { return s.folder }

// oneOf accepts the names in a list.
func oneOf(names ...string) func(string) error {
	return func(value string) error {
		if !slices.Contains(names, value) {
			return fmt.Errorf("%q is not one of %s", value, strings.Join(names, ", "))
		}
		return nil
	}
}

// between accepts numbers from least to most, both included. NaN is not accepted.
func between[N int | float64](least, most N) func(N) error {
	return func(value N) error {
		if !(value >= least && value <= most) {
			return fmt.Errorf("must be between %v and %v", least, most)
		}
		return nil
	}
}

// apply gives each flag that is not on the command line its value from the environment or the config files. An
// environment variable that is set but empty counts as unset.
func apply[S interface {
	Flag() string
	Env() string
	Key() string
}](flags *pflag.FlagSet, settings []S, getenv func(string) string, file values) error {
	for _, s := range settings {
		// An empty flag is a value: --group "" overrides a group that the environment sets.
		if flags.Changed(s.Flag()) {
			continue
		}
		v := value{getenv(s.Env()), s.Env()}
		if v.text == "" {
			v = file[s.Key()]
		}
		if v.text == "" {
			continue
		}
		// Set marks the flag as changed, so that a setting that was applied once keeps its value.
		if err := flags.Set(s.Flag(), v.text); err != nil {
			return fmt.Errorf("%s: %w", v.place, ValueError(err))
		}
	}
	return nil
}

// FromEnv gives flags that are not on the command line their values from the environment, for commands that need no
// workspace and so have no config file.
func FromEnv(flags *pflag.FlagSet, getenv func(string) string, names ...Name) error {
	return apply(flags, names, getenv, nil)
}

// ValueError rewrites pflag's error about a value of the wrong type in words that do not mention Go. Other errors are
// returned as they are.
func ValueError(err error) error {
	invalid, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	if kind := kinds[invalid.GetFlag().Value.Type()]; kind != "" {
		return fmt.Errorf("%q is not %s", invalid.GetValue(), kind)
	}
	return err
}

// kinds names the types of values, by pflag's and reflect's names of them.
var kinds = map[string]string{"int": "a whole number", "float64": "a number", "bool": "true or false"}
