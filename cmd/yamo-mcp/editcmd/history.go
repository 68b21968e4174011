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

// newHistory returns `yamo-mcp history`, which reads the record only: the file may be gone.
func (e command) newHistory() *cobra.Command {
	var section string
	cmd := e.command(&cobra.Command{
		Use:   "history FILE",
		Short: "Show the edits of a workspace file: who, when and why",
		Long: `Show the history of a workspace file, oldest first: each edit with its time, actor, section and
reason, and the manual changes that were detected. FILE is relative to the workspace.`,
		Args: cli.Exactly("FILE"),
	}, func(ctx context.Context, editor *edit.Editor, args []string) error {
		events, err := editor.History(ctx, args[0], section)
		if err != nil {
			return err
		}
		// in JSON [] instead of null
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
			// Events that were erased together are one line.
			if erased++; i+1 == len(events) || events[i+1].Op != edit.OpErase {
				// Each erasure refers to the event that it erased, which no longer shows anything.
				event.Evidence, event.RefersTo = nil, ""
				text.WriteString(describeEvent(event) + fmt.Sprintf("    events erased: %d\n", erased))
				erased = 0
			}
		}
		if len(events) == 0 {
			// A misspelt name would otherwise look like a file that was never edited.
			if _, err := os.Stat(filepath.Join(e.Config.Workspace, args[0])); errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("%s: no such file in the workspace or in its record of edits", args[0])
			}
			if section != "" {
				fmt.Fprintf(&text, "no recorded edits of section %q of %s\n", section, args[0])
			} else {
				text.WriteString("no recorded edits\n")
			}
		}
		return e.Answer(events, text.String())
	})
	cmd.Flags().StringVar(&section, "section", "", "only edits of this section: its heading or anchor")
	return cmd
}

// describeEvent formats an event as a line, followed by indented details.
func describeEvent(e edit.Event) string {
	actor := e.Actor
	if actor == "" { // recorded by the program itself, such as a change by hand
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
		out.WriteString("    proposed: " + string(e.Asked.Op) + "\n")
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

// newDiff returns `yamo-mcp diff`. It replays the record, so that it shows the file at times when no copy of it was
// kept.
func (e command) newDiff() *cobra.Command {
	var from, to string
	cmd := e.command(&cobra.Command{
		Use:   "diff FILE",
		Short: "Show how a workspace file changed between two edits or times",
		Long: `Show how a workspace file changed, as a unified diff. --from and --to are each the ID or
evidence token of an event, a time (2026-01-02T15:04:05Z), or a day (2026-01-02), which means
its end. Without --to the diff ends with the file as it is now; without --from it starts before
the last event.`,
		Args: cli.Exactly("FILE"),
	}, func(ctx context.Context, editor *edit.Editor, args []string) error {
		changed, err := editor.Diff(ctx, args[0], from, to)
		if err != nil {
			return err
		}
		text := unified(changed)
		return e.Answer(map[string]string{"file": args[0], "from": changed.From, "to": changed.To, "diff": text}, text)
	})
	cmd.Flags().StringVar(&from, "from", "", "start of the diff: after this event or at this time")
	cmd.Flags().StringVar(&to, "to", "", "end of the diff: after this event or at this time")
	return cmd
}
