package mesh

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/keyword"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub"
)

// Operations of the ledger's entries about skills: no operation types of RFC-0011 §2.3, so they have no
// block. Both carry the skill's id, so that erasing a skill erases every text it had and its feedback.
const (
	opSkill         = "skill"
	opSkillFeedback = "skill_feedback"
)

const (
	maxSkillName = 128 // characters
	skillPrefix  = "skill"
)

// SkillRequest is a skill to keep (RFC-0011 §4.1 ingestSkill).
type SkillRequest struct {
	// Text is the definition: YAMO blocks (§3.1), whose first names the agent and its intent, or Markdown that
	// begins with YAML front matter, which has name and intent or description, and may have tags and type.
	Text       string
	Type       string            // what kind of skill it is; "" is what the front matter says
	Source     string            // the name of the file that it came from
	Visibility record.Visibility // "" is the audience's own compartment; a DM may say Private or Shared
}

// IngestedSkill says what became of a skill.
type IngestedSkill struct {
	ID         string
	Name       string
	Intent     string
	Visibility record.Visibility
	Created    bool // false: a skill of this name was there, and ID is its id
	Updated    bool // that skill has got this text in place of its own
	Redactions []scrub.Redaction
}

// IngestSkill redacts a skill and appends it to its compartment's ledger. It returns after the fsync; no
// model is needed. A name, without regard to letter case, is one skill in a compartment: the same text
// again changes nothing, another text replaces the one there, under the same id. The skill's uses are
// kept then, see SkillHit.
func (v *View) IngestSkill(ctx context.Context, q SkillRequest) (IngestedSkill, error) {
	to, err := v.destination(q.Visibility)
	if err != nil {
		return IngestedSkill{}, err
	}
	s := &scrubbing{scrubber: v.scrubber}
	skill, err := s.skill(q)
	if err != nil {
		return IngestedSkill{}, err
	}
	skill.AgentID = v.AgentID
	result := IngestedSkill{Name: skill.Name, Intent: skill.Intent, Visibility: to, Redactions: s.total()}
	err = v.with(ctx, to, func(c *compartment) error {
		err := c.append(ctx, true, func(now time.Time) (ledger.Draft, bool, error) {
			known := c.skillNamed(skill.Name)
			result.Created, result.Updated = known == nil, false
			if known != nil {
				result.ID = known.ID
				if skill.Type == "" {
					skill.Type = known.Type
				}
				if known.Text == skill.Text && known.Type == skill.Type {
					return ledger.Draft{}, false, nil
				}
				skill.ID, skill.CreatedAt, skill.UpdatedAt, result.Updated = known.ID, known.CreatedAt, now, true
				return ledger.Draft{Op: opSkill, ID: skill.ID, Data: skill}, true, nil
			}
			var err error
			if skill.ID, err = c.newSkillID(now, v); err != nil {
				return ledger.Draft{}, false, err
			}
			result.ID, skill.CreatedAt, skill.UpdatedAt = skill.ID, now, time.Time{}
			return ledger.Draft{Op: opSkill, ID: skill.ID, Data: skill}, true, nil
		})
		if err == nil {
			c.index.wake(c)
		}
		return err
	})
	if err != nil {
		return IngestedSkill{}, err
	}
	return result, nil
}

// KeepsSkill is the id of the skill in the audience's own compartment that has q's name, "" if there is none.
func (v *View) KeepsSkill(ctx context.Context, q SkillRequest) (string, error) {
	skill, err := (&scrubbing{scrubber: v.scrubber}).skill(q)
	if err != nil {
		return "", err
	}
	id := ""
	err = v.with(ctx, v.own(), func(c *compartment) error {
		if err := c.sync(ctx); err != nil {
			return err
		}
		if known := c.skillNamed(skill.Name); known != nil {
			id = known.ID
		}
		return nil
	})
	return id, err
}

// skill checks and redacts a request. The skill has no id and no time yet.
//
// A definition is an instruction to follow to the letter, so it is redacted and not cleaned as a memory is.
func (s *scrubbing) skill(q SkillRequest) (*record.Skill, error) {
	switch {
	case len(q.Text) > record.MaxContent:
		return nil, fault.New("text: %d bytes are too many; a skill has at most %d", len(q.Text), record.MaxContent)
	case !utf8.ValidString(q.Text):
		return nil, fault.New("text: it is not valid UTF-8")
	}
	text := strings.TrimSpace(strings.ReplaceAll(scrub.Sanitize(q.Text), "\r\n", "\n")) + "\n"
	d, err := parseDefinition(text)
	if err != nil {
		return nil, fault.New("text: %v", err)
	}
	if n := utf8.RuneCountInString(d.name); n > maxSkillName {
		return nil, fault.New("name: %d characters are too many; use at most %d", n, maxSkillName)
	}
	if q.Type != "" {
		d.kind = q.Type
	}
	if utf8.RuneCountInString(d.kind) > record.MaxTag {
		return nil, fault.New("type: use a word or two, at most %d characters", record.MaxTag)
	}
	clean, found := s.scrubber.Redact(text)
	s.found = append(s.found, found...)
	quiet := &scrubbing{scrubber: s.scrubber} // the text has these already: each is counted once
	skill := &record.Skill{
		Name: quiet.field("name", d.name), Intent: quiet.field("intent", d.intent), Description: quiet.field("description", d.description),
		Tags: quiet.tags(d.tags), Type: s.field("type", d.kind), Source: s.field("source", q.Source), Text: clean,
	}
	if s.err == nil {
		s.err = quiet.err
	}
	return skill, s.err
}

// skillState is a skill as a compartment has it in memory.
type skillState struct {
	*record.Skill                // replaced, never changed
	revised       []time.Time    // when it got another text
	words         keyword.Fields // RFC-0011 §5.3
}

// use is feedback about a skill.
type use struct {
	At      time.Time `json:"-"` // the entry's
	Success bool      `json:"success"`
	AgentID string    `json:"agent_id,omitempty"`
}

// skillSet is what a compartment knows of skills. The compartment's mu guards it.
type skillSet struct {
	byID    map[string]*skillState
	byName  map[string]string // an id, by foldName
	uses    map[string][]use  // by skill; of skills in other compartments too
	changes int               // grows with each entry
}

func newSkillSet() skillSet {
	return skillSet{byID: map[string]*skillState{}, byName: map[string]string{}, uses: map[string][]use{}}
}

func foldName(name string) string { return strings.ToLower(name) }

// put takes a skill in, or another text of one that is there.
func (s *skillSet) put(skill *record.Skill) {
	state := &skillState{Skill: skill, words: skillFields(skill)}
	if old := s.byID[skill.ID]; old != nil {
		delete(s.byName, foldName(old.Name)) // it may be spelt differently
		state.revised = append(slices.Clip(old.revised), skill.UpdatedAt)
	}
	s.byID[skill.ID], s.byName[foldName(skill.Name)] = state, skill.ID
	s.changes++
}

// remove forgets a skill and its uses.
func (s *skillSet) remove(id string) {
	if _, used := s.uses[id]; used {
		delete(s.uses, id)
		s.changes++
	}
	if state := s.byID[id]; state != nil {
		delete(s.byID, id)
		delete(s.byName, foldName(state.Name))
		s.changes++
	}
}

// applySkill takes an entry about a skill into the projection. Erased ones say nothing.
func (c *compartment) applySkill(e ledger.Entry) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !e.Erased && e.Op == opSkill {
		skill := new(record.Skill)
		if err := decodeEntry(e, skill); err != nil {
			return err
		}
		c.skills.put(skill)
	}
	if !e.Erased && e.Op == opSkillFeedback {
		u := use{At: e.Time}
		if err := decodeEntry(e, &u); err != nil {
			return err
		}
		c.skills.uses[e.ID] = append(c.skills.uses[e.ID], u)
		c.skills.changes++
	}
	c.entries = e.Seq
	c.index.stale()
	return nil
}

// skill is the skill called id, nil if there is none.
func (c *compartment) skill(id string) *skillState {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.skills.byID[id]
}

// skillNamed is the skill of that name, nil if there is none.
func (c *compartment) skillNamed(name string) *skillState {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.skills.byID[c.skills.byName[foldName(name)]]
}

// skillCount is how many skills there are.
func (c *compartment) skillCount() int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return len(c.skills.byID)
}

// usesOf is the feedback about a skill that stands in c's ledger, in its order.
func (c *compartment) usesOf(id string) []use {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return slices.Clone(c.skills.uses[id])
}

// newSkillID is an id that no skill of c has. It is called while the ledger is locked.
func (c *compartment) newSkillID(now time.Time, v *View) (string, error) {
	for {
		id, err := record.NewID(skillPrefix, now, v.Random)
		if err != nil || c.skill(id) == nil {
			return id, err
		}
	}
}
