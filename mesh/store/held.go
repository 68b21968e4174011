package store

import (
	"reflect"
	"time"
	"unique"

	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// held is a memory as a projection holds it: in a third of the space of a record.Record, most fields of which are empty
// or the same for many memories. Who needs a record gets one made, see Snapshot.Record.
type held struct {
	id, content string
	tags        []string
	importance  *float32
	created     int64 // Unix milliseconds
	seq         int64
	origin      unique.Handle[origin]
	rest        *rest // nil if all of it is empty
}

// origin is what tells where a memory comes from. The memories of a session mostly have the same.
type origin struct{ session, kind, source, skill, agent, project, consent string }

// rest is what few memories have.
type rest struct {
	rationale, hypothesis, occurredAt string
	metadata                          map[string]any
	lesson                            *record.Lesson
	reflection                        *record.Reflection
	heritage                          *record.Heritage
	imported                          bool
	redacted                          int64
	created                           time.Time // zero if it is the UTC time of held.created
	updated                           time.Time
}

// hold returns r in that form. They share tags, metadata and what else is behind pointers.
func hold(r *record.Record) held {
	h := held{
		id: r.ID, content: r.Content, tags: r.Tags, importance: r.Importance, created: r.CreatedAt.UnixMilli(), seq: r.Seq,
		origin: unique.Make(origin{
			session: r.SessionID, kind: r.Type, source: r.Source, skill: r.Skill, agent: r.AgentID, project: r.Project,
			consent: r.Consent,
		}),
	}
	more := rest{
		rationale: r.Rationale, hypothesis: r.Hypothesis, occurredAt: r.OccurredAt, metadata: r.Metadata, lesson: r.Lesson,
		reflection: r.Reflection, heritage: r.Heritage, imported: r.Imported, redacted: r.Redacted, updated: r.UpdatedAt,
	}
	if r.CreatedAt != h.createdAt() {
		more.created = r.CreatedAt
	}
	if !reflect.ValueOf(more).IsZero() {
		h.rest = &more
	}
	return h
}

// createdAt is record.Record.CreatedAt.
func (h *held) createdAt() time.Time {
	if h.rest != nil && !h.rest.created.IsZero() {
		return h.rest.created
	}
	return time.UnixMilli(h.created).UTC()
}

// lesson is record.Record.Lesson.
func (h *held) lesson() *record.Lesson {
	if h.rest == nil {
		return nil
	}
	return h.rest.lesson
}

// reflection is record.Record.Reflection.
func (h *held) reflection() *record.Reflection {
	if h.rest == nil {
		return nil
	}
	return h.rest.reflection
}

// record makes to the record that was held.
func (h *held) record(to *record.Record) {
	from := h.origin.Value()
	*to = record.Record{
		ID: h.id,
		Memory: record.Memory{
			Content: h.content, Type: from.kind, Tags: h.tags, Importance: h.importance, SessionID: from.session,
			Source: from.source, Skill: from.skill,
		},
		AgentID: from.agent, Project: from.project, Consent: from.consent, CreatedAt: h.createdAt(), Seq: h.seq,
	}
	more := h.rest
	if more == nil {
		return
	}
	to.Rationale, to.Hypothesis, to.OccurredAt = more.rationale, more.hypothesis, more.occurredAt
	to.Metadata = more.metadata
	to.Lesson, to.Reflection, to.Heritage = more.lesson, more.reflection, more.heritage
	to.Imported, to.Redacted, to.UpdatedAt = more.imported, more.redacted, more.updated
}

// vectorID is record.Record.VectorID.
func (h *held) vectorID() string {
	if h.rest == nil {
		return h.id
	}
	r := record.Record{ID: h.id, Redacted: h.rest.redacted}
	return r.VectorID()
}

// doc returns the number of the document of the memory called id. p.mu is held.
func (p *Projection) doc(id string) (doc int, ok bool) { return p.byID.find(id, p.held) }

// record returns the memory of a document, nil if it was deleted.
func (p *Projection) record(doc int) *record.Record {
	if p.docs[doc].Deleted {
		return nil
	}
	r := new(record.Record)
	p.held[doc].record(r)
	return r
}
