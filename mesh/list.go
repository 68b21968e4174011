package mesh

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/intake"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
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
	var before *record.Hit
	if after != "" {
		_, last, err := v.locate(ctx, after)
		if err != nil {
			return Listed{}, fault.New("after: no memory %q; use next of the page before", after)
		}
		before = &last
	}
	// Of 100,000 memories a page needs 50, so that the others are neither kept nor sorted.
	found := []record.Hit{}
	newest := func() {
		slices.SortFunc(found, func(a, b record.Hit) int { return record.CompareStored(b, a) })
		found = found[:min(len(found), q.Limit+1)]
	}
	var oldest *record.Hit // of a full page and one more
	damaged, err := v.admitted(ctx, &q, func(hit record.Hit) {
		switch {
		case before != nil && record.CompareStored(hit, *before) >= 0:
		case oldest != nil && record.CompareStored(hit, *oldest) <= 0:
		default:
			if found = append(found, owned(hit)); len(found) >= 4*(q.Limit+1) {
				newest()
				last := found[len(found)-1]
				oldest = &last
			}
		}
	})
	if err != nil {
		return Listed{}, err
	}
	newest()
	l := Listed{Hits: found[:min(len(found), q.Limit)], Damaged: damaged}
	markElsewhere(l.Hits, v.Project(ctx))
	if len(found) > q.Limit {
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
	var hits []record.Hit
	damaged, err := v.admitted(ctx, &q, func(hit record.Hit) { hits = append(hits, owned(hit)) })
	if err != nil {
		return Listed{}, err
	}
	slices.SortFunc(hits, record.CompareStored)
	at, found := slices.BinarySearchFunc(hits, middle, record.CompareStored)
	if !found {
		hits = slices.Insert(hits, at, middle)
	}
	from := max(0, min(at-q.Limit/2, len(hits)-q.Limit))
	hits = hits[from:min(len(hits), from+q.Limit)]
	markElsewhere(hits, v.Project(ctx))
	return Listed{Hits: hits, Damaged: damaged}, nil
}

// admitted fills in q's defaults and then calls visit for the memories that satisfy its conditions, each compartment's
// in the reverse order of its ledger. It returns the compartments whose ledgers are damaged. The record of a hit is
// visit's for the time of the call only, see owned.
func (v *View) admitted(
	ctx context.Context, q *SearchRequest, visit func(record.Hit),
) ([]record.Visibility, error) {
	conditions, accesses, err := v.conditions(ctx, q)
	if err != nil {
		return nil, err
	}
	conditions.asked = nil
	stores, damaged, err := v.compartments(ctx)
	if err != nil {
		return nil, err
	}
	conditions.all = q.All
	filter := conditions.filter(accesses)
	words := strings.Fields(strings.ToLower(q.Text))
	list, release := snapshots(stores)
	defer release()
	r := new(record.Record)
	for _, s := range list {
		if q.In != "" && s.Visibility != q.In {
			continue
		}
		for doc, d := range slices.Backward(s.Docs) {
			current := !d.Past || q.All
			if !filter.AsOf.IsZero() {
				current = s.TrueAt(doc, filter.AsOf)
			}
			if !current || !s.Read(doc, r) || !filter.Admit(r) || !hasWords(r, words) {
				continue
			}
			hit := record.Hit{Record: r, Visibility: s.Visibility, Standing: d.Standing}
			if d.Past || len(s.Replaced(r.ID)) > 0 { // few are: a hit of each would take longer than the rest
				hit = s.Hit(r)
			}
			visit(hit)
		}
	}
	return damaged, nil
}

// owned returns hit with a record of its own.
func owned(hit record.Hit) record.Hit {
	r := *hit.Record
	hit.Record = &r
	return hit
}

// hasWords reports whether all words, which are in lower case, are in what a person sees of a memory.
func hasWords(r *record.Record, words []string) bool {
	if len(words) == 0 {
		return true
	}
	text := strings.ToLower(r.Content + "\n" + r.Source + "\n" + strings.Join(r.Tags, "\n"))
	return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) })
}

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

// Named is a memory or a skill by its id.
type Named struct {
	ID         string
	Text       string // the memory's content, or the skill's name
	Visibility record.Visibility
	Stored     record.Moment
}

// Named returns the memories and skills that short may mean, of those that the audience may see, newest first: the one
// with this id, or else those whose id, or its part after the last underscore, begins with it. "" means all.
func (v *View) Named(ctx context.Context, short string) ([]Named, error) {
	stores, _, err := v.compartments(ctx)
	if err != nil {
		return nil, err
	}
	list, release := snapshots(stores)
	defer release()
	found := []Named{}
	exact := -1
	add := func(n Named) {
		end := n.ID[strings.LastIndexByte(n.ID, '_')+1:]
		if strings.HasPrefix(n.ID, short) || strings.HasPrefix(end, short) {
			if n.ID == short {
				exact = len(found)
			}
			found = append(found, n)
		}
	}
	for _, s := range list {
		for _, r := range s.Scan() {
			add(Named{r.ID, r.Content, s.Visibility, record.Moment{Time: r.CreatedAt, Compartment: s.Visibility, Seq: r.Seq}})
		}
		for _, state := range s.Skills.All() {
			k := state.Skill
			add(Named{k.ID, k.Name, s.Visibility, record.Moment{Time: k.CreatedAt, Compartment: s.Visibility, Seq: k.Seq}})
		}
	}
	if exact >= 0 {
		return found[exact : exact+1], nil
	}
	slices.SortFunc(found, func(a, b Named) int { return b.Stored.Compare(a.Stored) })
	return found, nil
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
