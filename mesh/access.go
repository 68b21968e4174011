package mesh

import (
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

// recalled are the memories in found, each once.
func (v *View) recalled(found Found) store.Recall {
	r := store.Recall{AgentID: v.AgentID}
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

// accessesOf is what the own ledger says of a memory of any compartment.
func (v *View) accessesOf(id string) record.Accesses {
	c, err := v.open(v.own())
	if err != nil {
		return record.Accesses{}
	}
	s := c.Snapshot()
	defer s.Release()
	return s.Accesses(id)
}

// allAccesses is what the own ledger says of all memories.
func (v *View) allAccesses() (map[string]record.Accesses, error) {
	c, err := v.open(v.own())
	if err != nil {
		return nil, err
	}
	s := c.Snapshot()
	defer s.Release()
	return s.AllAccesses(), nil
}

// accessesColumn is the value of access_count for a filter: null without any, as in the table.
func accessesColumn(a record.Accesses) any {
	if a.Count == 0 {
		return nil
	}
	return float64(a.Count)
}
