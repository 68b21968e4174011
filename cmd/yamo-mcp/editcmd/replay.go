package editcmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
)

// replayed is the answer of `yamo-mcp replay`.
type replayed struct {
	File   string      `json:"file"`
	Text   string      `json:"text"`
	Exists bool        `json:"exists"` // false: it was deleted, or was not created yet
	Events int         `json:"events"` // that were applied
	Last   string      `json:"last_event"`
	Drift  *edit.Event `json:"drift,omitempty"` // at which the replay stopped
}

// newReplay returns `yamo-mcp replay`. It prints what it could reconstruct and then fails if that is not the whole
// file, so that a person sees the text up to a drift.
func (e command) newReplay() *cobra.Command {
	var to string
	cmd := e.command(&cobra.Command{
		Use:   "replay FILE",
		Short: "Reconstruct a workspace file from its recorded edits",
		Long: `Reconstruct a workspace file from its first snapshot and its recorded edits, and print it. --to
stops at the ID or evidence token of an event, a time (2026-01-02T15:04:05Z), or a day, which
means its end. The file itself is not changed. Every line of the record is checked. At a drift
that has not been accepted the replay stops and exits with 1.`,
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
		// After the answer: what was reconstructed up to the drift is still useful.
		case r.Drift != nil:
			return fmt.Errorf("%s drifted at %s: %s. Run yamo-mcp drift accept or yamo-mcp drift restore",
				args[0], r.Drift.Time, r.Drift.Rationale)
		case !r.Exists && to == "":
			return fmt.Errorf("%s no longer exists; use --to for an earlier version", args[0])
		case !r.Exists:
			return fmt.Errorf("%s did not exist at that time", args[0])
		}
		return nil
	})
	cmd.Flags().StringVar(&to, "to", "", "last event to replay, or a time")
	return cmd
}
