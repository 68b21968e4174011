package mesh

import (
	"cmp"
	"context"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

// MaxHeritageDepth is how many levels of a heritage are kept, unless Options.HeritageDepth is set (RFC-0011
// §4.2 maxHeritageDepth).
const MaxHeritageDepth = 5

// InsertHeritage sets the heritage of the memory called id, replacing an earlier one, and returns what was kept:
// redacted, and of each list the last Options.HeritageDepth levels, those nearest to the memory (RFC-0011 §4.1
// insertHeritage). It is durable when InsertHeritage returns, and is deleted with the memory.
func (v *View) InsertHeritage(ctx context.Context, id string, h record.Heritage) (record.Heritage, error) {
	clean := &scrubbing{scrubber: v.scrubber}
	kept := clean.heritage(h, v.heritageDepth())
	if len(kept.IntentChain)+len(kept.Hypotheses)+len(kept.Rationales) == 0 {
		clean.fail(fault.New("heritage: it is empty; give intentChain, hypotheses or rationales"))
	}
	if clean.err != nil {
		return record.Heritage{}, clean.err
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
