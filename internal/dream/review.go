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
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
	"github.com/yamo-protocol/yamo-mcp/workspace/passage"
)

// maxText is the maximum number of characters of an entry that is promoted without confirmation.
const maxText = 300

// sources are the texts that a reflection was derived from, none for any other memory. Reasons to hold a source are
// reasons to hold c, the reflection.
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
		c.Held = append(c.Held, "a memory it was derived from was deleted")
	}
	if imported {
		c.Held = append(c.Held, "it was derived from an imported memory")
	}
	return texts, nil
}

// review adds the reasons to hold a candidate, which is r. echoed are the groups that said nearly the same.
func (s *Sweeper) review(c *Candidate, r mesh.Recalled, echoed []string) {
	// SECURITY: a stranger must not be able to plant beliefs.
	switch groups := r.Groups(); {
	case len(groups) > 0:
		c.Held = append(c.Held, "it came from the group "+strings.Join(groups, ", "))
	case len(echoed) > 0:
		c.Held = append(c.Held, "nearly the same was said in the group "+strings.Join(echoed, ", "))
	}
	switch {
	case r.Imported:
		c.Held = append(c.Held, "it was imported, so its author is unknown")
	case r.Type == "reflection" && r.Reflection == nil:
		c.Held = append(c.Held, "it is a reflection without recorded sources")
	}
	c.Held = append(c.Held, suspicions(r.Content)...)
	if n := utf8.RuneCountInString(c.Text); n > maxText {
		c.Held = append(c.Held, fmt.Sprintf("it is long: %d characters", n))
	}
	c.Unfit = s.unfit(*c)
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
	return strings.TrimSpace(strings.TrimLeft(text.OneLine(visible(s)), "-*+#> "))
}

var (
	scoreSuffix = regexp.MustCompile(`\s*_\(score=[0-9.]+, hits=[0-9]+, days=[0-9]+\)_$`)
	datePrefix  = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}[: ]\s*`)
)

// normalized returns text in the form in which two entries are compared: in one line and lower case, without bullet,
// date, score and final punctuation.
func normalized(text string) string {
	text = datePrefix.ReplaceAllString(scoreSuffix.ReplaceAllString(line(text), ""), "")
	return strings.TrimRight(strings.ToLower(text), ".!,;: ")
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
