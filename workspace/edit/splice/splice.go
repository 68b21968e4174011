// Package splice describes what an edit did to the sections of a file as bytes that were cut and inserted, and applies
// that again to a text (seed 004 §10).
package splice

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/workspace/edit/seal"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// Change is what an event did to one section: the bytes Cut at offset At of its body became Insert.
type Change struct {
	Section string `json:"section"`          // its heading, "" for the text above the first
	Anchor  string `json:"anchor,omitempty"` // its hidden anchor
	Nth     int    `json:"nth,omitempty"`    // its number among those with the same heading, from 0
	Made    *Made  `json:"made,omitempty"`   // set if the event created the section
	Gone    bool   `json:"gone,omitempty"`   // the event removed the section, whose whole body is Cut
	Before  string `json:"before_hash"`      // of the body's canonical text
	After   string `json:"after_hash"`
	At      int    `json:"at"`
	Cut     string `json:"cut"`
	Insert  string `json:"insert"`
}

// Made is the place at which an event created a section.
type Made struct {
	Index  int    `json:"index"` // among the parts of the document, after the changes before this one
	Hidden string `json:"hidden,omitempty"`
}

// Between returns the changes from before to after, in order. It compares section by section: operations change and add
// sections, and in one case remove one, but never move one (seed 004 §4).
func Between(k seal.Key, before, after *grammar.Document) []Change {
	var list []Change
	i := 0
	// The old parts up to another one are gone, after number parts of after.
	gone := func(upTo, number int) {
		for ; i < upTo; i++ {
			p := before.Parts[i]
			list = append(list, Change{
				Section: p.Name, Anchor: p.Anchor.ID, Nth: called(after.Parts[:number], p.Name), Gone: true,
				Before: k.Section(p.Body), Cut: p.Body,
			})
		}
	}
	for j, p := range after.Parts {
		for at := i; at < len(before.Parts); at++ {
			if same(before.Parts[at], p) {
				gone(at, j)
				break
			}
		}
		// A part that before does not have at this place is new; the next ones are compared with the same old part.
		if i == len(before.Parts) || !same(before.Parts[i], p) {
			list = append(list, Change{
				Section: p.Name, Anchor: p.Anchor.ID, Made: &Made{j, p.Hidden}, After: k.Section(p.Body), Insert: p.Body,
			})
			continue
		}
		old := before.Parts[i]
		i++
		if old.Body == p.Body {
			continue
		}
		at, cut, insert := Of(old.Body, p.Body)
		list = append(list, Change{
			Section: p.Name, Anchor: p.Anchor.ID, Nth: called(after.Parts[:j], p.Name),
			Before: k.Section(old.Body), After: k.Section(p.Body), At: at, Cut: cut, Insert: insert,
		})
	}
	gone(len(before.Parts), len(after.Parts))
	return list
}

// same reports whether two parts have the same heading and anchor.
func same(a, b grammar.Part) bool { return a.Heading == b.Heading && a.Hidden == b.Hidden }

// Index returns the part of d with the heading section and the anchor, else the first with the heading and no anchor,
// -1 if there is neither.
func Index(d *grammar.Document, section, anchor string) int {
	if section == "" {
		return 0
	}
	found := -1
	for i, p := range d.Parts {
		switch {
		case i == 0 || p.Name != section:
		case p.Anchor.ID == anchor:
			return i
		case p.Anchor.ID == "" && found < 0:
			found = i
		}
	}
	return found
}

// called returns how many of the parts have the heading name.
func called(parts []grammar.Part, name string) (n int) {
	for _, p := range parts {
		if p.Heading != "" && p.Name == name {
			n++
		}
	}
	return n
}

// Of returns the one place in which a and b differ. It never splits a character: Cut and Insert are encoded as
// JSON, which would replace half of one.
func Of(a, b string) (at int, cut, insert string) {
	for at < len(a) && at < len(b) && a[at] == b[at] {
		at++
	}
	for at > 0 && (at < len(a) && !utf8.RuneStart(a[at]) || at < len(b) && !utf8.RuneStart(b[at])) {
		at--
	}
	end := 0
	for end < len(a)-at && end < len(b)-at && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	for end > 0 && !utf8.RuneStart(a[len(a)-end]) {
		end--
	}
	return at, a[at : len(a)-end], b[at : len(b)-end]
}

// DriftError is the reason why an event cannot be applied to a text (seed 004 §10).
type DriftError struct {
	Event   string
	Section string
	Reason  string
}

// Error names the event, the section and the reason.
func (e *DriftError) Error() string {
	return fmt.Sprintf("event %s cannot be applied to the section %q: %s", e.Event, e.Section, e.Reason)
}

// Apply applies the changes of the event with an id to d, a file of type t. matches reports whether a section's body
// has the hash, before and after. For a section that is not found by its name there is one attempt to re-anchor it
// (seed 004 §10). The error is a *DriftError, and then d is invalid.
func Apply(
	d *grammar.Document, t *grammar.Type, id string, changes []Change, matches func(body, hash string) bool,
) error {
	for _, c := range changes {
		if c.Made != nil {
			if slices.Contains(d.Sections(), c.Section) {
				return &DriftError{id, c.Section, "it was made by the event, and is there already"}
			}
			part := grammar.Part{
				Heading: "## " + c.Section, Hidden: c.Made.Hidden, Body: c.Insert, Name: c.Section,
				Anchor: grammar.Anchor{ID: c.Anchor, Version: "1"},
			}
			if c.Anchor == "" {
				part.Anchor = grammar.Anchor{}
			}
			// Kept within the document: a replay that starts from a changed file may have fewer parts.
			d.Parts = slices.Insert(d.Parts, min(max(c.Made.Index, 1), len(d.Parts)), part)
			continue
		}
		i := c.find(d, t, matches)
		if i < 0 {
			return &DriftError{id, c.Section, "no section has the name and the content that it had"}
		}
		if c.Gone {
			d.Parts = slices.Delete(d.Parts, i, i+1)
			continue
		}
		p := &d.Parts[i]
		body, ok := c.apply(p.Body)
		if !ok || !matches(body, c.After) {
			return &DriftError{id, c.Section, "its content is not what the event changed"}
		}
		p.Body = body
	}
	return nil
}

// find returns the index of the section that c changes, if it has the content that c expects, else -1.
func (c Change) find(d *grammar.Document, t *grammar.Type, matches func(body, hash string) bool) int {
	fits := func(i int) bool { return matches(d.Parts[i].Body, c.Before) }
	if c.Section == "" {
		if fits(0) {
			return 0
		}
		return -1
	}
	if i := c.index(d); i >= 0 && fits(i) {
		return i
	}
	// Only with the expected content: a section with a similar heading could be another one.
	if i, ok := d.Reanchor(t, c.Section); ok && fits(i) {
		return i
	}
	return -1
}

// index returns the only part of d with c's anchor, else number c.Nth of those with its heading, -1 for none.
func (c Change) index(d *grammar.Document) int {
	anchored, named := []int{}, []int{}
	for i := 1; i < len(d.Parts); i++ {
		if c.Anchor != "" && d.Parts[i].Anchor.ID == c.Anchor {
			anchored = append(anchored, i)
		}
		if d.Parts[i].Name == c.Section {
			named = append(named, i)
		}
	}
	switch {
	case len(anchored) == 1:
		return anchored[0]
	case c.Nth < len(named):
		return named[c.Nth]
	}
	return -1
}

// apply returns body with the change, false if body does not contain what is cut.
func (c Change) apply(body string) (string, bool) {
	at := c.At
	if at < 0 || at+len(c.Cut) > len(body) || body[at:at+len(c.Cut)] != c.Cut {
		// The hash ignores blanks (see seal.Canonical), so that the offset may be wrong: the bytes are then searched for, and
		// only a single match is certain.
		if c.Cut == "" || strings.Count(body, c.Cut) != 1 {
			return "", false
		}
		at = strings.Index(body, c.Cut)
	}
	return body[:at] + c.Insert + body[at+len(c.Cut):], true
}
