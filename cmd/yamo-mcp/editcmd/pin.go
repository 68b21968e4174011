package editcmd

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/meshcmd"
	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/session"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
)

// newPin returns `yamo-mcp pin`, unpin, lock or unlock. There is no tool for them: a pin protects a section from what a
// session can be talked into, so that no session can remove one.
func (e command) newPin(use, op, done, short string) *cobra.Command {
	what, more := "FILE#SECTION", ""
	pins := op == edit.OpPin || op == edit.OpUnpin
	if pins {
		what += "|ID"
		more = ` ID is that of a memory, and may be abbreviated: a pinned
memory is in the brief of each session, and in yamo-mcp list --tag pinned.`
	}
	cmd := e.command(&cobra.Command{
		Use:   use + " [" + what + "]",
		Short: short,
		Long: short + `.

SECTION is a heading or an anchor; FILE without a section means the whole file. Without an argument,
the pinned and locked sections are listed.` + more,
		Args: cli.AtMost(what),
	}, func(ctx context.Context, editor *edit.Editor, args []string) error {
		if pins && len(args) > 0 && memoryID.MatchString(args[0]) {
			return e.pinMemory(ctx, args[0], op == edit.OpPin, done)
		}
		if len(args) == 0 {
			return e.listPins(ctx, editor)
		}
		pin, err := editor.SetPin(ctx, args[0], op, session.Operator)
		if err != nil {
			return err
		}
		return e.Answer(pin, fmt.Sprintf("%s %s\n", done, args[0]))
	})
	if pins {
		cmd.ValidArgsFunction = e.completePinnable
	}
	return cmd
}

// memoryID is an id of a memory, or its end; the files that have sections are Markdown.
var memoryID = regexp.MustCompile(`^(mem_[0-9a-z_]*|[0-9a-f]{4,6})$`)

// pinnedMemory is the answer of pin and unpin for a memory.
type pinnedMemory struct {
	ID      string `json:"id"`
	Pinned  bool   `json:"pinned"`
	Changed bool   `json:"changed"`
}

// pinMemory pins or unpins a memory, which is a tag of it: the brief of a session begins with what has it.
func (e command) pinMemory(ctx context.Context, short string, on bool, done string) error {
	// SECURITY: the operator owns the workspace. No client reaches this.
	return e.WithMemory(audience.DM(), func(memory *mesh.View) error {
		id, err := meshcmd.Expand(ctx, memory, short)
		if err != nil {
			return err
		}
		changed, err := memory.SetTag(ctx, id, "pinned", on)
		if err != nil {
			return err
		}
		if !on { // tags are also written with a sign
			also, err := memory.SetTag(ctx, id, "#pinned", false)
			if err != nil {
				return err
			}
			changed = changed || also
		}
		return e.Answer(pinnedMemory{id, on, changed}, fmt.Sprintf("%s %s\n", done, id))
	})
}

// completePinnable offers the ids of memories, and files for everything else.
func (e command) completePinnable(
	cmd *cobra.Command, args []string, begun string,
) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 || e.Load(cmd) != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return append(e.files(begun), meshcmd.CompleteIDs(cmd.Context(), e.Command, audience.DM(), begun)...),
		cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// listPins prints pins and locks. One whose section no longer exists is listed as void, to be removed.
func (e command) listPins(ctx context.Context, editor *edit.Editor) error {
	pins, err := editor.Pins(ctx)
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, pin := range pins {
		fmt.Fprintf(&text, "%s\t%s#%s", pin.Kind, pin.File, pin.Anchor)
		// Listed, so that a person who renamed a heading by hand notices that it lost its protection.
		if pin.Void {
			text.WriteString("\tvoid: the section no longer exists")
		}
		text.WriteByte('\n')
	}
	if len(pins) == 0 {
		text.WriteString("no pinned or locked sections\n")
	}
	return e.Answer(pins, text.String())
}
