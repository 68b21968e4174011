package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/config"
	"github.com/yamo-protocol/yamo-mcp/internal/session"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit/applied"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// lintReport is the answer of `yamo-mcp lint`.
type lintReport struct {
	Errors   []lintFinding `json:"errors"`
	Warnings []lintFinding `json:"warnings"`
}

// lintFinding is one violation of a rule.
type lintFinding struct {
	File    string `json:"file"`           // relative to the workspace
	Line    int    `json:"line,omitempty"` // from 1; left out for the file as a whole
	Rule    string `json:"rule"`           // its source, such as "RFC-0009 §2.2"
	Message string `json:"message"`
}

// newLintCommand returns `yamo-mcp lint`. It fails if there is an error, not for warnings.
func newLintCommand(env cli.Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "lint [DIR]",
		Short: "Check the format of a workspace's files",
		Long: `Check the workspace in DIR (default YAMO_WORKSPACE, or the one that the current folder is in, or
~/agent) against RFC-0009, the rules of the loader, the format of memory files, and the grammar of
profiles in users/. Each finding is one line: file, line, error or warning, what is wrong, and the
source of the rule. Errors come first. The exit code is 1 if there are errors, and 0 if there are
only warnings.`,
		Args: cli.AtMost("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := env.Folder(args)
			if err != nil {
				return err
			}
			more, err := lintGit(cmd.Context(), env, dir)
			if err != nil {
				return err
			}
			return lintWorkspace(dir, func(view *workspace.View) ([]workspace.Finding, error) {
				drifted, err := lintDrift(cmd.Context(), env, dir, view)
				if err != nil {
					return nil, err
				}
				found, err := lintEvidence(cmd.Context(), env, dir, view)
				return slices.Concat(more, drifted, found), err
			}, env.Stdout, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON instead of text")
	return cmd
}

// lintWorkspace prints the findings about the workspace dir and those of more, errors first, and fails if there is an
// error.
func lintWorkspace(
	dir string, more func(*workspace.View) ([]workspace.Finding, error), stdout io.Writer, asJSON bool,
) error {
	folder, err := workspace.Open(dir, workspace.WithScrubber(session.CredentialScrubber(nil)))
	if err != nil {
		return err
	}
	defer folder.Close() //nolint:errcheck // it was only read
	findings, err := folder.Lint()
	if err != nil {
		return err
	}
	others, err := more(folder.View(audience.DM()))
	if err != nil {
		return err
	}
	report := lintReport{Errors: []lintFinding{}, Warnings: []lintFinding{}}
	var errors, warnings string
	for _, f := range append(findings, others...) {
		found := lintFinding{File: f.File, Line: f.Line, Rule: f.Rule, Message: f.Message}
		if f.Error {
			report.Errors = append(report.Errors, found)
			errors += f.String() + "\n"
		} else {
			report.Warnings = append(report.Warnings, found)
			warnings += f.String() + "\n"
		}
	}
	if asJSON {
		// Indented, unlike other answers: people read a lint report in a terminal or a pull request.
		encoder := json.NewEncoder(stdout)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		err = encoder.Encode(report)
	} else {
		_, err = fmt.Fprintf(stdout, "%s%serrors: %d, warnings: %d\n",
			errors, warnings, len(report.Errors), len(report.Warnings))
	}
	if err != nil {
		return err
	}
	if n := len(report.Errors); n > 0 {
		return fmt.Errorf("the workspace does not conform to the format (errors: %d)", n)
	}
	return nil
}

// lintDrift reports files whose changes by hand, or whose record, need a decision. Without a record of edits it opens
// nothing. A record that cannot be read is reported as such.
func lintDrift(
	ctx context.Context, env cli.Env, dir string, view *workspace.View,
) ([]workspace.Finding, error) {
	folder := filepath.Join(dir, session.MemoryFolder)
	if !applied.Begun(folder, config.HeadFolder(dir, env.Getenv)) {
		if err := edit.Unrecorded(view); err != nil {
			return []workspace.Finding{{File: workspace.MemoryFile, Rule: "seed 004 §11", Message: err.Error()}}, nil
		}
		return nil, nil
	}
	settings, err := config.Read(dir, env.Getenv)
	if err != nil {
		return nil, err
	}
	options := session.Options{Config: settings, Getenv: env.Getenv, Logger: slog.New(slog.DiscardHandler)}
	var found []workspace.Finding
	editor, err := session.OpenEditor(options, view, nil, nil)
	// Without these lines the files have not drifted from anything.
	if err == nil {
		if err := editor.Complete(); err != nil {
			return []workspace.Finding{{
				File: session.MemoryFolder + "/private/edits.ndjson", Error: true, Rule: "seed 004 §11", Message: err.Error(),
			}}, nil
		}
	}
	if err == nil {
		found, err = editor.CheckDrift(ctx)
	}
	if err != nil {
		return []workspace.Finding{{
			File: session.MemoryFolder + "/private/edits.ndjson", Error: true, Rule: "seed 004 §11",
			Message: "the record of edits cannot be read: " + err.Error() + "; run yamo-mcp record verify",
		}}, nil
	}
	return found, nil
}

// lintEvidence reports evidence tokens that lead nowhere, and quotes that are none. Without tokens in the files it
// opens nothing else.
func lintEvidence(
	ctx context.Context, env cli.Env, dir string, view *workspace.View,
) (found []workspace.Finding, err error) {
	if !slices.ContainsFunc(view.Quotable(), func(name string) bool {
		data, err := view.Read(name)
		return err == nil && len(grammar.Citations(name, string(data))) > 0
	}) {
		return nil, nil
	}
	settings, err := config.Read(dir, env.Getenv, config.TranscriptsSetting)
	if err != nil {
		return nil, err
	}
	settings.Session.Transcripts = config.Expand(settings.Session.Transcripts, env.Getenv)
	options := session.Options{Config: settings, Getenv: env.Getenv, Logger: slog.New(slog.DiscardHandler)}
	sources, release, err := session.OpenSources(options)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	return sources.Editor.CheckEvidence(ctx)
}

// lintGit reports what keeps the changes of a workspace from being committed, if the setting git is on. It is a
// warning: the workspace itself is valid, and a server writes its files without committing them.
func lintGit(ctx context.Context, env cli.Env, dir string) ([]workspace.Finding, error) {
	repository, err := env.Repository(dir)
	if err != nil || repository == nil {
		return nil, err
	}
	if err := repository.Check(ctx); err != nil {
		return []workspace.Finding{{
			File: config.FileName, Rule: "the setting git", Message: "changes are not committed: " + err.Error(),
		}}, nil
	}
	return nil, nil
}
