package grammar

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/frontmatter"
)

// Done is an edit as a day's rollup counts it.
type Done struct {
	Op      Op
	Section string
	Items   int
}

// verbs are the words of a rollup for the operations.
var verbs = map[Op]string{
	ReplaceSection: "refined", AppendSection: "updated", AppendItem: "added", CurateItems: "curated",
	TombstoneSection: "retired", Promote: "promoted Extensions to",
}

// Rollup returns the Change Log's entry for the edits of a day (seed 004 §6), "" for none: each operation once with
// its sections, both in the order of their first edit.
func Rollup(day time.Time, edits []Done) string {
	var list []Done
	var ops []Op
	for _, e := range edits {
		i := slices.IndexFunc(list, func(d Done) bool { return d.Op == e.Op && d.Section == e.Section })
		if i >= 0 {
			// Counted together: ten edits that add an item each read as "added 10 items".
			list[i].Items += e.Items
			continue
		}
		list = append(list, e)
		if !slices.Contains(ops, e.Op) {
			ops = append(ops, e.Op)
		}
	}
	if len(list) == 0 {
		return ""
	}
	parts := make([]string, len(ops))
	for i, op := range ops {
		var sections []string
		for _, e := range list {
			if e.Op == op {
				sections = append(sections, e.what())
			}
		}
		parts[i] = verbs[op] + " " + strings.Join(sections, ", ")
	}
	return day.UTC().Format(time.DateOnly) + ": " + strings.Join(parts, "; ")
}

// what returns the object of the edit's verb.
func (e Done) what() string {
	if e.Op == AppendItem {
		return plural(e.Items, "item") + " to " + logName(e.Section)
	}
	return logName(e.Section)
}

// logName returns the Change Log's name for a section.
func logName(section string) string {
	if section == "" {
		return "the introduction"
	}
	return section
}

// RollupDay returns the day (YYYY-MM-DD) of a Change Log entry that is a day's rollup, "" for other entries.
func RollupDay(entry string) string {
	if m := dateForm.FindStringSubmatch(entry); m != nil && m[2] == "" {
		return m[1]
	}
	return ""
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Material returns the Change Log's inline entry for a material edit (seed 004 §6), "" for an edit that only the
// rollup mentions.
func Material(e Edit, done Applied, now time.Time) string {
	if !e.Op.Material() {
		return ""
	}
	text := fmt.Sprintf("%s: %s %s: %s", Stamp(now), verbs[e.Op], logName(done.Section), oneLine(e.Rationale))
	if len(e.Evidence) > 0 {
		text += " (" + join(e.Evidence) + ")"
	}
	return text
}

// Exceeding returns the Change Log's entry for an edit that exceeded a cap (seed 004 §8), "" for other edits.
func Exceeding(e Edit, done Applied, now time.Time) string {
	if done.Exceeded == "" {
		return ""
	}
	return fmt.Sprintf("%s: Exceeded the cap of %s, which has %s: %s", Stamp(now), logName(done.Section), done.Exceeded,
		oneLine(e.Override))
}

// changeLog returns the index of the Change Log in d.Parts. If a person created several, which lint reports, it is the
// last one.
func (d *Document) changeLog(t *Type) (index int, ok bool) {
	i, _, err := d.Find(t, ChangeLog)
	if missing, ok := errors.AsType[*MissingError](err); !ok || !missing.Twice {
		return i, err == nil
	}
	id := Slug(ChangeLog)
	for j, p := range d.Parts[1:] {
		if p.Anchor.ID == id || Slug(p.Name) == id {
			index = j + 1
		}
	}
	return index, true
}

// Record writes an edit into the Change Log (seed 004 §6): it replaces the day's rollup was ("" for none) with rollup,
// and appends the entries that are not "". Only a profile gets a Change Log if it has none; in other files nothing is
// recorded without one.
func (d *Document) Record(t *Type, was, rollup string, entries ...string) {
	if rollup == "" && len(entries) == 0 {
		return
	}
	i, ok := d.changeLog(t)
	if !ok {
		if !t.strict() {
			return
		}
		i = d.add(t, ChangeLog)
	}
	p, nl := &d.Parts[i], d.newline()
	lead, core, trail := frame(p.Body)
	entries = slices.DeleteFunc(slices.Clone(entries), func(e string) bool { return e == "" })
	list := blocks(core)
	replaced := false
	for j, b := range list {
		// A rollup that a person changed does not match: it stays, and a new one is appended.
		if b.item && was != "" && !replaced && b.text() == was {
			end := b.raw[len(strings.TrimRight(b.raw, "\r\n")):]
			list[j].raw = strings.TrimRight(itemLines(rollup, bullet.FindString(b.raw), nl), "\r\n") + end
			replaced = true
		}
	}
	var text strings.Builder
	for _, b := range list {
		text.WriteString(b.raw)
	}
	if !replaced && rollup != "" {
		entries = append([]string{rollup}, entries...)
	}
	core = text.String()
	if len(entries) > 0 {
		core = appendItems(core, entries, nl)
	}
	lead, trail = d.around(p, lead, core, trail)
	p.Body = lead + core + trail
}

// Touch sets last_updated in the front matter to now, if the field is there (seed 004 §7).
func (d *Document) Touch(now time.Time) {
	matter, _, ok := frontmatter.Split(d.Head)
	if !ok {
		return
	}
	// Only the value is replaced: quotes, comments and the order of the fields are the person's.
	at := strings.Index(d.Head, matter)
	m := lastUpdated.FindStringSubmatchIndex(matter)
	if m == nil {
		return
	}
	d.Head = d.Head[:at+m[4]] + Stamp(now) + d.Head[at+m[5]:]
}
