package main

import (
	"bufio"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/config"
	"github.com/yamo-protocol/yamo-mcp/internal/forget"
	"github.com/yamo-protocol/yamo-mcp/internal/session"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// forgotten is the answer of `yamo-mcp forget`.
type forgotten struct {
	Erased   bool          `json:"erased"` // false: this is what would be
	Memories []string      `json:"memories"`
	Skills   []string      `json:"skills"`
	Queries  int           `json:"queries"` // logged ones, and prompts that hooks keep
	Lines    []forget.Line `json:"lines"`
	Recorded []string      `json:"recorded"` // files whose edit history mentions it
	Related  []string      `json:"related"`  // memories that are not erased
	Left     []string      `json:"left"`
}

// newForgetCommand returns `yamo-mcp forget`.
func newForgetCommand(env cli.Env) *cobra.Command {
	c := cli.New(env)
	c.Nearby = true
	var dryRun, yes bool
	cmd := &cobra.Command{
		Use:   "forget SUBJECT",
		Short: "Erase everything that mentions a name or a subject",
		Long: `List everything that mentions a name or a subject: memories, lessons, reflections, skills, logged
queries, lines of workspace files and their edit history. Then ask, and erase all of it
permanently. What is likely about the subject without naming it is listed and not erased; erase it
with yamo-mcp mesh delete. What cannot be erased is named, with what to do about it.`,
		Args: cli.Exactly("SUBJECT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			subject, err := mesh.ParseSubject(args[0])
			if err != nil {
				return err
			}
			if err := c.Load(cmd); err != nil {
				return err
			}
			return withForgetter(c, func(f forget.Forgetter) error {
				plan, err := f.Plan(cmd.Context(), subject)
				if err != nil {
					return err
				}
				if dryRun || plan.Empty() {
					return c.Answer(newForgotten(plan, false), formatForgotten(plan, "Would erase"))
				}
				if !yes {
					fmt.Fprint(env.Stderr, formatForgotten(plan, "Will erase"))
					agreed, err := confirm(env.Stderr, bufio.NewReader(env.Stdin), "Erase all of it permanently?")
					if err != nil && !agreed {
						return errors.New("nothing was erased: no answer; use --yes to erase without a question")
					}
					if !agreed {
						return errors.New("nothing was erased")
					}
				}
				done, err := f.Forget(cmd.Context(), subject)
				if err != nil {
					return err
				}
				return c.Answer(newForgotten(done, true), formatForgotten(done, "Erased"))
			})
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&dryRun, "dry-run", false, "list what would be erased, and erase nothing")
	flags.BoolVar(&yes, "yes", false, "erase without asking")
	cli.Exclusive(cmd, "dry-run", "yes")
	c.AddFlags(flags, slices.Concat(config.EmbedderSettings, config.GitSettings)...)
	return cmd
}

// withForgetter calls perform with what forgets in the workspace, and closes everything that it opened.
func withForgetter(c *cli.Command, perform func(forget.Forgetter) error) error {
	options, err := c.Options()
	if err != nil {
		return err
	}
	// SECURITY: the operator owns the workspace. No client reaches this.
	who := audience.DM()
	folder, err := session.OpenFolder(options, who, session.Operator)
	if err != nil {
		return err
	}
	return errors.Join(c.WithMemory(who, func(memory *mesh.View) error {
		view := folder.View(who)
		editor, err := session.OpenEditor(options, view, memory)
		if err != nil {
			return err
		}
		return perform(forget.Forgetter{Memory: memory, Workspace: view, Editor: editor, Actor: session.Operator})
	}), folder.Close())
}

func newForgotten(p forget.Plan, erased bool) forgotten {
	f := forgotten{
		Erased: erased, Memories: ids(p.Memories), Skills: []string{}, Queries: p.Queries + p.Prompts,
		Lines: append([]forget.Line{}, p.Lines...), Recorded: append([]string{}, p.Recorded...),
		Related: ids(p.Related), Left: append([]string{}, p.Left...),
	}
	for _, s := range p.Skills {
		f.Skills = append(f.Skills, s.ID)
	}
	return f
}

func ids(hits []record.Hit) []string {
	list := []string{}
	for _, h := range hits {
		list = append(list, h.ID)
	}
	return list
}

// formatForgotten returns a plan, or what was erased, as text.
func formatForgotten(p forget.Plan, did string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s.\n", did, p.Summary())
	memory := func(h record.Hit) {
		fmt.Fprintf(&b, "  %s %s (%s) %s\n", h.ID, h.CreatedAt.Format(time.DateOnly), h.Visibility,
			text.Shorten(text.OneLine(h.Content), 100))
	}
	for _, h := range p.Memories {
		memory(h)
	}
	for _, s := range p.Skills {
		fmt.Fprintf(&b, "  %s %s\n", s.ID, s.Name)
	}
	for _, l := range p.Lines {
		if l.Kept == "" {
			fmt.Fprintf(&b, "  %s:%d %s\n", l.File, l.Line, text.Shorten(l.Text, 100))
		}
	}
	for _, name := range p.Recorded {
		fmt.Fprintf(&b, "  the edit history of %s\n", name)
	}
	if len(p.Related) > 0 {
		b.WriteString("Not erased, but likely about it (yamo-mcp mesh delete):\n")
		for _, h := range p.Related {
			memory(h)
		}
	}
	b.WriteString("Not erased:\n")
	for _, l := range p.Lines {
		if l.Kept != "" {
			fmt.Fprintf(&b, "  %s:%d %s\n", l.File, l.Line, l.Kept)
		}
	}
	for _, left := range p.Left {
		b.WriteString("  " + left + "\n")
	}
	return b.String()
}
