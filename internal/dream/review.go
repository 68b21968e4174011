package dream

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/dream/trust"
	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/similar"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
	"github.com/yamo-protocol/yamo-mcp/workspace/passage"
)

// maxText is the maximum number of characters of an entry that is promoted without confirmation.
const maxText = 300

// names are what texts call the agent and the user.
func (s *Sweeper) names() trust.Names {
	return trust.Names{Agent: s.Workspace.AgentName(), AgentID: s.AgentID, User: s.Workspace.UserName()}
}

// source is a text that a reflection was derived from, and who said it.
type source struct {
	text    string
	speaker trust.Speaker
}

// sources are what a reflection was derived from, none for any other memory. Reasons to hold a source are reasons to
// hold c, the reflection.
func (s *Sweeper) sources(
	ctx context.Context, c *Candidate, r mesh.Recalled, names trust.Names,
) (list []source, err error) {
	if r.Reflection == nil {
		return nil, nil
	}
	deleted := false
	for _, from := range r.Reflection.Sources {
		hit, err := s.Memory.Get(ctx, from.ID)
		if _, ok := fault.As(err); ok {
			deleted = true
			continue
		}
		if err != nil {
			return nil, err
		}
		list = append(list, source{hit.Content, names.SpeakerOf(hit)})
	}
	if deleted {
		c.Held = append(c.Held, "a memory it was derived from was deleted")
	}
	for _, from := range list {
		if why := from.speaker.Holds(); why != "" {
			why = "it was derived from a memory: " + why
			if !slices.Contains(c.Held, why) {
				c.Held = append(c.Held, why)
			}
		}
	}
	return list, nil
}

// review adds the reasons to hold a candidate, which is r. echoed are the groups that said nearly the same.
func (s *Sweeper) review(c *Candidate, r mesh.Recalled, echoed []string, names trust.Names) {
	// SECURITY: a stranger must not be able to plant beliefs.
	switch groups := r.Groups(); {
	case len(groups) > 0:
		c.Held = append(c.Held, "it came from the group "+strings.Join(groups, ", "))
	case len(echoed) > 0:
		c.Held = append(c.Held, "nearly the same was said in the group "+strings.Join(echoed, ", "))
	}
	c.Said = names.SpeakerOf(r.Hit)
	if why := c.Said.Holds(); why != "" {
		c.Held = append(c.Held, why)
	}
	if r.Type == "reflection" && r.Reflection == nil && !r.Imported {
		c.Held = append(c.Held, "it is a reflection without recorded sources")
	}
	c.Held = append(c.Held, names.Suspicions(r.Content)...)
	if n := utf8.RuneCountInString(c.Text); n > maxText {
		c.Held = append(c.Held, fmt.Sprintf("it is long: %d characters", n))
	}
	c.Unfit = s.unfit(*c)
}

// groupLogDays is how long what was said in a group's daily log is compared with candidates.
const groupLogDays = 120

// echoes returns, for each of the texts, the groups that said nearly the same in their memories or daily logs, sorted.
func (s *Sweeper) echoes(ctx context.Context, texts []string) ([][]string, error) {
	groups, err := s.Memory.Echoed(ctx, texts)
	if err != nil || len(texts) == 0 {
		return groups, err
	}
	wanted := make([]similar.Spoken, len(texts))
	for i, text := range texts {
		wanted[i] = similar.Spoke(text)
	}
	// SECURITY: what strangers say in a group is in its log before anyone stores it.
	for _, log := range s.Workspace.Logs(-2) { // from tomorrow on, which it may be in the group's zone
		if log.Group == "" || log.Days > groupLogDays {
			continue
		}
		data, err := s.Workspace.Read(log.Name)
		if err != nil {
			return nil, fmt.Errorf("read the log of a group: %w", err)
		}
		for _, said := range saidIn(string(data)) {
			for i, text := range wanted {
				if text.EchoedBy(said) && !slices.Contains(groups[i], log.Group) {
					groups[i] = append(groups[i], log.Group)
				}
			}
		}
	}
	for _, names := range groups {
		slices.Sort(names)
	}
	return groups, nil
}

// saidIn returns the lines of a log, and each with the next one, because a sentence may be broken.
func saidIn(log string) (list []similar.Spoken) {
	before := ""
	for line := range strings.Lines(log) {
		if line = strings.TrimSpace(line); line == "" {
			before = ""
			continue
		}
		list = append(list, similar.Spoke(line))
		if before != "" {
			list = append(list, similar.Spoke(before+" "+line))
		}
		before = line
	}
	return list
}

// unfit is why a candidate cannot be an item of MEMORY.md, "" if it can.
func (s *Sweeper) unfit(c Candidate) string {
	edit := grammar.Edit{Op: grammar.AppendItem, Section: "S", Items: []string{c.Item()}, Create: true, Rationale: "r"}
	if _, err := grammar.Parse("").Apply(nil, edit, time.Time{}); err != nil {
		return "it cannot be written as a list item"
	}
	if token, err := grammar.ParseToken(c.ID); err != nil || token.MemoryID() != c.ID {
		return "its id cannot be cited as evidence"
	}
	if len(grammar.Tokens(c.Text)) > 0 {
		return "it contains an evidence token"
	}
	if err := s.Workspace.CheckText(c.Item()); err != nil {
		return err.Error()
	}
	return ""
}

// line returns s in one line, without a bullet or heading mark at its beginning.
func line(s string) string {
	return strings.TrimSpace(strings.TrimLeft(text.OneLine(trust.Visible(s)), "-*+#> "))
}

var (
	scoreSuffix = regexp.MustCompile(`\s*_\(score=[0-9.]+, hits=[0-9]+, days=[0-9]+\)_$`)
	datePrefix  = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}[: ]\s*`)
)

// bare returns an entry without its bullet, date and score.
func bare(entry string) string {
	return datePrefix.ReplaceAllString(scoreSuffix.ReplaceAllString(line(entry), ""), "")
}

// normalized returns text in the form in which two entries are compared: in one line and lower case, without bullet,
// date, score and final punctuation.
func normalized(text string) string {
	return strings.TrimRight(strings.ToLower(bare(text)), ".!,;: ")
}

// textsIn are the entries of a MEMORY.md, normalized.
func textsIn(text string) map[string]bool {
	texts := map[string]bool{}
	for _, section := range passage.Sections(strings.ToValidUTF8(text, "\uFFFD")) {
		for _, bullet := range section.Bullets {
			texts[normalized(bullet)] = true
		}
	}
	return texts
}
