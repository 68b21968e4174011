package mesh

import (
	"context"
	"slices"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// Listed is the answer to List.
type Listed struct {
	Hits    []record.Hit // without scores
	Next    string       // the After of the next page, "" if this is the last
	Damaged []record.Visibility
}

// List returns the memories that satisfy the request's conditions and were stored last, newest first. After is the
// id of the last one of the page before, "" for the first page. The request's query is ignored. Listing leaves no
// recall block, and counts as no access.
func (v *View) List(ctx context.Context, q SearchRequest, after string) (Listed, error) {
	hits, damaged, err := v.admitted(ctx, &q)
	if err != nil {
		return Listed{}, err
	}
	if after != "" {
		_, last, err := v.locate(ctx, after)
		if err != nil {
			return Listed{}, fault.New("after: no memory %q; use next of the page before", after)
		}
		end, _ := slices.BinarySearchFunc(hits, last, record.CompareStored)
		hits = hits[:end]
	}
	l := Listed{Hits: hits[max(0, len(hits)-q.Limit):], Damaged: damaged}
	slices.Reverse(l.Hits)
	markElsewhere(l.Hits, v.Project(ctx))
	if len(hits) > q.Limit {
		l.Next = l.Hits[len(l.Hits)-1].ID
	}
	return l, nil
}

// Around returns what was stored before and after the memory called id, of what satisfies the request's conditions, and
// that memory among them: the oldest first, up to the request's limit.
func (v *View) Around(ctx context.Context, q SearchRequest, id string) (Listed, error) {
	_, middle, err := v.locate(ctx, id)
	if err != nil {
		return Listed{}, fault.New("around: no memory %q; use an id from search results", id)
	}
	hits, damaged, err := v.admitted(ctx, &q)
	if err != nil {
		return Listed{}, err
	}
	at, found := slices.BinarySearchFunc(hits, middle, record.CompareStored)
	if !found {
		hits = slices.Insert(hits, at, middle)
	}
	from := max(0, min(at-q.Limit/2, len(hits)-q.Limit))
	hits = hits[from:min(len(hits), from+q.Limit)]
	markElsewhere(hits, v.Project(ctx))
	return Listed{Hits: hits, Damaged: damaged}, nil
}

// admitted returns the memories that satisfy the conditions of q, oldest first, and fills in q's defaults.
func (v *View) admitted(ctx context.Context, q *SearchRequest) ([]record.Hit, []record.Visibility, error) {
	conditions, accesses, err := v.conditions(q)
	if err != nil {
		return nil, nil, err
	}
	conditions.asked = nil
	stores, damaged, err := v.compartments(ctx)
	if err != nil {
		return nil, nil, err
	}
	filter := conditions.filter(accesses)
	hits := []record.Hit{}
	list, release := snapshots(stores)
	defer release()
	for _, s := range list {
		for doc, d := range s.Docs {
			current := !d.Past
			if !filter.AsOf.IsZero() {
				current = d.Record != nil && s.TrueAt(doc, filter.AsOf)
			}
			if d.Record != nil && current && filter.Admit(d.Record) {
				hits = append(hits, record.Hit{Record: d.Record, Visibility: s.Visibility})
			}
		}
	}
	slices.SortFunc(hits, record.CompareStored)
	return hits, damaged, nil
}
