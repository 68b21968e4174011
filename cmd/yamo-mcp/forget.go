package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/meshcmd"
	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/config"
	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/forget"
	"github.com/yamo-protocol/yamo-mcp/internal/session"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/skill"
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
	Doubtful []string      `json:"doubtful"` // memories and skills that are not: they may not be about it
	Spared   []string      `json:"spared"`   // what --keep named
	Left     []string      `json:"left"`
}

// newForgetCommand returns `yamo-mcp forget`.
func newForgetCommand(env cli.Env) *cobra.Command {
	c := cli.New(env)
	c.Nearby = true
	var dryRun, yes bool
	var keep []string
	cmd := &cobra.Command{
		Use:   "forget SUBJECT|ID",
		Short: "Erase everything that mentions a name or a subject, or one memory",
		Long: `With the ID of a memory or skill, show it, ask, and erase it permanently; the ID may be abbreviated.

Otherwise list everything that mentions a name or a subject: memories, lessons, reflections, skills, logged
queries, lines of workspace files and their edit history. Then ask, and erase all of it
permanently, but what --keep names. What is likely about the subject without naming it is listed and
not erased; erase it with yamo-mcp forget ID. So is what may have only the word of a name: with "prices
rose", forget Rose erases what surely names Rose, and forget rose all of it.

Give a person's full name. "P. Mendes", "Mr. Mendes", "Mendes, Paulo" and paulo.mendes@example.com are
Paulo Mendes; "Mendes" or "Paulo" without the other may be another, and is listed as in doubt; so is a
longer name, such as Paulo Mendes Street, or Paulo Costa for Paulo. Rita Mendes is somebody else, and not
listed. What cannot be erased is named, with what to do about it.`,
		Example: "  yamo-mcp forget Rose --dry-run\n  yamo-mcp forget Rose --keep 3f1c42 --keep USER.md:12",
		Args:    cli.Exactly("SUBJECT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.Load(cmd); err != nil {
				return err
			}
			return withForgetter(c, "forget", func(f forget.Forgetter) error {
				id, err := memoryNamed(cmd.Context(), f, args[0])
				if err != nil {
					return err
				}
				if id != "" && len(keep) > 0 {
					return cli.Misused("forget: --keep is for a subject, and %s is the ID of one memory", args[0])
				}
				if id != "" {
					return forgetOne(cmd.Context(), c, f.Memory, id, dryRun, yes)
				}
				subject, err := mesh.ParseSubject(args[0])
				if err != nil {
					return fmt.Errorf("forget %q: %w", args[0], err)
				}
				zone := f.Memory.Location()
				plan, err := f.Plan(cmd.Context(), subject)
				if err != nil {
					return err
				}
				if err := plan.Spare(keep); err != nil {
					return err
				}
				if dryRun || plan.Empty() {
					return c.Answer(newForgotten(plan, false), formatForgotten(plan, zone, "Would erase", subject))
				}
				if err := agreed(c, yes, "erase", "Erase all of it permanently? (--keep ID or FILE:LINE leaves something out)",
					func() string { return formatForgotten(plan, zone, "Will erase", subject) }); err != nil {
					return err
				}
				done, err := f.Forget(cmd.Context(), subject, plan)
				if err != nil {
					return err
				}
				return c.Answer(newForgotten(done, true), formatForgotten(done, zone, "Erased", subject))
			})
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&dryRun, "dry-run", false, "list what would be erased, and erase nothing")
	flags.BoolVar(&yes, "yes", false, "erase without asking")
	flags.StringArrayVar(&keep, "keep", nil, "ID, FILE:LINE or FILE of the list that is not erased (may be repeated)")
	cli.Exclusive(cmd, "dry-run", "yes")
	cmd.ValidArgsFunction = func(
		cmd *cobra.Command, args []string, begun string,
	) ([]cobra.Completion, cobra.ShellCompDirective) {
		const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
		if len(args) > 0 || c.Load(cmd) != nil {
			return nil, directive
		}
		return meshcmd.CompleteIDs(cmd.Context(), c, audience.DM(), begun), directive
	}
	c.AddFlags(flags, slices.Concat(config.EmbedderSettings, config.GitSettings)...)
	return cmd
}

// shortID is the end of an id, by which lists name a memory.
var shortID = regexp.MustCompile(`^[0-9a-f]{6}$`)

// memoryNamed returns the id of the memory or skill that the argument names, "" if it is a subject. Six hexadecimal
// digits may be a word as well, such as "decade"; what may mean both is refused.
func memoryNamed(ctx context.Context, f forget.Forgetter, argument string) (string, error) {
	if strings.HasPrefix(argument, "mem_") || strings.HasPrefix(argument, skill.Prefix+"_") {
		return meshcmd.Expand(ctx, f.Memory, argument)
	}
	if !shortID.MatchString(argument) {
		return "", nil
	}
	named, err := f.Memory.Named(ctx, argument)
	if err != nil || len(named) == 0 {
		return "", err
	}
	if subject, err := mesh.ParseSubject(argument); err == nil {
		plan, err := f.Plan(ctx, subject)
		if err != nil {
			return "", err
		}
		if !plan.Empty() {
			return "", fault.New("%q is the end of an ID, and a word that is mentioned: for the memory, give its whole ID, %s; "+
				"for the word, use other words that mention it", argument, named[0].ID)
		}
	}
	return meshcmd.Expand(ctx, f.Memory, argument)
}

// forgetOne shows a memory or skill, asks, and erases it.
func forgetOne(ctx context.Context, c *cli.Command, memory *mesh.View, id string, dryRun, yes bool) error {
	named, err := memory.Named(ctx, id)
	if err != nil {
		return err
	}
	shown := fmt.Sprintf("%s (%s) %s\n", id, named[0].Visibility, text.Shorten(text.Line(named[0].Text), 300))
	derived, err := memory.DerivedFrom(ctx, id)
	if err != nil {
		return err
	}
	if len(derived) > 0 {
		shown += "Made of it, and erased with it if they quote it: " + strings.Join(derived, ", ") + "\n"
	}
	// What replaced another is often a correction: without it, what was wrong is current again.
	revived, lines := []string{}, []string{}
	if hit, err := memory.Get(ctx, id); err == nil && hit.Past == nil { // fails for a skill
		for _, past := range hit.Replaced {
			revived = append(revived, past.ID)
			lines = append(lines, fmt.Sprintf("It replaced %s, which is current again without it: %s\n", past.ID,
				text.Shorten(text.Line(past.Content), 300)))
		}
	}
	if len(revived) > 0 {
		shown += strings.Join(lines, "") + "Forget that too if it is wrong: yamo-mcp forget ID\n"
	}
	if dryRun {
		return c.Answer(map[string]any{"id": id, "deleted": false, "derived": derived, "revived": revived},
			"Would erase "+shown)
	}
	if err := agreed(c, yes, "erase", "Erase it permanently?",
		func() string { return "Will erase " + shown }); err != nil {
		return err
	}
	if yes { // nothing was shown
		_, _ = fmt.Fprint(c.Stderr, strings.Join(lines, ""))
	}
	return meshcmd.Delete(ctx, c, memory, id)
}

// agreed shows what will be done, which the verb names, and asks, unless yes. With --json and without a terminal it
// neither shows nor asks: what reads the output is a program, which would wait for a question that it cannot see.
func agreed(c *cli.Command, yes bool, verb, question string, shown func() string) error {
	if yes {
		return nil
	}
	if c.JSON && !cli.IsTerminal(c.Stdin) {
		return cli.Misused("nothing was changed, because there is no terminal to ask on: use --yes to %s without a "+
			"question, or --dry-run for a list", verb)
	}
	fmt.Fprint(c.Stderr, shown())
	switch agreed, err := confirm(c.Stderr, bufio.NewReader(c.Stdin), question); {
	case agreed:
		return nil
	case err != nil:
		return fmt.Errorf("nothing was changed: no answer; use --yes to %s without a question", verb)
	default:
		return errors.New("nothing was changed")
	}
}

// refuseGroup returns an error in the environment of a group's session, with why and what unsetting it allows.
//
// SECURITY: a command that a group's session runs has these, and must neither show nor change what is private.
func refuseGroup(c *cli.Command, why, to string) error {
	if c.Getenv("YAMO_GROUP") == "" && c.Getenv("YAMO_CONNECTION") != "group" {
		return nil
	}
	return cli.Misused("%s; unset YAMO_GROUP and YAMO_CONNECTION to %s", why, to)
}

// withForgetter calls perform with what forgets in the workspace, and closes everything that it opened.
func withForgetter(c *cli.Command, name string, perform func(forget.Forgetter) error) error {
	if err := refuseGroup(c, name+": it reads and changes private memories and files, which are not a group's",
		"run it as the operator"); err != nil {
		return err
	}
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
		editor, err := session.OpenEditor(options, view, memory, nil)
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
		Related: ids(p.Related), Left: append([]string{}, p.Left...), Doubtful: ids(p.Doubtful),
		Spared: append([]string{}, p.Spared...),
	}
	for _, s := range p.DoubtfulSkills {
		f.Doubtful = append(f.Doubtful, s.ID)
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

// headline counts what is erased, or tells that nothing is.
func headline(p forget.Plan, did string, subject mesh.Subject) string {
	kept := slices.ContainsFunc(p.Lines, func(l forget.Line) bool { return !l.Doubtful() }) // all are: p is empty
	switch {
	case !p.Empty() || did == "Erased":
		return did + " " + p.Summary() + ".\n"
	case len(p.Spared) > 0:
		return fmt.Sprintf("Nothing is left to erase that mentions %q.\n", subject.Text)
	case kept:
		return fmt.Sprintf("Nothing that can be erased mentions %q.\n", subject.Text)
	case p.Unsure():
		return fmt.Sprintf("Nothing surely mentions %q.\n", subject.Text)
	default:
		return fmt.Sprintf("Nothing mentions %q.\n", subject.Text)
	}
}

// formatForgotten returns a plan, or what was erased, as text with the dates of zone.
func formatForgotten(p forget.Plan, zone *time.Location, did string, subject mesh.Subject) string {
	var b strings.Builder
	b.WriteString(headline(p, did, subject))
	memory := func(h record.Hit) {
		fmt.Fprintf(&b, "  %s %s (%s) %s\n", h.ID, h.CreatedAt.In(zone).Format(time.DateOnly), h.Visibility,
			text.Shorten(text.OneLine(h.Content), 100))
	}
	going := ids(p.Memories)
	for _, h := range p.Memories {
		memory(h)
		for _, past := range h.Replaced {
			if h.Past == nil && !slices.Contains(going, past.ID) {
				fmt.Fprintf(&b, "    it replaced %s, which is current again without it: %s\n", past.ID,
					text.Shorten(text.OneLine(past.Content), 100))
			}
		}
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
	if len(p.Doubtful)+len(p.DoubtfulSkills) > 0 {
		b.WriteString("In doubt, and not erased: it may contain only the word, or be about another. " +
			"To erase one too, run yamo-mcp forget ID:\n")
		for _, h := range p.Doubtful {
			memory(h)
		}
		for _, s := range p.DoubtfulSkills {
			fmt.Fprintf(&b, "  %s %s\n", s.ID, s.Name)
		}
	}
	advice := ""
	for _, l := range p.Lines {
		if !l.Doubtful() {
			continue
		}
		if l.Kept != advice {
			advice = l.Kept
			fmt.Fprintf(&b, "In doubt, and not erased: %s:\n", advice)
		}
		fmt.Fprintf(&b, "  %s:%d %s\n", l.File, l.Line, text.Shorten(l.Text, 100))
	}
	if len(p.Related) > 0 {
		b.WriteString("Not erased, but likely about it. To erase one too, run yamo-mcp forget ID:\n")
		for _, h := range p.Related {
			memory(h)
		}
	}
	b.WriteString("Not erased:\n")
	for _, l := range p.Lines {
		if l.Kept != "" && !l.Doubtful() {
			fmt.Fprintf(&b, "  %s:%d %s\n", l.File, l.Line, l.Kept)
		}
	}
	for _, item := range p.Spared {
		b.WriteString("  " + item + ", as you asked\n")
	}
	for _, left := range p.Left {
		b.WriteString("  " + left + "\n")
	}
	return b.String()
}
