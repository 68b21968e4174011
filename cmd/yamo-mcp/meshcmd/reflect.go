package meshcmd

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// reflectionAnswer is the answer of reflect.
type reflectionAnswer struct {
	ID      string `json:"id"` // of the memory
	Content string `json:"content"`
	record.Reflection
	Visibility record.Visibility `json:"visibility"`
	CreatedAt  time.Time         `json:"created_at"`
	Created    bool              `json:"created"`
	Note       string            `json:"note,omitempty"`
}

// synthesisAnswer is the answer of synthesize.
type synthesisAnswer struct {
	record.Synthesis
	Name       string            `json:"name"`
	Intent     string            `json:"intent"`
	Text       string            `json:"yamo_text"`
	Visibility record.Visibility `json:"visibility"`
	Created    bool              `json:"created"`
	Updated    bool              `json:"updated"`
	Note       string            `json:"note,omitempty"`
}

// newReflect returns `yamo-mcp mesh reflect` (RFC-0011 §4.1 reflect).
func (m *command) newReflect() *cobra.Command {
	var q mesh.ReflectRequest
	cmd := m.command(&cobra.Command{
		Use:   "reflect [--topic <text>] [--lookback <n>]",
		Short: "Summarize memories in a reflection",
		Long: `Summarize memories and store the summary as a memory of type reflection. A language model writes it
if --llm names one; otherwise it consists of sentences of the memories. The same memories and topic
return the existing reflection. The confidence measures how well the text represents its sources,
not whether they are right.`,
	}, func(ctx context.Context, memory *mesh.View, _ []string) error {
		r, err := memory.Reflect(ctx, q)
		if err != nil {
			return err
		}
		m.tellNote(r.Note)
		return m.Answer(reflectionAnswer{
			ID: r.MemoryID, Content: r.Content, Reflection: r.Reflection, Visibility: r.Visibility,
			CreatedAt: r.CreatedAt, Created: r.Created, Note: r.Note,
		}, fmt.Sprintf("[MemoryMesh] Reflection %s in record %s\n%s\n\n%s\n", r.ReflectionID, r.MemoryID,
			provenance(len(r.Sources), r.Confidence, r.Method, r.Model), strings.TrimSpace(r.Content)))
	})
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&q.Topic, "topic", "", "topic of the reflection (default recent memories)")
	cmd.Flags().IntVar(&q.Lookback, "lookback", mesh.DefaultLookback,
		fmt.Sprintf("maximum number of memories to use, 1 to %d", mesh.MaxLimit))
	return cmd
}

// newSynthesize returns `yamo-mcp mesh synthesize`.
func (m *command) newSynthesize() *cobra.Command {
	var q mesh.SynthesizeRequest
	cmd := m.command(&cobra.Command{
		Use:   "synthesize [--topic <text>]",
		Short: "Create a skill from memories",
		Long: `Create a skill from the memories about a topic. Its rules come from lessons, and from a language model
if --llm names one, otherwise from sentences of the memories. A later synthesis of the same topic
updates the skill. Memories of groups are not used for a private skill.`,
	}, func(ctx context.Context, memory *mesh.View, _ []string) error {
		s, err := memory.Synthesize(ctx, q)
		if err != nil {
			return err
		}
		m.tellNote(s.Note)
		return m.Answer(synthesisAnswer{
			Synthesis: s.Synthesis, Name: s.Skill.Name, Intent: s.Skill.Intent, Text: s.Skill.Text, Visibility: s.Visibility,
			Created: s.Created, Updated: s.Updated, Note: s.Note,
		}, fmt.Sprintf("[MemoryMesh] Synthesized skill %s\n%s\n\n%s", s.SkillID,
			provenance(len(s.Sources), s.Confidence, s.Method, s.Model), s.Skill.Text))
	})
	cmd.Flags().StringVar(&q.Topic, "topic", "", "topic of the skill (default recent memories)")
	return cmd
}

// provenance formats the sources and the method of a derived text.
func provenance(sources int, confidence float64, method, model string) string {
	line := fmt.Sprintf("Sources: %d | Confidence: %.2f | Method: %s", sources, confidence, method)
	if model != "" {
		line += " (" + model + ")"
	}
	return line
}

// tellNote reports why a language model that is configured did not write the text.
func (m *command) tellNote(note string) {
	if note != "" {
		m.notice("Made without a language model: " + note)
	}
}
