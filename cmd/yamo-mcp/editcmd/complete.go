package editcmd

import (
	"context"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/screen"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
)

// offered is how many edits a shell is offered at a time: more would fill the terminal.
const offered = 50

// files returns the workspace's Markdown files whose names begin with begun, which a shell is offered: those of the
// folder and of users, where the edited files are.
func (e command) files(begun string) (names []cobra.Completion) {
	for _, pattern := range []string{"*.md", "users/*.md", "users/*/*.md", "users/*/*/*.md"} {
		found, _ := fs.Glob(os.DirFS(e.Config.Workspace), pattern) // the patterns are valid
		for _, name := range found {
			if strings.HasPrefix(name, begun) {
				names = append(names, name)
			}
		}
	}
	return names
}

// completeFiles offers the files for the first argument of a command.
func (e command) completeFiles(
	cmd *cobra.Command, args []string, begun string,
) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 || e.Load(cmd) != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return e.files(begun), cobra.ShellCompDirectiveNoFileComp
}

// completeLines offers the files for the first argument of a command that takes FILE:NUMBER: the person types the rest.
func (e command) completeLines(
	cmd *cobra.Command, args []string, begun string,
) ([]cobra.Completion, cobra.ShellCompDirective) {
	names, directive := e.completeFiles(cmd, args, begun)
	return names, directive | cobra.ShellCompDirectiveNoSpace
}

// completeEvents returns the completion of an event's id, the newest first, with what the event did and why. Those that
// list returns are oldest first.
func (e command) completeEvents(
	list func(ctx context.Context, editor *edit.Editor) ([]edit.Event, error),
) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
		if len(args) > 0 || e.Load(cmd) != nil {
			return nil, directive
		}
		var names []cobra.Completion
		// An error has no place on a line that is being typed; the command itself will report it.
		_ = e.withEditor(func(editor *edit.Editor) error {
			events, err := list(cmd.Context(), editor)
			for _, event := range slices.Backward(events) {
				if len(names) < offered && strings.HasPrefix(event.ID, begun) {
					names = append(names, cobra.CompletionWithDesc(event.ID, brief(event)))
				}
			}
			return err
		})
		return names, directive
	}
}

// brief describes an event in a few words.
func brief(event edit.Event) string {
	where := event.File
	if event.Section != "" {
		where += "#" + event.Section
	}
	return text.Shorten(screen.Line(strings.TrimSpace(event.Op+" "+where+" "+event.Rationale)), 60)
}

// undoable returns the edits that can be taken back.
func undoable(ctx context.Context, editor *edit.Editor) ([]edit.Event, error) {
	events, err := editor.Events(ctx, time.Time{}, time.Time{})
	fixed := func(event edit.Event) bool { return !event.IsEdit() && event.Op != edit.OpUndo }
	return slices.DeleteFunc(events, fixed), err
}

// waiting returns the proposals that wait for a decision.
func waiting(ctx context.Context, editor *edit.Editor) ([]edit.Event, error) {
	proposals, err := editor.Proposals(ctx)
	var list []edit.Event
	for _, p := range proposals {
		if p.State == edit.Pending {
			list = append(list, p.Event)
		}
	}
	return list, err
}
