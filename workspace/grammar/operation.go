package grammar

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
)

// Op is what an edit does to a section (seed 004 §4).
type Op string

// The operations.
const (
	ReplaceSection   Op = "replace_section"   // the whole content
	AppendSection    Op = "append_section"    // a paragraph at the end
	AppendItem       Op = "append_item"       // items at the end of a list
	CurateItems      Op = "curate_items"      // all items of a list: others are pruned or merged
	TombstoneSection Op = "tombstone_section" // replaces the content with a note about when and why it was retired
)

// Ops lists the operations that sessions can request, in the order of seed 004 §11.
var Ops = []Op{ReplaceSection, AppendSection, AppendItem, CurateItems, TombstoneSection}

// prohibited lists operations that §4 forbids, under names that a model might try, with the reason.
var prohibited = map[Op]string{
	"delete_file":        "files are not deleted",
	"rename_file":        "files are not renamed",
	"delete_section":     "sections are not deleted: tombstone_section retires one",
	"rename_section":     "sections are not renamed",
	"remove_change_log":  "the Change Log is not removed",
	"remove_anchor":      "anchors are not removed",
	"edit_anchor":        "anchors are not edited",
	"edit_id":            "ids are not edited",
	"edit_frontmatter":   "the identity fields of front matter are not renamed or edited",
	"rename_frontmatter": "the identity fields of front matter are not renamed or edited",
}

// takes lists the operations that a form of section accepts (§4).
var takes = map[Form][]Op{
	Narrative: {ReplaceSection, AppendSection, TombstoneSection},
	List:      {AppendItem, CurateItems, TombstoneSection},
	Evidence:  {AppendItem, CurateItems, TombstoneSection},
	Log:       {AppendItem},
	Free:      Ops,
}

var formNames = map[Form]string{
	Narrative: "a narrative section", List: "a list", Evidence: "a list of evidence",
	Log: "the record of changes", Free: "a section",
}

// Material reports whether the operation gets an inline entry in the Change Log, besides the day's rollup (seed 004
// §6): it replaces or removes what was there.
func (op Op) Material() bool {
	return op == ReplaceSection || op == CurateItems || op == TombstoneSection || op == Promote
}

// Check returns a fault unless op is one of Ops. For an operation that seed 004 §4 forbids, it gives the reason.
func (op Op) Check() error {
	if slices.Contains(Ops, op) {
		return nil
	}
	if err := op.Prohibited(); err != nil {
		return err
	}
	return fault.New("op: unknown operation %q; must be one of %s", string(op), opNames(Ops))
}

// Prohibited returns a fault for an operation that seed 004 §4 forbids, nil for any other.
func (op Op) Prohibited() error {
	if why, ok := prohibited[op]; ok {
		return fault.New("op: %s is prohibited (seed 004 §4): %s", op, why)
	}
	return nil
}

// opNames returns the operations in one line, for errors.
func opNames(ops []Op) string {
	names := make([]string, len(ops))
	for i, op := range ops {
		names[i] = string(op)
	}
	return strings.Join(names, ", ")
}

// Permits returns nil if the section of a file of type t, nil for none, accepts the operation, and a fault otherwise.
func (t *Type) Permits(op Op, section string) error {
	if err := op.Check(); err != nil {
		return err
	}
	if section == "" && t.strict() {
		return fault.New("section: a %s has nothing above its sections to edit; name one of %s", t.Name,
			strings.Join(t.names(), ", "))
	}
	if s, known := t.section(section); t.strict() && !known && section != "" {
		if near := suggest(section, t.names()); near != "" {
			return fault.New("section: %q is no section of a %s: did you mean %q?", section, t.Name, near)
		}
		return fault.New("section: %q is no section of a %s; it has %s", section, t.Name, strings.Join(t.names(), ", "))
	} else if known {
		section = s.Name
	}
	form := t.form(section)
	if slices.Contains(takes[form], op) {
		return nil
	}
	if form == Log {
		return fault.New("op: %s would take entries away from the %s, which is prohibited (seed 004 §4): it takes "+
			"append_item", op, ChangeLog)
	}
	return fault.New("op: %q is %s and takes %s, not %s", section, formNames[form], opNames(takes[form]), op)
}

// suggest returns the one of names that is nearest to name, "" if none is near.
func suggest(name string, names []string) string {
	best, least := "", utf8.RuneCountInString(name)/3+1
	for _, n := range names {
		if d := levenshtein.ComputeDistance(Slug(name), Slug(n)); d < least {
			best, least = n, d
		}
	}
	return best
}
