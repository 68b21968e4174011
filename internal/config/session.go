package config

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Session is what a session is, for whom, and how it is connected. Connection and Group are what the operator wrote;
// audience.Parse decides what they mean, once, in the session package.
type Session struct {
	Connection  string // exactly "dm" is a direct conversation
	Group       string // a group that is set in any place makes the session a group's
	AgentID     string // recorded with everything that is written
	Model       string // reported by who_am_i, "" if the operator named none
	Transcripts string // a folder, "" for none
	Toolsets    string // names, separated by commas: see Offers
	Transport   string // Stdio or OverHTTP
	LogLevel    string // debug, info or warn
}

// The values of --transport.
const (
	Stdio    = "stdio"
	OverHTTP = "http"
)

// The named sets of tools. A model chooses worse the more tools it is shown, so the operator can leave a set out. What
// a set contains is decided by the audience, never by this setting.
const (
	MemoryTools    = "memory"    // remembering, recalling, forgetting, learning, who_am_i, session_logs
	WorkspaceTools = "workspace" // the workspace's logs and files, and the prompts of its rituals
	LearningTools  = "learning"  // single memories, active lessons, skills, reflections, curation, old logs
)

// Toolsets are the names of all sets of tools.
var Toolsets = []string{MemoryTools, WorkspaceTools, LearningTools}

// AgentIDSetting is the name of the agent, which commands that write have too.
var AgentIDSetting Setting = spec[string]{
	Name: "agent-id", folder: true, initial: "YAMO_AGENT", help: "agent name recorded with everything that is written",
	field: func(c *Config) *string { return &c.Session.AgentID },
	valid: func(id string) error {
		if !agentID.MatchString(id) {
			return errors.New("must be 1 to 64 letters, digits, dots, hyphens or underscores, starting with a letter or digit")
		}
		return nil
	},
}

// agentID is what can be a name in YAMO blocks and session logs.
var agentID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// TranscriptsSetting is the folder of session logs, which the command sessions has too.
var TranscriptsSetting Setting = spec[string]{
	Name: "transcripts", folder: true, local: true, help: "folder with the host's session logs",
	more: "One of `ID.jsonl` files with `groups/NAME/` for groups, Claude Code's `~/.claude/projects`, or OpenClaw's " +
		"`~/.openclaw/agents/ID/sessions` (its JSONL files, not its SQLite database). A relative path in the file starts " +
		"at the workspace",
	field: func(c *Config) *string { return &c.Session.Transcripts },
}

// SessionSettings are the settings of a session. connection and group are not validated: what is not exactly a DM is a
// group's session, so that a misspelt value gives less access instead of none or more.
var SessionSettings = []Setting{
	spec[string]{
		Name: "connection", shown: "group", help: "audience of the session: dm or group",
		more:  "Exactly `dm` is a direct conversation, anything else a group",
		field: func(c *Config) *string { return &c.Session.Connection },
	},
	spec[string]{
		Name: "group", shown: `"default"`, help: "name of the group",
		more:  "A group that is set in any place makes the session a group's",
		field: func(c *Config) *string { return &c.Session.Group },
	},
	AgentIDSetting,
	spec[string]{
		Name: "model", folder: true, help: "name of the language model, which the tool who_am_i reports",
		field: func(c *Config) *string { return &c.Session.Model },
	},
	TranscriptsSetting,
	spec[string]{
		Name: "toolsets", folder: true, initial: MemoryTools + "," + WorkspaceTools, list: true, local: true,
		help:  "sets of tools to offer, of those the audience may use: " + strings.Join(Toolsets, ", "),
		field: func(c *Config) *string { return &c.Session.Toolsets },
		valid: func(list string) error {
			for _, name := range names(list) {
				if !slices.Contains(Toolsets, name) {
					return fmt.Errorf("%q is not one of %s; separate several with commas", name, strings.Join(Toolsets, ", "))
				}
			}
			return nil
		},
	},
	spec[string]{
		Name: "transport", initial: Stdio, help: "how hosts connect: stdio or http",
		more:  "`http` is for [remote use](hosts.md#remote-use)",
		field: func(c *Config) *string { return &c.Session.Transport },
		valid: oneOf(Stdio, OverHTTP),
	},
	spec[string]{
		Name: "log-level", folder: true, initial: "info", help: "minimum level of log messages: debug, info or warn",
		more:  "Logs go to stderr",
		field: func(c *Config) *string { return &c.Session.LogLevel },
		valid: oneOf("debug", "info", "warn"),
	},
}

// Offers reports whether the operator wants the tools of a set.
func (s Session) Offers(toolset string) bool { return slices.Contains(names(s.Toolsets), toolset) }

// names splits a list that is separated by commas. The list "" has one name, "".
func names(list string) []string {
	all := strings.Split(list, ",")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return all
}
