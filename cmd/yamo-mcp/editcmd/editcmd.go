// Package editcmd is the commands over the edits of workspace files and the record of them (seed 004), one file per
// command or family of commands.
//
// The invariant: these commands act as the operator of the workspace. No client reaches them.
package editcmd

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/session"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
)

// command is the base of the commands over edits. They share one cli.Command.
type command struct{ *cli.Command }

// New returns the commands over edits. A new command needs a line here.
func New(env cli.Env) []*cobra.Command {
	e := command{cli.New(env)}
	e.Nearby = true
	return []*cobra.Command{
		e.newHistory(),
		e.newDiff(),
		e.newWhy(),
		e.newUndo(),
		e.newReplay(),
		e.newDrift(),
		e.newPin("pin", edit.OpPin, "pinned", "Protect a section: sessions can add to it, but not change it"),
		e.newPin("unpin", edit.OpUnpin, "unpinned", "Let sessions change a pinned section again"),
		e.newPin("lock", edit.OpLock, "locked", "Freeze a section: sessions cannot edit it"),
		e.newPin("unlock", edit.OpUnlock, "unlocked", "Let sessions edit a locked section again"),
		e.newProposals(),
		e.newPromote(),
		e.newEvidence(),
		e.newRecord(),
	}
}

// command completes a command that works on the record of edits. perform gets an editor over the DM's view of the
// folder, which settles an edit that a crash interrupted before it answers. A file in args[0] is relative to the
// workspace.
func (e command) command(cmd *cobra.Command,
	perform func(ctx context.Context, editor *edit.Editor, args []string) error,
) *cobra.Command {
	e.AddFlags(cmd.Flags())
	if strings.Contains(cmd.Use, "FILE") {
		cmd.ValidArgsFunction = e.completeFiles
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := e.Load(cmd); err != nil {
			return err
		}
		return e.withEditor(func(editor *edit.Editor) error {
			if len(args) > 0 {
				args[0] = inWorkspace(args[0], e.Config.Workspace)
			}
			return perform(cmd.Context(), editor, args)
		})
	}
	return cmd
}

// withEditor opens the record of edits for perform, after the settings were loaded.
func (e command) withEditor(perform func(editor *edit.Editor) error) (err error) {
	folder, err := e.OpenWorkspace(e.Config.Workspace)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	options, err := e.Options()
	if err != nil {
		return err
	}
	// SECURITY: the operator owns the workspace. No client reaches this.
	// Without the memory: these commands cite no evidence, and opening it would load the ledgers.
	editor, err := session.OpenEditor(options, folder.View(audience.DM()), nil, nil)
	if err != nil {
		return err
	}
	return perform(editor)
}

// inWorkspace returns a file's name relative to the workspace, also if a shell completed it to ./NAME or to an absolute
// path. Other names are returned as they are.
func inWorkspace(name, workspace string) string {
	if dir, err := filepath.Abs(workspace); err == nil && filepath.IsAbs(name) {
		if rel, ok := strings.CutPrefix(name, dir+string(filepath.Separator)); ok {
			return filepath.ToSlash(rel)
		}
	}
	return strings.TrimPrefix(name, "./")
}
