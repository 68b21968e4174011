package grammar

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/workspace/markdown"
)

// Edit is one operation on one section (seed 004 §4).
type Edit struct {
	Op      Op
	Section string   // its heading or anchor; "" for the text between the title and the first section
	Content string   // of replace_section and append_section; of append_item, one item
	Items   []string // of append_item and curate_items
	// Replaces maps an existing item to the index in Items of the one that curate_items puts in its place.
	Replaces  map[string]int
	Rationale string
	Override  string // reason to exceed a cap: why now, for how long, and when it is curated (§8)
	Evidence  []Token
	Create    bool   // create a missing section
	Above     string // heading above which a created section is put if the file has it; a profile has its own order
}

// Applied describes what an edit did.
type Applied struct {
	Section  string   // its heading in the file
	Anchor   string   // its hidden anchor, else the slug of its heading
	Match    Match    // how the section was found
	Made     bool     // the section was created
	Items    int      // number of items added to a list
	Removed  []string // items that the section had before, as the file had them
	Exceeded string   // the cap that is exceeded, in words; "" for none
}

// Apply performs e on d, a file of type t (nil for none), at the time now. It changes only the section, which it may
// have to create. Errors are faults, and d is then invalid: the caller parses the text again.
func (d *Document) Apply(t *Type, e Edit, now time.Time) (Applied, error) {
	if err := t.Permits(e.Op, e.Section); err != nil {
		return Applied{}, err
	}
	if err := e.clean(); err != nil {
		return Applied{}, err
	}
	if e.Rationale == "" {
		return Applied{}, fault.New("rationale: give the reason for the change in one line")
	}
	done := Applied{}
	i, how, err := d.Find(t, e.Section)
	var missing *MissingError
	adds := e.Op != CurateItems && e.Op != TombstoneSection
	switch {
	case err == nil:
	// A profile's sections are declared, so that creating a missing one needs no permission.
	case errors.As(err, &missing) && !missing.Twice && adds && (e.Create || t.strict()):
		i, done.Made = d.add(t, e.Section, e.Above), true
	case errors.As(err, &missing) && !missing.Twice && adds:
		return Applied{}, fault.New("section: %v. Pass create: true to create it", err)
	default:
		return Applied{}, fault.New("section: %v", err)
	}
	p := &d.Parts[i]
	done.Section, done.Match, done.Anchor = p.Name, how, p.Anchor.ID
	form := t.form(p.Name)
	if _, known := t.section(e.Section); known { // also where the heading is misspelt
		form = t.form(e.Section)
	}
	if done.Anchor == "" {
		done.Anchor = Slug(p.Name)
	}
	names, before := d.skeleton(), *p
	if err := d.perform(p, form, e, &done, now); err != nil {
		return Applied{}, err
	}
	// Refused, so that the record has no event without an effect, and the model learns that it read an old text.
	if p.Body == before.Body && !done.Made {
		return Applied{}, fault.New("content: the section has this content already; nothing would change")
	}
	// The content must not be read as another section, a title or an anchor. checkText finds the common cases and names
	// the line; parsing the result again is the proof.
	if after := Parse(d.String()); !slices.Equal(names, after.skeleton()) || after.Parts[i].Body != p.Body {
		return Applied{}, fault.New("content: it would change which sections the file has; write it without headings of " +
			"the first two levels, anchors and open code blocks")
	}
	done.Removed = Gone(Items(before.Body), Items(p.Body))
	if done.Exceeded = t.exceeds(form, before.Body, p.Body); done.Exceeded != "" && len(strings.Fields(e.Override)) < 2 {
		return Applied{}, fault.New("override_rationale: %s would have %s; shorten it, curate it, or say why that is "+
			"needed now, for how long, and when it is curated", quoteName(p.Name), done.Exceeded)
	}
	return done, nil
}

// quoteName returns a section's name for errors.
func quoteName(name string) string {
	if name == "" {
		return "the text above the sections"
	}
	return fmt.Sprintf("%q", name)
}

// skeleton returns what an edit must not change: the head, the headings and the anchors.
func (d *Document) skeleton() []string {
	list := []string{d.Head}
	for _, p := range d.Parts {
		list = append(list, p.Heading+p.Hidden)
	}
	return list
}

// add inserts an empty section and returns its index: in a profile at its place in the type's order (§3) and with its
// anchor, in other files above a section, or at the end if there is no such section.
func (d *Document) add(t *Type, name, above string) int {
	nl := d.newline()
	at, part := len(d.Parts), Part{Name: oneLine(name)}
	for i := 1; above != "" && i < len(d.Parts); i++ { // the first part is the text above the sections
		if d.Parts[i].Name == above {
			at = i
			break
		}
	}
	if s, ok := t.section(name); ok {
		part.Name = s.Name
		if t.strict() {
			at = d.region(t, s.Name)[1]
			part.Hidden = nl + s.anchorLine()
			part.Anchor = Anchor{s.Anchor(), "1"}
		}
	}
	part.Heading = "## " + part.Name
	// A blank line above the heading, and one below the section.
	last := &d.Parts[at-1]
	text := d.Head
	if at > 1 || last.Body != "" {
		text = last.Text()
	}
	switch {
	case text == "":
	case !strings.HasSuffix(text, "\n"):
		last.Body += lineEnd(text, nl) + nl
	case !strings.HasSuffix(text, "\n\n") && !strings.HasSuffix(text, "\n\r\n"):
		last.Body += nl
	}
	d.Parts = slices.Insert(d.Parts, at, part)
	return at
}

// lineEnd returns what ends the last line of text, which does not end with a line feed, in a file whose line end is nl.
// A file that was cut within its last line end has half of one, which is completed: with a whole one behind it, the
// carriage return would belong to the line, and a heading would be another one when it is read again.
func lineEnd(text, nl string) string {
	if strings.HasSuffix(text, "\r") {
		return "\n"
	}
	return nl
}

// perform changes the body of p, a section of the given form.
func (d *Document) perform(p *Part, form Form, e Edit, done *Applied, now time.Time) error {
	nl := d.newline()
	var at markdown.Scanner
	for line := range strings.Lines(p.Body) {
		at.Next(line)
	}
	if !at.Free() && (e.Op == AppendSection || e.Op == AppendItem) {
		return fault.New("section: %s ends inside a code block or comment that is never closed; replace its content",
			quoteName(p.Name))
	}
	// The blank lines around the content are kept: an edit of one section must not move its neighbours.
	lead, core, trail := frame(p.Body)
	content := strings.ReplaceAll(e.Content, "\n", nl)
	switch e.Op {
	case ReplaceSection:
		core = content + nl
	case AppendSection:
		if core != "" {
			core = strings.TrimRight(core, "\r\n") + nl + nl
		}
		core += content + nl
	case TombstoneSection:
		// A note replaces the content, because a section must not disappear (seed 004 §4).
		core = "_Retired " + Stamp(now) + ": " + oneLine(e.Rationale) + "_" + nl
	case AppendItem:
		items, err := form.items(e, nil, now)
		if err != nil {
			return err
		}
		core, done.Items = appendItems(core, items, nl), len(items)
	case CurateItems:
		items, err := form.items(e, Items(core), now)
		if err != nil {
			return err
		}
		if core, err = curate(core, items, e.Replaces, nl); err != nil {
			return err
		}
	}
	lead, trail = d.around(p, lead, core, trail)
	p.Body = lead + core + trail
	return nil
}

// around returns the line ends before and after the new content of a section: a blank line below the heading if the
// section was empty, and one above the next heading.
func (d *Document) around(p *Part, lead, core, trail string) (before, after string) {
	if core == "" && strings.Count(lead, "\n") > 1 {
		return lead, "" // that is the blank line above the next
	}
	nl := d.newline()
	above := p.Heading
	if p == &d.Parts[0] {
		above = d.Head
	}
	if empty := strings.Trim(p.Body, " \t\r\n") == ""; above != "" && core != "" && empty {
		lead = nl + nl
	}
	if p != &d.Parts[len(d.Parts)-1] && trail == "" {
		trail = nl
	}
	return lead, trail
}

// frame splits a body into the blank lines at its beginning, its content and the blank lines at its end.
func frame(body string) (lead, core, trail string) {
	for line := range strings.Lines(body) {
		if strings.TrimSpace(line) != "" {
			break
		}
		lead += line
	}
	core = body[len(lead):]
	text := strings.TrimRight(core, " \t\r\n")
	end := len(text)
	if at := strings.IndexByte(core[end:], '\n'); at >= 0 {
		end += at + 1
	} else {
		end = len(core)
	}
	return lead, core[:end], core[end:]
}

// items returns the items of an edit as a section of this form has them: evidence with a token (§5), Change Log
// entries with a time (§7). Those that are among present stay as they are.
func (f Form) items(e Edit, present []string, now time.Time) ([]string, error) {
	items := e.Items
	if e.Op == AppendItem && e.Content != "" {
		items = append([]string{e.Content}, items...)
	}
	if len(items) == 0 && e.Op == AppendItem {
		return nil, fault.New("items: append_item requires content or items")
	}
	out := make([]string, len(items))
	bare := 0 // items without a token
	for i, item := range items {
		if slices.Contains(present, item) {
			out[i] = item
			continue
		}
		// The blank lets the pattern match an item that is a bullet and nothing else.
		item = strings.Trim(bullet.ReplaceAllString(strings.Trim(item, "\n")+" ", ""), " \t\n")
		if item == "" {
			return nil, fault.New("items: number %d is empty", i+1)
		}
		switch f {
		case Evidence:
			for _, found := range looksLikeToken.FindAllString(item, -1) {
				if _, err := ParseToken(found); err != nil {
					return nil, fault.New("items: number %d: %v", i+1, err)
				}
			}
			if !looksLikeToken.MatchString(item) {
				if len(e.Evidence) == 0 {
					return nil, fault.New("evidence_refs: each item of evidence is a short quote with a token (%s): name the "+
						"memory or event it comes from", TokenForm)
				}
				// Several references for several items would prove each with all of them.
				if bare++; bare > 1 && len(e.Evidence) > 1 {
					return nil, fault.New("items: number %d has no evidence token of its own: write into each item what it "+
						"quotes (%s)", i+1, TokenForm)
				}
				item += " (" + join(e.Evidence) + ")"
			}
		case Log:
			if !dated(item) {
				item = Stamp(now) + ": " + item
			}
		case Narrative, List, Free:
		}
		out[i] = item
	}
	return out, nil
}

// join returns the tokens in one line.
func join(tokens []Token) string {
	list := make([]string, len(tokens))
	for i, t := range tokens {
		list[i] = t.String()
	}
	return strings.Join(list, ", ")
}

// appendItems adds items after the last one of a body, in its style: the same bullet, numbers that go on, and blank
// lines between items if the list has them.
func appendItems(core string, items []string, nl string) string {
	list := blocks(core)
	last, loose := -1, false
	for i, b := range list {
		if b.item {
			// A list is loose (CommonMark §5.3) if a blank line separates two of its items.
			loose = loose || last >= 0 && i == last+2 && strings.TrimSpace(list[last+1].raw) == ""
			last = i
		}
	}
	var out strings.Builder
	added := func() {
		mark := markOf(list)
		for i, item := range items {
			if loose && (i > 0 || last >= 0) {
				out.WriteString(nl)
			}
			out.WriteString(itemLines(item, mark, nl))
			mark = following(mark)
		}
	}
	for i, b := range list {
		out.WriteString(b.raw)
		if i == last {
			if !strings.HasSuffix(b.raw, "\n") {
				out.WriteString(lineEnd(b.raw, nl))
			}
			added()
		}
	}
	if last < 0 {
		if core != "" {
			if !strings.HasSuffix(core, "\n") {
				out.WriteString(lineEnd(core, nl))
			}
			out.WriteString(nl)
		}
		added()
	}
	return out.String()
}

// Gone returns the items of before that after lacks, in order; of two equal ones, one if one is left.
func Gone(before, after []string) []string {
	left := slices.Clone(after)
	var list []string
	for _, item := range before {
		if i := slices.Index(left, item); i >= 0 {
			left = slices.Delete(left, i, i+1)
			continue
		}
		list = append(list, item)
	}
	return list
}

// curate makes items the items of a body: existing items that are among them keep their bytes and their place, the
// other existing ones are removed, and new ones follow after the last, or are in the place of the one that they replace
// (see Edit.Replaces). Text between items stays.
func curate(core string, items []string, replaces map[string]int, nl string) (string, error) {
	list := blocks(core)
	if !slices.ContainsFunc(list, func(b block) bool { return b.item }) {
		return "", fault.New("op: the section has no items; use append_item or replace_section")
	}
	// Each wanted item is used once: of two equal items in the file, one is removed if one is wanted.
	left := slices.Clone(items)
	var kept []block
	pruned := false
	for _, b := range list {
		switch i := slices.Index(left, b.text()); {
		case b.item && i >= 0:
			left = slices.Delete(left, i, i+1)
			kept = append(kept, b)
			pruned = false
		case b.item:
			if at, ok := replaces[b.text()]; ok && at < len(items) {
				if i := slices.Index(left, items[at]); i >= 0 {
					left = slices.Delete(left, i, i+1)
					b.raw = itemLines(items[at], bullet.FindString(b.raw), nl)
					kept = append(kept, b)
					pruned = false
					continue
				}
			}
			pruned = true
		case pruned && strings.TrimSpace(b.raw) == "" && (len(kept) == 0 || strings.TrimSpace(kept[len(kept)-1].raw) == ""):
			pruned = false // the blank line below a pruned item, where there is one above it
		default:
			kept = append(kept, b)
			pruned = false
		}
	}
	var rest strings.Builder
	for _, b := range kept {
		rest.WriteString(b.raw)
	}
	_, body, _ := frame(rest.String())
	if len(left) == 0 {
		return body, nil
	}
	return appendItems(body, left, nl), nil
}

// exceeds describes the cap that a section exceeds after an edit (§8), "" for none. An edit that does not make
// the section longer is always allowed: it may be the first step of curating it.
func (t *Type) exceeds(form Form, before, after string) string {
	over := func(before, after, limit int, unit string) string {
		if after <= limit || after <= before {
			return ""
		}
		return fmt.Sprintf("%d %s, more than the %d of its cap", after, unit, limit)
	}
	switch {
	case t == nil:
		return ""
	case form == Narrative:
		return over(Words(before), Words(after), NarrativeWords, "words")
	case form == Evidence:
		return over(len(Items(before)), len(Items(after)), EvidenceItems, "items")
	case !t.Strict:
		lines := func(body string) int { return strings.Count(strings.TrimSpace(body), "\n") + 1 }
		return over(lines(before), lines(after), NotesLines, "lines")
	}
	return ""
}
