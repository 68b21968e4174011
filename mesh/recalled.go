package mesh

import (
	"context"
	"slices"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/keyword"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

// Recalled is a memory with the recall signals of a DM's searches.
type Recalled struct {
	record.Hit         // without a score and signals
	Hits       int     // searches of which it was one of the best answers, see countedHits
	Days       int     // days, UTC, of these searches
	Mean       float64 // the mean of its scores in them, 0..1
}

// Groups are the groups whose words the memory is, or was derived from, sorted; none for what a DM said.
func (r Recalled) Groups() []string {
	names := []string{}
	add := func(v record.Visibility) {
		if g := v.Group(); g != "" && !slices.Contains(names, g) {
			names = append(names, g)
		}
	}
	add(r.Visibility)
	if r.Reflection != nil {
		for _, source := range r.Reflection.Sources {
			add(source.Origin)
		}
	}
	slices.Sort(names)
	return names
}

// What counts as recalled by a search: the rest fills up its limit, so that every question to a small memory would
// recall all of it.
const countedHits = 3 // the best of its memories, if they bear on it: see minRelevance

// Recalled is every memory that the DM's searches since a time recalled and that is still there, oldest first.
// Searches from before their scores were kept do not count, nor do those that found a memory which was deleted since,
// should one with its id be imported. In a group there are none.
//
// SECURITY: the signals are only those of the private ledger: what a group looks for promotes nothing.
func (v *View) Recalled(ctx context.Context, since time.Time) ([]Recalled, error) {
	if !v.Audience.IsDM() {
		return nil, nil
	}
	stores, _, err := v.compartments(ctx)
	if err != nil {
		return nil, err
	}
	type signals struct {
		hits int
		sum  float64
		days map[string]bool
	}
	type recall struct {
		store.Recall
		at record.Moment
	}
	var recalls []recall
	// A second reader of the same file, as in Activity.
	err = ledger.New(v.ledgerOptions(v.home())).Sync(ctx, func(e ledger.Entry) error {
		if e.Op != store.OpRecall || e.Erased || e.Time.Before(since) {
			return nil
		}
		r := recall{at: record.Moment{Time: e.Time, Compartment: v.home(), Seq: e.Seq}}
		if err := store.Decode(e, &r.Recall); err != nil {
			return err
		}
		if len(r.Scores) == len(r.Found) {
			recalls = append(recalls, r)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	list, release := snapshots(stores)
	defer release()
	byID := map[string]*signals{}
	for _, r := range recalls {
		for i, id := range r.Found[:min(len(r.Found), countedHits)] {
			erased := slices.ContainsFunc(list, func(s *store.Snapshot) bool { return s.ErasedSince(id, r.at) })
			if r.Scores[i] < minRelevance || erased {
				continue
			}
			s := byID[id]
			if s == nil {
				s = &signals{days: map[string]bool{}}
				byID[id] = s
			}
			s.hits++
			s.sum += r.Scores[i]
			s.days[r.at.Time.UTC().Format(time.DateOnly)] = true
		}
	}
	var found []Recalled
	for id, s := range byID {
		if hit := find(list, id); hit.Record != nil && hit.Past == nil {
			found = append(found, Recalled{Hit: hit, Hits: s.hits, Days: len(s.days), Mean: s.sum / float64(s.hits)})
		}
	}
	slices.SortFunc(found, func(a, b Recalled) int { return record.CompareStored(a.Hit, b.Hit) })
	return found, nil
}

// echoShare is the minimum share of a text's words in a memory that repeats it.
const echoShare = .7

// Echoed are, for each of the texts, the groups that have a memory with nearly all of its words, sorted: what was
// said there may have been written down again as the DM's own. In a group there are none.
func (v *View) Echoed(ctx context.Context, texts []string) ([][]string, error) {
	groups := make([][]string, len(texts))
	if !v.Audience.IsDM() || len(texts) == 0 {
		return groups, nil
	}
	stores, _, err := v.compartments(ctx)
	if err != nil {
		return nil, err
	}
	wanted := make([]map[string]bool, len(texts))
	for i, text := range texts {
		wanted[i] = terms(text)
	}
	for _, c := range stores {
		group := c.Visibility.Group()
		if group == "" {
			continue
		}
		s := c.Snapshot()
		said := slices.Collect(s.Memories())
		s.Release() // before comparing, which takes longer than a writer should wait
		for _, r := range said {
			said := terms(r.Content)
			for i, words := range wanted {
				shared := common(words, said)
				echoes := shared > 0 && float64(shared) >= echoShare*float64(len(words))
				if echoes && !slices.Contains(groups[i], group) {
					groups[i] = append(groups[i], group)
				}
			}
		}
	}
	for _, names := range groups {
		slices.Sort(names)
	}
	return groups, nil
}

// terms returns the set of text's stems.
func terms(text string) map[string]bool {
	set := map[string]bool{}
	for _, term := range keyword.Stems(text) {
		set[term] = true
	}
	return set
}

// common returns the number of terms that both sets have.
func common(a, b map[string]bool) (n int) {
	for term := range a {
		if b[term] {
			n++
		}
	}
	return n
}

// recalled returns the data of a search's recall entry: the memories in found, each once.
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
				r.Scores = append(r.Scores, hit.Strength)
			}
		}
	}
	return r
}

// accessesOf returns how often the audience has found a memory of any compartment, from its own ledger.
func (v *View) accessesOf(id string) record.Accesses {
	c, err := v.open(v.home())
	if err != nil {
		return record.Accesses{}
	}
	s := c.Snapshot()
	defer s.Release()
	return s.Accesses(id)
}

// allAccesses returns how often the audience has found each memory, by id, from its own ledger.
func (v *View) allAccesses(ctx context.Context) (counts map[string]record.Accesses, err error) {
	err = v.withCompartment(ctx, v.home(), func(c *compartment) error {
		if err := c.Sync(ctx); err != nil {
			return err
		}
		s := c.Snapshot()
		defer s.Release()
		counts = s.AllAccesses()
		return nil
	})
	return counts, err
}

// accessesColumn is the value of access_count for a filter: null without any, as in the table.
func accessesColumn(a record.Accesses) any {
	if a.Count == 0 {
		return nil
	}
	return float64(a.Count)
}
