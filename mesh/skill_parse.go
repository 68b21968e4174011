package mesh

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

// definition is what a skill's text says about it.
type definition struct {
	name, intent, description, kind string
	tags                            []string
}

var errNoDefinition = errors.New(`it is neither a YAMO block, which begins with "agent: NAME;", nor Markdown that begins with front matter ` +
	"between two lines of ---, with name and intent (or description) in it")

// parseDefinition reads a skill's text. With front matter what follows is for whoever uses the skill, and
// is not looked at. Lines end in \n.
func parseDefinition(text string) (definition, error) {
	matter, _, ok := frontmatter.Split(text)
	if ok {
		if d, err := parseMatter(matter); err == nil || !strings.HasPrefix(strings.TrimSpace(matter), "agent:") {
			return d, err
		}
	} else if !strings.HasPrefix(strings.TrimSpace(text), "agent:") {
		return definition{}, errNoDefinition
	}
	return parseBlocks(text)
}

// parseMatter reads YAML front matter.
func parseMatter(matter string) (definition, error) {
	var m struct {
		Name        string `yaml:"name"`
		Intent      string `yaml:"intent"`
		Description string `yaml:"description"`
		Type        string `yaml:"type"`
		Tags        any    `yaml:"tags"` // a list, or names with commas between them
	}
	if err := frontmatter.Decode(matter, &m); err != nil {
		return definition{}, fmt.Errorf("%w (a value with a colon or a bracket belongs in quotes)", err)
	}
	d := definition{name: strings.TrimSpace(m.Name), intent: strings.TrimSpace(m.Intent), description: strings.TrimSpace(m.Description), kind: m.Type}
	if d.intent == "" {
		d.intent = firstSentence(d.description)
	}
	switch tags := m.Tags.(type) {
	case string:
		d.tags = splitTags(tags)
	case []any:
		for _, tag := range tags {
			d.tags = append(d.tags, fmt.Sprint(tag))
		}
	}
	switch {
	case d.name == "":
		return definition{}, errors.New("front matter: name is missing; give the skill a short name that stays the same")
	case d.intent == "":
		return definition{}, errors.New("front matter: intent is missing; say in a sentence what the skill is for, there or in description")
	}
	return d, nil
}

// parseBlocks reads YAMO blocks with lines of --- or empty lines between them. The first one is what the
// skill is called and for: its agent and intent, and the pairs name, description and tags of its context or
// meta if there are such. Without a description that is its rationale.
func parseBlocks(text string) (definition, error) {
	var first *block.Block
	lines := strings.Split(text, "\n")
	for at := 0; at < len(lines); {
		end := at
		for end < len(lines) && !separates(lines[end]) {
			end++
		}
		if end > at {
			b, err := block.Parse(strings.Join(lines[at:end], "\n"))
			if syntax, ok := errors.AsType[*block.SyntaxError](err); ok {
				return definition{}, &block.SyntaxError{Line: at + syntax.Line, Reason: syntax.Reason}
			}
			if err != nil {
				return definition{}, err
			}
			if first == nil {
				first = &b
			}
		}
		at = end + 1
	}
	if first == nil {
		return definition{}, errNoDefinition
	}
	d := definition{name: first.Agent, intent: first.Intent}
	for _, pairs := range [][]block.Pair{first.Context, first.Meta} {
		if name, ok := block.Get(pairs, "name"); ok && name != "" {
			d.name = name
		}
		if text, ok := block.Get(pairs, "description"); ok && d.description == "" {
			d.description = text
		}
		if tags, ok := block.Get(pairs, "tags"); ok && d.tags == nil {
			d.tags = splitTags(tags)
		}
	}
	if d.description == "" {
		d.description, _ = block.Get(first.Meta, "rationale")
	}
	return d, nil
}

// separates reports whether a line stands between blocks.
func separates(line string) bool {
	line = strings.TrimSpace(line)
	return line == "" || line == "---"
}

// splitTags splits at commas, which is what the semicolons of a YAMO value became too.
func splitTags(text string) (tags []string) {
	for tag := range strings.SplitSeq(text, ",") {
		if tag = strings.TrimSpace(tag); tag != "" {
			tags = append(tags, tag)
		}
	}
	return tags
}

// firstSentence is text up to the end of its first paragraph, or of a sentence before that. What goes on in
// lower case is the same sentence: "e.g. this".
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
