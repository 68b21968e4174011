package mesh

import (
	"context"
	"fmt"
	"regexp"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/block"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/scrub"
)

// ImportRequest is a memory that was kept elsewhere.
type ImportRequest struct {
	StoreRequest           // Visibility is not looked at
	ID           string    // kept if it is a MEMORY_ID (or one of another implementation, in base 36) that is free
	CreatedAt    time.Time // zero or in the future: now
	AgentID      string    // "": the view's own
	Heritage     *record.Heritage
	Lesson       *record.Lesson // of a lesson
	Notes        []string       // what was left out on the way here
}

// Imported is what became of an ImportRequest.
type Imported struct {
	Outcome
	Notes []string // the request's, and what Import changed
}

// foreignID is a MEMORY_ID (RFC-0011 §1.1), or one whose end is base 36, as implementations in JavaScript make them.
var foreignID = regexp.MustCompile(`^mem_[0-9]{1,14}_[0-9a-z]{1,32}$`)

// Import adds memories that were kept elsewhere to the audience's own compartment, in order and scrubbed, with one fsync
// for all of them, and returns an outcome for each: ids and times of creation are kept where they can be. A memory that
// is there already, by its id in any compartment that the audience sees or by its text in its scope, is not stored again, so calling again after an
// interrupt is safe. What one request is refused for does not keep the others out. With dryRun nothing is written
// and the outcomes say what would be.
func (v *View) Import(ctx context.Context, requests []ImportRequest, dryRun bool) ([]Imported, error) {
	outcomes := make([]Imported, len(requests))
	batch := importing{view: v, records: make([]*record.Record, len(requests)), outcomes: outcomes, texts: map[any]*record.Record{}, ids: map[string]*record.Record{}, others: map[string]record.Hit{}}
	for i, q := range requests {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		outcomes[i].Notes = q.Notes
		batch.records[i], outcomes[i].Redactions, outcomes[i].Err = v.imported(q)
	}
	visible, err := v.All(ctx, 0)
	if err != nil {
		return nil, err
	}
	for _, hit := range visible {
		if hit.Visibility != v.own() {
			batch.others[hit.ID] = hit
		}
	}
	err = v.with(ctx, v.own(), func(c *compartment) error {
		if dryRun {
			if err := c.sync(ctx); err != nil {
				return err
			}
			_, err := batch.draft(c, v.Now().UTC())
			return err
		}
		_, err := c.ledger.Append(ctx, c.apply, func(now time.Time) ([]ledger.Draft, error) { return batch.draft(c, now) })
		if err != nil {
			return fmt.Errorf("write the %s ledger: %w", c.visibility, err)
		}
		c.index.wake(c)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return outcomes, nil
}

// imported is the request as a record.
func (v *View) imported(q ImportRequest) (*record.Record, []scrub.Redaction, error) {
	r, found, err := v.record(q.StoreRequest)
	if err != nil {
		return r, found, err
	}
	s := &scrubbing{scrubber: v.scrubber}
	s.found = append(s.found, found...)
	r.Imported = true
	r.ID, r.CreatedAt = q.ID, q.CreatedAt.UTC().Truncate(time.Millisecond)
	if agent := s.field("agent_id", q.AgentID); agent != "" {
		r.AgentID = agent
	}
	if q.Heritage != nil {
		r.Heritage = &record.Heritage{
			IntentChain: s.levels("intentChain", q.Heritage.IntentChain, v.heritageDepth()),
			Hypotheses:  s.levels("hypotheses", q.Heritage.Hypotheses, v.heritageDepth()),
			Rationales:  s.levels("rationales", q.Heritage.Rationales, v.heritageDepth()),
		}
	}
	if l := q.Lesson; l != nil {
		if err := l.Validate(); err != nil {
			return r, s.total(), fault.New("lesson: it is not complete: %v", err)
		}
		scrubbed := *l
		scrubbed.Sources = nil // memories of another store
		for name, text := range map[string]*string{
			"situation": &scrubbed.Situation, "error_pattern": &scrubbed.ErrorPattern, "oversight": &scrubbed.Oversight, "fix": &scrubbed.Fix,
			"preventative_rule": &scrubbed.PreventativeRule, "applicable_scope": &scrubbed.ApplicableScope,
			"inverse_lesson": &scrubbed.InverseLesson, "supersedes": &scrubbed.Supersedes,
		} {
			*text = s.field(name, *text)
		}
		r.Lesson = &scrubbed
	}
	return r, s.total(), s.err
}

// importing decides about the requests of one Import.
type importing struct {
	view     *View
	records  []*record.Record // nil or incomplete where the outcome is an error
	outcomes []Imported
	texts    map[any]*record.Record    // of this batch, by scope
	ids      map[string]*record.Record // likewise, by id
	others   map[string]record.Hit     // what the audience sees in other compartments, by id
}

// draft drafts the entries of those records that are neither refused nor there already. It may be called again.
func (b *importing) draft(c *compartment, now time.Time) ([]ledger.Draft, error) {
	clear(b.texts)
	clear(b.ids)
	var drafts []ledger.Draft
	for i, r := range b.records {
		o := &b.outcomes[i]
		if o.Err != nil {
			continue
		}
		if same, ok := b.others[r.ID]; ok && same.Content == r.Content {
			o.ID, o.CreatedAt, o.Visibility, o.Created = same.ID, same.CreatedAt, same.Visibility, false
			continue
		}
		kept := b.known(c, r)
		if o.Created = kept == nil; o.Created {
			if err := b.complete(c, r, o, now); err != nil {
				return nil, err
			}
			kept = r
			b.ids[r.ID], b.texts[r.Scope()] = r, r
			draft, err := importDraft(r)
			if err != nil {
				return nil, err
			}
			drafts = append(drafts, draft)
			if r.Heritage != nil {
				drafts = append(drafts, ledger.Draft{Op: opHeritage, ID: r.ID, Data: r.Heritage})
			}
		}
		o.ID, o.CreatedAt, o.Visibility = kept.ID, kept.CreatedAt, c.visibility
	}
	return drafts, nil
}

// known is the memory that r is already, nil if it is new.
func (b *importing) known(c *compartment, r *record.Record) *record.Record {
	for _, same := range []*record.Record{c.find(r.ID), b.ids[r.ID]} {
		if same != nil && same.Content == r.Content {
			return same
		}
	}
	if r.Lesson != nil {
		if best := c.lesson(r.Lesson.PatternID); best != nil && best.Content == r.Content {
			return best
		}
	} else if twin := c.twin(r); twin != nil {
		return twin
	}
	return b.texts[r.Scope()]
}

// complete gives r what is missing or cannot be kept.
func (b *importing) complete(c *compartment, r *record.Record, o *Imported, now time.Time) error {
	if r.CreatedAt.IsZero() || r.CreatedAt.After(now) || r.CreatedAt.UnixMilli() <= 0 {
		r.CreatedAt = now
		o.Notes = append(o.Notes, "no valid time of creation, so it is now")
	}
	free := func(id string) bool {
		_, taken := b.others[id]
		return !taken && c.find(id) == nil && b.ids[id] == nil
	}
	if foreignID.MatchString(r.ID) && free(r.ID) {
		return nil
	}
	if r.ID != "" {
		o.Notes = append(o.Notes, "the id is taken or no memory's id, so it has a new one")
	}
	for r.ID = ""; r.ID == "" || !free(r.ID); {
		var err error
		if r.ID, err = c.newMemoryID(r.CreatedAt, b.view.Random); err != nil {
			return err
		}
	}
	return nil
}

// importDraft is the ledger entry of a record that was kept elsewhere. Its block is of the time it was made.
func importDraft(r *record.Record) (ledger.Draft, error) {
	if r.Lesson != nil {
		learned, err := r.Lesson.Block(r.AgentID, r.CreatedAt)
		if err != nil {
			return ledger.Draft{}, fmt.Errorf("lesson %s: %w", r.ID, err)
		}
		r.Lesson.WireFormat = learned.String()
		return ledger.Draft{Op: opLesson, ID: r.ID, Block: r.Lesson.WireFormat, Data: r}, nil
	}
	text := block.Retain{
		Agent: r.AgentID, MemoryID: r.ID, MemoryType: r.Type, Time: r.CreatedAt, Content: r.Content, Hypothesis: r.Hypothesis,
	}.Block().String()
	return ledger.Draft{Op: opRetain, ID: r.ID, Block: text, Data: r}, nil
}
