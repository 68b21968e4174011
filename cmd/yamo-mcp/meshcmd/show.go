package meshcmd

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/cli"
	"github.com/yamo-protocol/yamo-mcp/cmd/yamo-mcp/screen"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/block"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// newShow returns `yamo-mcp show`, which is mesh get for a person.
func (m *command) newShow() *cobra.Command {
	return m.command(&cobra.Command{
		Use:   "show <id>",
		Short: "Show a memory or a skill with everything that is known about it",
		Long: `Show a memory: its text, when it was stored and by whom, who can read it, how often it was found, what
it replaced and what replaced it, and what was made of it. Of a skill, its text and reliability.

The ID may be abbreviated to its end, which search and list show, or to any beginning.`,
		Example: `  yamo-mcp show a1b2c3`,
		Args:    cli.Exactly("an ID"),
	}, func(ctx context.Context, memory *mesh.View, args []string) error {
		id, err := Expand(ctx, memory, args[0])
		if err != nil {
			return err
		}
		return m.show(ctx, memory, id)
	})
}

// show prints the memory or skill called id.
func (m *command) show(ctx context.Context, memory *mesh.View, id string) error {
	if strings.HasPrefix(id, "skill_") {
		return m.showSkill(ctx, memory, id)
	}
	hit, err := memory.Get(ctx, id)
	if err != nil {
		return err
	}
	history, err := memory.History(ctx, id)
	if err != nil {
		return err
	}
	disputed, err := m.disputed(ctx, memory, append(history, hit)...)
	if err != nil {
		return err
	}
	found := lookedUp{match: newMatch(hit, nil, disputed)}
	for _, h := range history {
		found.History = append(found.History, newMatch(h, nil, disputed))
	}
	var derived []string
	if m.person {
		if derived, err = memory.DerivedFrom(ctx, id); err != nil {
			return err
		}
	}
	return m.answer(found, fmt.Sprintf("[MemoryMesh] Record %s\n%s%s%s",
		hit.ID, newForm(memory, disputed).record(hit), formatHeritage(hit.Heritage),
		formatHistory(history, memory.Location())),
		func(s *screen.Screen) { showMemory(s, hit, disputed[hit.ID], history, derived) })
}

// fact writes a line about what is shown, unless it has no value.
func fact(s *screen.Screen, name, value string) {
	if value = screen.Line(value); value != "" {
		s.Put(s.In(screen.Faint, fmt.Sprintf("%-13s", name)) + value + "\n")
	}
}

// showMemory writes everything about a memory.
func showMemory(s *screen.Screen, h record.Hit, disputed string, history []record.Hit, derived []string) {
	s.Wrap("", h.Content)
	s.Put("\n")
	fact(s, "id", h.ID)
	stored := s.Stamp(h.CreatedAt)
	if h.AgentID != "" {
		stored += " by " + h.AgentID
	}
	fact(s, "stored", stored)
	fact(s, "source", h.From(record.Private))
	fact(s, "in dispute", disputed)
	fact(s, "type", h.Type)
	fact(s, "tags", strings.Join(h.Tags, ", "))
	fact(s, "about", h.OccurredAt)
	fact(s, "project", record.ProjectName(h.Project))
	if h.Importance != nil {
		fact(s, "importance", strconv.FormatFloat(float64(*h.Importance), 'f', -1, 32))
	}
	fact(s, "session", h.SessionID)
	fact(s, "why", h.Rationale)
	fact(s, "for", h.Hypothesis)
	fact(s, "readable by", readers(h.Visibility))
	if h.Accesses.Count > 0 {
		fact(s, "found", fmt.Sprintf("%s, last on %s", times(int(h.Accesses.Count)), s.Day(h.Accesses.Last)))
	}
	if h.Sightings > 0 {
		fact(s, "said", times(h.Sightings)+" in these words")
	}
	if l := h.Lesson; l != nil {
		fact(s, "severity", l.Severity)
		fact(s, "confidence", block.FormatConfidence(l.RuleConfidence))
	}
	if r := h.Reflection; r != nil {
		fact(s, "confidence", block.FormatConfidence(r.Confidence))
		for _, source := range r.Sources {
			fact(s, "made of", source.ID)
		}
	}
	for _, id := range derived {
		fact(s, "became", id)
	}
	if h.Past != nil {
		fact(s, "not current", "since "+s.Stamp(h.Past.At)+reason(h.Past.Why))
	}
	s.Put(screen.Text(formatHeritage(h.Heritage)))
	if len(history) > 1 {
		s.Put("\n" + s.In(screen.Heading, "History") + "\n")
		for _, v := range history {
			until, style := "current", screen.Good
			if v.Past != nil {
				until, style = "until "+s.Day(v.Past.At), screen.Caution
			}
			s.Put("  " + s.Day(v.CreatedAt) + "  " + s.Excerpt(v.Content, excerptLines, 14) + "  " +
				s.In(style, until) + "  " + s.In(screen.Faint, v.ID) + "\n")
		}
	}
}

// times returns how often something happened, in words.
func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// readers describes who can read what is in a compartment.
func readers(v record.Visibility) string {
	switch {
	case v == record.Private:
		return "you, in direct conversations only"
	case v == record.Shared:
		return "every group, and you"
	default:
		return "the group " + v.Group() + ", and you"
	}
}

// reason returns why, as the end of a line.
func reason(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}
