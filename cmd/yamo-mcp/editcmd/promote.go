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

// newPromote is `yamo-mcp promote`: alone it lists what could be.
func (e command) newPromote() *cobra.Command {
	var why, override string
	cmd := e.command(&cobra.Command{
		Use:   "promote [FILE NAME SECTION]",
		Short: "Move a subsection of a profile's Extensions into one of its sections",
		Long: `Move the subsection NAME (###) of the Extensions of a profile into SECTION, in one recorded edit: with its heading to
the end of a narrative section, its items to the end of a list. Evidence tokens in it go with it. Without arguments,
the subsections that Extensions have are listed, with how many profiles of a type have each.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 0 && len(args) != 3 {
				return fmt.Errorf("%q needs FILE NAME SECTION, or nothing to list what could be promoted, and here are %d: put what has spaces in it in quotes", cmd.Name(), len(args))
			}
			return nil
		},
	}, func(ctx context.Context, editor *edit.Editor, args []string) error {
		if len(args) == 0 {
			return e.listExtensions(editor)
		}
		name := strings.TrimPrefix(args[1], grammar.Extensions+"/")
		done, changed, err := editor.Promote(ctx, args[0], name, args[2], session.Operator, why, override)
		if err != nil {
			return err
		}
		text := unified(changed)
		return e.Answer(map[string]any{"edit": done.Event, "diff": text}, describeEvent(done.Event)+text)
	})
	cmd.Flags().StringVar(&why, "why", "", "why it belongs there (required)")
	cmd.Flags().StringVar(&override, "override", "", "why a cap is exceeded, for how long, when it is curated")
	return cmd
}

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
		text.WriteString("no profile has a subsection in its Extensions\n")
	}
	return e.Answer(list, text.String())
}
