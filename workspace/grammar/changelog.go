package grammar

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/frontmatter"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
)

// Done is an edit as a day's rollup counts it.
type Done struct {
	Op      Op
	Section string
	Items   int
	Of      string // in a user's overview, the profile that was edited, such as "Part guard"; "" for the file itself
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
		i := slices.IndexFunc(list, func(d Done) bool { return d.Op == e.Op && d.Section == e.Section && d.Of == e.Of })
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
	section := logName(e.Section)
	if e.Of != "" {
		section = e.Of + " " + section
	}
	switch {
	case e.Op != AppendItem:
		return section
	case !strings.HasPrefix(e.Section, "Evidence"):
		return text.Count(e.Items, "item", "items") + " to " + section
	case e.Of != "":
		return text.Count(e.Items, "evidence item", "evidence items") + " to " + e.Of
	}
	return text.Count(e.Items, "evidence item", "evidence items")
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
	if len(done.Removed) > 0 {
		text += "; removed: " + named(done.Removed)
	}
	return text
}

// Lengths of what the Change Log quotes of removed items, in characters. The record has the whole.
const (
	maxRemoved  = 80
	maxRemovals = 1200
)

// named quotes items in one line.
func named(items []string) string {
	var out strings.Builder
	for i, item := range items {
		quote := `"` + text.Shorten(oneLine(item), maxRemoved) + `"`
		if i > 0 && utf8.RuneCountInString(out.String()+quote) > maxRemovals {
			return out.String() + fmt.Sprintf(" and %d more", len(items)-i)
		}
		if i > 0 {
			out.WriteString(", ")
		}
		out.WriteString(quote)
	}
	return out.String()
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
		i = d.add(t, ChangeLog, "")
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

// Entries of a Change Log from which it is folded, and those that are left.
const (
	maxEntries  = 20
	keptEntries = 10
)

// folded matches the entry that replaces older ones, see Fold.
var folded = regexp.MustCompile(`^\S+Z: ([0-9]+) earlier entries since ([0-9]{4}-[0-9]{2}-[0-9]{2}) `)

// exceeded matches the entry that Exceeding returns.
var exceeded = regexp.MustCompile(`^\S+Z: Exceeded the cap of (.+?), which has `)

// Fold replaces the oldest entries of a Change Log with more than 20 by one that names the command to see them. The
// record has all that the present edit, with the ID event, takes out, also what was written by hand. The newest 10
// stay, and so do what is not an entry and the last reason why a section exceeds its cap.
func (d *Document) Fold(t *Type, file, event string, now time.Time) {
	i, ok := d.changeLog(t)
	if !ok {
		return
	}
	p := &d.Parts[i]
	lead, core, trail := frame(p.Body)
	list := blocks(core)
	var entries []int // indexes in list
	for j, b := range list {
		if b.item && dated(b.text()) {
			entries = append(entries, j)
		}
	}
	if len(entries) <= maxEntries {
		return
	}
	entries = entries[:len(entries)-keptEntries]
	// The reason why a section exceeds its cap is looked for here (seed 004 §8), so that the last one of each stays.
	reasons := map[string]bool{}
	for _, j := range slices.Backward(slices.Clone(entries)) {
		if m := exceeded.FindStringSubmatch(list[j].text()); m != nil && !reasons[m[1]] {
			reasons[m[1]] = true
			entries = slices.DeleteFunc(entries, func(k int) bool { return k == j })
		}
	}
	if len(entries) < 2 {
		return
	}
	n, since := 0, ""
	for _, j := range entries {
		count, day := 1, list[j].text()[:len(time.DateOnly)]
		if m := folded.FindStringSubmatch(list[j].text()); m != nil {
			count, _ = strconv.Atoi(m[1]) // too many digits give the largest int, which cannot be reached
			day = m[2]
		}
		n += count
		if since == "" || day < since {
			since = day
		}
	}
	line := fmt.Sprintf("%s: %d earlier entries since %s were taken out here: yamo-mcp diff %s --to %s", Stamp(now), n,
		since, file, event)
	first := &list[entries[0]]
	first.raw = itemLines(line, bullet.FindString(first.raw), d.newline())
	var out strings.Builder
	for j, b := range list {
		// The blank line below an entry that is folded goes with it.
		blank := j > 0 && !b.item && strings.TrimSpace(b.raw) == "" && slices.Contains(entries[1:], j-1)
		if !blank && !slices.Contains(entries[1:], j) {
			out.WriteString(b.raw)
		}
	}
	p.Body = lead + out.String() + trail
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
