// Package cli is what the commands of yamo-mcp have in common: the process they run in, their settings and flags, the
// form of their answers and of their errors.
//
// The invariant: commands write to the writers of Env only, answers to Stdout and everything else to Stderr.
package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/config"
	"github.com/yamo-protocol/yamo-mcp/internal/session"
	"github.com/yamo-protocol/yamo-mcp/mesh"
)

// Env is the process that a command runs in. Tests replace it.
type Env struct {
	Getenv         func(string) string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Version        string // of the program
}

// Command is the base of a command that works on a workspace. Commands of a group may share one, because one of them
// runs in a process. AddFlags comes before the command line is parsed, Load after.
type Command struct {
	Env
	Config config.Config
	JSON   bool // answer with JSON
	// Nearby: without a workspace on the command line or in the environment, the one that the current folder is in is
	// used, or else ~/agent. For commands of a person; a server needs its workspace named.
	Nearby bool

	settings []config.Setting                    // of the last command, for those that inherit their flags
	of       map[*pflag.FlagSet][]config.Setting // of each command
}

// New returns a base with the default settings. Settings without a flag on the command keep these values.
func New(env Env) *Command { return &Command{Env: env, Config: config.Default()} }

// AddFlags adds the flags --workspace, those of settings, and --json.
func (c *Command) AddFlags(flags *pflag.FlagSet, settings ...config.Setting) {
	flags.SortFlags = false
	c.settings = settings
	if c.of == nil {
		c.of = map[*pflag.FlagSet][]config.Setting{}
	}
	c.of[flags] = settings
	config.AddFlags(flags, &c.Config, settings...)
	if c.Nearby {
		flags.Lookup(string(config.Workspace)).Usage = "workspace folder (default YAMO_WORKSPACE, " +
			"or the one that the current folder is in, or ~/agent)"
	}
	flags.BoolVar(&c.JSON, "json", false, "print JSON instead of text")
}

// Load completes the settings from the environment and the config files, and checks them. It fails as config.Load does.
func (c *Command) Load(cmd *cobra.Command) error {
	if c.Nearby && !cmd.Flags().Changed(string(config.Workspace)) && c.Getenv(config.Workspace.Env()) == "" {
		if dir := nearby(c.Getenv("HOME")); dir != "" {
			if err := cmd.Flags().Set(string(config.Workspace), dir); err != nil {
				return err
			}
			c.sayFolder(dir)
		}
	}
	settings, own := c.of[cmd.Flags()]
	if !own {
		settings = c.settings
	}
	err := config.Load(cmd.Flags(), &c.Config, c.Getenv, settings...)
	c.warnIgnored(c.Config)
	if err != nil || cmd.Flags().Lookup("redact-list") != nil {
		return err
	}
	// SECURITY: what is redacted does not depend on which flags a command has: each may write to the memory.
	kept, err := config.Read(c.Config.Workspace, c.Getenv, config.LearningSettings...)
	c.Config.Learning = kept.Learning
	return err
}

// warnIgnored tells the operator that the workspace's config file does not apply.
func (e Env) warnIgnored(settings config.Config) {
	if settings.Ignored != "" {
		fmt.Fprintf(e.Stderr, "yamo-mcp: %s\n", settings.Ignored)
	}
}

// Options returns what the session package needs to open the workspace. Warnings are logged to Stderr.
func (c *Command) Options() (session.Options, error) {
	return c.options(c.Config)
}

// options are those of a session that a person runs: its log shows warnings and errors only, since the answer is on the
// same terminal.
func (e Env) options(settings config.Config) (session.Options, error) {
	logger, err := NewLogger(e.Stderr, "warn")
	if err != nil {
		return session.Options{}, err
	}
	return session.Options{Config: settings, Getenv: e.Getenv, Logger: logger, Version: e.Version}, nil
}

// WithMemory calls perform with the memory of an audience, and closes it. What could not be closed is an error too: the
// derived files may then be out of date.
func (c *Command) WithMemory(who audience.Audience, perform func(*mesh.View) error) (err error) {
	options, err := c.Options()
	if err != nil {
		return err
	}
	memory, release, err := session.OpenMemory(options, who)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	return perform(memory)
}

// Answer prints value as one line of JSON if --json is set, otherwise text.
func (c *Command) Answer(value any, text string) error {
	return Answer(c.Stdout, c.JSON, value, text)
}

// Answer prints value as one line of JSON, or text.
func Answer(w io.Writer, asJSON bool, value any, text string) error {
	if !asJSON {
		_, err := io.WriteString(w, text)
		return err
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false) // answers are not embedded in HTML, and <, > and & occur in memories
	return encoder.Encode(value)
}
