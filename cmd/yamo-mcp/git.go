package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/pflag"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/git"
)

// gitOptions are whether and how changes of workspace files are committed (seed 002, workspace_git).
type gitOptions struct {
	on      bool
	private bool
}

var gitSettings = []setting{"git", "git-private"}

func (o *gitOptions) addTo(flags *pflag.FlagSet) {
	flags.BoolVar(&o.on, "git", false, "commit each change of a workspace file to the workspace's git repository; only of a DM")
	flags.BoolVar(&o.private, "git-private", false, "with --git: commit private files too, and not only what a group may read")
}

// gitOf is what the environment and a workspace's config file say, for commands that have no flags for it.
func gitOf(dir string, getenv func(string) string) (gitOptions, error) {
	file, err := readConfig(dir)
	if err != nil {
		return gitOptions{}, err
	}
	return gitFrom(getenv, file)
}

func gitFrom(getenv func(string) string, file map[string]string) (gitOptions, error) {
	var o gitOptions
	flags := pflag.NewFlagSet("git", pflag.ContinueOnError)
	o.addTo(flags)
	return o, apply(flags, gitSettings, getenv, file)
}

// openFolder opens the workspace folder dir for who. What a DM changes is committed as author's, if o says so.
func openFolder(dir string, who audience.Audience, o gitOptions, author string, getenv func(string) string, logger *slog.Logger) (*workspace.Workspace, error) {
	options := []workspace.Option{workspace.WithLogger(logger), workspace.WithScrubber(credentialScrubber())}
	// SECURITY: a group's session has no repository, whose index and history name private files.
	if o.on && who.IsDM() {
		repository, err := openRepository(dir, o, author, getenv, logger)
		if err != nil {
			return nil, fmt.Errorf("open workspace: %w", withoutPath(err))
		}
		options = append(options, workspace.WithRecorder(repository, o.private))
	}
	return workspace.Open(dir, options...)
}

func openRepository(dir string, o gitOptions, author string, getenv func(string) string, logger *slog.Logger) (*git.Repository, error) {
	return git.Open(git.Options{Dir: dir, Author: author, Private: o.private, Getenv: getenv, Logger: logger})
}

// openOperators opens a workspace for a command of the operator that has no settings of its own.
func openOperators(dir string, getenv func(string) string, logger *slog.Logger) (*workspace.Workspace, error) {
	o, err := gitOf(dir, getenv)
	if err != nil {
		return nil, err
	}
	return openFolder(dir, audience.DM(), o, operator, getenv, logger)
}

// tellGitKeeps says that what was removed for good stands in the history of the git repository, where that is kept.
func tellGitKeeps(ctx context.Context, dir, name string, getenv func(string) string, stderr io.Writer) {
	o, err := gitOf(dir, getenv)
	if err != nil || !o.on {
		return
	}
	repository, err := openRepository(dir, o, operator, getenv, slog.New(slog.DiscardHandler))
	if err != nil {
		return
	}
	if kept, err := repository.Keeps(ctx, name); err != nil {
		fmt.Fprintf(stderr, "Whether the history of the git repository keeps %s could not be looked up: %v\n", name, err)
	} else if kept {
		fmt.Fprintf(stderr, "The history of the workspace's git repository keeps %s; git filter-repo takes it out.\n", name)
	}
}

// lintGit says what keeps the changes of a workspace from being committed, if they are to be.
func lintGit(ctx context.Context, dir string, getenv func(string) string) ([]workspace.Finding, error) {
	o, err := gitOf(dir, getenv)
	if err != nil || !o.on {
		return nil, err
	}
	repository, err := openRepository(dir, o, operator, getenv, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	if err := repository.Check(ctx); err != nil {
		return []workspace.Finding{{File: configName, Rule: "the setting git", Message: "changes are not committed: " + err.Error()}}, nil
	}
	return nil, nil
}
