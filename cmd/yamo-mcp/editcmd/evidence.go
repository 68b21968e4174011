package editcmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/session"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
)

// newEvidence returns `yamo-mcp evidence`. Tokens name edits and memories alike, so that it opens both,
// with the view of a DM.
func (e command) newEvidence() *cobra.Command {
	return e.command(&cobra.Command{
		Use:   "evidence TOKEN",
		Short: "Show the edit or the memory that an evidence token names",
		Long: `Show the recorded edit or the memory that an evidence token (ev:YYYYMMDDThhmmssZ-ULID) names.
The event ID of an edit and the ID of a memory (mem_…) are accepted too; the first line of the
answer is their token.`,
		Args: cli.Exactly("TOKEN"),
	}, func(ctx context.Context, editor *edit.Editor, args []string) error {
		var found session.Evidence
		// SECURITY: a token names private edits and memories. This is the operator; the resource of evidence is a DM's
		// only.
		err := e.WithMemory(audience.DM(), func(memory *mesh.View) (err error) {
			found, err = session.ResolveEvidence(ctx, editor, memory, args[0])
			return err
		})
		if err != nil {
			return err
		}
		text := found.Token + "\n"
		if found.Event != nil {
			text += describeEvent(*found.Event)
			if found.Event.IsEdit() {
				text += fmt.Sprintf("    to see the change: yamo-mcp diff %s --to %s\n", found.Event.File, found.Event.ID)
			}
			if found.State != "" {
				text += "    " + found.State + "\n"
			}
			if found.Decision != nil {
				text += describeEvent(*found.Decision)
			}
		} else {
			m := found.Memory
			text += fmt.Sprintf("%s  %s  %s  %s, %s\n%s\n", m.ID, m.CreatedAt.UTC().Format("2006-01-02T15:04:05.000Z"),
				m.AgentID, m.Type, m.Visibility, m.Content)
		}
		return e.Answer(found, text)
	})
}
