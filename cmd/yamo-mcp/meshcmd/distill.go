package meshcmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/learn"
)

// distillation is the answer of distill.
type distillation struct {
	Scanned    int         `json:"scanned"` // memories of the last 7 days
	DryRun     bool        `json:"dry_run"`
	Distilled  int         `json:"distilled"`
	Candidates []candidate `json:"candidates"`
}

// candidate is a failure, or several of one pattern, and what became of it.
type candidate struct {
	Outcome      string   `json:"outcome"` // distilled, possible (with --dry-run), known, incomplete or refused
	ErrorPattern string   `json:"error_pattern,omitempty"`
	Scope        string   `json:"applicable_scope,omitempty"`
	PatternID    string   `json:"pattern_id,omitempty"`
	Memories     []string `json:"memories"`
	Because      []string `json:"because"` // error, candidate, repeated
	Missing      []string `json:"missing,omitempty"`
	Reason       string   `json:"reason,omitempty"`
	LessonID     string   `json:"lesson_id,omitempty"`
	Severity     string   `json:"severity,omitempty"`
	Rule         string   `json:"preventative_rule,omitempty"`
}

// newDistill returns `yamo-mcp mesh distill`, the cycle of RFC-0011 §8 that servers run as a heartbeat check.
func (m *command) newDistill() *cobra.Command {
	var dryRun bool
	cmd := m.command(&cobra.Command{
		Use:   "distill",
		Short: "Derive lessons from recent failures (the cycle of RFC-0011 §8)",
		Long: `Derive lessons from recent failures: from memories of the last 24 hours whose metadata has
"status":"error" or that have the tag ` + learn.CandidateTag + `, and from error patterns that occurred more than
once within 7 days. The parts of a lesson are read from the metadata (error_pattern, oversight, fix,
preventative_rule, severity, applicable_scope) or from lines such as "Fix: ..." in the text. Nothing
is invented: a failure that lacks a part is reported, and can be completed with the tool
distill_lesson. A failure is not distilled twice.`,
	}, func(ctx context.Context, memory *mesh.View, _ []string) error {
		cycle, err := memory.RunCycle(ctx, dryRun)
		if err != nil {
			return err
		}
		answer := distillation{Scanned: cycle.Scanned, DryRun: cycle.DryRun, Candidates: []candidate{}}
		for _, c := range cycle.Candidates {
			if c.Outcome == mesh.OutcomeDistilled {
				answer.Distilled++
			}
			answer.Candidates = append(answer.Candidates, candidate{
				Outcome: c.Outcome, ErrorPattern: c.ErrorPattern, Scope: c.Scope, PatternID: c.PatternID, Memories: c.Memories,
				Because: c.Because, Missing: c.Missing, Reason: c.Reason, LessonID: c.LessonID, Severity: c.Severity, Rule: c.Rule,
			})
		}
		return m.Answer(answer, formatDistillation(answer))
	})
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show which lessons would be created, without creating them")
	return cmd
}

// formatDistillation formats the scan as a line and each candidate as one.
func formatDistillation(d distillation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[MemoryMesh] Scanned %d memories: %d candidates, %d lessons distilled\n",
		d.Scanned, len(d.Candidates), d.Distilled)
	for _, c := range d.Candidates {
		name := strings.Join(c.Memories, ", ")
		if c.ErrorPattern != "" {
			name = c.ErrorPattern + " (" + name + ")"
		}
		switch c.Outcome {
		case mesh.OutcomeDistilled:
			fmt.Fprintf(&b, "[MemoryMesh] Distilled lesson %s from %s: [%s] %s\n", c.LessonID, name, c.Severity, c.Rule)
		case mesh.OutcomePossible:
			fmt.Fprintf(&b, "[MemoryMesh] Would distill %s: [%s] %s\n", name, c.Severity, c.Rule)
		case mesh.OutcomeIncomplete:
			fmt.Fprintf(&b, "[MemoryMesh] Incomplete %s: %s\n", name, c.Reason)
		// Known and refused candidates: their reasons say which.
		default:
			fmt.Fprintf(&b, "[MemoryMesh] Skipped %s: %s\n", name, c.Reason)
		}
	}
	return b.String()
}
