package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/mesh"
)

// deletion is the answer of delete.
type deletion struct {
	ID      string   `json:"id"`
	Deleted bool     `json:"deleted"`
	Derived []string `json:"derived,omitempty"`
}

// statistics is the answer of stats.
type statistics struct {
	Memories int    `json:"total_memories"`
	Skills   int    `json:"total_skills"`
	Path     string `json:"db_path"`
	Status   string `json:"status"`
}

func (m *meshCommands) newGetCommand() *cobra.Command {
	var id string
	cmd := m.command(&cobra.Command{
		Use:   "get --id <id>",
		Short: "Show a memory or a skill",
	}, func(ctx context.Context, memory *mesh.View, _ []string) error {
		if strings.HasPrefix(id, "skill_") {
			return m.showSkill(ctx, memory, id)
		}
		hit, err := memory.Get(ctx, id)
		if err != nil {
			return err
		}
		return m.answer(newMatch(hit, nil),
			fmt.Sprintf("[MemoryMesh] Record %s\n%s%s", hit.ID, mesh.FormatRecord(hit), formatHeritage(hit.Heritage)))
	})
	cmd.Flags().StringVar(&id, "id", "", "the memory's or the skill's id (required)")
	return require(cmd, "id")
}

func (m *meshCommands) newDeleteCommand() *cobra.Command {
	var id string
	cmd := m.command(&cobra.Command{
		Use:   "delete --id <id>",
		Short: "Delete a memory or a skill for good",
		Long: `Delete a memory or a skill for good: from the ledger, the index and the disk. That it was there stays on record, its text does not.
What was made from it (reflections, lessons, skills) is not touched, and named on stderr, for it may repeat it.`,
	}, func(ctx context.Context, memory *mesh.View, _ []string) error {
		derived, err := memory.DerivedFrom(ctx, id)
		if err != nil {
			return err
		}
		if err := memory.Delete(ctx, id, "deleted on the command line"); err != nil {
			return err
		}
		if len(derived) > 0 {
			m.notice("Made from it, and may repeat it: " + strings.Join(derived, ", "))
		}
		return m.answer(deletion{id, true, derived}, fmt.Sprintf("[MemoryMesh] Deleted record %s\n", id))
	})
	cmd.Flags().StringVar(&id, "id", "", "the memory's or the skill's id (required)")
	return require(cmd, "id")
}

func (m *meshCommands) newStatsCommand() *cobra.Command {
	return m.command(&cobra.Command{
		Use:   "stats",
		Short: "Show how much there is",
	}, func(ctx context.Context, memory *mesh.View, _ []string) error {
		s, err := memory.Stats(ctx)
		if err != nil {
			return err
		}
		answer := statistics{Memories: s.Memories, Skills: s.Skills, Path: s.Path, Status: "disconnected"}
		if s.Connected {
			answer.Status = "connected"
		}
		return m.answer(answer, fmt.Sprintf(`[MemoryMesh] Total Memories: %d
[MemoryMesh] Total Skills: %d
[MemoryMesh] DB Path: %s
[MemoryMesh] Status: %s
`, answer.Memories, answer.Skills, answer.Path, answer.Status))
	})
}
