// Package config holds the operator's settings. Each setting is declared once, with its flag, environment variable, key
// in the config file, default, help and validation; everything else, docs/settings.md included, is made from that.
//
// The invariant: a flag wins over the environment, that over the config files, those over the default. A workspace is
// data: its config file cannot name a destination, a key, a transport or an audience, and the rest of it applies only
// while the operator trusts exactly that file. A config file that another account could have written is refused.
package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/yamo-protocol/yamo-mcp/internal/dream"
)

// Config is the values of all settings. It is a plain value: a copy can be changed for another workspace, as For does.
type Config struct {
	Workspace string // the workspace folder; AddFlags leaves "", which Load refuses
	Session   Session
	Search    Search
	Embedder  Embedder
	Learning  Learning
	LLM       LLM
	Dreams    dream.Thresholds
	Git       Git
	HTTP      HTTP
	// Ignored is what the operator should know about the workspace's config file, "" if all of it applies.
	Ignored string
}

// section is a table of docs/settings.md.
type section struct {
	title    string
	settings []Setting
}

// sections registers the settings. A new file of settings needs a line here.
func sections() []section {
	return []section{
		{"Session", slices.Concat([]Setting{workspaceSetting}, SessionSettings, GitSettings)},
		{"Search", slices.Concat(SearchSettings, EmbedderSettings)},
		{"Learning", slices.Concat(LearningSettings, DreamSettings, LLMSettings)},
		{"HTTP", HTTPSettings},
	}
}

// All returns the settings of `yamo-mcp serve`, which are the keys of the config file.
func All() []Setting {
	var all []Setting
	for _, s := range sections() {
		all = append(all, s.settings...)
	}
	return all[1:] // the config file is in the workspace, or has a section for it, and cannot name it
}

// Default returns the defaults of all settings.
func Default() Config {
	var c Config
	AddFlags(pflag.NewFlagSet("", pflag.ContinueOnError), &c, All()...)
	return c
}

// AddFlags adds the flags of the workspace and of settings, which set the fields of c. c has the defaults when AddFlags
// returns.
func AddFlags(flags *pflag.FlagSet, c *Config, settings ...Setting) {
	workspaceSetting.bind(flags, c)
	for _, s := range settings {
		s.bind(flags, c)
	}
}

// Load completes c, whose flags AddFlags added and the command line has set: the workspace from the environment, and
// settings from there or the config files. It checks that the workspace is a folder and that the values are
// valid, each by itself; what must fit together is checked where it is used (HTTP.Check, Embedder.Connect, LLM.Open).
func Load(flags *pflag.FlagSet, c *Config, getenv func(string) string, settings ...Setting) error {
	// The workspace comes first, without a file: it decides which config file is read.
	if err := apply(flags, []Setting{workspaceSetting}, getenv, nil); err != nil {
		return err
	}
	c.Workspace = Expand(c.Workspace, getenv)
	if err := CheckWorkspace(c.Workspace, "--workspace"); err != nil {
		return err
	}
	files, err := readFiles(c.Workspace, getenv)
	if err != nil {
		return err
	}
	c.Ignored = files.ignored
	if err := apply(flags, settings, getenv, files.merged()); err != nil {
		return err
	}
	// The config file may use ~ as well, so that this is done when all places have been read.
	c.Session.Transcripts = Expand(c.Session.Transcripts, getenv)
	return check(c, settings)
}

// Read returns the settings that the environment and the config files have for the workspace dir, for commands without
// flags for them. The others have their defaults.
func Read(dir string, getenv func(string) string, settings ...Setting) (Config, error) {
	files, err := readFiles(dir, getenv)
	if err != nil {
		return Config{}, err
	}
	c, err := from(dir, getenv, files.merged(), settings)
	c.Ignored = files.ignored
	return c, err
}

// from returns the defaults with what the environment and file have for settings. The flags belong to no command line:
// they are how apply converts strings to the types of the fields.
func from(dir string, getenv func(string) string, file values, settings []Setting) (Config, error) {
	var c Config
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	AddFlags(flags, &c, All()...)
	c.Workspace = dir
	if err := apply(flags, settings, getenv, file); err != nil {
		return Config{}, err
	}
	return c, check(&c, settings)
}

// check reports the first value that is not valid, in the order of settings. Settings of HTTP are not checked for
// stdio, where they have no effect: servers of both kinds share the environment and the config file.
func check(c *Config, settings []Setting) error {
	for _, s := range settings {
		if c.Session.Transport != OverHTTP && IsHTTP(s.Flag()) {
			continue
		}
		if err := s.check(c); err != nil {
			return err
		}
	}
	return nil
}

// For returns the settings for another workspace that the same server serves over HTTP. What that workspace's section
// of the operator's config file, or its own file, sets about its content applies: session logs, tool sets, ranking,
// git.
//
// SECURITY: the session logs and the git repository of one workspace are never used for another: they come from the
// other's own settings, or there are none. The environment was set for the first one and is not consulted.
func (c Config) For(workspace string, getenv func(string) string) (Config, error) {
	if err := CheckWorkspace(workspace, "--workspace"); err != nil {
		return Config{}, err
	}
	files, err := readFiles(workspace, getenv)
	if err != nil {
		return Config{}, err
	}
	// Everything else, such as the connection, the agent's name and the providers that get texts, remains the server's:
	// the token determines the session, and the operator who started the server the rest.
	settings := slices.DeleteFunc(All(), func(s Setting) bool { return !s.perWorkspace() })
	other, err := from(workspace, func(string) string { return "" }, files.own, settings)
	if err != nil {
		return Config{}, err
	}
	c.Workspace, c.Git, c.Ignored = workspace, other.Git, files.ignored
	c.Session.Transcripts = Expand(other.Session.Transcripts, getenv)
	// Unlike session logs and git, these are preferences, and an empty one means the server's.
	if files.own["toolsets"].text != "" {
		c.Session.Toolsets = other.Session.Toolsets
	}
	if files.own["ranking"].text != "" {
		c.Search = other.Search
	}
	return c, nil
}

// Places lists, for help texts, the flag, environment variable and config file key of every setting, one per line.
func Places() string {
	var b strings.Builder
	fmt.Fprintf(&b, "  --%-22s %s\n", Workspace, Workspace.Env())
	for _, s := range All() {
		fmt.Fprintf(&b, "  --%-22s %-26s %s\n", s.Flag(), s.Env(), s.Key())
	}
	return b.String()
}

// Expand replaces a leading ~ of a path by the user's home: hosts start servers without a shell that would do it.
func Expand(path string, getenv func(string) string) string {
	if below, ok := strings.CutPrefix(path, "~/"); ok && getenv("HOME") != "" {
		return filepath.Join(getenv("HOME"), below)
	}
	return path
}
