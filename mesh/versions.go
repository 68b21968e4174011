package mesh

import (
	"context"
	"slices"

	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

// MaxVersions is the maximum number of memories in a History.
const MaxVersions = 50

// History returns the memories that the one called id replaced or was replaced by, in however many steps, with itself:
// oldest first, at most the newest MaxVersions. It is empty for a memory without revisions. An unknown id is a fault.
//
// SECURITY: revisions do not cross compartments, so neither does a history.
func (v *View) History(ctx context.Context, id string) ([]record.Hit, error) {
	c, _, err := v.locate(ctx, id)
	if err != nil {
		return nil, err
	}
	s := c.Snapshot()
	defer s.Release()
	related := map[string]bool{}
	relate(s, id, related)
	var list []record.Hit
	for id := range related {
		r := s.Find(id)
		if r == nil {
			continue
		}
		list = append(list, s.Hit(r))
	}
	if len(list) == 1 && list[0].Past == nil {
		return nil, nil
	}
	slices.SortFunc(list, record.CompareStored)
	return list[max(0, len(list)-MaxVersions):], nil
}

// relate adds the memory called id, and those that revisions connect with it, to related.
func relate(s *store.Snapshot, id string, related map[string]bool) {
	for next := []string{id}; len(next) > 0; next = next[1:] {
		if related[next[0]] || next[0] == "" {
			continue
		}
		related[next[0]] = true
		for _, r := range s.Revisions(next[0]) {
			next = append(next, r.Old, r.New)
		}
	}
}
