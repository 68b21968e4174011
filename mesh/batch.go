package mesh

import (
	"context"
	"fmt"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/block"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// Outcome is what became of one request of StoreAll.
type Outcome struct {
	Stored
	Err error // why it was refused, nil if it was stored
}

// StoreAll stores memories in the audience's own compartment, in order, with one fsync for all of them,
// and returns an outcome for each. What one request is refused for does not keep the others out; with an
// error nothing was acknowledged, and calling again is safe. Visibility is not looked at.
func (v *View) StoreAll(ctx context.Context, requests []StoreRequest) ([]Outcome, error) {
	outcomes := make([]Outcome, len(requests))
	records := make([]*record.Record, len(requests))
	for i, q := range requests {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		records[i], outcomes[i].Redactions, outcomes[i].Err = v.record(q)
	}
	err := v.with(ctx, v.own(), func(c *compartment) error {
		_, err := c.ledger.Append(ctx, c.apply, func(now time.Time) ([]ledger.Draft, error) {
			return v.draftAll(c, now, records, outcomes)
		})
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

// draftAll drafts the entries of those records that are neither refused nor there already, among
// themselves too.
func (v *View) draftAll(c *compartment, now time.Time, records []*record.Record, outcomes []Outcome) ([]ledger.Draft, error) {
	var drafts []ledger.Draft
	texts, ids := map[any]*record.Record{}, map[string]bool{}
	for i, r := range records {
		if outcomes[i].Err != nil {
			continue
		}
		kept := c.twin(r)
		if kept == nil {
			kept = texts[r.Scope()]
		}
		outcomes[i].Created = kept == nil
		if kept == nil {
			var err error
			for r.ID = ""; r.ID == "" || ids[r.ID]; {
				if r.ID, err = c.newMemoryID(now, v.Random); err != nil {
					return nil, err
				}
			}
			r.CreatedAt, ids[r.ID], texts[r.Scope()], kept = now, true, r, r
			text := block.Retain{
				Agent: r.AgentID, MemoryID: r.ID, MemoryType: r.Type, Time: now, Content: r.Content, Hypothesis: r.Hypothesis,
			}.Block().String()
			drafts = append(drafts, ledger.Draft{Op: opRetain, ID: r.ID, Block: text, Data: r})
		}
		outcomes[i].ID, outcomes[i].CreatedAt, outcomes[i].Visibility = kept.ID, kept.CreatedAt, c.visibility
	}
	return drafts, nil
}
