// Package skill defines what is particular to skills (RFC-0011 §2.4): reading a definition, the skills that a
// compartment holds, and how feedback becomes reliability.
//
// It knows neither the ledger nor an index: the owner of a Set guards it and applies the ledger's entries to it.
package skill

import (
	"maps"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/mesh/keyword"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// Prefix begins every SKILL_ID (RFC-0011 §1.1); "_" follows it.
const Prefix = "skill"

// State is a skill as a compartment has it in memory. It is replaced and never changed, so readers may keep it.
type State struct {
	*record.Skill
	Revised []record.Moment // when it got another text, in order
	Words   keyword.Fields  // what it is searched by
}

// Set is the skills of a compartment and the feedback in its ledger. That may be about skills of other compartments: an
// audience's feedback stays with the audience. A Set is not safe for concurrent use.
type Set struct {
	byID    map[string]*State
	byName  map[string]string // an id, by FoldName
	uses    map[string][]Use  // by id, in the ledger's order
	changes int
}

// NewSet returns an empty set.
func NewSet() *Set {
	return &Set{byID: map[string]*State{}, byName: map[string]string{}, uses: map[string][]Use{}}
}

// FoldName returns the form in which names are compared, without regard to letter case.
func FoldName(name string) string { return strings.ToLower(name) }

// Put adds a skill, or replaces the one with its id, which keeps its uses. at is the moment of the ledger entry. Put
// sets skill.Seq.
func (s *Set) Put(skill *record.Skill, at record.Moment) {
	skill.Seq = at.Seq
	state := &State{Skill: skill, Words: fields(skill)}
	if old := s.byID[skill.ID]; old != nil {
		delete(s.byName, FoldName(old.Name)) // the new one may differ in letter case
		skill.Seq, state.Revised = old.Seq, append(slices.Clip(old.Revised), at)
	}
	s.byID[skill.ID], s.byName[FoldName(skill.Name)] = state, skill.ID
	s.changes++
}

// AddUse adds feedback about the skill called id, which may be of another compartment.
func (s *Set) AddUse(id string, u Use) {
	s.uses[id] = append(s.uses[id], u)
	s.changes++
}

// Remove removes a skill and its uses. An id without a skill may have uses only, of a skill in another compartment.
func (s *Set) Remove(id string) {
	if _, used := s.uses[id]; used {
		delete(s.uses, id)
		s.changes++
	}
	if state := s.byID[id]; state != nil {
		delete(s.byID, id)
		delete(s.byName, FoldName(state.Name))
		s.changes++
	}
}

// Find returns the skill called id, nil if it does not exist.
func (s *Set) Find(id string) *State { return s.byID[id] }

// Named returns the skill of that name, without regard to letter case, nil if it does not exist.
func (s *Set) Named(name string) *State { return s.byID[s.byName[FoldName(name)]] }

// All returns the skills in no particular order.
func (s *Set) All() []*State { return slices.Collect(maps.Values(s.byID)) }

// Len returns the number of skills.
func (s *Set) Len() int { return len(s.byID) }

// Uses returns the feedback about the skill called id, in the ledger's order. The caller must not change it.
func (s *Set) Uses(id string) []Use { return s.uses[id] }

// Changes returns a number that grows with every change of the set, so that what is derived from it can be kept.
func (s *Set) Changes() int { return s.changes }

// fields are what skills are searched by, with the weights of RFC-0011 §5.3.
func fields(s *record.Skill) keyword.Fields {
	return keyword.NewFields(
		keyword.Field{Text: s.Name, Weight: 3},
		keyword.Field{Text: s.Intent, Weight: 2},
		keyword.Field{Text: strings.Join(s.Tags, "\n"), Weight: 1},
		keyword.Field{Text: s.Description, Weight: 1},
	)
}

// Meaning returns the string that is embedded for a skill of that intent (RFC-0011 §2.4): with blanks in place of the
// underscores of a YAMO intent, because the model knows words.
func Meaning(intent string) string { return strings.ReplaceAll(intent, "_", " ") }

// AllUses returns a copy of the feedback about every skill, by id. The caller must not change the slices.
func (s *Set) AllUses() map[string][]Use { return maps.Clone(s.uses) }
