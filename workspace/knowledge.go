package workspace

import (
	"encoding/json"
	"errors"
	"io/fs"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/workspace/markdown"
)

// Section is a heading of MEMORY.md with its list items.
type Section struct {
	Heading string   `json:"heading"`
	Bullets []string `json:"bullets"`
}

// Knowledge is what MEMORY.md says, small enough for one turn (seed 002, what_do_i_know).
type Knowledge struct {
	Sections  []Section `json:"sections"`
	Truncated bool      `json:"truncated"` // something matching the filter was left out
}

// Limits of seed 002's what_do_i_know.
const (
	maxKnowledge      = 6144 // bytes of JSON
	maxSectionBullets = 10
	maxBulletChars    = 1000
)

// ParseSections reads the Markdown sections of a MEMORY.md: its headings of any level, in order, each with
// the list items directly below it. Indented lines continue an item. Items before the first heading belong
// to the heading "". Headings without items are left out.
func ParseSections(text string) []Section {
	sections := []Section{{}}
	open := false // the previous line belongs to a bullet
	for line := range lines(text) {
		trimmed := strings.TrimSpace(line)
		current := &sections[len(sections)-1]
		if level, heading := markdown.Heading(line); level > 0 && line[0] == '#' {
			sections = append(sections, Section{Heading: heading})
			open = false
		} else if bullet, ok := cutAny(trimmed, "- ", "* ", "+ "); ok {
			current.Bullets = append(current.Bullets, strings.TrimSpace(bullet))
			open = true
		} else if open && trimmed != "" && strings.TrimLeft(line, " \t") != line {
			current.Bullets[len(current.Bullets)-1] += " " + trimmed
		} else {
			open = false
		}
	}
	kept := sections[:0]
	for _, section := range sections {
		if len(section.Bullets) > 0 {
			kept = append(kept, section)
		}
	}
	return kept
}

// Knowledge lists MEMORY.md, of which it reads MaxFileSize at most, by section: those whose heading contains filter in any case, at most 10 items a
// section, an item at most 1,000 characters, and at most 6,144 bytes as JSON. In a group it fails as any
// missing file does; a DM without a MEMORY.md knows nothing.
func (v *View) Knowledge(filter string) (Knowledge, error) {
	data, more, err := v.Head(MemoryFile)
	if errors.Is(err, fs.ErrNotExist) && v.who.IsDM() {
		return Knowledge{Sections: []Section{}}, nil
	}
	if err != nil {
		return Knowledge{}, err
	}
	known, err := know(ParseSections(strings.ToValidUTF8(string(data), "\uFFFD")), filter)
	known.Truncated = known.Truncated || more
	return known, err
}

func know(sections []Section, filter string) (Knowledge, error) {
	known := Knowledge{Sections: []Section{}, Truncated: true} // "true" is shorter than "false" by one byte
	size, err := jsonSize(known)
	if err != nil {
		return Knowledge{}, err
	}
	size++
	known.Truncated = false
	filter = strings.ToLower(strings.TrimSpace(filter))
	for _, section := range sections {
		if !strings.Contains(strings.ToLower(section.Heading), filter) {
			continue
		}
		kept := Section{Heading: section.Heading, Bullets: []string{}}
		head, err := jsonSize(kept)
		if err != nil {
			return Knowledge{}, err
		}
		if size += head + 1; size > maxKnowledge { // 1 for the comma
			known.Truncated = true
			break
		}
		for _, bullet := range section.Bullets {
			if short := cut(bullet, maxBulletChars); short != bullet {
				bullet, known.Truncated = short, true
			}
			n, err := jsonSize(bullet)
			if err != nil {
				return Knowledge{}, err
			}
			if len(kept.Bullets) == maxSectionBullets || size+n+1 > maxKnowledge {
				known.Truncated = true
				break
			}
			size += n + 1
			kept.Bullets = append(kept.Bullets, bullet)
		}
		known.Sections = append(known.Sections, kept)
	}
	return known, nil
}

// jsonSize is how many bytes v takes as JSON.
func jsonSize(v any) (int, error) {
	data, err := json.Marshal(v)
	return len(data), err
}
