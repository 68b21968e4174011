package meshcmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// The commands of this file are RFC-0011 §4.3 for hosts that run a command at each turn of a conversation.

// captured is the answer of capture.
type captured struct {
	*ingested
	Kept bool `json:"kept"`
}

// newCapture returns `yamo-mcp mesh capture` (RFC-0011 §4.3 captureInteraction).
func (m *command) newCapture() *cobra.Command {
	var q mesh.Interaction
	cmd := m.command(&cobra.Command{
		Use:   "capture --prompt <text> --response <text>",
		Short: "Store an exchange of a conversation as a memory",
		Long: `Store a prompt and its response as one memory of type session. If they are empty or contain only a
secret, nothing is stored and the command succeeds.`,
	}, func(ctx context.Context, memory *mesh.View, _ []string) error {
		stored, err := memory.CaptureInteraction(ctx, q)
		if err != nil {
			return err
		}
		if stored == nil { // hosts call this at each turn, so that nothing to keep is not an error
			return m.Answer(captured{}, "[MemoryMesh] Nothing to keep\n")
		}
		m.tellRedactions(stored.Redactions)
		return m.Answer(captured{&ingested{
			ID: stored.ID, Visibility: stored.Visibility, Created: stored.Created, Redactions: stored.Redactions,
		}, true},
			fmt.Sprintf("[MemoryMesh] Ingested record %s\n", stored.ID))
	})
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&q.Prompt, "prompt", "", "what was asked (required)")
	flags.StringVar(&q.Response, "response", "", "what was answered (required)")
	flags.StringVar(&q.SessionID, "session-id", "", "ID of the conversation, which relates its memories to each other")
	flags.StringVar(&q.Skill, "skill", "", "skill that was used")
	flags.StringSliceVar(&q.Tags, "tags", nil, "tags to filter by, separated by commas")
	return cli.Require(cmd, "prompt", "response")
}

// recalled is the answer of recall.
type recalled struct {
	Matches  []match  `json:"matches"`
	Lessons  []match  `json:"lessons"`
	Prompt   string   `json:"prompt"` // both, as text for a model's context
	Warnings []string `json:"warnings,omitempty"`
}

// newRecall returns `yamo-mcp mesh recall` (RFC-0011 §4.3 recallMemories and formatMemoriesForPrompt). Its text goes
// into a model's context as it is, so that warnings are on stderr and nothing is printed for no results.
func (m *command) newRecall() *cobra.Command {
	var o mesh.RecallOptions
	cmd := m.command(&cobra.Command{
		Use:   "recall <query>",
		Short: "Print memories as text for a model's context",
		Long: `Find the memories, and with --lessons the lessons, that are relevant to a query, and print them as
text for a model's context. If nothing is found, nothing is printed.`,
		Args: cli.PlainText("query"),
	}, func(ctx context.Context, memory *mesh.View, args []string) error {
		found, err := memory.RecallMemories(ctx, args[0], o)
		if err != nil {
			return err
		}
		disputed, err := m.disputed(ctx, memory, found.Hits...)
		if err != nil {
			return err
		}
		answer := recalled{
			Matches: []match{}, Lessons: []match{}, Warnings: warnings(found),
			Prompt: newForm(memory, disputed).prompt(found),
		}
		for _, h := range found.Hits {
			answer.Matches = append(answer.Matches, newMatch(h, &h.Score, disputed))
		}
		for _, h := range found.Lessons {
			answer.Lessons = append(answer.Lessons, newMatch(h, &h.Score, disputed))
		}
		// In JSON they are part of the answer. As text they must not be: it goes into a model's context.
		if !m.JSON {
			for _, w := range answer.Warnings {
				m.notice(w)
			}
		}
		return m.Answer(answer, answer.Prompt)
	})
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.IntVar(&o.Limit, "limit", 5, fmt.Sprintf("maximum number of memories, 1 to %d", mesh.MaxLimit))
	flags.StringVar(&o.Type, "type", "", "only memories of this type: "+strings.Join(record.Types, ", "))
	flags.StringVar(&o.Skill, "skill", "", "only memories of this skill")
	flags.BoolVar(&o.IncludeLessons, "lessons", false, "also print active lessons")
	return cmd
}

// health is the answer of health.
type health struct {
	Status   string   `json:"status"` // healthy, degraded or unhealthy
	Memories int      `json:"total_memories"`
	Skills   int      `json:"total_skills"`
	Pending  int      `json:"pending"` // memories without a vector
	Semantic bool     `json:"semantic"`
	Model    string   `json:"model"`
	Problems []string `json:"problems"`
}

// newHealth returns `yamo-mcp mesh health` (RFC-0011 §4.3 healthCheck). Only an unhealthy memory makes it fail: a
// degraded one, such as one without a model, still answers.
func (m *command) newHealth() *cobra.Command {
	return m.command(&cobra.Command{
		Use:   "health",
		Short: "Check that the memory works",
		Long: `Check the parts of the memory: the ledgers, the embedding model, the vectors and LanceDB. A degraded
memory works with the reported limitations. For an unhealthy memory the exit code is 1.`,
	}, func(ctx context.Context, memory *mesh.View, _ []string) error {
		h, err := memory.Maintenance().Health(ctx)
		if err != nil {
			return err
		}
		answer := health(h)
		var text strings.Builder
		semantic := "off"
		if h.Semantic {
			semantic = "on, " + h.Model
		}
		fmt.Fprintf(&text, "[MemoryMesh] Status: %s\n[MemoryMesh] Memories: %d, skills: %d, without a vector: %d\n"+
			"[MemoryMesh] Semantic search: %s\n",
			h.Status, h.Memories, h.Skills, h.Pending, semantic)
		if answer.Problems == nil {
			answer.Problems = []string{}
		}
		for _, p := range h.Problems {
			text.WriteString("[MemoryMesh] Problem: " + p + "\n")
		}
		if err := m.Answer(answer, text.String()); err != nil || h.Status != mesh.Unhealthy {
			return err
		}
		return errors.New("the memory is unhealthy: " + strings.Join(h.Problems, "; "))
	})
}
