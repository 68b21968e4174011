package mesh

import (
	"fmt"
	"regexp"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/block"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

// batch is memories on their way into one compartment, in order, and what becomes of each.
type batch struct {
	view     *View
	records  []*record.Record // not to be kept where the outcome is an error
	outcomes []Outcome
	texts    map[any]*record.Record    // of those that are new, by scope
	ids      map[string]*record.Record // likewise, by id
	others   map[string]record.Hit     // of an import: what the audience sees in other compartments, by id
}

func newBatch(v *View, n int) *batch {
	return &batch{
		view: v, records: make([]*record.Record, n), outcomes: make([]Outcome, n),
		texts: map[any]*record.Record{}, ids: map[string]*record.Record{},
	}
}

// add makes s, or the error that it was refused with, the ith of the batch.
func (b *batch) add(i int, s Scrubbed, err error) {
	b.outcomes[i].Redactions, b.outcomes[i].Err = s.redactions, err
	if err == nil {
		r := *s.record
		b.records[i] = &r
	}
}

// draft drafts the entries of those records that are neither refused nor there already. It may be called again.
func (b *batch) draft(s *store.Snapshot, now time.Time) ([]ledger.Draft, error) {
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
		kept := b.known(s, r)
		if o.Created = kept == nil; o.Created {
			if err := b.complete(s, r, o, now); err != nil {
				return nil, err
			}
			kept = r
			b.ids[r.ID], b.texts[r.Scope()] = r, r
			draft, err := draftOf(r)
			if err != nil {
				return nil, err
			}
			drafts = append(drafts, draft)
			if r.Heritage != nil {
				drafts = append(drafts, ledger.Draft{Op: store.OpHeritage, ID: r.ID, Data: r.Heritage})
			}
		}
		o.ID, o.CreatedAt, o.Visibility = kept.ID, kept.CreatedAt, s.Visibility
	}
	return drafts, nil
}

// known is the memory that r is already, nil if it is new.
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
	return b.texts[r.Scope()]
}

// importedID is a MEMORY_ID (RFC-0011 §1.1), or one whose end is base 36, as implementations in JavaScript make them.
var importedID = regexp.MustCompile(`^mem_[0-9]{1,14}_[0-9a-z]{1,32}$`)

// complete gives r its id and time, those that an imported one has if they can be kept.
func (b *batch) complete(s *store.Snapshot, r *record.Record, o *Outcome, now time.Time) error {
	if !r.Imported {
		r.ID, r.CreatedAt = "", now
	}
	if r.CreatedAt.IsZero() || r.CreatedAt.After(now) || r.CreatedAt.UnixMilli() <= 0 {
		r.CreatedAt = now
		o.Notes = append(o.Notes, "no valid time of creation, so it is now")
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

// draftOf is the ledger entry of a memory or lesson. Its block is of the time when it was made.
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
