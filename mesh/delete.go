package mesh

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/block"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/skill"
)

// Get is the memory called id (RFC-0011 §4.1 get), with a score of 0 and without signals. An id that no
// compartment of the audience has is a fault, whether another one has it or not.
func (v *View) Get(ctx context.Context, id string) (record.Hit, error) {
	c, r, err := v.locate(ctx, id)
	if err != nil {
		return record.Hit{}, err
	}
	return record.Hit{Record: r, Visibility: c.visibility, Accesses: v.accessesOf(id)}, nil
}

// Delete erases the memory called id for good (RFC-0011 §4.1 delete): from the ledger, whose chain goes
// on with the content's hash and a delete block that names reason, from the vectors and from LanceDB. A
// DM may delete whatever it sees; a group only what is its own. The id may be a skill's: the texts that it
// had before and its feedback go with it.
//
// With an error after the erasure from the ledger, nothing finds the memory any more, and the next work
// on the index takes the copies off the disk.
func (v *View) Delete(ctx context.Context, id, reason string) error {
	s := &scrubbing{scrubber: v.scrubber}
	if reason = s.field("reason", reason); s.err != nil {
		return s.err
	}
	if strings.HasPrefix(id, skill.Prefix+"_") {
		return v.deleteSkill(ctx, id, reason)
	}
	c, _, err := v.locate(ctx, id)
	if err != nil {
		return err
	}
	// SECURITY: what a DM shared with every group is not one group's to take away.
	if !v.Audience.IsDM() && c.visibility != v.own() {
		return fault.New("id: %s belongs to the %s memory, which only a direct conversation can delete from", id, c.visibility)
	}
	err = v.with(ctx, c.visibility, func(opened *compartment) error {
		c = opened
		return c.erase(ctx, func(now time.Time) ([]ledger.Draft, error) {
			if c.find(id) == nil {
				return nil, noMemory(id) // deleted meanwhile
			}
			text := block.Delete{Agent: v.AgentID, MemoryID: id, Time: now, Reason: reason}.Block().String()
			return []ledger.Draft{{Op: ledger.OpDelete, ID: id, Block: text, Data: deleted{v.AgentID, reason}}}, nil
		})
	})
	if err != nil {
		return err
	}
	if err := c.index.purge(ctx, c); err != nil {
		c.index.wake(c)
		return fmt.Errorf("the memory is deleted, but copies in the index are not yet: %w", err)
	}
	return nil
}

// deleted is the data of a delete entry.
type deleted struct {
	AgentID string `json:"agent_id"`
	Reason  string `json:"reason,omitempty"`
}

// locate finds the memory called id in what the audience may see.
func (v *View) locate(ctx context.Context, id string) (*compartment, *record.Record, error) {
	stores, _, err := v.compartments(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, c := range stores {
		if r := c.find(id); r != nil {
			return c, r, nil
		}
	}
	return nil, nil, noMemory(id)
}

func noMemory(id string) error {
	return fault.New("id: there is no memory %q; memory_search gives the ids there are", id)
}
