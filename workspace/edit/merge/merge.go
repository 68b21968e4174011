// Package merge combines two changes of a section's body: a three-way merge of whole items and paragraphs.
//
// Its invariant: each item and each paragraph of the result is one of the merged texts, as it is there. Where the
// result is not certain there is none.
package merge

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/yamo-protocol/yamo-mcp/workspace/edit/seal"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// Bodies returns base with the changes that lead to ours and those that lead to theirs. ok is false if both changed the
// same place, so that the order or the number of the items and paragraphs is not certain:
//
//   - what theirs adds or removes is changed, moved, repeated, added or removed by ours;
//   - theirs puts something next to what ours changed;
//   - ours has a line in the middle of what theirs replaces.
//
// White space at the ends of lines does not count as a change, and neither does a blank line.
func Bodies(base, ours, theirs string) (merged string, ok bool) {
	if seal.Canonical(ours) == seal.Canonical(theirs) {
		return ours, true
	}
	b, o, t := split(base), split(ours), split(theirs)
	if seal.Canonical(ours) == seal.Canonical(base) {
		last := t[len(t)-1]
		return strings.TrimSuffix(theirs, last.end) + merging{base: b, ours: o, theirs: t}.tail(last), true
	}
	if !b.left(o, t) {
		return "", false
	}
	// Equal lines can be matched in more than one way. What they become must not depend on it.
	for i, way := range [][2]direction{{down, down}, {up, up}, {down, up}, {up, down}} {
		m := merging{base: b, ours: o, theirs: t, toOurs: match(b, o, way[0]), toTheirs: match(b, t, way[1])}
		result, ok := m.merge()
		if !ok || i > 0 && result != merged {
			return "", false
		}
		merged = result
	}
	return merged, true
}

// units are the units of a body (see grammar.Units).
type units []unit

type unit struct {
	key  string // its canonical text, which is compared
	text string // as it is, without end
	end  string // the line end and the blank lines after it
}

func split(body string) units {
	var list units
	for _, raw := range grammar.Units(body) {
		text := raw[:contentEnd(raw)]
		list = append(list, unit{seal.Canonical(text), text, raw[len(text):]})
	}
	return list
}

// contentEnd returns where the line end and the blank lines at the end of a unit begin. The blanks before a line end
// are content: an item may have nothing else.
func contentEnd(raw string) int {
	end := len(strings.TrimRightFunc(raw, unicode.IsSpace)) // as grammar.Units decides what a blank line is
	if end == 0 {
		return 0
	}
	line, _, _ := strings.Cut(raw[end:], "\n")
	return end + len(strings.TrimSuffix(line, "\r"))
}

func (u units) keys() []string {
	keys := make([]string, len(u))
	for i := range u {
		keys[i] = u[i].key
	}
	return keys
}

// left reports whether ours left alone what theirs changed: it has each unit that theirs adds or removes as often as
// base has it.
func (u units) left(ours, theirs units) bool {
	count := func(list units) map[string]int {
		n := map[string]int{}
		for _, unit := range list {
			n[unit.key]++
		}
		return n
	}
	was, now, will := count(u), count(ours), count(theirs)
	for _, unit := range slices.Concat(u, theirs) {
		if was[unit.key] != will[unit.key] && was[unit.key] != now[unit.key] {
			return false
		}
	}
	return true
}

// direction is the end at which equal units are matched first.
type direction bool

const (
	down direction = false
	up   direction = true
)

// match returns for each unit of base the index of the unit of next that it is, -1 for none. The first is always the
// first: both are the blank lines at the beginning.
func match(base, next units, d direction) []int {
	was, is := base.keys()[1:], next.keys()[1:]
	if d == up {
		slices.Reverse(was)
		slices.Reverse(is)
	}
	found := make([]int, len(base))
	for i := range found[1:] {
		found[i+1] = -1
	}
	for i, from := range Common(was, is) {
		switch {
		case from < 0:
		case d == up:
			found[len(base)-1-from] = len(next) - 1 - i
		default:
			found[from+1] = i + 1
		}
	}
	return found
}

// merging is one way to merge: with the units of base matched to those of ours and theirs.
type merging struct {
	base, ours, theirs units
	toOurs, toTheirs   []int
}

// hunk is a change: the units of base from From to To became those of the other text from At to End.
type hunk struct {
	from, to, at, end int
	theirs            bool
}

// hunks returns the changes from base to a text of size units.
func hunks(match []int, size int, theirs bool) (list []hunk) {
	from, at := 0, 0
	add := func(to, end int) {
		if from < to || at < end {
			list = append(list, hunk{from, to, at, end, theirs})
		}
	}
	for i, to := range match {
		if to >= 0 {
			add(i, to)
			from, at = i+1, to+1
		}
	}
	add(len(match), size)
	return list
}

// collides reports whether a change of ours is in the place of one of theirs. What theirs replaces or removes is there
// unchanged, and shows the place. What it only adds has no place but between its neighbors.
func (h hunk) collides(ours hunk) bool {
	if h.from == h.to {
		return ours.from <= h.to && h.from <= ours.to
	}
	if ours.from == ours.to {
		return h.from < ours.from && ours.from < h.to
	}
	return ours.from < h.to && h.from < ours.to
}

// piece is a unit of the result: its indexes in ours and theirs, -1 where it is not.
type piece struct{ ours, theirs int }

func (m merging) merge() (string, bool) {
	mine, other := hunks(m.toOurs, len(m.ours), false), hunks(m.toTheirs, len(m.theirs), true)
	for _, h := range other {
		if slices.ContainsFunc(mine, h.collides) {
			return "", false
		}
	}
	changes := slices.Concat(mine, other)
	slices.SortStableFunc(changes, func(a, b hunk) int { return cmp.Or(a.from-b.from, a.to-b.to) })
	var pieces []piece
	i := 0
	keep := func(to int) {
		for ; i < to; i++ {
			pieces = append(pieces, piece{m.toOurs[i], m.toTheirs[i]})
		}
	}
	for _, h := range changes {
		keep(h.from)
		for n := h.at; n < h.end; n++ {
			if h.theirs {
				pieces = append(pieces, piece{-1, n})
			} else {
				pieces = append(pieces, piece{n, -1})
			}
		}
		i = h.to
	}
	keep(len(m.base))
	return m.text(pieces)
}

// text returns the text of the result, false if its pieces would not stay apart.
func (m merging) text(pieces []piece) (string, bool) {
	newline := "\n"
	if strings.Contains(m.ours[0].end+m.ours[len(m.ours)-1].end, "\r\n") {
		newline = "\r\n"
	}
	var out strings.Builder
	var keys []string
	for i, p := range pieces {
		u := m.unit(p)
		keys = append(keys, u.key)
		out.WriteString(u.text)
		if i == len(pieces)-1 {
			out.WriteString(m.tail(u))
			break
		}
		end, next := m.end(p, pieces[i+1]), m.unit(pieces[i+1])
		if u.text != "" && !strings.Contains(end, "\n") {
			end += newline
		}
		if u.text != "" && len(grammar.Units(u.text+end+next.text)) < 3 {
			end += newline
		}
		out.WriteString(end)
	}
	merged := out.String()
	return merged, slices.Equal(split(merged).keys(), keys)
}

// unit returns a piece as ours has it, else as theirs.
func (m merging) unit(p piece) unit {
	if p.ours >= 0 {
		return m.ours[p.ours]
	}
	return m.theirs[p.theirs]
}

// end returns what separates a piece from the next one: as in the text that has both in this order, theirs if ours did
// not change it.
func (m merging) end(p, next piece) string {
	inOurs := p.ours >= 0 && next.ours == p.ours+1
	inTheirs := p.theirs >= 0 && next.theirs == p.theirs+1
	switch {
	case inOurs && inTheirs:
		if b := slices.Index(m.toOurs, p.ours); m.ours[p.ours].end == m.base[b].end {
			return m.theirs[p.theirs].end
		}
		return m.ours[p.ours].end
	case inOurs:
		return m.ours[p.ours].end
	case inTheirs:
		return m.theirs[p.theirs].end
	}
	return m.unit(p).end
}

// tail returns the end of the result, below its last unit.
func (m merging) tail(below unit) string {
	last := func(u units) string { return u[len(u)-1].end }
	end := last(m.ours)
	if end == last(m.base) {
		end = last(m.theirs)
	}
	// Where there was no unit, blanks may be in the first line.
	if below.text != "" && end != "" && strings.TrimLeft(end, "\r\n") == end {
		end = "\n" + end
	}
	return end
}
