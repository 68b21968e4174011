package grammar

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/frontmatter"
	"github.com/yamo-protocol/yamo-mcp/workspace/markdown"
)

// Finding is a deviation of a file from seed 004. Rule is the section of the rule, such as "seed 004 §2".
type Finding struct {
	Line    int  // from 1
	Error   bool // the grammar forbids it; otherwise it is a soft cap or a convention
	Rule    string
	Message string
}

// checker collects the findings about one file.
type checker struct {
	typ      *Type
	about    Entity
	doc      *Document
	findings []Finding
}

func (c *checker) fail(line int, rule, format string, args ...any) {
	c.findings = append(c.findings, Finding{line, true, "seed 004 " + rule, fmt.Sprintf(format, args...)})
}

func (c *checker) warn(line int, rule, format string, args ...any) {
	c.findings = append(c.findings, Finding{line, false, "seed 004 " + rule, fmt.Sprintf(format, args...)})
}

// Check returns the findings about text as the content of the file called name. In a file without a declared type only
// anchors are checked, which such a file need not have.
func Check(name, text string) []Finding {
	typ, about := TypeOf(name)
	c := &checker{typ: typ, about: about, doc: Parse(text)}
	c.anchors()
	if typ == nil {
		return c.findings
	}
	c.titles()
	if typ.Strict {
		c.matter()
		c.sections()
	}
	for _, p := range c.doc.Parts[1:] {
		c.content(p)
	}
	return c.findings
}

// anchors checks the form and place of the anchors that the file has (§2).
func (c *checker) anchors() {
	seen := map[string]int{}
	for i, p := range c.doc.Parts {
		if p.Anchor.ID != "" {
			line := p.Line + strings.Count(p.Hidden, "\n")
			if first, twice := seen[p.Anchor.ID]; twice {
				c.fail(line, "§2", "anchor %s is also at line %d: a section has an anchor of its own", p.Anchor.ID, first)
			}
			seen[p.Anchor.ID] = line
			if strings.Count(p.Hidden, "\n") > 1 {
				c.warn(line, "§2", "the anchor is not immediately below the heading")
			}
		}
		var at markdown.Scanner
		line := p.bodyLine()
		for raw := range strings.Lines(p.Body) {
			if at.Free() && looksLikeAnchor.MatchString(raw) {
				if _, ok := anchorOf(raw); !ok {
					c.fail(line, "§2", "the anchor is misspelt: write <!-- @anchor: name v1 --> or [//]: # (anchor: name v1)")
				} else if i == 0 {
					c.fail(line, "§2", "the anchor is above the first section: it belongs below a heading")
				} else {
					c.fail(line, "§2", "the anchor is not below the heading ## %s, or the section has two", p.Name)
				}
			}
			at.Next(raw)
			line++
		}
	}
}

// bodyLine returns the line at which a part's body begins.
func (p Part) bodyLine() int {
	return p.Line + strings.Count(p.Heading, "\n") + strings.Count(p.Hidden, "\n")
}

// titles checks that there is one title, above the sections, and that heading levels go down one by one (§3).
func (c *checker) titles() {
	// The title is the last line of the head: front matter and comments may come before it.
	if level, _ := markdown.Heading(lastLine(c.doc.Head)); level != 1 {
		c.fail(1, "§3", "has no title: the file begins with a heading of the first level")
	}
	for i, p := range c.doc.Parts {
		var at markdown.Scanner
		line, above := p.bodyLine(), 2
		if i == 0 {
			above = 1
		}
		text := "" // of the line above
		for raw := range strings.Lines(p.Body) {
			if level, name := markdown.Heading(raw); level > 0 && at.Free() {
				switch {
				case level == 1:
					c.fail(line, "§3", "a second title: # %s", name)
				case level == 2:
					c.fail(line, "§3", "the heading ## %s is indented", name)
				case level > above+1:
					c.warn(line, "§3", "the heading %s is %d levels below the one above it", name, level-above)
				}
				if level > 1 {
					above = level
				}
			}
			if at.Free() && underlines(raw, text) && !strings.HasPrefix(text, "  ") { // below an item it is a rule
				c.fail(line-1, "§3", "the heading %s is underlined: write it with # signs, or put a blank line below it",
					strings.TrimSpace(text))
			}
			at.Next(raw)
			text = raw
			line++
		}
	}
}

// lastLine returns the last line of text that is not blank, without a byte order mark.
func lastLine(text string) string {
	text = strings.TrimRight(text, "\r\n")
	return strings.TrimPrefix(text[strings.LastIndexByte(text, '\n')+1:], "\uFEFF")
}

// lastUpdated matches the line of the front matter with the time of the last change.
var lastUpdated = regexp.MustCompile(`(?m)^(last_updated:[ \t]*)([^\r\n]*?)([ \t]*\r?)$`)

// idField matches a line of the front matter with an id.
var idField = regexp.MustCompile(`(?m)^([a-z_]+_id):[ \t]*([^\r\n]*?)[ \t]*\r?$`)

// matter checks the front matter's last_updated (§7), and that its ids are those of the file's name (§4).
func (c *checker) matter() {
	matter, _, ok := frontmatter.Split(c.doc.Head)
	m := lastUpdated.FindStringSubmatchIndex(matter)
	if !ok || m == nil {
		c.fail(1, "§7", "has no front matter with last_updated")
		return
	}
	value := strings.Trim(matter[m[4]:m[5]], `"'`)
	// The first line of the file is the --- above the front matter.
	line := func(at int) int { return 2 + strings.Count(matter[:at], "\n") }
	if !isStamp(value) {
		c.fail(line(m[0]), "§7", "last_updated %q is not a time in UTC such as 2026-01-02T15:04:05Z", value)
	}
	ids := map[string]string{"user_id": c.about.UserID, c.about.Type + "_id": c.about.ID}
	for _, m := range idField.FindAllStringSubmatchIndex(matter, -1) {
		field, value := matter[m[2]:m[3]], strings.Trim(matter[m[4]:m[5]], `"'`)
		if want, ok := ids[field]; ok && value != want {
			c.fail(line(m[0]), "§4", "%s is %q: the file is that of %q, and ids are not edited", field, value, want)
		}
	}
}

// isStamp reports whether text is an ISO 8601 time in UTC.
func isStamp(text string) bool {
	_, err := time.Parse(time.RFC3339Nano, text)
	return err == nil && strings.HasSuffix(text, "Z")
}

// sections checks that a profile has exactly its sections, in order and with their anchors (§1 to §3).
func (c *checker) sections() {
	names := c.typ.names()
	seen := map[string]int{}
	var found []position
	taken := map[int]string{} // misspelt sections, by part
	for _, s := range c.typ.Sections {
		// Found as an edit would find it, so that lint names what edits will change.
		if i, how, err := c.doc.Find(c.typ, s.Name); err == nil && (how == ByNearest || c.doc.Parts[i].Name != s.Name) {
			taken[i] = s.Name
		}
	}
	for i, p := range c.doc.Parts {
		if i == 0 {
			continue
		}
		at := slices.Index(names, p.Name)
		if meant, ok := taken[i]; ok {
			at = slices.Index(names, meant)
			c.fail(p.Line, "§2", "the heading ## %s is misspelt: it must be ## %s", p.Name, meant)
		} else if at < 0 {
			c.fail(p.Line, "§1", "## %s is no section of a %s: what does not fit goes below ## Extensions", p.Name, c.typ.Name)
			continue
		}
		s := c.typ.Sections[at]
		if first, twice := seen[s.Name]; twice {
			c.fail(p.Line, "§1", "## %s is also at line %d", s.Name, first)
			continue
		}
		seen[s.Name] = p.Line
		found = append(found, position{at, p.Line})
		switch {
		case p.Anchor.ID == "":
			c.fail(p.Line, "§2", "## %s has no anchor: write %s below it", p.Name, s.anchorLine())
		case p.Anchor.ID != s.Anchor():
			c.fail(p.Line+1, "§2", "the anchor of ## %s is %s: it must be %s", s.Name, p.Anchor.ID, s.Anchor())
		}
	}
	c.order(found)
	for _, s := range c.typ.Sections {
		if _, ok := seen[s.Name]; !ok && !s.Optional {
			c.fail(1, "§1", "lacks the section ## %s", s.Name)
		}
	}
}

// position is where a section is, in its type and in the file.
type position struct {
	at   int // its place in the type
	line int
}

// order reports the fewest sections whose move would bring all into the order of their type (§3): those outside the
// longest run that is in order already.
func (c *checker) order(list []position) {
	// For each section the length of the longest run in order that ends with it, and the section before it in that run.
	length, above := make([]int, len(list)), make([]int, len(list))
	last := -1
	for i := range list {
		above[i] = -1
		for j := range list[:i] {
			if list[j].at < list[i].at && length[j] > length[i] {
				length[i], above[i] = length[j], j
			}
		}
		length[i]++
		if last < 0 || length[i] > length[last] {
			last = i
		}
	}
	stays := make([]bool, len(list))
	for i := last; i >= 0; i = above[i] {
		stays[i] = true
	}
	for i, s := range list {
		if stays[i] {
			continue
		}
		before, after := -1, -1 // of those that stay, where it belongs between
		for j, o := range list {
			switch {
			case !stays[j]:
			case o.at < s.at:
				before = j
			case after < 0:
				after = j
			}
		}
		name := func(s position) string { return c.typ.Sections[s.at].Name }
		if before > i {
			c.fail(s.line, "§3", "## %s is above ## %s and belongs below it", name(s), name(list[before]))
		} else {
			c.fail(s.line, "§3", "## %s is below ## %s and belongs above it", name(s), name(list[after]))
		}
	}
}

// content checks the text of a section: caps, evidence, entries of the Change Log.
func (c *checker) content(p Part) {
	s, ok := c.typ.section(p.Name)
	// Reported by sections already; its form is not known.
	if !ok && c.typ.Strict {
		return
	}
	switch s.Form {
	case Narrative:
		if n := Words(p.Body); n > NarrativeWords && !c.excused(p) {
			c.warn(p.Line, "§8", "## %s has %d words; more than %d need a reason", p.Name, n, NarrativeWords)
		}
	case Evidence:
		c.evidence(p)
	case Log:
		c.changes(p)
	case Free:
	}
	if !c.typ.Strict {
		if n := strings.Count(strings.TrimSpace(p.Body), "\n") + 1; n > NotesLines {
			c.warn(p.Line, "§8", "## %s has %d lines; with more than %d it is time to curate it", p.Name, n, NotesLines)
		}
	}
	var at markdown.Scanner
	line := p.bodyLine()
	for raw := range strings.Lines(p.Body) {
		if at.Free() {
			for _, found := range looksLikeToken.FindAllString(raw, -1) {
				if _, err := ParseToken(found); err != nil {
					c.fail(line, "§5", "%v", err)
				}
			}
		}
		at.Next(raw)
		line++
	}
}

// excused reports whether the Change Log gives the reason why a section exceeds its cap.
func (c *checker) excused(p Part) bool {
	i, ok := c.doc.changeLog(c.typ)
	return ok && strings.Contains(c.doc.Parts[i].Body, ": Exceeded the cap of "+p.Name+", ")
}

// evidence checks a section of evidence (seed 004 §5): each item has a token and a short quote, and there are few.
func (c *checker) evidence(p Part) {
	n := 0
	for _, b := range blocks(p.Body) {
		if !b.item || isTombstone(b.text()) {
			continue
		}
		n++
		line := p.bodyLine() + b.line
		if !looksLikeToken.MatchString(b.raw) {
			c.fail(line, "§5", "the evidence has no token (%s)", TokenForm)
		}
		switch {
		case IsParaphrase(b.raw):
			c.warn(line, "§5", "the evidence is a paraphrase: it does not quote what it cites")
		case len(Quotes(b.raw)) == 0:
			c.warn(line, "§5", "the evidence has no short quote between quotation marks")
		}
	}
	if n > EvidenceItems {
		if !c.excused(p) {
			c.warn(p.Line, "§5", "## %s has %d items; more than %d need a reason", p.Name, n, EvidenceItems)
		}
	}
}

// dateForm matches the beginning of a Change Log entry: a time, or the date of a daily rollup.
var dateForm = regexp.MustCompile(`^([0-9]{4}-[0-9]{2}-[0-9]{2})(T[^ ]*Z)?: `)

// changes checks the entries of a Change Log (seed 004 §7).
func (c *checker) changes(p Part) {
	for _, b := range blocks(p.Body) {
		if !b.item {
			continue
		}
		if !dated(b.text()) {
			c.fail(p.bodyLine()+b.line, "§7", "the entry does not begin with a time in UTC or a date, such as "+
				"2026-01-02T15:04:05Z: or 2026-01-02:")
		}
	}
}

// dated reports whether an entry of the Change Log begins with a valid time or date (§7).
func dated(entry string) bool {
	m := dateForm.FindStringSubmatch(entry)
	if m == nil {
		return false
	}
	if m[2] != "" {
		return isStamp(m[1] + m[2])
	}
	_, err := time.Parse(time.DateOnly, m[1])
	return err == nil
}

// Words returns the number of words in a text, as the caps of seed 004 §8 count them.
func Words(text string) int { return len(strings.Fields(text)) }
