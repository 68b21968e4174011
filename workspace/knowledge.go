package workspace

import (
	"encoding/json"
	"errors"
	"io/fs"
	"regexp"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/workspace/passage"
)

// Knowledge is the content of MEMORY.md, small enough for one turn (seed 002, what_do_i_know).
type Knowledge struct {
	Sections  []passage.Section `json:"sections"`
	Truncated bool              `json:"truncated"` // something matching the filter was left out
}

// Limits of seed 002's what_do_i_know.
const (
	maxKnowledge      = 6144 // bytes of JSON
	maxSectionBullets = 10
	maxBulletChars    = 1000 // and of the text next to the items
)

// Knowledge returns the sections of MEMORY.md whose heading contains filter, in any letter case, in the file's order
// (seed 002, what_do_i_know): up to 10 items a section, 1,000 characters an item and for the rest of its text, and
// 6,144 bytes as JSON in all. It reads up to MaxFileSize bytes. In a group the error is fs.ErrNotExist; in a DM a
// missing MEMORY.md counts as empty, and the error is a *RefusedError for one that is not read, such as a link.
func (v *View) Knowledge(filter string) (Knowledge, error) {
	data, more, err := v.Head(MemoryFile)
	if errors.Is(err, fs.ErrNotExist) && v.who.IsDM() {
		if reason := v.RefusalOf(MemoryFile); reason != "" {
			return Knowledge{}, &RefusedError{MemoryFile, reason}
		}
		return Knowledge{Sections: []passage.Section{}}, nil
	}
	if err != nil {
		return Knowledge{}, err
	}
	known, err := know(passage.Sections(strings.ToValidUTF8(string(data), "\uFFFD")), filter)
	known.Truncated = known.Truncated || more
	return known, err
}

// know selects sections within the limits. It counts bytes as it goes, since encoding the whole again for each item
// would be quadratic.
func know(sections []passage.Section, filter string) (Knowledge, error) {
	known := Knowledge{Sections: []passage.Section{}, Truncated: true}
	size, err := jsonSize(known)
	if err != nil {
		return Knowledge{}, err
	}
	size++ // "false" is longer than "true" by one byte
	known.Truncated = false
	filter = strings.ToLower(strings.TrimSpace(filter))
	for _, section := range sections {
		if !strings.Contains(strings.ToLower(section.Heading), filter) {
			continue
		}
		kept := passage.Section{Heading: section.Heading, Bullets: []string{}}
		head, err := jsonSize(kept)
		if err != nil {
			return Knowledge{}, err
		}
		if size += head + 1; size > maxKnowledge { // 1 for the comma
			known.Truncated = true
			break
		}
		for _, bullet := range section.Bullets {
			if short := text.First(bullet, maxBulletChars); short != bullet {
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
		if kept.Text = text.First(section.Text, maxBulletChars); kept.Text != section.Text {
			known.Truncated = true
		}
		if kept.Text != "" {
			n, err := jsonSize(kept.Text)
			if err != nil {
				return Knowledge{}, err
			}
			if n += len(`,"text":`); size+n > maxKnowledge {
				kept.Text, n, known.Truncated = "", 0, true
			}
			size += n
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

// dreamed is the heading under which a dreaming sweep adds to MEMORY.md: "## Dreamed 2026-04-23 03:00 UTC" (seed 002).
var dreamed = regexp.MustCompile(`^Dreamed ([0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}) UTC$`)

// IsDreamed reports whether a heading of MEMORY.md is that of a dreaming sweep.
func IsDreamed(heading string) bool { return dreamed.MatchString(heading) }

// Dreamed returns how many items dreaming has promoted to MEMORY.md, counted in its "## Dreamed …" sections, and the
// time of the last sweep. Both are zero if there was no sweep, and always in a group.
func (v *View) Dreamed() (promoted int, last time.Time, err error) {
	data, _, err := v.Head(MemoryFile)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, time.Time{}, nil
	}
	if err != nil {
		return 0, time.Time{}, err
	}
	for _, section := range passage.Sections(strings.ToValidUTF8(string(data), "\uFFFD")) {
		m := dreamed.FindStringSubmatch(section.Heading)
		if m == nil {
			continue
		}
		at, err := time.Parse("2006-01-02 15:04", m[1])
		if err != nil {
			continue // not a date: a heading that dreaming did not make
		}
		promoted += len(section.Bullets)
		if at.After(last) {
			last = at
		}
	}
	return promoted, last, nil
}
