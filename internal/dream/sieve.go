package dream

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// maxText is how many characters an entry of MEMORY.md has that nobody looked at.
const maxText = 300

// sources are the texts that a reflection was drawn from, none for another memory. What speaks against one of them speaks
// against c, which is the reflection.
func (s *Sweeper) sources(ctx context.Context, c *Candidate, r mesh.Recalled) (texts []string, err error) {
	if r.Reflection == nil {
		return nil, nil
	}
	deleted, imported := false, false
	for _, source := range r.Reflection.Sources {
		hit, err := s.Memory.Get(ctx, source.ID)
		if _, ok := fault.As(err); ok {
			deleted = true
			continue
		}
		if err != nil {
			return nil, err
		}
		imported = imported || hit.Imported
		texts = append(texts, hit.Content)
	}
	if deleted {
		c.Held = append(c.Held, "a memory that it was drawn from was deleted")
	}
	if imported {
		c.Held = append(c.Held, "it was drawn from what was imported")
	}
	return texts, nil
}

// judge says what speaks against a candidate that is r. echoed are the groups that say nearly the same.
func (s *Sweeper) judge(c *Candidate, r mesh.Recalled, echoed []string) {
	// SECURITY: a stranger must not be able to plant beliefs.
	switch groups := r.Groups(); {
	case len(groups) > 0:
		c.Held = append(c.Held, "it came from the group "+strings.Join(groups, ", "))
	case len(echoed) > 0:
		c.Held = append(c.Held, "nearly the same was said in the group "+strings.Join(echoed, ", "))
	}
	switch {
	case r.Imported:
		c.Held = append(c.Held, "it was imported, and whose words it is is not known")
	case r.Type == "reflection" && r.Reflection == nil:
		c.Held = append(c.Held, "it is a reflection, and of what is not known")
	}
	c.Held = append(c.Held, suspicions(r.Content)...)
	if n := utf8.RuneCountInString(c.Text); n > maxText {
		c.Held = append(c.Held, fmt.Sprintf("it is long: %d characters", n))
	}
	c.Unfit = s.unfit(*c)
}

// unfit says why a candidate cannot be an item of MEMORY.md, "" if it can.
func (s *Sweeper) unfit(c Candidate) string {
	edit := grammar.Edit{Op: grammar.AppendItem, Section: "S", Items: []string{c.Item()}, Create: true, Rationale: "r"}
	if _, err := grammar.Parse("").Apply(nil, edit, time.Time{}); err != nil {
		return "it would not be a list item"
	}
	if token, err := grammar.ParseToken(c.ID); err != nil || token.MemoryID() != c.ID {
		return "its id makes no evidence token"
	}
	if len(grammar.Tokens(c.Text)) > 0 {
		return "it contains an evidence token"
	}
	if err := s.Workspace.CheckText(c.Item()); err != nil {
		return err.Error()
	}
	return ""
}

// line is text in one line, without a bullet or heading mark at its beginning.
func line(s string) string {
	return strings.TrimSpace(strings.TrimLeft(text.OneLine(visible(s)), "-*+#> "))
}

var (
	marked  = regexp.MustCompile(`\s*_\(score=[0-9.]+, hits=[0-9]+, days=[0-9]+\)_$`)
	dateOf  = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}[: ]\s*`)
	endings = ".!,;: "
)

// sameText is a text as it is compared with another one.
func sameText(text string) string {
	text = dateOf.ReplaceAllString(marked.ReplaceAllString(line(text), ""), "")
	return strings.TrimRight(strings.ToLower(text), endings)
}

// saidIn are the entries of a MEMORY.md.
func saidIn(text string) map[string]bool {
	said := map[string]bool{}
	for _, section := range workspace.ParseSections(strings.ToValidUTF8(text, "\uFFFD")) {
		for _, bullet := range section.Bullets {
			said[sameText(bullet)] = true
		}
	}
	return said
}
