package editcmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
)

// replayed is `yamo-mcp replay --json`.
type replayed struct {
	File   string      `json:"file"`
	Text   string      `json:"text"`
	Exists bool        `json:"exists"`
	Events int         `json:"events"`
	Last   string      `json:"last_event"`
	Drift  *edit.Event `json:"drift,omitempty"`
}

func (e command) newReplay() *cobra.Command {
	var to string
	cmd := e.command(&cobra.Command{
		Use:   "replay FILE",
		Short: "Make a workspace file again from its first snapshot and its events",
		Long: `Print a workspace file as its first snapshot and its events make it, up to --to: the id or token of an event, a
time (2026-01-02T15:04:05Z) or a day, whose end is meant. The file itself is not touched. Every line of the
record is checked on the way. A replay halts before a drift that nobody has accepted, and then exits with 1.`,
		Args: cli.Exactly("FILE"),
	}, func(ctx context.Context, editor *edit.Editor, args []string) error {
		r, err := editor.Replay(ctx, args[0], to)
		if err != nil {
			return err
		}
		if err := e.Answer(replayed{args[0], r.Text, r.Exists, r.Events, r.Last, r.Drift}, r.Text); err != nil {
			return err
		}
		switch {
		case r.Drift != nil:
			return fmt.Errorf("%s drifted at %s: %s. Decide with yamo-mcp drift accept or drift restore", args[0], r.Drift.Time, r.Drift.Rationale)
		case !r.Exists && to == "":
			return fmt.Errorf("%s is not there any more; --to makes an earlier text of it", args[0])
		case !r.Exists:
			return fmt.Errorf("%s was not there then", args[0])
		}
		return nil
	})
	cmd.Flags().StringVar(&to, "to", "", "the last event to replay, or the time")
	return cmd
}
