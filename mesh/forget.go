package mesh

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/confidence"
	"github.com/yamo-protocol/yamo-mcp/mesh/keyword"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

// Subject is what a person wants forgotten: a name, or a few words.
type Subject struct{ keyword.Subject }

// ParseSubject returns a subject. One without a word that means something is a fault: it would match everything.
func ParseSubject(text string) (Subject, error) {
	s, ok := keyword.ParseSubject(text)
	if !ok {
		return Subject{}, fault.New("give a name or a few words, at least one of which is not a word such as \"the\"")
	}
	return Subject{s}, nil
}

// Mentions is what the memory has about a subject, of all kinds and also what is not current, oldest first.
type Mentions struct {
	Memories []record.Hit      // that mention it in any field: memories, lessons and reflections
	Skills   []record.SkillHit // likewise
	Related  []record.Hit      // that do not mention it, and are likely about it by their meaning
	Queries  int               // logged queries that mention it, or may

	// Of a subject such as Rose, what may have only the word: "prices rose". It is not erased.
	Doubtful       []record.Hit
	DoubtfulSkills []record.SkillHit
}

// copyCosine is the minimum cosine of a near copy of a memory.
const copyCosine = .9

// Mentions finds what the audience may erase about a subject.
func (v *View) Mentions(ctx context.Context, subject Subject) (m Mentions, err error) {
	similar, err := v.Search(ctx, SearchRequest{
		Query: subject.Text, Limit: MaxLimit, MinConfidence: confidence.Likely, Unrecorded: true,
	})
	if err != nil {
		return m, err
	}
	stores, err := v.erasable(ctx)
	if err != nil {
		return m, err
	}
	related := similar.Hits
	for _, c := range stores {
		found := v.mentions(c, subject)
		m.Memories, m.Skills, related = append(m.Memories, found.Memories...), append(m.Skills, found.Skills...),
			append(related, found.Related...)
		m.Doubtful = append(m.Doubtful, found.Doubtful...)
		m.DoubtfulSkills = append(m.DoubtfulSkills, found.DoubtfulSkills...)
		queries, err := v.queries(ctx, c.Visibility, subject)
		if err != nil {
			return m, err
		}
		m.Queries += len(queries)
	}
	seen := map[string]bool{}
	for _, hit := range slices.Concat(m.Memories, m.Doubtful) {
		seen[hit.ID] = true
	}
	for _, hit := range related {
		if hit.Type != record.FileType && !seen[hit.ID] {
			seen[hit.ID] = true
			m.Related = append(m.Related, hit)
		}
	}
	slices.SortFunc(m.Memories, record.CompareStored)
	slices.SortFunc(m.Related, record.CompareStored)
	slices.SortFunc(m.Doubtful, record.CompareStored)
	slices.SortFunc(m.Skills, compareNames)
	slices.SortFunc(m.DoubtfulSkills, compareNames)
	return m, nil
}

// erasable returns the compartments that the audience may erase from.
//
// SECURITY: a group's own only; a DM erases all that it sees.
func (v *View) erasable(ctx context.Context) ([]*compartment, error) {
	stores, _, err := v.compartments(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(stores, func(c *compartment) bool { return v.checkErasable(c.Visibility, "") != nil }), nil
}

// mentions returns what of a compartment mentions a subject, with what quotes that, and near copies of it as related.
func (v *View) mentions(c *compartment, subject Subject) (m Mentions) {
	vectors := c.Vectors.Refresh() == nil
	s := c.Snapshot()
	defer s.Release()
	gone := map[string]bool{}
	for doc, r := range s.Scan() {
		in := func(mentions func(string) bool) bool {
			return mentions(searchable(r)) || slices.ContainsFunc(s.Sightings(r.ID), func(seen *record.Record) bool {
				return mentions(searchable(seen))
			})
		}
		switch {
		case !in(subject.In):
		case in(subject.Surely):
			gone[r.ID] = true
			m.Memories = append(m.Memories, s.Hit(s.Record(doc)))
		default:
			m.Doubtful = append(m.Doubtful, s.Hit(s.Record(doc)))
		}
	}
	// What quotes them word for word.
	for doc, r := range s.Scan() {
		if x := r.Reflection; x != nil && !gone[r.ID] && x.Method == record.ByExtract && quotes(x.Sources, gone) {
			gone[r.ID] = true
			m.Memories = append(m.Memories, s.Hit(s.Record(doc)))
		}
	}
	m.Doubtful = slices.DeleteFunc(m.Doubtful, func(h record.Hit) bool { return gone[h.ID] })
	quoting := map[string]bool{}
	for made := range s.Syntheses() {
		quoting[made.SkillID] = quoting[made.SkillID] || made.Method == record.ByExtract && quotes(made.Sources, gone)
	}
	for _, state := range s.Skills.All() {
		lines := append([]string{state.Name, state.Intent, state.Description, state.Source, state.Text}, state.Tags...)
		switch text := strings.Join(lines, "\n"); {
		case quoting[state.ID], subject.Surely(text):
			m.Skills = append(m.Skills, skillHit(s, s, state))
		case subject.In(text):
			m.DoubtfulSkills = append(m.DoubtfulSkills, skillHit(s, s, state))
		}
	}
	if vectors {
		m.Related = nearCopies(c, s, m.Memories, gone)
	}
	return m
}

// nearCopies returns the memories that say nearly the same as one of hits and are not among gone.
func nearCopies(c *compartment, s *store.Snapshot, hits []record.Hit, gone map[string]bool) (near []record.Hit) {
	for _, hit := range hits {
		doc, ok := s.Doc(hit.ID)
		vector := c.Vectors.Vector(doc)
		if !ok || vector == nil {
			continue
		}
		for other, x := range c.Vectors.Cosines(vector, nil) {
			if other < len(s.Docs) && x >= copyCosine && !s.Docs[other].Deleted && !gone[s.ID(other)] {
				near = append(near, s.Hit(s.Record(other)))
			}
		}
	}
	return near
}

// quotes reports whether one of the sources is among ids.
func quotes(sources []record.Source, ids map[string]bool) bool {
	return slices.ContainsFunc(sources, func(s record.Source) bool { return ids[s.ID] })
}

// searchable is every text of a record, in lines.
func searchable(r *record.Record) string {
	lines := append([]string{
		r.Content, r.Source, r.Rationale, r.Hypothesis, r.SessionID, r.Skill, record.ProjectName(r.Project),
		strings.Join(r.Tags, "\n"),
	}, stringsOf(r.Metadata)...)
	if l := r.Lesson; l != nil {
		lines = append(lines, l.Situation, l.ErrorPattern, l.Oversight, l.Fix, l.PreventativeRule, l.ApplicableScope,
			l.InverseLesson)
	}
	if r.Reflection != nil {
		lines = append(lines, r.Reflection.Topic)
	}
	if h := r.Heritage; h != nil {
		lines = append(lines, slices.Concat(h.IntentChain, h.Hypotheses, h.Rationales)...)
	}
	return strings.Join(lines, "\n")
}

// stringsOf returns the strings in a value of JSON, with the keys.
func stringsOf(v any) (list []string) {
	switch v := v.(type) {
	case string:
		list = append(list, v)
	case []any:
		for _, x := range v {
			list = append(list, stringsOf(x)...)
		}
	case map[string]any:
		for key, x := range v {
			list = append(append(list, key), stringsOf(x)...)
		}
	}
	return list
}

// queries returns the names of the logged queries in a compartment's ledger that mention a subject.
func (v *View) queries(ctx context.Context, name record.Visibility, subject Subject) (names []string, err error) {
	// A second reader of the same file, as in Activity.
	err = ledger.New(v.ledgerOptions(name)).Sync(ctx, func(e ledger.Entry) error {
		if e.Op == store.OpRecall && subject.In(e.Block) {
			names = append(names, e.Name())
		}
		return nil
	})
	if err != nil && !errors.Is(err, ledger.ErrNoKey) {
		return nil, err
	}
	return names, nil
}

// forgotten is the reason that deletions by Forget are recorded with. It must not name the subject.
const forgotten = "forgotten on request"

// Forget erases the memories and skills of listed, which Mentions has returned for the subject and a person has seen,
// and the logged queries that mention it, from the ledgers, the vectors and the index. It returns what was erased. With
// an error the rest is still there; calling again erases it. What was stored since is not erased.
func (v *View) Forget(ctx context.Context, subject Subject, listed Mentions) (done Mentions, err error) {
	seen := map[string]bool{}
	for _, hit := range listed.Memories {
		seen[hit.ID] = true
	}
	for _, skill := range listed.Skills {
		seen[skill.ID] = true
	}
	stores, err := v.erasable(ctx)
	if err != nil {
		return done, err
	}
	for _, c := range stores {
		found := v.mentions(c, subject)
		hits := slices.DeleteFunc(found.Memories, func(h record.Hit) bool { return !seen[h.ID] })
		skills := slices.DeleteFunc(found.Skills, func(h record.SkillHit) bool { return !seen[h.ID] })
		for _, hit := range hits {
			if err := v.relink(ctx, c.Visibility, hit.ID); err != nil {
				return done, err
			}
		}
		queries, err := v.queries(ctx, c.Visibility, subject)
		if err != nil {
			return done, err
		}
		err = v.erase(ctx, c.Visibility, func(s *store.Snapshot, now time.Time) ([]ledger.Draft, error) {
			return v.deletions(s, hits, queries, forgotten, now), nil
		})
		if err != nil {
			return done, err
		}
		done.Memories, done.Queries = append(done.Memories, hits...), done.Queries+len(queries)
		for _, skill := range skills {
			if err := v.Skills().delete(ctx, skill.ID, forgotten); err != nil {
				return done, err
			}
			done.Skills = append(done.Skills, skill)
		}
	}
	return done, nil
}

// deletions drafts the deletions of memories and logged queries.
func (v *View) deletions(
	s *store.Snapshot, hits []record.Hit, queries []string, reason string, now time.Time,
) []ledger.Draft {
	var drafts []ledger.Draft
	revisions := map[string]bool{}
	for _, hit := range hits {
		if s.Find(hit.ID) == nil {
			continue // deleted meanwhile
		}
		drafts = append(drafts, v.deletion(hit.ID, reason, digestOf(hit.Record), now))
		for _, id := range s.RevisionIDs(hit.ID) {
			revisions[id] = true
		}
	}
	for id := range revisions {
		drafts = append(drafts, ledger.Draft{Op: ledger.OpDelete, ID: id, Data: deleted{AgentID: v.AgentID}})
	}
	for _, name := range queries {
		drafts = append(drafts, ledger.Draft{Op: ledger.OpDelete, ID: name, Data: deleted{AgentID: v.AgentID}})
	}
	return drafts
}
