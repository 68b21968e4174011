package editcmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/internal/session"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// newPromote returns `yamo-mcp promote` (seed 004). Without arguments it lists what could be promoted: a subsection
// that several profiles have deserves a section.
func (e command) newPromote() *cobra.Command {
	var why, override string
	cmd := e.command(&cobra.Command{
		Use:   "promote [FILE NAME SECTION]",
		Short: "Move a subsection of a profile's Extensions into one of its sections",
		Long: `Move the subsection NAME (###) of a profile's Extensions into SECTION, as one recorded edit.
Into a narrative section it is moved with its heading, into a list section its items are
appended. Evidence tokens are kept. Without arguments, the subsections of all Extensions are
listed, with the number of profiles that have each.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 0 && len(args) != 3 {
				return fmt.Errorf("%q requires FILE NAME SECTION, or no arguments to list subsections; got %d: "+
					"quote an argument that contains spaces", cmd.Name(), len(args))
			}
			return nil
		},
	}, func(ctx context.Context, editor *edit.Editor, args []string) error {
		if len(args) == 0 {
			return e.listExtensions(editor)
		}
		// NAME may be given the way an edit addresses it: Extensions/NAME.
		name := strings.TrimPrefix(args[1], grammar.Extensions+"/")
		done, changed, err := editor.Promote(ctx, args[0], name, args[2], session.Operator, why, override)
		if err != nil {
			return err
		}
		text := unified(changed)
		return e.Answer(map[string]any{"edit": done.Event, "diff": text}, describeEvent(done.Event)+text)
	})
	cmd.Flags().StringVar(&why, "why", "", "reason for the move (required)")
	cmd.Flags().StringVar(&override, "override", "", overrideHelp)
	return cmd
}

// listExtensions prints the subsections of all Extensions with their number of profiles.
func (e command) listExtensions(editor *edit.Editor) error {
	list, err := editor.Extensions()
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, x := range list {
		fmt.Fprintf(&text, "%d\t%s\t%s\t%s\n", len(x.Files), x.Type, x.Name, strings.Join(x.Files, ", "))
	}
	if len(list) == 0 {
		text.WriteString("no profile has subsections in its Extensions\n")
	}
	return e.Answer(list, text.String())
}
