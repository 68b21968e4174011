package tools

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub"
)

// memory is what every audience may say of a memory. Its constraints are here, because package record knows no schemas.
type memory struct {
	record.Memory
	Supersedes []string `json:"supersedes,omitempty" jsonschema:"maxItems=20"`
}

func (memory) JSONSchemaExtend(s *jsonSchema) {
	describe(s, map[string]string{
		"content":     "One self-contained statement.",
		"type":        "For mistakes use distill_lesson.",
		"tags":        "Words to filter by; standing: an instruction or preference.",
		"importance":  "0 to 1.",
		"session_id":  "Its conversation.",
		"source":      "user, assistant, or another name.",
		"rationale":   "Why it is worth keeping.",
		"hypothesis":  "What it may help with.",
		"skill_name":  "Its skill.",
		"occurred_at": "When it happened, if content does not name it.",
		"metadata":    "More JSON, not searched.",
		"supersedes":  "IDs of memories that it replaces or ends.",
	})
	property(s, "content").MinLength = new(uint64(1))
	enumerate(s, "type", record.Types...)
	property(s, "type").Default = "global"
	property(s, "tags").MaxItems = new(uint64(record.MaxTags))
	importance := property(s, "importance")
	importance.Minimum, importance.Maximum = "0", "1"
}

// visibleMemory is a memory with the choice that a DM has.
type visibleMemory struct {
	memory
	Visibility string `json:"visibility,omitempty" jsonschema:"enum=private,enum=shared,default=private"`
	Confirm    bool   `json:"confirm,omitempty"`
}

func (v visibleMemory) JSONSchemaExtend(s *jsonSchema) {
	v.memory.JSONSchemaExtend(s)
	describe(s, map[string]string{
		"visibility": "shared: recalled in every group too.",
		"confirm":    "The user agreed to share a private memory; only if the host cannot ask.",
	})
}

// stored is memory_store's result.
type stored struct {
	ID         string      `json:"id"`
	CreatedAt  time.Time   `json:"created_at"`
	Visibility string      `json:"visibility"`
	OccurredAt string      `json:"occurred_at,omitempty"`
	Redactions []redaction `json:"redactions"`
	Updated    []string    `json:"updated,omitempty"`
	Sightings  int         `json:"sightings,omitempty"`
	Similar    []similar   `json:"similar,omitempty"`
	Hint       string      `json:"hint,omitempty"`
}

func (stored) JSONSchemaExtend(s *jsonSchema) {
	describe(s, map[string]string{
		"updated": "Changed fields of the existing memory.",
		"similar": "Judge now: to replace some, store the same or a merged content with supersedes.",
	})
}

// similar is an earlier memory that the caller should compare with what it stored.
type similar struct {
	ID        string    `json:"id"`
	CreatedAt time.Time `json:"created_at"`
	Content   string    `json:"content"`
	Relation  string    `json:"relation"`
}

func (similar) JSONSchemaExtend(s *jsonSchema) {
	describe(s, map[string]string{
		"relation": "same, near_duplicate, or differs: may be contradicted.",
	})
}

// redaction counts what the scrubber took out, by kind.
type redaction struct {
	Kind  string `json:"kind"`
	Count int    `json:"count"`
}

// MemoryStore is the tool memory_store (RFC-0011 §4.1 add). A DM chooses between its private compartment and the
// shared one; a group's memories stay in its own. When it returns, the memory is on disk. The same content again is not
// stored twice: the result is the first memory, with the fields that the call changed. A memory supersedes others of
// its own compartment.
func MemoryStore(v *mesh.View) Tool {
	spec := Spec{
		Name:  "memory_store",
		Title: "Remember",
		Description: "Store a decision, preference, fact or event for later sessions, one per call; what is not stored is " +
			"forgotten. Name the memories that it makes outdated in supersedes.",
		Idempotent: true,
	}
	keep := func(ctx context.Context, m mesh.Scrubbed, how mesh.Intent) (stored, error) {
		how.Compare = true
		r, err := v.Remember(ctx, m, how)
		if err != nil {
			return stored{}, err
		}
		answer := stored{
			ID: r.ID, CreatedAt: r.CreatedAt, Visibility: string(r.Visibility), OccurredAt: r.OccurredAt,
			Redactions: redactions(r.Redactions), Updated: r.Updated, Sightings: r.Sightings,
		}
		for _, other := range r.Similar {
			answer.Similar = append(answer.Similar, similar{other.ID, other.CreatedAt, other.Excerpt, other.Relation})
		}
		hints := r.Notes
		isContact := func(r scrub.Redaction) bool { return r.Kind == scrub.Email || r.Kind == scrub.Phone }
		if r.Visibility == record.Private && slices.ContainsFunc(r.Redactions, isContact) {
			hints = append(hints, "Contact details were redacted. With the setting keep-contacts, which only the operator "+
				"can make, private memories keep them.")
		}
		answer.Hint = strings.Join(hints, " ")
		return answer, nil
	}
	// SECURITY: a group is not offered the choice of visibility, and a call that makes one is refused.
	if !v.Audience.IsDM() {
		return Define(spec, func(ctx context.Context, in memory) (stored, error) {
			m, err := v.Scrub(in.Memory, "")
			if err != nil {
				return stored{}, err
			}
			return keep(ctx, m, mesh.Intent{Supersedes: in.Supersedes})
		})
	}
	return Define(spec, func(ctx context.Context, in visibleMemory) (stored, error) {
		// Scrubbed before the person is asked: text that is refused needs no consent, and whether the same memory
		// exists is decided on cleaned text.
		m, err := v.Scrub(in.Memory, record.Visibility(in.Visibility))
		if err != nil {
			return stored{}, err
		}
		how := mesh.Intent{To: record.Visibility(in.Visibility), Supersedes: in.Supersedes}
		if how.To == record.Shared {
			known, err := v.Holds(ctx, m)
			if err != nil {
				return stored{}, err
			}
			how.Consent, err = consentToShare(ctx, v, disclosure{m.Whole(), m.Parts(), in.Confirm, known})
			if err != nil {
				return stored{}, err
			}
		}
		return keep(ctx, m, how)
	})
}
