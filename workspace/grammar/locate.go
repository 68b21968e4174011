package grammar

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"
)

// Match is how a section was found.
type Match int

// Ways a section is found, best first.
const (
	ByAnchor  Match = iota // its anchor is the one asked for
	ByHeading              // its heading is the one asked for, apart from case and punctuation
	ByNearest              // re-anchored: its heading is the nearest in the region where it belongs (§10)
)

// MissingError means that a file has no such section or, if Twice, more than one.
type MissingError struct {
	Section string
	Twice   bool
	Have    []string // the file's sections
}

// Error names the sections that the file has.
func (e *MissingError) Error() string {
	if e.Twice {
		return fmt.Sprintf("there are several sections %q: give each another heading, or an anchor to name it by", e.Section)
	}
	if len(e.Have) == 0 {
		return fmt.Sprintf("no section %q, and no other: omit section to edit the text below the title",
			e.Section)
	}
	return fmt.Sprintf("no section %q (sections: %s)", e.Section, strings.Join(e.Have, ", "))
}

// Find returns the index in d.Parts of the section called name, a heading or an anchor; "" is the text above the first
// section. Anchors win over headings, because a person may reword a heading. If no section has the name and t is
// strict, one attempt is made to re-anchor it (seed 004 §10): among the sections that are none of t's, in the region
// where the section belongs, the one with the nearest heading. The error is a *MissingError.
func (d *Document) Find(t *Type, name string) (int, Match, error) {
	if name == "" {
		return 0, ByHeading, nil
	}
	s, known := t.section(name)
	id, heading := name, name
	if known {
		id, heading = s.Anchor(), s.Name
	}
	exact := func(same func(Part) bool) []int {
		var found []int
		for i := 1; i < len(d.Parts); i++ {
			if same(d.Parts[i]) {
				found = append(found, i)
			}
		}
		return found
	}
	for how, same := range []func(Part) bool{
		func(p Part) bool { return p.Anchor.ID == id },
		func(p Part) bool { return p.Name == heading },
		func(p Part) bool { return Slug(p.Name) != "" && Slug(p.Name) == Slug(heading) },
	} {
		switch found := exact(same); {
		case len(found) == 1:
			return found[0], min(Match(how), ByHeading), nil
		// A guess between two would edit the wrong one.
		case len(found) > 1:
			return 0, 0, &MissingError{Section: name, Twice: true}
		}
	}
	if t.strict() && known {
		if i, ok := d.nearest(heading, d.region(t, heading), func(p Part) bool {
			_, other := t.section(p.Name)
			return !other
		}); ok {
			return i, ByNearest, nil
		}
	}
	return 0, 0, &MissingError{Section: name, Have: d.Sections()}
}

// Reanchor makes the one bounded attempt of seed 004 §10 to find a section that Find does not find: it returns the
// part with the nearest heading in the region where the section belongs. In a file without a declared type that is the
// whole file.
func (d *Document) Reanchor(t *Type, heading string) (int, bool) {
	region := [2]int{1, len(d.Parts)}
	if t.strict() {
		region = d.region(t, heading)
	}
	return d.nearest(heading, region, func(p Part) bool {
		_, other := t.section(p.Name)
		return !t.strict() || !other
	})
}

// region returns where a section of t belongs: the parts from region[0] up to but not including region[1], between the
// sections before and after it in the type.
func (d *Document) region(t *Type, heading string) [2]int {
	names := t.names()
	at := slices.Index(names, heading)
	region := [2]int{1, len(d.Parts)}
	for i := 1; i < len(d.Parts); i++ {
		s, ok := t.section(d.Parts[i].Name)
		if !ok {
			continue
		}
		switch j := slices.Index(names, s.Name); {
		case j < at:
			region[0] = i + 1
		case j > at:
			region[1] = min(region[1], i)
		}
	}
	return region
}

// digits returns the digits of a slug.
func digits(slug string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return r
		}
		return -1
	}, slug)
}

// nearest returns the one part in the region whose heading differs least, by up to 3 letters and a quarter of the
// heading. If two differ equally, it returns none: a guess would edit the wrong section.
func (d *Document) nearest(heading string, region [2]int, allowed func(Part) bool) (int, bool) {
	want := Slug(heading)
	best, least, twice := 0, min(utf8.RuneCountInString(want)/4, 3)+1, false
	for i := region[0]; i < region[1]; i++ {
		// "Plans 2026" is no spelling of "Plans 2025".
		if !allowed(d.Parts[i]) || digits(want) != digits(Slug(d.Parts[i].Name)) {
			continue
		}
		switch n := levenshtein.ComputeDistance(want, Slug(d.Parts[i].Name)); {
		case n < least:
			best, least, twice = i, n, false
		case n == least && best > 0:
			twice = true
		}
	}
	return best, best > 0 && !twice
}
