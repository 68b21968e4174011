package workspace

import (
	"errors"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"time"
)

// dreamed is the heading under which a dreaming sweep adds to MEMORY.md: "## Dreamed 2026-04-23 03:00 UTC" (seed 002).
var dreamed = regexp.MustCompile(`^Dreamed ([0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}) UTC$`)

// IsDreamed reports whether a heading of MEMORY.md is that of a dreaming sweep.
func IsDreamed(heading string) bool { return dreamed.MatchString(heading) }

// Dreamed is how many items dreaming has promoted to MEMORY.md, as its "## Dreamed …" sections show, and when the last
// sweep was; zero when there was none, and always in a group.
func (v *View) Dreamed() (promoted int, last time.Time, err error) {
	data, _, err := v.Head(MemoryFile)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, time.Time{}, nil
	}
	if err != nil {
		return 0, time.Time{}, err
	}
	text := strings.ToValidUTF8(string(data), "\uFFFD")
	for _, section := range ParseSections(text) {
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

// Present are the files in the workspace's root that the audience may see, sorted.
func (v *View) Present() []string {
	names := []string{}
	for name := range rootFiles {
		if !strings.Contains(name, "/") && v.exists(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
