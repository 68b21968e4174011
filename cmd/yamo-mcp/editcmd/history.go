package editcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
)

func (e command) newHistory() *cobra.Command {
	var section string
	cmd := e.command(&cobra.Command{
		Use:   "history FILE",
		Short: "Show who changed what in a workspace file, when and why",
		Long: `Show what happened to a workspace file, oldest first: every edit with its time, actor, section and reason, and
what was changed by hand, as far as it was noticed. FILE is relative to the workspace.`,
		Args: cli.Exactly("FILE"),
	}, func(ctx context.Context, editor *edit.Editor, args []string) error {
		events, err := editor.History(ctx, args[0], section)
		if err != nil {
			return err
		}
		if events == nil {
			events = []edit.Event{}
		}
		var text strings.Builder
		erased := 0
		for i, event := range events {
			if event.Op != edit.OpErase {
				text.WriteString(describeEvent(event))
				continue
			}
			// One line for all that was erased at once.
			if erased++; i+1 == len(events) || events[i+1].Op != edit.OpErase {
				event.Evidence, event.RefersTo = nil, ""
				text.WriteString(describeEvent(event) + fmt.Sprintf("    events erased: %d\n", erased))
				erased = 0
			}
		}
		if len(events) == 0 {
			if _, err := os.Stat(filepath.Join(e.Config.Workspace, args[0])); errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("%s: there is no such file in the workspace, and nothing is recorded of one", args[0])
			}
			if section != "" {
				fmt.Fprintf(&text, "nothing is recorded about a section %q of %s\n", section, args[0])
			} else {
				text.WriteString("nothing was edited\n")
			}
		}
		return e.Answer(events, text.String())
	})
	cmd.Flags().StringVar(&section, "section", "", "only what is about this section: its heading or anchor")
	return cmd
}

// describeEvent is an event in a few lines.
func describeEvent(e edit.Event) string {
	actor := e.Actor
	if actor == "" {
		actor = "yamo-mcp"
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s  %s  %s  %s", e.ID, e.Time, actor, e.Op)
	if e.File != "" {
		out.WriteString("  " + e.File)
	}
	if e.Section != "" {
		out.WriteString("#" + e.Section)
	}
	out.WriteByte('\n')
	if e.Asked != nil {
		out.WriteString("    asks for: " + string(e.Asked.Op) + "\n")
	}
	if e.Rationale != "" {
		out.WriteString("    why: " + e.Rationale + "\n")
	}
	for _, item := range e.Retired {
		out.WriteString("    retired: " + strings.ReplaceAll(item, "\n", " ") + "\n")
	}
	if e.Override != "" {
		out.WriteString("    over the cap: " + e.Override + "\n")
	}
	if len(e.Evidence) > 0 {
		out.WriteString("    evidence: " + strings.Join(e.Evidence, ", ") + "\n")
	}
	if e.RefersTo != "" {
		out.WriteString("    about: " + e.RefersTo + "\n")
	}
	return out.String()
}

func (e command) newDiff() *cobra.Command {
	var from, to string
	cmd := e.command(&cobra.Command{
		Use:   "diff FILE",
		Short: "Show how a workspace file changed between two events or times",
		Long: `Show how a workspace file changed, as a unified diff: from --from to --to, each the id or token of an event, a time
(2026-01-02T15:04:05Z) or a day, whose end is meant. Without --from it begins before the last event up to --to,
without --to it ends now.`,
		Args: cli.Exactly("FILE"),
	}, func(ctx context.Context, editor *edit.Editor, args []string) error {
		changed, err := editor.Diff(ctx, args[0], from, to)
		if err != nil {
			return err
		}
		text := unified(changed)
		return e.Answer(map[string]string{"file": args[0], "from": changed.From, "to": changed.To, "diff": text}, text)
	})
	cmd.Flags().StringVar(&from, "from", "", "the text after this event, or at this time")
	cmd.Flags().StringVar(&to, "to", "", "the text after this event, or at this time")
	return cmd
}
