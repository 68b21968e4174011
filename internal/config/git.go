package config

// Git is whether and how changes of workspace files are committed (seed 002, workspace_git).
type Git struct {
	On      bool // nothing is committed unless the operator asks for it
	Private bool // commit what a group may not read as well
}

// GitSettings are the settings of the workspace's git repository. They are per workspace: a server may commit in one
// and not in another.
var GitSettings = []Setting{
	spec[bool]{
		Name: "git", folder: true, local: true,
		help: "commit each change of a workspace file to the workspace's git repository",
		more: "The repository is the workspace's [own](data.md#a-git-repository-of-the-workspace). Only changes in direct " +
			"conversations and by commands are committed",
		field: func(c *Config) *bool { return &c.Git.On },
	},
	spec[bool]{
		Name: "git-private", folder: true, local: true, help: "with --git: commit private files as well",
		more:  "Without it only SOUL.md, IDENTITY.md and AGENTS.md are committed",
		field: func(c *Config) *bool { return &c.Git.Private },
	},
}
