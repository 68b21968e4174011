package mesh

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/progress"
	"github.com/yamo-protocol/yamo-mcp/internal/text"
	"github.com/yamo-protocol/yamo-mcp/mesh/lance"
	"github.com/yamo-protocol/yamo-mcp/mesh/rank"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

// minRelevance is the score from which on a memory bears on a topic. Beside one that does so fully, what has less
// than a quarter of its score is likely noise.
const minRelevance, minShare = .2, .25

// gathering is the memories that something is derived from.
type gathering struct {
	view    *View
	topic   string       // redacted
	sources []record.Hit // oldest first
	key     string       // names kind, topic and sources
}

// gather finds the sources: the memories most relevant to a topic, or else the most recent. kind, the operation, is
// part of the key, because the same memories may be both reflected on and made a skill. It writes nothing, not even a
// recall block, so it can be repeated.
func (v *View) gather(ctx context.Context, kind, topic string, lookback, standard int) (*gathering, error) {
	topic, err := v.checkTopic(topic)
	if err != nil {
		return nil, err
	}
	lookback = cmp.Or(lookback, standard)
	if lookback < 1 || lookback > MaxLimit {
		return nil, fault.New("lookback: use a number of memories from 1 to %d", MaxLimit)
	}
	progress.Report(ctx, 0, 3, "looking for memories")
	stores, _, err := v.compartments(ctx)
	if err != nil {
		return nil, err
	}
	if kind == store.OpSynthesize { // SECURITY: see Synthesize
		stores = slices.DeleteFunc(stores, func(c *compartment) bool { return v.foreign(c.Visibility) })
	}
	g := &gathering{view: v, topic: topic}
	if topic == "" {
		g.sources = recent(stores, lookback)
	} else if g.sources, err = v.bearing(ctx, stores, topic, lookback); err != nil {
		return nil, err
	}
	switch {
	case len(g.sources) == 0 && topic == "":
		return nil, fault.New("no memories yet; store some first")
	case len(g.sources) == 0:
		return nil, fault.New("topic: no memory is relevant to it; choose another topic, " +
			"or omit it to use recent memories")
	}
	slices.SortFunc(g.sources, record.CompareStored)
	g.key = g.name(kind)
	return g, nil
}

// source reports whether a memory can be drawn on. A reflection cannot: a conclusion would become evidence for itself.
func source(r *record.Record) bool { return r.Type != "reflection" }

// recent are the n newest memories.
func recent(stores []*compartment, n int) []record.Hit {
	var hits []record.Hit
	list, release := snapshots(stores)
	defer release()
	for _, s := range list {
		for r := range s.Memories() {
			if source(r) {
				hits = append(hits, s.Hit(r))
			}
		}
	}
	slices.SortFunc(hits, func(a, b record.Hit) int { return record.CompareStored(b, a) })
	return hits[:min(n, len(hits))]
}

// bearing returns up to n memories that a search for topic finds relevant.
func (v *View) bearing(ctx context.Context, stores []*compartment, topic string, n int) ([]record.Hit, error) {
	var found Found
	meaning, err := v.embedQuery(ctx, stores, topic, &found)
	if err != nil {
		return nil, err
	}
	candidates := v.candidates(v.sources(stores), topic, meaning)
	defer candidates.Release()
	hits := candidates.Top(n, rank.Filter{Admit: source, Lance: &lance.Filter{}})
	return relevant(hits), nil
}

// relevant returns the hits, which are best first, that are about what was asked.
func relevant(hits []record.Hit) []record.Hit {
	if len(hits) == 0 {
		return nil
	}
	least := max(minRelevance, minShare*hits[0].Score)
	return slices.DeleteFunc(hits, func(h record.Hit) bool { return h.Score < least })
}

// name is the key of a gathering.
func (g *gathering) name(kind string) string {
	parts := []string{kind, strings.ToLower(g.topic)}
	for _, s := range g.sources {
		parts = append(parts, s.ID)
	}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:])[:16]
}

func (g *gathering) origins() []record.Source {
	list := make([]record.Source, len(g.sources))
	for i, s := range g.sources {
		list[i] = record.Source{ID: s.ID, Origin: s.Visibility}
	}
	return list
}

// label names a source and, if another group said it, that group: a DM's reader sees which words are a group's.
func (g *gathering) label(s record.Hit) string {
	text := s.ID + ", " + s.CreatedAt.Format("2006-01-02")
	if group := s.Visibility.Group(); group != "" && g.view.foreign(s.Visibility) {
		text += ", said in the group " + group
	}
	return text
}

// heritage is what the sources descend from and were stored for, and what they were drawn into.
func (g *gathering) heritage(intent string, depth int) record.Heritage {
	h := record.Heritage{IntentChain: []string{}, Hypotheses: []string{}, Rationales: []string{}}
	add := func(list *[]string, said string, s record.Hit) {
		if said == "" {
			return
		}
		if group := s.Visibility.Group(); group != "" && g.view.foreign(s.Visibility) {
			said = "(said in the group " + group + ") " + said
		}
		if said = text.Shorten(said, record.MaxField-1); !slices.Contains(*list, said) {
			*list = append(*list, said)
		}
	}
	for _, s := range g.sources {
		if s.Heritage != nil {
			for _, text := range s.Heritage.IntentChain {
				add(&h.IntentChain, text, s)
			}
			for _, text := range s.Heritage.Hypotheses {
				add(&h.Hypotheses, text, s)
			}
			for _, text := range s.Heritage.Rationales {
				add(&h.Rationales, text, s)
			}
		}
		add(&h.Hypotheses, s.Hypothesis, s)
		add(&h.Rationales, s.Rationale, s)
	}
	ids := make([]string, len(g.sources))
	for i, s := range g.sources {
		ids[i] = s.ID
	}
	h.IntentChain = append(h.IntentChain, intent)
	h.Rationales = append(h.Rationales, text.Shorten("Drawn from "+strings.Join(ids, ", "), record.MaxField-1))
	for _, list := range []*[]string{&h.IntentChain, &h.Hypotheses, &h.Rationales} {
		*list = (*list)[max(0, len(*list)-depth):]
	}
	return h
}
