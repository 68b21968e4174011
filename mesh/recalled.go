package mesh

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/block"
	"github.com/yamo-protocol/yamo-mcp/mesh/keyword"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/similar"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

// Recalled is a memory with the recall signals of a DM's searches.
type Recalled struct {
	record.Hit         // without a score and signals
	Hits       int     // questions that it was the clear answer to, each once a day, see clearLead
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

// clearLead is the maximum share of its score that the next best memory may have where a memory counts as recalled: a
// search that found two about as good shows which one was needed as little as one that found none.
const clearLead = .88

// asked is a search of the DM: what it found, and what it asked.
type asked struct {
	store.Recall
	at       record.Moment
	question string // the same for questions with the same words, "" if it is not known
}

// Recalled is every memory that was the clear answer to questions of the DM since a time and that is still there,
// oldest first. A question counts once a day, however often it was asked, and for what has replaced its answer since.
// Searches from before their scores were kept do not count, nor do those that found a memory which was deleted since,
// should one with its id be imported. In a group there are none.
//
// SECURITY: the signals are only those of the private ledger: what a group looks for promotes nothing.
func (v *View) Recalled(ctx context.Context, since time.Time) ([]Recalled, error) {
	if !v.Audience.IsDM() {
		return nil, nil
	}
	// The ledger is read for its searches while a new process restores the memories from their image.
	var recalls []asked
	var unread error
	var reading sync.WaitGroup
	reading.Go(func() { recalls, unread = v.recallsSince(ctx, since) })
	stores, _, err := v.compartments(ctx)
	reading.Wait()
	if err := cmp.Or(err, unread); err != nil {
		return nil, err
	}
	facts := newFacts(stores)
	defer facts.release()
	type signals struct {
		asked map[string]bool // question and day
		sum   float64
		days  map[string]bool
	}
	byID := map[string]*signals{}
	for _, r := range recalls {
		id, score := facts.answer(r)
		if id == "" {
			continue
		}
		s := byID[id]
		if s == nil {
			s = &signals{asked: map[string]bool{}, days: map[string]bool{}}
			byID[id] = s
		}
		day := r.at.Time.UTC().Format(time.DateOnly)
		question := day + " " + r.question
		if r.question == "" {
			question = strconv.FormatInt(r.at.Seq, 10)
		}
		if s.asked[question] {
			continue
		}
		s.asked[question], s.days[day] = true, true
		s.sum += score
	}
	var found []Recalled
	for id, s := range byID {
		if hit := find(facts.list, id); hit.Record != nil && hit.Past == nil {
			n := len(s.asked)
			found = append(found, Recalled{Hit: hit, Hits: n, Days: len(s.days), Mean: s.sum / float64(n)})
		}
	}
	slices.SortFunc(found, func(a, b Recalled) int { return record.CompareStored(a.Hit, b.Hit) })
	return found, nil
}

// recallsSince returns the searches in the DM's ledger since a time that found something, oldest first.
func (v *View) recallsSince(ctx context.Context, since time.Time) (recalls []asked, err error) {
	// A second reader of the same file, as in Activity.
	err = ledger.New(v.ledgerOptions(v.home())).Sync(ctx, func(e ledger.Entry) error {
		if e.Op != store.OpRecall || e.Erased || e.Time.Before(since) {
			return nil
		}
		r := asked{at: record.Moment{Time: e.Time, Compartment: v.home(), Seq: e.Seq}, question: questionIn(e.Block)}
		if err := store.Decode(e, &r.Recall); err != nil {
			return err
		}
		if len(r.Found) > 0 && len(r.Scores) == len(r.Found) {
			recalls = append(recalls, r)
		}
		return nil
	})
	return recalls, err
}

// questionIn returns what identifies the question of a recall block (RFC-0011 §3.3): the stems of its words in the
// order of the alphabet, so that "Luis's timezone?" and "timezone of Luis" are one. It is "" without a query.
func questionIn(text string) string {
	b, err := block.Parse(text)
	if err != nil {
		return ""
	}
	query, _ := block.Get(b.Context, "query")
	stems := slices.Sorted(maps.Keys(terms(query)))
	if len(stems) == 0 {
		return strings.ToLower(query)
	}
	return strings.Join(stems, " ")
}

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
	wanted := make([]similar.Aspects, len(texts))
	for i, text := range texts {
		wanted[i] = similar.Of(text)
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
			said := similar.Of(r.Content)
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
