package mesh

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// recalled is the data of a recall entry.
type recalled struct {
	AgentID string   `json:"agent_id"`
	Found   []string `json:"found,omitempty"` // the ids of the memories, in whichever compartment, best first
	// Scores are Found's in the same order: a DM's recall signals, see Recalled. The entry has the day; the question
	// is in its block alone.
	Scores []float64 `json:"scores,omitempty"`
}

// recalled are the memories in found, each once.
func (v *View) recalled(found Found) recalled {
	r := recalled{AgentID: v.AgentID}
	seen := map[string]bool{}
	for _, hits := range [][]record.Hit{found.Hits, found.Lessons} {
		for _, hit := range hits {
			if hit.Type == record.FileType || seen[hit.ID] {
				continue
			}
			seen[hit.ID] = true
			r.Found = append(r.Found, hit.ID)
			if v.Audience.IsDM() {
				r.Scores = append(r.Scores, hit.Score)
			}
		}
	}
	return r
}

// access counts a recall. c.mu is held.
func (c *compartment) access(r recalled, at time.Time) {
	for _, id := range r.Found {
		a := c.accesses[id]
		a.Count, a.Last = a.Count+1, at.UTC().Truncate(time.Millisecond) // as the table has it
		c.accesses[id] = a
		if _, own := c.byID[id]; own {
			c.revised[id] = struct{}{} // and no more: the row can wait
		}
	}
}

// accessesOf is what the own ledger says of a memory of any compartment.
func (v *View) accessesOf(id string) record.Accesses {
	c, err := v.open(v.own())
	if err != nil {
		return record.Accesses{}
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.accesses[id]
}

// allAccesses is what the own ledger says of all memories.
func (v *View) allAccesses() (map[string]record.Accesses, error) {
	c, err := v.open(v.own())
	if err != nil {
		return nil, err
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	return maps.Clone(c.accesses), nil
}

// accessesColumn is the value of access_count for a filter: null without any, as in the table.
func accessesColumn(a record.Accesses) any {
	if a.Count == 0 {
		return nil
	}
	return float64(a.Count)
}

// accessCount is the value of access_count, nil without any.
func accessCount(a record.Accesses) *int32 {
	if a.Count == 0 {
		return nil
	}
	return &a.Count
}

// revise deletes the rows that lack a heritage or accesses; addRows writes them anew. The caller holds the index lock.
func (ix *index) revise(ctx context.Context, c *compartment) error {
	c.mu.Lock()
	revised := c.revised
	c.revised = map[string]struct{}{}
	c.mu.Unlock()
	err := ix.reviseRows(ctx, c, revised)
	if err != nil {
		c.mu.Lock()
		maps.Copy(c.revised, revised)
		c.mu.Unlock()
	}
	return err
}

func (ix *index) reviseRows(ctx context.Context, c *compartment, revised map[string]struct{}) error {
	var ids, changed []string
	for id := range revised {
		if _, ok := ix.present[id]; ok {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	rows, err := ix.tables.Memories(ctx, ids, false)
	if err != nil {
		return err
	}
	for _, row := range rows {
		r := c.find(row.ID)
		if r == nil {
			continue
		}
		want, err := heritageChain(r)
		if err != nil {
			return err
		}
		c.mu.RLock()
		a := c.accesses[row.ID]
		c.mu.RUnlock()
		if row.HeritageChain != want || !row.LastAccessed.Equal(a.Last) || row.AccessCount == nil && a.Count > 0 ||
			row.AccessCount != nil && *row.AccessCount != a.Count {
			changed = append(changed, row.ID)
		}
	}
	if len(changed) == 0 {
		return nil
	}
	if err := ix.tables.DeleteMemories(ctx, changed); err != nil {
		return err
	}
	for _, id := range changed {
		delete(ix.present, id)
	}
	return nil
}

// heritageChain is the column of RFC-0011 §2.2, "" without a heritage.
func heritageChain(r *record.Record) (string, error) {
	if r.Heritage == nil {
		return "", nil
	}
	chain, err := json.Marshal(r.Heritage)
	if err != nil {
		return "", fmt.Errorf("heritage of %s: %w", r.ID, err)
	}
	return string(chain), nil
}
