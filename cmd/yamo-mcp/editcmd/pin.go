package editcmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/internal/session"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
)

// newPin returns `yamo-mcp pin`, unpin, lock or unlock. There is no tool for them: a pin protects a section from what a
// session can be talked into, so that no session can remove one.
func (e command) newPin(use, op, done, short string) *cobra.Command {
	return e.command(&cobra.Command{
		Use:   use + " [FILE#SECTION]",
		Short: short,
		Long: short + `.

SECTION is a heading or an anchor; FILE without a section means the whole file. Without an argument,
the pinned and locked sections are listed.`,
		Args: cli.AtMost("FILE#SECTION"),
	}, func(ctx context.Context, editor *edit.Editor, args []string) error {
		if len(args) == 0 {
			return e.listPins(ctx, editor)
		}
		pin, err := editor.SetPin(ctx, args[0], op, session.Operator)
		if err != nil {
			return err
		}
		return e.Answer(pin, fmt.Sprintf("%s %s\n", done, args[0]))
	})
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
