// Package skill has what is particular to skills (RFC-0011 §2.4): reading a definition, the skills that a compartment
// holds, and how feedback becomes reliability.
//
// It knows neither the ledger nor an index: whoever owns a Set guards it and feeds it the ledger's entries.
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

// State is a skill as a compartment has it in memory. It is replaced, never changed.
type State struct {
	*record.Skill
	Revised []record.Moment // when it got another text, in order
	Words   keyword.Fields  // what it is searched by
}

// Set is the skills of a compartment and the feedback in its ledger. It is not safe for concurrent use.
type Set struct {
	byID    map[string]*State
	byName  map[string]string // an id, by FoldName
	uses    map[string][]Use  // by skill; of skills in other compartments, too
	changes int
}

// NewSet returns an empty set.
func NewSet() *Set {
	return &Set{byID: map[string]*State{}, byName: map[string]string{}, uses: map[string][]Use{}}
}

// FoldName is the form in which two names are compared: names differ by more than letter case.
func FoldName(name string) string { return strings.ToLower(name) }

// Put adds a skill, or gives the one with its id another text, with the ledger entry at a moment. It sets skill.Seq.
func (s *Set) Put(skill *record.Skill, at record.Moment) {
	skill.Seq = at.Seq
	state := &State{Skill: skill, Words: fields(skill)}
	if old := s.byID[skill.ID]; old != nil {
		delete(s.byName, FoldName(old.Name)) // it may be spelt differently
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

// Remove forgets a skill and its uses.
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

// Find returns the skill called id, nil if there is none.
func (s *Set) Find(id string) *State { return s.byID[id] }

// Named returns the skill of that name, without regard to letter case, nil if there is none.
func (s *Set) Named(name string) *State { return s.byID[s.byName[FoldName(name)]] }

// All returns the skills in no particular order.
func (s *Set) All() []*State { return slices.Collect(maps.Values(s.byID)) }

// Len returns the number of skills.
func (s *Set) Len() int { return len(s.byID) }

// Uses returns the feedback about the skill called id, in the ledger's order. The caller must not change it.
func (s *Set) Uses(id string) []Use { return s.uses[id] }

// Changes returns a number that grows with every change of the set.
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

// Meaning returns the text whose vector a skill of that intent has (RFC-0011 §2.4). The underscores of a YAMO intent
// are blanks in it.
func Meaning(intent string) string { return strings.ReplaceAll(intent, "_", " ") }

// AllUses returns the feedback about every skill, by id, as it is now.
func (s *Set) AllUses() map[string][]Use { return maps.Clone(s.uses) }
