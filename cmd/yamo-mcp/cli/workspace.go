package cli

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/config"
	"github.com/yamo-protocol/yamo-mcp/internal/session"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/git"
)

// OpenWorkspace opens the workspace dir as its operator, for a command that has no flags for the settings of git. What
// the command changes is committed if the environment or the config file asks for it.
func (e Env) OpenWorkspace(dir string) (*workspace.Workspace, error) {
	settings, err := config.Read(dir, e.Getenv, config.GitSettings...)
	if err != nil {
		return nil, err
	}
	e.warnIgnored(settings)
	options, err := e.options(settings)
	if err != nil {
		return nil, err
	}
	return session.OpenFolder(options, audience.DM(), session.Operator)
}

// Repository opens the git repository of the workspace dir, nil if the setting git is off.
func (e Env) Repository(dir string) (*git.Repository, error) {
	settings, err := config.Read(dir, e.Getenv, config.GitSettings...)
	if err != nil || !settings.Git.On {
		return nil, err
	}
	options := session.Options{Config: settings, Getenv: e.Getenv, Logger: slog.New(slog.DiscardHandler)}
	return session.OpenRepository(options, session.Operator)
}

// WarnGitKeeps warns if the history of the workspace's git repository keeps the file name, which was permanently
// removed. The removal has succeeded, so that a repository that cannot be opened is not an error.
func (e Env) WarnGitKeeps(ctx context.Context, dir, name string) {
	repository, err := e.Repository(dir)
	if err != nil || repository == nil {
		return
	}
	if kept, err := repository.Keeps(ctx, name); err != nil {
		fmt.Fprintf(e.Stderr, "Cannot check whether the history of the git repository keeps %s: %v\n", name, err)
	} else if kept {
		fmt.Fprintf(e.Stderr, "The history of the workspace's git repository keeps %s; git filter-repo removes it.\n", name)
	}
}

// Folder returns the workspace of a command that only reads and takes its folder as the argument DIR: that, else
// YAMO_WORKSPACE, else the one that the current folder is in, or ~/agent. It fails as [config.FolderArgument] does.
func (e Env) Folder(args []string) (string, error) {
	if len(args) == 0 && e.Getenv(config.Workspace.Env()) == "" {
		if dir := nearby(e.Getenv("HOME")); dir != "" {
			e.sayFolder(dir)
			args = []string{dir}
		}
	}
	return config.FolderArgument(args, e.Getenv)
}

// sayFolder tells a person which workspace was found.
func (e Env) sayFolder(dir string) {
	if IsTerminal(e.Stderr) {
		fmt.Fprintf(e.Stderr, "Workspace: %s\n", dir)
	}
}

// nearby returns the workspace that the current folder is in, or else the one that `yamo-mcp install` makes in the home
// folder; "" if there is neither.
func nearby(home string) string {
	if dir := Around(); dir != "" {
		return dir
	}
	if dir := filepath.Join(home, "agent"); home != "" && isWorkspace(dir) {
		return dir
	}
	return ""
}

// Around returns the workspace that the current folder is in, "" for none.
func Around() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if isWorkspace(dir) {
			return dir
		}
	}
	return ""
}

// isWorkspace reports whether a folder has one of the files that a workspace has from the beginning.
func isWorkspace(dir string) bool {
	for _, name := range []string{"SOUL.md", "BOOTSTRAP.md"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

// Project returns the project of the folder that the command runs in, "" if that is in no git repository: commands run
// anywhere.
func (c *Command) Project() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	return session.ProjectFinder(c.Config.Workspace).Repository(dir)
}
