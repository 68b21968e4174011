package mesh

import (
	"cmp"
	"context"
	"slices"
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

// heritage redacts a heritage and keeps the last depth of each list.
func (s *scrubbing) heritage(h record.Heritage, depth int) record.Heritage {
	return record.Heritage{
		IntentChain: s.levels("intentChain", h.IntentChain, depth),
		Hypotheses:  s.levels("hypotheses", h.Hypotheses, depth),
		Rationales:  s.levels("rationales", h.Rationales, depth),
	}
}

// levels redacts a list and keeps its last depth.
func (s *scrubbing) levels(name string, list []string, depth int) []string {
	kept := []string{}
	for _, text := range list[max(0, len(list)-depth):] {
		if text = s.field(name, text); text == "" {
			s.fail(fault.New("%s: a level is empty; leave it out", name))
		}
		kept = append(kept, text)
	}
	return kept
}

// SameText are the ids of the other memories that say word for word what the one called id says, and that the audience
// may see: of other sessions, types or compartments.
func (v *View) SameText(ctx context.Context, id string) ([]string, error) {
	stores, _, err := v.compartments(ctx)
	if err != nil {
		return nil, err
	}
	list, release := snapshots(stores)
	defer release()
	ids := []string{}
	r := find(list, id).Record
	if r == nil {
		return ids, nil
	}
	for _, s := range list {
		for other := range s.Memories() {
			if other.ID != id && other.Content == r.Content {
				ids = append(ids, other.ID)
			}
		}
	}
	return ids, nil
}

// DerivedFrom returns the ids of what was made from the memory called id and may repeat it: reflections and the cycle's
// lessons, oldest first in each compartment, then synthesized skills.
func (v *View) DerivedFrom(ctx context.Context, id string) ([]string, error) {
	stores, _, err := v.compartments(ctx)
	if err != nil {
		return nil, err
	}
	among := func(sources []record.Source) bool {
		return slices.ContainsFunc(sources, func(s record.Source) bool { return s.ID == id })
	}
	list, release := snapshots(stores)
	defer release()
	ids, skills := []string{}, []string{}
	for _, s := range list {
		for r := range s.Memories() {
			if r.Reflection != nil && among(r.Reflection.Sources) || r.Lesson != nil && slices.Contains(r.Lesson.Sources, id) {
				ids = append(ids, r.ID)
			}
		}
		// The ledger keeps what a skill said before its present text, too.
		for made := range s.Syntheses() {
			if among(made.Sources) {
				skills = append(skills, made.SkillID)
			}
		}
	}
	slices.Sort(skills)
	return append(ids, slices.Compact(skills)...), nil
}
