package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/config"
	"github.com/yamo-protocol/yamo-mcp/internal/dream"
	"github.com/yamo-protocol/yamo-mcp/internal/session"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/workspace"
)

// dreamt is the answer of `yamo-mcp dream`.
type dreamt struct {
	dream.Swept
	DryRun   bool     `json:"dry_run"`            // nothing was changed
	Rejected []string `json:"rejected,omitempty"` // IDs of memories that no sweep offers any more
	Diff     string   `json:"diff,omitempty"`     // of MEMORY.md, with --dry-run
}

// newDreamCommand returns `yamo-mcp dream` (seed 002, dreaming). What a group said is promoted only with --confirm, by
// a person who has read it.
func newDreamCommand(env cli.Env) *cobra.Command {
	c := cli.New(env)
	c.Nearby = true
	var dryRun, review, undo bool
	var confirmed, rejected []string
	cmd := &cobra.Command{
		Use:   "dream",
		Short: "Promote memories that are recalled often to MEMORY.md",
		Long: fmt.Sprintf(`Promote to MEMORY.md the memories that searches in direct conversations found often and on several
days, and write a diary to DREAMS.md. Recalls of the last %d days count, and a memory is promoted only
once. Memories that come from a group, a document or an import, that read like an instruction or a
permission, are about the agent or are long are held back: --review lists them, --confirm promotes
them, --reject settles that no sweep offers them again. --undo takes the last sweep back.`, dream.Window),
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.Load(cmd); err != nil {
				return err
			}
			return withDreams(c, func(dreams *dream.Sweeper) (err error) {
				if undo {
					undone, err := dreams.Undo(cmd.Context(), "asked for")
					if err != nil {
						return err
					}
					return c.Answer(undone, formatUndone(undone))
				}
				answer := dreamt{DryRun: dryRun || review, Rejected: rejected}
				if len(rejected) > 0 && !answer.DryRun {
					if err := dreams.Reject(cmd.Context(), rejected); err != nil {
						return err
					}
				}
				// Plan writes nothing, not even the diary.
				if answer.DryRun {
					answer.Plan, err = dreams.Plan(cmd.Context(), confirmed)
				} else {
					answer.Swept, err = dreams.Sweep(cmd.Context(), confirmed)
				}
				if err != nil {
					return err
				}
				if dryRun {
					answer.Diff = string(diff.Diff(workspace.MemoryFile, []byte(answer.Before),
						workspace.MemoryFile, []byte(answer.After)))
				}
				return c.Answer(answer, formatDream(answer, review))
			})
		},
	}
	flags := cmd.Flags()
	c.AddFlags(flags, slices.Concat([]config.Setting{config.AgentIDSetting},
		config.DreamSettings, config.GitSettings)...)
	flags.BoolVar(&dryRun, "dry-run", false, "show how MEMORY.md would change, without changing it")
	flags.BoolVar(&review, "review", false, "list the candidates, and why some are held back, without changing anything")
	// By ID and not "all": what was said in a group is promoted only after a person has read that very text.
	flags.StringSliceVar(&confirmed, "confirm", nil,
		"also promote these memories that are held back or left out: IDs, separated by commas")
	flags.StringSliceVar(&rejected, "reject", nil,
		"never offer these memories for promotion again: IDs, separated by commas")
	flags.BoolVar(&undo, "undo", false, "take back what the last sweep changed in MEMORY.md and DREAMS.md")
	for _, changing := range []string{"reject", "undo"} {
		cmd.MarkFlagsMutuallyExclusive(changing, "dry-run")
		cmd.MarkFlagsMutuallyExclusive(changing, "review")
	}
	cmd.MarkFlagsMutuallyExclusive("undo", "confirm")
	cmd.MarkFlagsMutuallyExclusive("undo", "reject")
	return cmd
}

// withDreams calls perform with the sweeper of the workspace, and closes everything that it opened.
func withDreams(c *cli.Command, perform func(*dream.Sweeper) error) error {
	options, err := c.Options()
	if err != nil {
		return err
	}
	// SECURITY: the operator owns the workspace. No client reaches this.
	who := audience.DM()
	folder, err := session.OpenFolder(options, who, options.Config.Session.AgentID)
	if err != nil {
		return err
	}
	return errors.Join(c.WithMemory(who, func(memory *mesh.View) error {
		view := folder.View(who)
		editor, err := session.OpenEditor(options, view, memory, nil)
		if err != nil {
			return err
		}
		dreams, err := session.OpenDreams(options, view, memory, editor)
		if err != nil {
			return err
		}
		return perform(dreams)
	}), folder.Close())
}

// formatDream formats the answer: the diff for --dry-run, else a line for the recalls and one for each candidate.
func formatDream(d dreamt, review bool) string {
	if d.DryRun && !review {
		if d.Diff == "" {
			return "MEMORY.md would not change\n"
		}
		return d.Diff
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d recalls of %d memories in %d days\n", d.Recalls, d.Memories, dream.Window)
	for _, id := range d.Rejected {
		fmt.Fprintf(&b, "rejected %s\n", id)
	}
	verb := "promoted"
	if review {
		verb = "would promote"
	}
	for _, c := range d.Promote {
		fmt.Fprintf(&b, "%s %s (said by %s): %s\n", verb, c.ID, c.Said, c.Item())
	}
	moved := "moved to the archive"
	if review {
		moved = "would move to the archive"
	}
	for _, r := range d.Retire {
		fmt.Fprintf(&b, "%s %s (%s): %s\n", moved, r.ID, r.Why, r.Item)
	}
	for _, c := range d.Held {
		// A memory can be held back for several reasons at once; a person who confirms it must know all of them.
		why := c.Held
		if c.Unfit != "" {
			why = append(why, "cannot be promoted: "+c.Unfit)
		}
		fmt.Fprintf(&b, "held back %s (%s): %s\n", c.ID, strings.Join(why, "; "), c.Item())
	}
	for _, c := range d.Left {
		if review {
			fmt.Fprintf(&b, "left out %s (%s): %s\n", c.ID, c.Left, c.Item())
		}
	}
	if d.Later > 0 {
		fmt.Fprintf(&b, "%d more candidates are left for the next sweeps\n", d.Later)
	}
	if len(d.Promote) == 0 && !review {
		b.WriteString("nothing promoted\n")
	}
	if review && len(d.Held) > 0 {
		b.WriteString("To promote a memory that is held back: yamo-mcp dream --confirm ID\n" +
			"To settle that it is never offered again: yamo-mcp dream --reject ID\n")
	}
	return b.String()
}

// formatUndone formats what --undo took back.
func formatUndone(u dream.Undone) string {
	var b strings.Builder
	fmt.Fprintf(&b, "took back the sweep of %s in %s\n", u.Time, strings.Join(u.Files, " and "))
	for _, id := range u.Events {
		fmt.Fprintf(&b, "undone: %s\n", id)
	}
	for _, k := range u.Kept {
		if k.Now == "" {
			fmt.Fprintf(&b, "removed since from %s: %s\n", k.File, k.Wrote)
			continue
		}
		fmt.Fprintf(&b, "left in %s, because it was changed since: %s\n  the sweep wrote: %s\n", k.File, k.Now, k.Wrote)
	}
	b.WriteString("No sweep promotes or moves these again, unless --confirm names them. " +
		"yamo-mcp history MEMORY.md lists the edits; an undo can be undone too.\n")
	return b.String()
}
