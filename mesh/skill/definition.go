package skill

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/frontmatter"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh/block"
)

// Definition is what Parse finds in the text of a skill. Name and Intent are never empty.
type Definition struct {
	Name, Intent, Description string
	Type                      string // what kind of skill it is
	Tags                      []string
}

var errNoDefinition = errors.New(`must be a YAMO block, which begins with "agent: NAME;", ` +
	"or Markdown with front matter between two --- lines that has name, and intent or description")

// Parse reads the text of a skill, whose lines end in \n: YAMO blocks (RFC-0011 §3.1), of which the first names the
// agent and its intent, or Markdown with YAML front matter that has name and intent, or description. The body of
// Markdown is for the skill's reader and is not parsed. The error tells the author what to change.
func Parse(text string) (Definition, error) {
	matter, _, ok := frontmatter.Split(text)
	if ok {
		// Blocks between lines of --- look like front matter too, and are told apart by their first word.
		if d, err := parseMatter(matter); err == nil || !strings.HasPrefix(strings.TrimSpace(matter), "agent:") {
			return d, err
		}
	} else if !strings.HasPrefix(strings.TrimSpace(text), "agent:") {
		return Definition{}, errNoDefinition
	}
	return parseBlocks(text)
}

// parseMatter reads YAML front matter.
func parseMatter(matter string) (Definition, error) {
	var m struct {
		Name        string `yaml:"name"`
		Intent      string `yaml:"intent"`
		Description string `yaml:"description"`
		Type        string `yaml:"type"`
		Tags        any    `yaml:"tags"` // a list, or names with commas between them
	}
	if err := frontmatter.Decode(matter, &m); err != nil {
		return Definition{}, fmt.Errorf("%w (a value with a colon or a bracket belongs in quotes)", err)
	}
	d := Definition{
		Name: strings.TrimSpace(m.Name), Intent: strings.TrimSpace(m.Intent),
		Description: strings.TrimSpace(m.Description), Type: m.Type,
	}
	if d.Intent == "" {
		d.Intent = firstSentence(d.Description)
	}
	switch tags := m.Tags.(type) {
	case string:
		d.Tags = splitTags(tags)
	case []any:
		for _, tag := range tags {
			d.Tags = append(d.Tags, fmt.Sprint(tag))
		}
	}
	switch {
	case d.Name == "":
		return Definition{}, errors.New("front matter: name is missing; give the skill a short name that stays the same")
	case d.Intent == "":
		return Definition{}, errors.New("front matter: intent is missing; describe in one sentence what the skill is for, " +
			"in intent or description")
	}
	return d, nil
}

// parseBlocks reads YAMO blocks with lines of --- or empty lines between them. The first one defines the skill: its
// agent and intent, which the pairs name, description and tags of its context or meta add to or replace. The
// rationale serves where there is no description. The others are parsed only to find syntax errors, whose lines count
// from the beginning of text.
func parseBlocks(text string) (Definition, error) {
	var head *block.Block
	lines := strings.Split(text, "\n")
	for at := 0; at < len(lines); {
		end := at
		for end < len(lines) && !separates(lines[end]) {
			end++
		}
		if end > at {
			b, err := block.Parse(strings.Join(lines[at:end], "\n"))
			if syntax, ok := errors.AsType[*block.SyntaxError](err); ok {
				return Definition{}, &block.SyntaxError{Line: at + syntax.Line, Reason: syntax.Reason}
			}
			if err != nil {
				return Definition{}, err
			}
			if head == nil {
				head = &b
			}
		}
		at = end + 1
	}
	if head == nil {
		return Definition{}, errNoDefinition
	}
	d := Definition{Name: head.Agent, Intent: head.Intent}
	for _, pairs := range [][]block.Pair{head.Context, head.Meta} {
		if name, ok := block.Get(pairs, "name"); ok && name != "" {
			d.Name = name
		}
		if text, ok := block.Get(pairs, "description"); ok && d.Description == "" {
			d.Description = text
		}
		if tags, ok := block.Get(pairs, "tags"); ok && d.Tags == nil {
			d.Tags = splitTags(tags)
		}
	}
	if d.Description == "" {
		d.Description, _ = block.Get(head.Meta, "rationale")
	}
	return d, nil
}

// separates reports whether a line is a separator between blocks.
func separates(line string) bool {
	line = strings.TrimSpace(line)
	return line == "" || line == "---"
}

// splitTags splits at commas. The semicolons of a YAMO value have become commas, because they end a value there.
func splitTags(text string) (tags []string) {
	for tag := range strings.SplitSeq(text, ",") {
		if tag = strings.TrimSpace(tag); tag != "" {
			tags = append(tags, tag)
		}
	}
	return tags
}

// firstSentence returns s up to the end of its first sentence, or of its first paragraph if that is earlier. A sentence
// does not end before a lower-case letter: "e.g. this".
func firstSentence(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n\n")
	s = text.OneLine(s)
	for i := range s {
		if next, ok := strings.CutPrefix(s[i+1:], " "); ok && strings.IndexByte(".!?", s[i]) >= 0 {
			if r, _ := utf8.DecodeRuneInString(next); !unicode.IsLower(r) {
				return s[:i+1]
			}
		}
	}
	return s
}
