package mesh

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/yamo-protocol/yamo-mcp/mesh/keyword"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/similar"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

// Recalled is a memory with the recall signals of a DM's searches.
type Recalled struct {
	record.Hit         // without a score and signals
	Hits       int     // questions that it was the clear answer to, each once a day, see store.ClearLead
	Days       int     // days, UTC, of these questions
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

// Recalled is every memory that was the clear answer to questions of the DM since a time and that is still there,
// oldest first; none that belongs to its session. A question counts once a day, however often it was asked, and for
// what has replaced its answer since if inherits reports so: the replacement may be of someone whose word counts less,
// and then the questions stay with what it replaced, which is a past memory. Nil is for always. Searches from before
// their scores were kept do not count, nor do those that found a memory which was deleted since, should one with its id
// be imported. In a group there are none.
//
// SECURITY: the signals are only those of the private ledger: what a group looks for promotes nothing.
func (v *View) Recalled(
	ctx context.Context, since time.Time, inherits func(old, replacement record.Hit) bool,
) ([]Recalled, error) {
	if !v.Audience.IsDM() {
		return nil, nil
	}
	stores, _, err := v.compartments(ctx)
	if err != nil {
		return nil, err
	}
	facts := newFacts(stores)
	defer facts.release()
	facts.inherits = inherits
	type signals struct {
		asked map[string]bool // question and day
		sum   float64
		days  map[string]bool
	}
	byID := map[string]*signals{}
	for _, q := range facts.list[0].Questions(since) { // of the audience's own compartment
		id, score := facts.answer(q)
		if id == "" {
			continue
		}
		s := byID[id]
		if s == nil {
			s = &signals{asked: map[string]bool{}, days: map[string]bool{}}
			byID[id] = s
		}
		day := q.At.Time.UTC().Format(time.DateOnly)
		question := day + " " + q.Words
		if q.Words == "" {
			question = strconv.FormatInt(q.At.Seq, 10)
		}
		if s.asked[question] {
			continue
		}
		s.asked[question], s.days[day] = true, true
		s.sum += score
	}
	var found []Recalled
	for id, s := range byID {
		if hit := find(facts.list, id); hit.Record != nil && !hit.IsEphemeral() {
			n := len(s.asked)
			found = append(found, Recalled{Hit: hit, Hits: n, Days: len(s.days), Mean: s.sum / float64(n)})
		}
	}
	slices.SortFunc(found, func(a, b Recalled) int { return record.CompareStored(a.Hit, b.Hit) })
	return found, nil
}

// Echoed are, for each of the texts, the groups that have a memory that may be where it is from (see
// [similar.Spoken.EchoedBy]), sorted: what was said there may have been written down again as the DM's own. In a group
// there are none.
func (v *View) Echoed(ctx context.Context, texts []string) ([][]string, error) {
	groups := make([][]string, len(texts))
	if !v.Audience.IsDM() || len(texts) == 0 {
		return groups, nil
	}
	stores, _, err := v.compartments(ctx)
	if err != nil {
		return nil, err
	}
	wanted := make([]similar.Spoken, len(texts))
	for i, text := range texts {
		wanted[i] = similar.Spoke(text)
	}
	for _, c := range stores {
		group := c.Visibility.Group()
		if group == "" {
			continue
		}
		s := c.Snapshot()
		var said []string
		for _, r := range s.Scan() {
			said = append(said, r.Content)
		}
		s.Release() // before comparing, which takes longer than a writer should wait
		for _, content := range said {
			said := similar.Spoke(content)
			for i, text := range wanted {
				if text.EchoedBy(said) && !slices.Contains(groups[i], group) {
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
