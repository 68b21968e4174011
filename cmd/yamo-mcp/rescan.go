package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/internal/config"
	"github.com/yamo-protocol/yamo-mcp/internal/forget"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub"
)

// rescanned is the answer of `yamo-mcp rescan`.
type rescanned struct {
	Changed      bool             `json:"changed"` // false: this is what would be
	Compartments []mesh.Rescanned `json:"compartments"`
	Left         []string         `json:"left"` // what is not changed: where, and what the person can do
}

// newRescanCommand returns `yamo-mcp rescan`.
func newRescanCommand(env cli.Env) *cobra.Command {
	c := cli.New(env)
	c.Nearby = true
	var dryRun, yes bool
	cmd := &cobra.Command{
		Use:   "rescan",
		Short: "Redact what was stored before a secret of its kind was recognized",
		Long: `Look at every memory, lesson, reflection, skill and logged query of all compartments with the present
rules, list what they would redact today, ask, and redact it. The earlier text is erased permanently
from the ledgers, the vectors and the index; ids, links and feedback stay. Do this after an update,
or after a change of redact-list. Contact details that keep-contacts has kept are redacted as well
if it is not set now.

Files of the workspace and their edit history are not changed: those with a credential are named,
with what to do about them. If it is interrupted, run it again.`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.Load(cmd); err != nil {
				return err
			}
			return withForgetter(c, "rescan", func(f forget.Forgetter) error {
				plan, err := f.Memory.Maintenance().Rescan(cmd.Context(), true)
				if err != nil {
					return err
				}
				left, err := leftByRescan(cmd.Context(), f, plan)
				if err != nil {
					return err
				}
				if dryRun {
					return c.Answer(rescanned{false, plan, left}, formatRescanned(plan, left, "Would redact"))
				}
				if len(plan) > 0 {
					if err := agreed(c, yes, "redact", "Erase what is redacted permanently?",
						func() string { return formatRescanned(plan, left, "Will redact") }); err != nil {
						return err
					}
				}
				// Also without a plan: an earlier rescan may have been interrupted.
				done, err := f.Memory.Maintenance().Rescan(cmd.Context(), false)
				if err != nil {
					return err
				}
				return c.Answer(rescanned{len(done) > 0, done, left}, formatRescanned(done, left, "Redacted"))
			})
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&dryRun, "dry-run", false, "list what would be redacted, and change nothing")
	flags.BoolVar(&yes, "yes", false, "redact without asking")
	cli.Exclusive(cmd, "dry-run", "yes")
	c.AddFlags(flags, slices.Concat(config.LearningSettings, config.EmbedderSettings, config.GitSettings)...)
	return cmd
}

// leftByRescan names what a rescan does not change and has a credential.
func leftByRescan(ctx context.Context, f forget.Forgetter, plan []mesh.Rescanned) ([]string, error) {
	left := []string{}
	for _, r := range plan {
		if r.Reasons > 0 {
			left = append(left, fmt.Sprintf("%s of deletions in the %s ledger, which cannot be erased",
				text.Count(r.Reasons, "reason", "reasons"), r.Compartment))
		}
	}
	names := f.Workspace.Present()
	for _, file := range f.Workspace.Searched() {
		names = append(names, file.Name)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		data, _, err := f.Workspace.Head(name)
		if err != nil {
			continue // missing, or refused, which doctor reports
		}
		number := 0
		for line := range strings.Lines(string(data)) {
			if number++; hasCredential(f.Memory, line) {
				left = append(left, fmt.Sprintf("%s:%d: edit it, and then erase its history with yamo-mcp record erase %s",
					name, number, name))
			}
		}
	}
	recorded, err := f.Editor.Mentioning(ctx, func(text string) bool { return hasCredential(f.Memory, text) })
	for _, name := range recorded {
		left = append(left, fmt.Sprintf("the edit history of %s: yamo-mcp record erase %s", name, name))
	}
	return left, err
}

// hasCredential reports whether a text of a file has a credential. Its contact details are meant to be there.
func hasCredential(memory *mesh.View, text string) bool {
	return slices.ContainsFunc(memory.Recognized(text), func(r scrub.Redaction) bool { return r.Kind.Secret() })
}

// formatRescanned returns a plan, or what was redacted, as text.
func formatRescanned(list []mesh.Rescanned, left []string, did string) string {
	var b strings.Builder
	for _, r := range list {
		if len(r.Changes) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%s in the %s memory: %s.\n", did, r.Compartment, countRedactions(r.Redactions))
		for _, change := range r.Changes {
			named := change.ID
			if named == "" {
				named = "a logged query"
			}
			fmt.Fprintf(&b, "  %s %s (%s) %s\n", named, change.Time.Format(time.DateOnly), countRedactions(change.Redactions),
				change.Text)
		}
	}
	if b.Len() == 0 {
		b.WriteString("Nothing to redact.\n")
	}
	if len(left) > 0 {
		b.WriteString("Not changed:\n")
		for _, line := range left {
			b.WriteString("  " + line + "\n")
		}
	}
	return b.String()
}

// countRedactions returns "2 password, 1 card".
func countRedactions(list []scrub.Redaction) string {
	parts := make([]string, len(list))
	for i, r := range list {
		parts[i] = fmt.Sprintf("%d %s", r.Count, r.Kind)
	}
	return strings.Join(parts, ", ")
}
