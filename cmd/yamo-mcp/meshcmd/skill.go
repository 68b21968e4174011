package meshcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/internal/config"
	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/block"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub"
	"github.com/yamo-protocol/yamo-mcp/mesh/skill"
)

// ingestedSkill is the answer of ingest-skill.
type ingestedSkill struct {
	ID         string            `json:"id"`
	Name       string            `json:"name"`
	Intent     string            `json:"intent"`
	Visibility record.Visibility `json:"visibility"`
	Created    bool              `json:"created"`
	Updated    bool              `json:"updated"`
	Redactions []scrub.Redaction `json:"redactions"`
}

// skillMatch is a skill in an answer. The reliability and the uses are those that the audience knows of.
type skillMatch struct {
	*record.Skill
	Visibility  record.Visibility `json:"visibility"`
	Reliability float64           `json:"reliability"`
	UseCount    int               `json:"use_count"`
	LastUsed    time.Time         `json:"last_used,omitzero"`
	Score       *float64          `json:"score,omitempty"`         // of a search
	Keyword     *float64          `json:"keyword_score,omitempty"` // likewise
	Vector      *float64          `json:"vector_score,omitempty"`  // likewise
}

// skillMatches is the answer of search-skills and list-skills.
type skillMatches struct {
	Skills   []skillMatch `json:"skills"`
	Total    *int         `json:"total_skills,omitempty"` // of list-skills
	Warnings []string     `json:"warnings,omitempty"`
}

// prunedSkills is the answer of skill-prune.
type prunedSkills struct {
	Pruned    int          `json:"pruned_count"`
	Remaining int          `json:"total_remaining"`
	Skills    []skillMatch `json:"skills"` // that were pruned
}

// matchSkill returns hit for an answer, without the scores of a search.
func matchSkill(hit record.SkillHit) skillMatch {
	return skillMatch{
		Skill: hit.Skill, Visibility: hit.Visibility,
		Reliability: hit.Reliability, UseCount: hit.UseCount, LastUsed: hit.LastUsed,
	}
}

// newIngestSkill returns `yamo-mcp mesh ingest-skill` (RFC-0011 §4.1 ingestSkill).
func (m *command) newIngestSkill() *cobra.Command {
	var path, kind string
	cmd := m.command(&cobra.Command{
		Use:   "ingest-skill --file <path>",
		Short: "Store a skill from a file",
		Long: `Store a skill, a description of how to do something, from a file of YAMO blocks (RFC-0011 §3.1) or
Markdown with front matter that has a name, and an intent or description. Storing the same file
again changes nothing. Different text with the same name replaces the skill and keeps its ID.`,
	}, func(ctx context.Context, memory *mesh.View, _ []string) error {
		text, err := readSkill(path)
		if err != nil {
			return err
		}
		kept, err := memory.Skills().Ingest(ctx, mesh.SkillRequest{Text: text, Type: kind, Source: filepath.Base(path)})
		if err != nil {
			return err
		}
		m.tellRedactions(kept.Redactions)
		return m.Answer(ingestedSkill(kept), fmt.Sprintf("[MemoryMesh] Ingested skill %s\n", kept.ID))
	})
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&path, "file", "", "file of the skill (required)")
	flags.StringVar(&kind, "type", "", "kind of skill, in one word (default the type in its front matter)")
	return cli.Require(cmd, "file")
}

// readSkill reads the file of a skill. One that is too large is read far enough for the memory to refuse it.
func readSkill(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", fault.New("--file: %q: %v", path, config.WithoutPath(err))
	}
	defer func() { _ = file.Close() }() // opened for reading
	data, err := io.ReadAll(io.LimitReader(file, record.MaxContent+1))
	if err != nil {
		return "", fault.New("--file: %q: %v", path, config.WithoutPath(err))
	}
	return string(data), nil
}

// newSearchSkills returns `yamo-mcp mesh search-skills` (RFC-0011 §5.3).
func (m *command) newSearchSkills() *cobra.Command {
	var limit int
	cmd := m.command(&cobra.Command{
		Use:   "search-skills <query>",
		Short: "Search skills for a task",
		Args:  cli.PlainText("query"),
	}, func(ctx context.Context, memory *mesh.View, args []string) error {
		found, err := memory.Skills().Search(ctx, args[0], limit)
		if err != nil {
			return err
		}
		answer := skillMatches{Skills: []skillMatch{}, Warnings: skillWarnings(found)}
		for _, hit := range found.Skills {
			s := matchSkill(hit)
			// Pointers, so that a score of 0 is printed, and none is where there was no search.
			s.Score, s.Keyword, s.Vector = &hit.Score, &hit.Keyword, &hit.Vector
			answer.Skills = append(answer.Skills, s)
		}
		if !m.JSON {
			for _, w := range answer.Warnings {
				m.notice(w)
			}
		}
		return m.Answer(answer, fmt.Sprintf("[MemoryMesh] Found %d skills.\n", len(found.Skills))+formatSkills(answer.Skills))
	})
	cmd.Flags().IntVar(&limit, "limit", 10, fmt.Sprintf("maximum number of skills, 1 to %d", mesh.MaxLimit))
	return cmd
}

// skillWarnings describes what a search could not consider.
func skillWarnings(found mesh.FoundSkills) []string {
	list := warnings(mesh.Found{Off: found.Off, Degraded: found.Degraded, Damaged: found.Damaged})
	if found.Pending > 0 {
		list = append(list, fmt.Sprintf("%d skills are not indexed yet and were searched by keywords only", found.Pending))
	}
	return list
}

// newListSkills returns `yamo-mcp mesh list-skills`.
func (m *command) newListSkills() *cobra.Command {
	var limit int
	cmd := m.command(&cobra.Command{
		Use:   "list-skills",
		Short: "List skills, most reliable first",
	}, func(ctx context.Context, memory *mesh.View, _ []string) error {
		list, err := memory.Skills().List(ctx, limit)
		if err != nil {
			return err
		}
		answer := skillMatches{Skills: []skillMatch{}, Total: &list.Total}
		for _, hit := range list.Skills {
			answer.Skills = append(answer.Skills, matchSkill(hit))
		}
		return m.Answer(answer,
			fmt.Sprintf("[MemoryMesh] Listed %d of %d skills.\n", len(list.Skills), list.Total)+formatSkills(answer.Skills))
	})
	cmd.Flags().IntVar(&limit, "limit", 10, fmt.Sprintf("maximum number of skills, 1 to %d", mesh.MaxLimit))
	return cmd
}

// showSkill prints a skill, for get.
func (m *command) showSkill(ctx context.Context, memory *mesh.View, id string) error {
	hit, err := memory.Skills().Get(ctx, id)
	if err != nil {
		return err
	}
	answer := matchSkill(hit)
	return m.Answer(answer, fmt.Sprintf("[MemoryMesh] Skill %s\n%s\n%s", hit.ID, formatSkill(answer), hit.Text))
}

// formatSkills formats skills like the search results of RFC-0011 §9.2.
func formatSkills(skills []skillMatch) string {
	var b strings.Builder
	for i, s := range skills {
		fmt.Fprintf(&b, "\n--- SKILL %d: %s ", i+1, s.ID)
		if s.Score != nil {
			fmt.Fprintf(&b, "[SCORE: %s] ", block.FormatConfidence(*s.Score))
		}
		b.WriteString("---\n" + formatSkill(s))
	}
	return b.String()
}

// formatSkill formats a skill without its text. The memory it is in is named unless it is the private one.
func formatSkill(s skillMatch) string {
	line := fmt.Sprintf("Name: %s | Reliability: %s | Uses: %d", s.Name, block.FormatConfidence(s.Reliability), s.UseCount)
	if s.Visibility != record.Private {
		line += " | Memory: " + string(s.Visibility)
	}
	return line + "\n" + s.Intent + "\n"
}

// newSkillFeedback returns `yamo-mcp mesh skill-feedback`. --success is a string, not a bool flag: with those,
// "--success false" would mean true and an argument.
func (m *command) newSkillFeedback() *cobra.Command {
	var id, success string
	cmd := m.command(&cobra.Command{
		Use:   "skill-feedback --id <id> --success <true|false>",
		Short: "Record whether a skill worked",
		Long: `Record that a skill was used and whether it worked. The reliability of a skill starts at 0.5, rises by
0.1 with each success and falls by 0.2 with each failure. Feedback is stored in the memory of the
audience that gives it: a group does not see how often others use a shared skill.`,
	}, func(ctx context.Context, memory *mesh.View, _ []string) error {
		if success != "true" && success != "false" {
			return errors.New("--success: must be true or false")
		}
		hit, err := memory.Skills().Feedback(ctx, id, success == "true")
		if err != nil {
			return err
		}
		return m.Answer(matchSkill(hit), fmt.Sprintf("[MemoryMesh] Updated skill %s: reliability %s, %d uses\n",
			hit.ID, block.FormatConfidence(hit.Reliability), hit.UseCount))
	})
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&id, "id", "", "ID of the skill (required)")
	flags.StringVar(&success, "success", "", "whether it worked: true or false (required)")
	return cli.Require(cmd, "id", "success")
}

// newSkillPrune returns `yamo-mcp mesh skill-prune`. What it deletes is listed, because it cannot be undone.
func (m *command) newSkillPrune() *cobra.Command {
	var threshold float64
	cmd := m.command(&cobra.Command{
		Use:   "skill-prune",
		Short: "Permanently delete unreliable skills",
		Long: `Permanently delete the skills whose reliability is below a threshold from the ledger, the index and
the disk: private and shared skills, or with --group the skills of that group.`,
	}, func(ctx context.Context, memory *mesh.View, _ []string) error {
		pruned, err := memory.Skills().Prune(ctx, threshold)
		if err != nil {
			return err
		}
		answer := prunedSkills{Pruned: len(pruned.Skills), Remaining: pruned.Remaining, Skills: []skillMatch{}}
		var text strings.Builder
		fmt.Fprintf(&text, "[MemoryMesh] Pruned %d skills, %d remaining\n", answer.Pruned, answer.Remaining)
		for _, hit := range pruned.Skills {
			answer.Skills = append(answer.Skills, matchSkill(hit))
			fmt.Fprintf(&text, "[MemoryMesh] Deleted skill %s (%s): reliability %s\n",
				hit.ID, hit.Name, block.FormatConfidence(hit.Reliability))
		}
		return m.Answer(answer, text.String())
	})
	cmd.Flags().Float64Var(&threshold, "threshold", skill.DefaultPruneThreshold,
		"delete skills with a reliability below this, 0.0 to 1.0")
	return cmd
}
