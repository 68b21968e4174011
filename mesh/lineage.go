package mesh

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/intake"
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

// MaxHeritageDepth is how many levels of a heritage are kept, unless Options.HeritageDepth is set (RFC-0011
// §4.2 maxHeritageDepth).
const MaxHeritageDepth = 5

// InsertHeritage sets the heritage of the memory called id, replacing an earlier one, and returns what was kept:
// redacted, and of each list the last Options.HeritageDepth levels, those nearest to the memory (RFC-0011 §4.1
// insertHeritage). It is durable when InsertHeritage returns, and is deleted with the memory.
func (v *View) InsertHeritage(ctx context.Context, id string, h record.Heritage) (record.Heritage, error) {
	clean := intake.New(v.scrubber)
	kept := clean.Heritage(h, v.heritageDepth())
	if len(kept.IntentChain)+len(kept.Hypotheses)+len(kept.Rationales) == 0 {
		clean.Fail(fault.New("heritage: it is empty; give intentChain, hypotheses or rationales"))
	}
	if clean.Err() != nil {
		return record.Heritage{}, clean.Err()
	}
	c, _, err := v.locate(ctx, id)
	if err != nil {
		return record.Heritage{}, err
	}
	// SECURITY: what is said here must not flow into a compartment that others read.
	if c.Visibility != v.home() {
		return record.Heritage{}, fault.New("id: %s belongs to the %s memory; heritage is kept with your own memories only",
			id, c.Visibility)
	}
	err = v.write(ctx, c.Visibility, func(s *store.Snapshot, _ time.Time) ([]ledger.Draft, error) {
		if s.Find(id) == nil {
			return nil, noMemory(id)
		}
		return []ledger.Draft{{Op: store.OpHeritage, ID: id, Data: kept}}, nil
	})
	if err != nil {
		return record.Heritage{}, err
	}
	return kept, nil
}

// heritageDepth returns the number of levels to keep.
func (v *View) heritageDepth() int { return cmp.Or(v.HeritageDepth, MaxHeritageDepth) }
