package tools

import (
	"context"
	"time"

	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// memory is what every audience may give memory_store (RFC-0011 §2.1).
type memory struct {
	Content    string         `json:"content" jsonschema:"minLength=1" jsonschema_description:"What to remember: one fact, event or decision, in words that make sense alone. Markup is cleaned; personal identifiers and credentials are redacted."`
	Type       string         `json:"type,omitempty" jsonschema:"enum=global,enum=session,enum=agent,enum=lesson,enum=reflection,enum=event,default=global" jsonschema_description:"What kind of memory it is. Lessons from mistakes go to distill_lesson instead."`
	Tags       []string       `json:"tags,omitempty" jsonschema:"maxItems=32" jsonschema_description:"Words to filter by later, each at most 64 characters."`
	Importance *float32       `json:"importance,omitempty" jsonschema:"minimum=0,maximum=1" jsonschema_description:"How much it matters, from 0 to 1."`
	SessionID  string         `json:"session_id,omitempty" jsonschema_description:"The conversation it comes from. Memories of one session are understood together: give it whenever there is one."`
	Source     string         `json:"source,omitempty" jsonschema_description:"Where it comes from: a person, a program, a document."`
	Rationale  string         `json:"rationale,omitempty" jsonschema_description:"Why it is worth keeping."`
	Hypothesis string         `json:"hypothesis,omitempty" jsonschema_description:"What it is expected to be good for."`
	SkillName  string         `json:"skill_name,omitempty" jsonschema_description:"The skill it belongs to."`
	Metadata   map[string]any `json:"metadata,omitempty" jsonschema_description:"Further JSON, at most 16 KiB. Not searched."`
}

func (m memory) request() mesh.StoreRequest {
	return mesh.StoreRequest{
		Content: m.Content, Type: m.Type, Source: m.Source, Tags: m.Tags, Importance: m.Importance, SessionID: m.SessionID,
		Skill: m.SkillName, Rationale: m.Rationale, Hypothesis: m.Hypothesis, Metadata: m.Metadata,
	}
}

// visibleMemory is memory with the choice that a DM has.
type visibleMemory struct {
	memory
	Visibility string `json:"visibility,omitempty" jsonschema:"enum=private,enum=shared,default=private" jsonschema_description:"private: recalled in direct conversations only. shared: recalled in every group as well; only for what everybody may know. Where the host can, the person is asked first."`
	Confirm    bool   `json:"confirm,omitempty" jsonschema_description:"true: the person agrees to share what is one of their private memories so far. Needed for that alone, unless the host asks the person itself."`
}

// stored is memory_store's result.
type stored struct {
	ID         string      `json:"id"`
	CreatedAt  time.Time   `json:"created_at"`
	Visibility string      `json:"visibility"`
	Redactions []redaction `json:"redactions"`
}

// redaction counts what the scrubber took out, by kind.
type redaction struct {
	Kind  string `json:"kind"`
	Count int    `json:"count"`
}

// MemoryStore is the tool memory_store. A DM may store for everybody; a group's memories are its own.
func MemoryStore(v *mesh.View) Tool {
	spec := Spec{
		Name:  "memory_store",
		Title: "Remember",
		Description: "Keep something beyond this session: a decision, a preference, a fact, an event. What is not stored is forgotten. " +
			"Store one thing a call, self-contained. Answers after it is safely on disk; storing the same again returns the first id. " +
			"Returns the id, the visibility and what was redacted.",
		Idempotent: true,
	}
	store := func(ctx context.Context, q mesh.StoreRequest) (stored, error) {
		r, err := v.Store(ctx, q)
		if err != nil {
			return stored{}, err
		}
		return stored{ID: r.ID, CreatedAt: r.CreatedAt, Visibility: string(r.Visibility), Redactions: redactions(r.Redactions)}, nil
	}
	// SECURITY: a group is not offered the choice of visibility, and a call that makes one is refused.
	if !v.Audience.IsDM() {
		return Define(spec, func(ctx context.Context, in memory) (stored, error) { return store(ctx, in.request()) })
	}
	return Define(spec, func(ctx context.Context, in visibleMemory) (stored, error) {
		q := in.request()
		q.Visibility = record.Visibility(in.Visibility)
		if q.Visibility == record.Shared {
			if err := confirmSharing(ctx, v, q, in.Confirm); err != nil {
				return stored{}, err
			}
		}
		return store(ctx, q)
	})
}

// confirmSharing asks the person before every group can recall a memory. Where they cannot be asked,
// visibility: shared is the caller's word that they agree, except for what was told in confidence before.
func confirmSharing(ctx context.Context, v *mesh.View, q mesh.StoreRequest, given bool) error {
	known, err := v.Keeps(ctx, q)
	if err != nil {
		return err
	}
	question := "Share this with every group the agent is in?"
	if known != "" {
		question = "This is one of your private memories. Share it with every group the agent is in?"
	}
	return confirm(ctx, consent{
		key:      questionKey("share", q.Content),
		question: question + "\n\n" + excerpt(q.Content),
		tick:     "Share it with the groups",
		given:    given || known == "",
		missing:  "confirm: this is the private memory " + known + "; ask the person whether groups may know it, and call again with confirm: true",
	})
}
