package mesh

import (
	"context"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// Import adds memories that were kept elsewhere to the audience's own compartment, in order and scrubbed, with one fsync
// for all of them, and returns an outcome for each: ids and times of creation are kept where they can be. A memory that
// is there already, by its id in any compartment that the audience sees or by its text in its scope, is not stored
// again, so calling again after an interrupt is safe. What one is refused for does not keep the others out. With dryRun
// nothing is written and the outcomes say what would be.
func (v *View) Import(ctx context.Context, memories []record.Foreign, dryRun bool) ([]Outcome, error) {
	b := newBatch(v, len(memories))
	for i, m := range memories {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s, err := v.scrubForeign(m)
		b.add(i, s, err)
		b.outcomes[i].Notes = m.Notes
	}
	visible, err := v.All(ctx, 0)
	if err != nil {
		return nil, err
	}
	b.others = map[string]record.Hit{}
	for _, hit := range visible {
		if hit.Visibility != v.own() {
			b.others[hit.ID] = hit
		}
	}
	if !dryRun {
		err = v.write(ctx, v.own(), b.draft)
	} else {
		err = v.with(ctx, v.own(), func(c *compartment) error {
			if err := c.Sync(ctx); err != nil {
				return err
			}
			s := c.Snapshot()
			defer s.Release()
			_, err := b.draft(s, v.Now().UTC())
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	return b.outcomes, nil
}

// scrubForeign is Scrub with what only a memory from elsewhere has.
func (v *View) scrubForeign(m record.Foreign) (Scrubbed, error) {
	scrubbed, err := v.Scrub(m.Memory)
	if err != nil {
		return scrubbed, err
	}
	r := scrubbed.record
	s := &scrubbing{scrubber: v.scrubber, found: scrubbed.redactions}
	r.Imported = true
	r.ID, r.CreatedAt = m.ID, m.CreatedAt.UTC().Truncate(time.Millisecond)
	if agent := s.field("agent_id", m.AgentID); agent != "" {
		r.AgentID = agent
	}
	if m.Heritage != nil {
		h := s.heritage(*m.Heritage, v.heritageDepth())
		r.Heritage = &h
	}
	if m.Lesson != nil {
		if err := m.Lesson.Validate(); err != nil {
			return scrubbed, fault.New("lesson: it is not complete: %v", err)
		}
		lesson := *m.Lesson
		lesson.Sources = nil // memories of another store
		for name, field := range map[string]*string{
			"situation": &lesson.Situation, "error_pattern": &lesson.ErrorPattern, "oversight": &lesson.Oversight,
			"fix": &lesson.Fix, "preventative_rule": &lesson.PreventativeRule, "applicable_scope": &lesson.ApplicableScope,
			"inverse_lesson": &lesson.InverseLesson, "supersedes": &lesson.Supersedes,
		} {
			*field = s.field(name, *field)
		}
		r.Lesson = &lesson
	}
	scrubbed.redactions = s.total()
	return scrubbed, s.err
}
