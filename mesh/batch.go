package mesh

import (
	"context"
	"fmt"
	"regexp"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/block"
	"github.com/yamo-protocol/yamo-mcp/mesh/intake"
	"github.com/yamo-protocol/yamo-mcp/mesh/period"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

// batch is memories on their way into one compartment, in order, and what becomes of each. Storing one memory, storing
// many and importing share it, so that all of them recognize what is already stored in the same way.
type batch struct {
	view     *View
	zone     *time.Location   // the user's, in a DM
	records  []*record.Record // ignored where the outcome is an error
	outcomes []Outcome
	texts    map[record.WordsKey][]*record.Record // of those that are new
	ids      map[string]*record.Record            // likewise, by id
	others   map[string]record.Hit                // set by an import: what the audience sees in other compartments, by id
	versions bool                                 // records of files replace the current memory of the same file
}

// newBatch returns a batch of n memories.
func newBatch(v *View, n int) *batch {
	return &batch{
		view: v, zone: v.zone(), records: make([]*record.Record, n), outcomes: make([]Outcome, n),
		texts: map[record.WordsKey][]*record.Record{}, ids: map[string]*record.Record{},
	}
}

// add makes s, or the error that refused it, the ith of the batch. The record is copied: draft completes it, and the
// caller may keep s again.
func (b *batch) add(i int, s Scrubbed, err error) {
	b.outcomes[i].Redactions, b.outcomes[i].Err = s.redactions, err
	if err == nil {
		r := *s.record
		b.records[i] = &r
	}
}

// draft is a store.Prepare: it drafts the entries of those records that are neither refused nor stored already. What it
// decides is reset first, because it is called a second time if the ledger was replaced.
func (b *batch) draft(s *store.Snapshot, now time.Time) ([]ledger.Draft, error) {
	clear(b.texts)
	clear(b.ids)
	var drafts []ledger.Draft
	files, pastFiles := b.files(s)
	present := b.present(s)
	for i, r := range b.records {
		o := &b.outcomes[i]
		if o.Err != nil {
			continue
		}
		if same, ok := b.others[r.ID]; ok && same.Content == r.Content {
			o.ID, o.CreatedAt, o.Visibility, o.Created = same.ID, same.CreatedAt, same.Visibility, false
			continue
		}
		// Decided here, under the lock, and not before: another process may have stored the same in between.
		kept := b.known(s, r)
		if o.Left, o.Amended = "", ""; kept == nil && b.versions {
			if o.Left = b.corrected(s, r); o.Left != "" {
				continue
			}
			if same := s.Find(files[fileOf(r)]); same != nil && same.Content == r.Content { // as another type
				kept, drafts = same, append(drafts, updated(same, r, r.Type))
			}
		}
		if o.Created = kept == nil; o.Created {
			if err := b.complete(s, r, o, now); err != nil {
				return nil, err
			}
			kept = r
			b.ids[r.ID], b.texts[r.Words()] = r, append(b.texts[r.Words()], r)
			draft, err := draftOf(r)
			if err != nil {
				return nil, err
			}
			drafts = append(drafts, draft)
			// What another file has now, because the two were renamed, is no earlier version.
			if o.Replaced = files[fileOf(r)]; present[o.Replaced] != (file{}) {
				o.Replaced = ""
			}
			o.Amended = b.amended(s, pastFiles[fileOf(r)])
			if o.Replaced != "" {
				revision, err := b.view.revision(
					record.Revision{Old: o.Replaced, New: r.ID, At: now, Why: "the file has changed"}, now)
				if err != nil {
					return nil, err
				}
				drafts = append(drafts, revision)
			}
			if r.Heritage != nil {
				drafts = append(drafts, ledger.Draft{Op: store.OpHeritage, ID: r.ID, Data: r.Heritage})
			}
		}
		if at := present[kept.ID]; at != fileOf(kept) && at == fileOf(r) && at.folder == fileOf(kept).folder {
			drafts = append(drafts, updated(kept, r, kept.Type))
		}
		if !kept.Imported {
			b.view.note(kept)
		}
		o.ID, o.CreatedAt, o.Visibility, o.OccurredAt = kept.ID, kept.CreatedAt, s.Visibility, kept.OccurredAt
	}
	return drafts, nil
}

// known returns the stored memory that r repeats, nil if r is new: one with its id and content, for a lesson the best
// of its pattern, and otherwise one with its text in its scope, stored or earlier in the batch.
func (b *batch) known(s *store.Snapshot, r *record.Record) *record.Record {
	for _, same := range []*record.Record{s.Find(r.ID), b.ids[r.ID]} {
		if same != nil && same.Content == r.Content {
			return same
		}
	}
	if r.Lesson != nil {
		if best := s.Lesson(r.Lesson.PatternID); best != nil && best.Content == r.Content {
			return best
		}
	} else if twin := s.Twin(r); twin != nil {
		return twin
	}
	for _, same := range b.texts[r.Words()] {
		if same.Content == r.Content && same.InScope(r) {
			return same
		}
	}
	return nil
}

// importedID is a MEMORY_ID (RFC-0011 §1.1), or one whose end is base 36, as implementations in JavaScript make them.
var importedID = regexp.MustCompile(`^mem_[0-9]{1,14}_[0-9a-z]{1,32}$`)

// complete gives r an id and a time. An imported record keeps its own if they are valid and the id is free; notes tell
// what was replaced.
func (b *batch) complete(s *store.Snapshot, r *record.Record, o *Outcome, now time.Time) error {
	if !r.Imported {
		r.ID, r.CreatedAt = "", now
	}
	if r.CreatedAt.IsZero() || r.CreatedAt.After(now) || r.CreatedAt.UnixMilli() <= 0 {
		r.CreatedAt = now
		o.Notes = append(o.Notes, "no valid time of creation, so it is now")
	}
	if err := period.Date(r, s.Visibility, b.zone); err != nil {
		return err
	}
	free := func(id string) bool {
		_, taken := b.others[id]
		return !taken && s.Find(id) == nil && b.ids[id] == nil
	}
	if importedID.MatchString(r.ID) && free(r.ID) {
		return nil
	}
	if r.ID != "" {
		o.Notes = append(o.Notes, "the id is taken or no memory's id, so it has a new one")
	}
	for r.ID = ""; r.ID == "" || !free(r.ID); {
		var err error
		if r.ID, err = record.NewID("mem", r.CreatedAt, b.view.Random); err != nil {
			return err
		}
	}
	return nil
}

// draftOf returns the ledger entry of a memory or lesson. Its block has the record's time, not that of the write: an
// imported memory is as old as it was.
func draftOf(r *record.Record) (ledger.Draft, error) {
	if r.Lesson != nil {
		learned, err := r.Lesson.Block(r.AgentID, r.CreatedAt)
		if err != nil {
			return ledger.Draft{}, fmt.Errorf("lesson %s: %w", r.ID, err)
		}
		r.Lesson.WireFormat = learned.String()
		return ledger.Draft{Op: store.OpLesson, ID: r.ID, Block: r.Lesson.WireFormat, Data: r}, nil
	}
	text := block.Retain{
		Agent: r.AgentID, MemoryID: r.ID, MemoryType: r.Type, Time: r.CreatedAt, Content: r.Content, Hypothesis: r.Hypothesis,
	}.Block().String()
	return ledger.Draft{Op: store.OpRetain, ID: r.ID, Block: text, Data: r}, nil
}

// Import adds memories that were kept elsewhere to the audience's own compartment, in order and scrubbed, with one
// fsync for all of them, and returns an outcome for each: ids and times of creation are kept where they can be. A
// memory that is there already, by its id in any compartment that the audience sees or by its text in its scope, is
// not stored again, so calling again after an interrupt is safe. What one is refused for does not keep the others
// out. With dryRun nothing is written and the outcomes say what would be.
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
	// An id is unique for the audience and not only in its compartment: a search shows both.
	visible, err := v.All(ctx, 0)
	if err != nil {
		return nil, err
	}
	b.others = map[string]record.Hit{}
	for _, hit := range visible {
		if hit.Visibility != v.home() {
			b.others[hit.ID] = hit
		}
	}
	if !dryRun {
		err = v.write(ctx, v.home(), b.draft)
	} else {
		err = v.withCompartment(ctx, v.home(), func(c *compartment) error {
			if err := c.Sync(ctx); err != nil {
				return err
			}
			s := c.Snapshot()
			defer s.Release()
			// The same decisions as for a write, without its lock: they may be outdated by the time of the import.
			_, err := b.draft(s, v.Now().UTC())
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	return b.outcomes, nil
}

// scrubForeign is Scrub for a memory from another store, with its id, time, agent, heritage and lesson.
func (v *View) scrubForeign(m record.Foreign) (Scrubbed, error) {
	scrubbed, err := v.Scrub(m.Memory, "")
	if err != nil {
		return scrubbed, err
	}
	r := scrubbed.record
	s := intake.New(v.scrubber, scrubbed.redactions...)
	r.Imported = true
	r.ID, r.CreatedAt = m.ID, m.CreatedAt.UTC().Truncate(time.Millisecond)
	if agent := s.Field("agent_id", m.AgentID); agent != "" {
		r.AgentID = agent
	}
	if m.Heritage != nil {
		h := s.Heritage(*m.Heritage, v.heritageDepth())
		r.Heritage = &h
	}
	if m.Lesson != nil {
		if err := m.Lesson.Validate(); err != nil {
			return scrubbed, fault.New("lesson: it is not complete: %v", err)
		}
		lesson := *m.Lesson
		lesson.Sources = nil // ids of the other store, which may be those of other memories here
		for name, field := range map[string]*string{
			"situation": &lesson.Situation, "error_pattern": &lesson.ErrorPattern, "oversight": &lesson.Oversight,
			"fix": &lesson.Fix, "preventative_rule": &lesson.PreventativeRule, "applicable_scope": &lesson.ApplicableScope,
			"inverse_lesson": &lesson.InverseLesson, "supersedes": &lesson.Supersedes,
		} {
			*field = s.Field(name, *field)
		}
		r.Lesson = &lesson
	}
	scrubbed.redactions = s.Redactions()
	return scrubbed, s.Err()
}
