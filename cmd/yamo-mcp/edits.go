package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
)

// edits are the commands over the record of edits, with their common settings.
type edits struct {
	getenv         func(string) string
	stdout, stderr io.Writer
	options        serveOptions
	json           bool
}

// editCommands are the commands over the record of edits (seed 004).
func editCommands(getenv func(string) string, stdout, stderr io.Writer) []*cobra.Command {
	e := &edits{getenv: getenv, stdout: stdout, stderr: stderr}
	e.options.embedder.provider = localProvider // which is not loaded: nothing is searched
	return []*cobra.Command{
		e.newHistoryCommand(), e.newDiffCommand(), e.newReplayCommand(), e.newDriftCommand(),
		e.newPinCommand("pin", edit.OpPin, "Keep what a section says: sessions may add to it, and change nothing"),
		e.newPinCommand("unpin", edit.OpUnpin, "Let sessions change a pinned section again"),
		e.newPinCommand("lock", edit.OpLock, "Keep a section as it is: sessions may not touch it"),
		e.newPinCommand("unlock", edit.OpUnlock, "Let sessions change a locked section again"),
		e.newProposalsCommand(), e.newPromoteCommand(), e.newEvidenceCommand(), e.newRecordCommand(),
	}
}

// command completes a command that works on the record of edits.
func (e *edits) command(cmd *cobra.Command, perform func(ctx context.Context, editor *edit.Editor, args []string) error) *cobra.Command {
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&e.options.workspace, "workspace", "", "the workspace folder (required; or YAMO_WORKSPACE)")
	cmd.Flags().BoolVar(&e.json, "json", false, "answer with JSON")
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if err := e.options.take(cmd.Flags(), nil, e.getenv); err != nil {
			return err
		}
		logger, err := newLogger(e.stderr, "warn")
		if err != nil {
			return err
		}
		folder, err := openOperators(e.options.workspace, e.getenv, logger)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, folder.Close()) }()
		// SECURITY: the operator owns the workspace. No client reaches this.
		editor, err := openEditor(folder.View(audience.DM()), nil, logger)
		if err != nil {
			return err
		}
		if len(args) > 0 {
			args[0] = inWorkspace(args[0], e.options.workspace)
		}
		return perform(cmd.Context(), editor, args)
	}
	return cmd
}

// inWorkspace is a file's name relative to the workspace, also if a shell completed it to ./NAME or to a whole path.
// Anything else stays as it is.
func inWorkspace(name, workspace string) string {
	if dir, err := filepath.Abs(workspace); err == nil && filepath.IsAbs(name) {
		if rel, ok := strings.CutPrefix(name, dir+string(filepath.Separator)); ok {
			return filepath.ToSlash(rel)
		}
	}
	return strings.TrimPrefix(name, "./")
}

// print writes value with --json, else text.
func (e *edits) print(value any, text string) error {
	return writeAnswer(e.stdout, e.json, value, text)
}

// operator is the actor of what a person does on the command line.
const operator = "operator"

// openEditor opens the record of edits of a DM's workspace, nil in a group, and finishes what was interrupted.
// memory may be nil: then every id is taken for a memory's.
func openEditor(view *workspace.View, memory *mesh.View, logger *slog.Logger) (*edit.Editor, error) {
	if !view.Audience().IsDM() {
		return nil, nil
	}
	options := edit.Options{View: view, Dir: filepath.Join(view.Dir(), memoryFolder), Logger: logger}
	if memory != nil {
		options.Memory = func(ctx context.Context, id string) error {
			_, err := memory.Get(ctx, id)
			return err
		}
	}
	editor, err := edit.Open(options)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), recovering)
	defer cancel()
	if err := editor.Recover(ctx); err != nil {
		// The next edit tries again, and says what is wrong.
		logger.Error("finish an interrupted edit", slog.Any("error", err))
	}
	return editor, nil
}

// recovering is how long the start of a session may take to finish an interrupted edit.
const recovering = 10 * time.Second
