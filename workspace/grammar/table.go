// Package grammar defines the form of the files that an agent edits section by section (seed 004): which sections a
// file has, how they are found, and what an edit may do to them.
//
// It touches no disk. Its invariant: parsing and printing preserve every byte, and an edit changes no byte outside its
// section, the Change Log and the front matter's last_updated.
package grammar

import (
	"regexp"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/text"
)

// Form is what a section contains, and so which operations it accepts (seed 004 §4).
type Form int

// The forms of sections.
const (
	Narrative Form = iota // paragraphs: replace_section, append_section
	List                  // items: append_item, curate_items
	Evidence              // items with a quote and an evidence token (§5)
	Log                   // the Change Log: items with a date, added and never changed (§6)
	Free                  // of a file without a declared type, and of notes: all of them
)

// Caps of seed 004 §5 and §8, in words, items and lines. They are soft: an edit can exceed one with a reason.
const (
	NarrativeWords = 400
	EvidenceItems  = 7
	NotesLines     = 120 // of a subsection of notes: a few screens
)

// ChangeLog is the heading of the section that lists changes (seed 004 §6).
const ChangeLog = "Change Log"

// Section is a section of a type of file (seed 004 §1).
type Section struct {
	Name     string // of the heading, exactly
	Form     Form
	Optional bool
}

// Anchor returns the section's hidden id (seed 004 §2).
func (s Section) Anchor() string { return Slug(s.Name) }

// Type is a type of file (seed 004 §1). A nil *Type is a file without a declared type.
type Type struct {
	Name     string // for people: "part profile"
	Title    string // of a new file, before the entity's id
	Entity   string // §11's entity_type: user, part, relationship, note
	Sections []Section
	Strict   bool // a file has exactly these sections, in this order and with anchors; otherwise they are suggestions
}

// tail lists the sections at the bottom of every profile, in the order of §3.
var tail = []Section{{"Extensions", Narrative, true}, {"Open Questions", List, true}, {ChangeLog, Log, true}}

func profile(name, title, entity string, sections ...Section) *Type {
	return &Type{Name: name, Title: title, Entity: entity, Strict: true, Sections: slices.Concat(sections, tail)}
}

// The types, as seed 004 §1 declares them.
var (
	overviewType = profile("user overview", "Overview", "user",
		Section{"Identity", Narrative, false}, Section{"Current Focus", Narrative, false},
		Section{"Confirmed Parts", List, false}, Section{"Active Themes", Narrative, false},
		Section{"Working Agreements", List, false}, Section{"Recent Highlights", List, false})
	partType = profile("part profile", "Part", "part",
		Section{"Identity", Narrative, false}, Section{"Role", Narrative, false}, Section{"Triggers", Narrative, false},
		Section{"Needs", Narrative, false}, Section{"Concerns", Narrative, false}, Section{"Allies", List, false},
		Section{"Polarizations", List, false}, Section{"Evidence (curated)", Evidence, false},
		Section{"Working Agreements", List, false}, Section{"Evolution", Narrative, false})
	relationshipType = profile("relationship profile", "Relationship", "relationship",
		Section{"Participants", List, false}, Section{"Type", Narrative, false}, Section{"Dynamics", Narrative, false},
		Section{"Evidence of Interplay", Evidence, false}, Section{"Tensions", Narrative, false},
		Section{"Agreements", List, false}, Section{"Evolution", Narrative, false})
	notesType = &Type{Name: "notes", Title: "Notes", Entity: "note", Sections: []Section{
		{"Inbox", Free, true},
		{"Focus", Free, true},
		{"Parking Lot", Free, true},
		{"Research", Free, true},
		{"Drafts", Free, true},
	}}
	// Types are the types with their paths; the groups of a path are the ids, the user's first.
	types = []struct {
		path *regexp.Regexp
		typ  *Type
	}{
		{pathOf("overview"), overviewType},
		{pathOf("notes"), notesType},
		{pathOf("parts/" + idForm + "/profile"), partType},
		{pathOf("parts/" + idForm + "/notes"), notesType},
		{pathOf("relationships/" + idForm + "/profile"), relationshipType},
		{pathOf("relationships/" + idForm + "/notes"), notesType},
	}
)

const idForm = `([A-Za-z0-9][A-Za-z0-9_-]{0,63})`

// Folder is the workspace folder of the files with a declared type.
const Folder = "users"

// MaxDepth is the number of folders between Folder and the deepest file with a declared type.
const MaxDepth = 3

func pathOf(rest string) *regexp.Regexp {
	return regexp.MustCompile("^" + Folder + "/" + idForm + "/" + rest + `\.md$`)
}

// Entity is the person or thing that a file is about (seed 004 §11).
type Entity struct {
	UserID string
	Type   string // user, part, relationship or note
	ID     string
}

// TypeOf returns the declared type of the file called name, relative to the workspace, and its entity. The type is nil
// for a file without a declared type; its entity is then the user for USER.md, and a note for any other.
func TypeOf(name string) (*Type, Entity) {
	for _, t := range types {
		m := t.path.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		return t.typ, Entity{UserID: m[1], Type: t.typ.Entity, ID: m[len(m)-1]}
	}
	id := strings.TrimSuffix(name, ".md")
	if name == "USER.md" {
		return nil, Entity{UserID: Primary, Type: "user", ID: Primary}
	}
	return nil, Entity{UserID: Primary, Type: "note", ID: id}
}

// Primary is the user_id of the files that are not below users/: the workspace owner's.
const Primary = "primary"

// Edge identifies the relationship that a relationship profile is about, by its user, participants and type in any
// order, case and spelling (seed 004 §9); "" for any other file, or while it names no two participants or no type.
func Edge(name, text string) string {
	t, about := TypeOf(name)
	if t != relationshipType {
		return ""
	}
	d := Parse(text)
	slugs := func(section string, of func(body string) []string) (list []string) {
		i, _, err := d.Find(t, section)
		if err != nil {
			return nil
		}
		for _, item := range of(d.Parts[i].Body) {
			if slug := Slug(item); slug != "" {
				list = append(list, slug)
			}
		}
		slices.Sort(list)
		return list
	}
	pair := slugs("Participants", Items)
	kind := slugs("Type", func(body string) []string { return []string{body} })
	if len(pair) < 2 || len(kind) == 0 {
		return ""
	}
	return strings.Join(append(append([]string{about.UserID}, pair...), kind...), "\x00")
}

// section returns the type's section with that name, anchor or slug.
func (t *Type) section(name string) (Section, bool) {
	if t == nil {
		return Section{}, false
	}
	for _, s := range t.Sections {
		if s.Name == name || s.Anchor() == Slug(name) {
			return s, true
		}
	}
	return Section{}, false
}

// form returns the form of the section called name.
func (t *Type) form(name string) Form {
	if s, ok := t.section(name); ok {
		return s.Form
	}
	if Slug(name) == Slug(ChangeLog) {
		return Log
	}
	return Free
}

// Canonical returns the name of the section of a profile that name means, such as "Evidence" for "Evidence (curated)"
// and "Trigger" for "Triggers": the only one whose name begins with its words, or is its singular or plural. Any other
// name is returned as it is.
func (t *Type) Canonical(name string) string {
	if _, known := t.section(name); known || !t.strict() || Slug(name) == "" {
		return name
	}
	found := ""
	for _, s := range t.Sections {
		slug, anchor := Slug(name), s.Anchor()
		if strings.HasPrefix(anchor, slug+"-") || isPlural(anchor, slug) || isPlural(slug, anchor) {
			if found != "" {
				return name
			}
			found = s.Name
		}
	}
	if found == "" {
		return name
	}
	return found
}

// isPlural reports whether many is the plural of one.
func isPlural(many, one string) bool {
	stem, isY := strings.CutSuffix(one, "y")
	return many == one+"s" || isY && many == stem+"ies"
}

// forms are the names of the forms for those who edit.
var forms = map[Form]string{Narrative: "narrative", List: "list", Evidence: EvidenceForm, Log: "log", Free: "free"}

// EvidenceForm is the name of the form of sections of evidence (see Describe).
const EvidenceForm = "evidence"

// Describe returns the name of a section's form, and its cap in words, "" for none, in a file of type t, nil for none.
func (t *Type) Describe(section string) (form, limit string) {
	f := t.form(section)
	switch {
	case t == nil:
	case f == Narrative:
		limit = text.Count(NarrativeWords, "word", "words")
	case f == Evidence:
		limit = text.Count(EvidenceItems, "item", "items")
	case f == Free && !t.Strict:
		limit = text.Count(NotesLines, "line", "lines")
	}
	return forms[f], limit
}

// Operations returns the operations that a section of the form with this name accepts (see Describe).
func Operations(form string) []Op {
	for f, name := range forms {
		if name == form {
			return takes[f]
		}
	}
	return nil
}

// strict reports whether a file of type t, nil for none, has exactly the type's sections.
func (t *Type) strict() bool { return t != nil && t.Strict }

// names returns the names of the type's sections, in order.
func (t *Type) names() []string {
	names := make([]string, len(t.Sections))
	for i, s := range t.Sections {
		names[i] = s.Name
	}
	return names
}

// New returns the text of a new file: its title and, for a profile, its front matter and empty sections.
func New(name, lastUpdated string) string {
	t, entity := TypeOf(name)
	if t == nil {
		base := name[strings.LastIndex(name, "/")+1:]
		return "# " + strings.TrimSuffix(base, ".md") + "\n"
	}
	if !t.Strict {
		return "# " + t.Title + "\n"
	}
	var out strings.Builder
	out.WriteString("---\nuser_id: " + entity.UserID + "\n")
	if entity.Type != "user" {
		out.WriteString(entity.Type + "_id: " + entity.ID + "\n")
	}
	out.WriteString("last_updated: " + lastUpdated + "\n---\n\n# " + t.Title + " " + entity.ID + "\n")
	for _, s := range t.Sections {
		out.WriteString("\n## " + s.Name + "\n" + s.anchorLine() + "\n")
	}
	return out.String()
}

func (s Section) anchorLine() string { return "<!-- @anchor: " + s.Anchor() + " v1 -->" }

// Slug returns a heading in the form of an anchor (seed 004 §2): lowercase letters and digits, with hyphens between
// words; "" if it has neither.
func Slug(name string) string {
	var out strings.Builder
	gap := false
	for _, r := range strings.ToLower(name) {
		if r < 0x80 && (r < 'a' || r > 'z') && (r < '0' || r > '9') {
			gap = out.Len() > 0
			continue
		}
		if gap {
			out.WriteByte('-')
			gap = false
		}
		out.WriteRune(r)
	}
	return out.String()
}
