package mesh

import (
	"cmp"
	"context"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/intake"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

// Skills are the skills of a View: those of its audience's own compartment, and the shared ones.
type Skills struct{ view *View }

// Skills returns the skills that the audience may see.
func (v *View) Skills() Skills { return Skills{v} }

// SkillRequest is a skill to keep (RFC-0011 §4.1 ingestSkill).
type SkillRequest struct {
	// Text is the definition: YAMO blocks (§3.1), whose first names the agent and its intent, or Markdown that
	// begins with YAML front matter, which has name and intent or description, and may have tags and type.
	Text       string
	Type       string            // what kind of skill it is; "" is the front matter's
	Source     string            // the name of the file that it came from
	Visibility record.Visibility // "" is the audience's own compartment; a DM may say Private or Shared
	Consent    string            // of a skill that is to be shared, see record.Record
}

// IngestedSkill is the result of ingesting a skill.
type IngestedSkill struct {
	ID         string
	Name       string
	Intent     string
	Visibility record.Visibility
	Created    bool // false: a skill of this name was there, and ID is its id
	Updated    bool // that skill's text was replaced
	Redactions []scrub.Redaction
}

// Ingest redacts a skill and appends it to its compartment's ledger. It returns after the fsync; no
// model is needed. A name, without regard to letter case, is one skill in a compartment: the same text
// again changes nothing, another text replaces the one there, under the same id. The skill's uses are
// kept then, see SkillHit.
func (k Skills) Ingest(ctx context.Context, q SkillRequest) (IngestedSkill, error) {
	to, err := k.view.destination(q.Visibility)
	if err != nil {
		return IngestedSkill{}, err
	}
	if err := k.view.Quota.checkContent("text", q.Text); err != nil {
		return IngestedSkill{}, err
	}
	clean := intake.New(k.view.scrubber)
	kept, err := clean.Skill(q.Text, q.Type, q.Source)
	if err != nil {
		return IngestedSkill{}, err
	}
	kept.AgentID = k.view.AgentID
	if to == record.Shared {
		kept.Consent = q.Consent
	}
	result := IngestedSkill{Name: kept.Name, Intent: kept.Intent, Visibility: to, Redactions: clean.Redactions()}
	err = k.view.write(ctx, to, func(s *store.Snapshot, now time.Time) ([]ledger.Draft, error) {
		known := s.Skills.Named(kept.Name)
		result.Created, result.Updated = known == nil, false
		if known == nil {
			kept.CreatedAt, kept.UpdatedAt = now, time.Time{}
			kept.ID, err = s.NewSkillID(now, k.view.Random)
		} else {
			result.ID = known.ID
			// A text without a type keeps the one that the skill has: ingesting a file again must not undo a choice.
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

// Named returns the id of the skill in the audience's own compartment that has q's name, "" if none has.
func (k Skills) Named(ctx context.Context, q SkillRequest) (string, error) {
	kept, err := intake.New(k.view.scrubber).Skill(q.Text, q.Type, q.Source)
	if err != nil {
		return "", err
	}
	id := ""
	err = k.view.withCompartment(ctx, k.view.home(), func(c *compartment) error {
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
