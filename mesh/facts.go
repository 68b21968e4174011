package mesh

import (
	"context"
	"slices"

	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/similar"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

// facts compares memories by the facts that they tell. It holds read locks until release.
type facts struct {
	stores  []*compartment
	list    []*store.Snapshot
	release func()
	aspects map[string]similar.Aspects
	known   map[[2]string]string
}

func newFacts(stores []*compartment) *facts {
	for _, c := range stores {
		_ = c.Vectors.Refresh() // vectors of another model: words decide
	}
	list, release := snapshots(stores)
	return &facts{stores, list, release, map[string]similar.Aspects{}, map[[2]string]string{}}
}

// answer returns the memory that is the clear answer to a question, and its score: it bears on the question, and no
// other one that tells something else is about as good. "" is for none.
func (f *facts) answer(r asked) (id string, score float64) {
	// Not the first: a search that asks for an order finds in the order of time.
	for i, other := range r.Found {
		if r.Scores[i] > score {
			id, score = other, r.Scores[i]
		}
	}
	if score < minRelevance || f.gone(id, r.at) {
		return "", 0
	}
	for i, other := range r.Found {
		rivals := other != id && r.Scores[i] > clearLead*score && !f.gone(other, r.at)
		if rivals && f.relation(id, other) == "" {
			return "", 0
		}
	}
	return id, score
}

// gone reports whether the memory called id was deleted since a moment, or is past.
func (f *facts) gone(id string, at record.Moment) bool {
	if slices.ContainsFunc(f.list, func(s *store.Snapshot) bool { return s.ErasedSince(id, at) }) {
		return true
	}
	hit := find(f.list, id)
	return hit.Record == nil || hit.Past != nil
}

// relation returns what the memories called a and b have to do with each other, see [similar.Aspects.Fact].
func (f *facts) relation(a, b string) string {
	key := [2]string{a, b}
	if relation, ok := f.known[key]; ok {
		return relation
	}
	cosine, _ := f.cosine(a, b)
	relation := ""
	of, other := f.of(a), f.of(b)
	if of != nil && other != nil {
		relation = of.Fact(*other, cosine)
	}
	f.known[key], f.known[[2]string{b, a}] = relation, relation
	return relation
}

// of returns the aspects of a memory's text, nil if there is no such memory.
func (f *facts) of(id string) *similar.Aspects {
	if known, ok := f.aspects[id]; ok {
		return &known
	}
	hit := find(f.list, id)
	if hit.Record == nil {
		return nil
	}
	aspects := similar.Of(hit.Content)
	f.aspects[id] = aspects
	return &aspects
}

// cosine returns that of two memories' vectors, false if one of them has none.
func (f *facts) cosine(a, b string) (cosine float64, ok bool) {
	x, y := f.vector(a), f.vector(b)
	if x == nil || len(x) != len(y) {
		return 0, false
	}
	return dot(x, y), true
}

func (f *facts) vector(id string) []float32 {
	for i, s := range f.list {
		if doc, ok := s.Doc(id); ok {
			return f.stores[i].Vectors.Vector(doc)
		}
	}
	return nil
}

// Fact is a pair of memories about one fact.
type Fact struct {
	A, B     string // ids
	Relation string // similar.Restates or similar.Changes
}

// SameFacts returns the pairs of the memories called ids that tell the same fact, or another state of it. Each pair is
// returned once; ids of no memory that the audience may see are left out.
func (v *View) SameFacts(ctx context.Context, ids []string) ([]Fact, error) {
	stores, _, err := v.compartments(ctx)
	if err != nil {
		return nil, err
	}
	f := newFacts(stores)
	defer f.release()
	var pairs []Fact
	for i, a := range ids {
		for _, b := range ids[i+1:] {
			if relation := f.relation(a, b); a != b && relation != "" {
				pairs = append(pairs, Fact{a, b, relation})
			}
		}
	}
	return pairs, nil
}
