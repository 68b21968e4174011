package mesh

import (
	"cmp"
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub"
	"github.com/yamo-protocol/yamo-mcp/mesh/skill"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

const maxSkillName = 128 // characters

// SkillRequest is a skill to keep (RFC-0011 §4.1 ingestSkill).
type SkillRequest struct {
	// Text is the definition: YAMO blocks (§3.1), whose first names the agent and its intent, or Markdown that
	// begins with YAML front matter, which has name and intent or description, and may have tags and type.
	Text       string
	Type       string            // what kind of skill it is; "" is what the front matter says
	Source     string            // the name of the file that it came from
	Visibility record.Visibility // "" is the audience's own compartment; a DM may say Private or Shared
}

// IngestedSkill is the result of ingesting a skill.
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
	clean := &scrubbing{scrubber: v.scrubber}
	kept, err := clean.skill(q)
	if err != nil {
		return IngestedSkill{}, err
	}
	kept.AgentID = v.AgentID
	result := IngestedSkill{Name: kept.Name, Intent: kept.Intent, Visibility: to, Redactions: clean.total()}
	err = v.write(ctx, to, func(s *store.Snapshot, now time.Time) ([]ledger.Draft, error) {
		known := s.Skills.Named(kept.Name)
		result.Created, result.Updated = known == nil, false
		if known == nil {
			kept.CreatedAt, kept.UpdatedAt = now, time.Time{}
			kept.ID, err = s.NewSkillID(now, v.Random)
		} else {
			result.ID = known.ID
			kept.Type = cmp.Or(kept.Type, known.Type)
			if known.Text == kept.Text && known.Type == kept.Type {
				return nil, nil
			}
			kept.ID, kept.CreatedAt, kept.UpdatedAt, result.Updated = known.ID, known.CreatedAt, now, true
		}
		result.ID = kept.ID
		return []ledger.Draft{{Op: store.OpSkill, ID: kept.ID, Data: kept}}, err
	})
	if err != nil {
		return IngestedSkill{}, err
	}
	return result, nil
}

// KeepsSkill returns the id of the skill in the audience's own compartment that has q's name, "" if none has.
func (v *View) KeepsSkill(ctx context.Context, q SkillRequest) (string, error) {
	kept, err := (&scrubbing{scrubber: v.scrubber}).skill(q)
	if err != nil {
		return "", err
	}
	id := ""
	err = v.withCompartment(ctx, v.home(), func(c *compartment) error {
		if err := c.Sync(ctx); err != nil {
			return err
		}
		s := c.Snapshot()
		defer s.Release()
		if known := s.Skills.Named(kept.Name); known != nil {
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
	d, err := skill.Parse(text)
	if err != nil {
		return nil, fault.New("text: %v", err)
	}
	if n := utf8.RuneCountInString(d.Name); n > maxSkillName {
		return nil, fault.New("name: %d characters are too many; use at most %d", n, maxSkillName)
	}
	if q.Type != "" {
		d.Type = q.Type
	}
	if utf8.RuneCountInString(d.Type) > record.MaxTag {
		return nil, fault.New("type: use a word or two, at most %d characters", record.MaxTag)
	}
	clean, found := s.scrubber.Redact(text)
	s.found = append(s.found, found...)
	quiet := &scrubbing{scrubber: s.scrubber} // the text has these already: each is counted once
	kept := &record.Skill{
		Name: quiet.field("name", d.Name), Intent: quiet.field("intent", d.Intent),
		Description: quiet.field("description", d.Description), Tags: quiet.tags(d.Tags),
		Type: s.field("type", d.Type), Source: s.field("source", q.Source), Text: clean,
	}
	if s.err == nil {
		s.err = quiet.err
	}
	return kept, s.err
}
