package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/dream"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
)

// dreamSettings are the thresholds of dreaming.
var dreamSettings = []setting{"dream-min-score", "dream-min-hits", "dream-min-days"}

func addDreams(flags *pflag.FlagSet, t *dream.Thresholds) {
	flags.Float64Var(&t.Score, "dream-min-score", dream.DefaultScore, "the least score of a memory that dreaming promotes")
	flags.IntVar(&t.Hits, "dream-min-hits", dream.DefaultHits, "how often it was recalled at least")
	flags.IntVar(&t.Days, "dream-min-days", dream.DefaultDays, "on how many days at least")
}

func checkDreams(t dream.Thresholds) error {
	switch {
	case !(t.Score >= 0 && t.Score <= 1):
		return setting("dream-min-score").wrong("dream min score: it is 0 to 1")
	case t.Hits < 1 || t.Hits > 1000:
		return setting("dream-min-hits").wrong("dream min hits: it is 1 to 1000")
	case t.Days < 1 || t.Days > dream.Window:
		return setting("dream-min-days").wrong("dream min days: it is 1 to %d", dream.Window)
	}
	return nil
}

// openDreams opens what sweeps the memory of a DM, nil in a group.
func openDreams(o serveOptions, view *workspace.View, memory *mesh.View, editor *edit.Editor) (*dream.Sweeper, error) {
	// SECURITY: a group has neither.
	if !view.Audience().IsDM() {
		return nil, nil
	}
	return dream.Open(dream.Options{
		Memory: memory, Workspace: view, Editor: editor, Dir: filepath.Join(o.workspace, memoryFolder), AgentID: o.agentID, Thresholds: o.dreams,
	})
}

// dreamt is `yamo-mcp dream --json`.
type dreamt struct {
	dream.Swept
	DryRun bool   `json:"dry_run"`        // nothing was written
	Diff   string `json:"diff,omitempty"` // of MEMORY.md, with --dry-run
}

// newDreamCommand is `yamo-mcp dream` (seed 002, dreaming).
func newDreamCommand(getenv func(string) string, stdout, stderr io.Writer) *cobra.Command {
	var o serveOptions
	var dryRun, review, asJSON bool
	var confirmed []string
	cmd := &cobra.Command{
		Use:   "dream",
		Short: "Promote what is recalled again and again into MEMORY.md",
		Long: fmt.Sprintf(`Promote memories that searches in direct conversations found often and on several days into MEMORY.md, and write a diary
into DREAMS.md. Recalls of the last %d days count; a memory is promoted once. What came from a group, what reads like an
instruction to the agent, and what is long is held back: --review lists it, --confirm promotes it.`, dream.Window),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := resolveDream(cmd.Flags(), &o, getenv); err != nil {
				return err
			}
			logger, err := newLogger(stderr, "warn")
			if err != nil {
				return err
			}
			return withDreams(o, getenv, logger, func(dreams *dream.Sweeper) error {
				answer := dreamt{DryRun: dryRun || review}
				if answer.DryRun {
					answer.Plan, err = dreams.Plan(cmd.Context(), confirmed)
				} else {
					answer.Swept, err = dreams.Sweep(cmd.Context(), confirmed)
				}
				if err != nil {
					return err
				}
				if dryRun {
					answer.Diff = string(diff.Diff("MEMORY.md", []byte(answer.Before), "MEMORY.md", []byte(answer.After)))
				}
				return writeAnswer(stdout, asJSON, answer, formatDream(answer, review))
			})
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&o.workspace, "workspace", "", "the workspace folder (required; or YAMO_WORKSPACE)")
	flags.StringVar(&o.agentID, "agent-id", "YAMO_AGENT", "the agent's name in what is written (or YAMO_AGENT_ID)")
	addDreams(flags, &o.dreams)
	o.git.addTo(flags)
	flags.BoolVar(&dryRun, "dry-run", false, "only show how MEMORY.md would change")
	flags.BoolVar(&review, "review", false, "only list the candidates, and why some are held back")
	flags.StringSliceVar(&confirmed, "confirm", nil, "promote these held memories too: their ids, with commas between them")
	flags.BoolVar(&asJSON, "json", false, "answer with JSON")
	return cmd
}

// resolveDream completes the options from the environment and the workspace's config file.
func resolveDream(flags *pflag.FlagSet, o *serveOptions, getenv func(string) string) error {
	if err := o.take(flags, slices.Concat([]setting{"agent-id"}, dreamSettings, gitSettings), getenv); err != nil {
		return err
	}
	if !agentID.MatchString(o.agentID) {
		return errAgentID
	}
	o.embedder.provider = localProvider // which is not loaded: nothing is searched
	return checkDreams(o.dreams)
}

// withDreams calls f with the sweeper of a workspace.
func withDreams(o serveOptions, getenv func(string) string, logger *slog.Logger, f func(*dream.Sweeper) error) (err error) {
	folder, err := openFolder(o.workspace, audience.DM(), o.git, o.agentID, getenv, logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	// SECURITY: the operator owns the workspace. No client reaches this.
	view := folder.View(audience.DM())
	memory, release, err := openMemory(o, audience.DM(), getenv, logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	editor, err := openEditor(view, memory, logger)
	if err != nil {
		return err
	}
	dreams, err := openDreams(o, view, memory, editor)
	if err != nil {
		return err
	}
	return f(dreams)
}

// formatDream is a line for the recalls and one for each candidate, or the diff.
func formatDream(d dreamt, review bool) string {
	if d.DryRun && !review {
		if d.Diff == "" {
			return "MEMORY.md stays as it is\n"
		}
		return d.Diff
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d recalls of %d memories in %d days\n", d.Recalls, d.Memories, dream.Window)
	verb := "promoted"
	if review {
		verb = "would promote"
	}
	for _, c := range d.Promote {
		fmt.Fprintf(&b, "%s %s: %s\n", verb, c.ID, c.Item())
	}
	for _, c := range d.Held {
		why := c.Held
		if c.Unfit != "" {
			why = append(why, "cannot be promoted: "+c.Unfit)
		}
		fmt.Fprintf(&b, "held back %s (%s): %s\n", c.ID, strings.Join(why, "; "), c.Item())
	}
	if d.Later > 0 {
		fmt.Fprintf(&b, "%d more wait for the next sweeps\n", d.Later)
	}
	if len(d.Promote) == 0 && !review {
		b.WriteString("nothing promoted\n")
	}
	if review && len(d.Held) > 0 {
		b.WriteString("to promote one that is held back: yamo-mcp dream --confirm ID\n")
	}
	return b.String()
}
