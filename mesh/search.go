package mesh

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/internal/when"
	"github.com/yamo-protocol/yamo-mcp/mesh/block"
	"github.com/yamo-protocol/yamo-mcp/mesh/cache"
	"github.com/yamo-protocol/yamo-mcp/mesh/confidence"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/intake"
	"github.com/yamo-protocol/yamo-mcp/mesh/keyword"
	"github.com/yamo-protocol/yamo-mcp/mesh/rank"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

// Limits of a search.
const (
	MaxLimit     = 50
	defaultLimit = 10
	maxQuery     = 4_000 // characters
	maxLessons   = 5
	maxStanding  = 3
	orderedFirst = 10 // hits that are put in the order of time before the others
	// patience is the maximum time a search waits for memories that have no vector yet.
	patience = 2 * time.Second
)

// SearchRequest is a question to the memory (RFC-0011 §4.2 SearchOptions, §4.3 RecallOptions).
type SearchRequest struct {
	Query         string
	Limit         int // 1..MaxLimit; 0 is 10
	Type          string
	Tags          []string // all of them
	SessionID     string
	AgentID       string   // who stored it
	Skill         string   // the owning skill
	Project       string   // its identity or short name
	Person        string   // whose name is in the text, the source or a tag
	InProject     string   // the session's project, by its identity, which ranks first; "": that of the context
	MinImportance *float32 // 0..1; a memory without an importance has less
	// Since and Until select memories that were stored, or tell of something that happened, from Since on and before
	// Until, in a form that package when reads: of a date or phrase the first moment counts.
	Since, Until   string
	AsOf           string // likewise: find what was current then, for a date or phrase at its end
	Filter         string // an expression of package where, RFC-0011 §9's --filter
	IncludeLessons bool
	// Unrecorded: the search leaves no recall block, because no person or model asked for it, and does not count as an
	// access.
	Unrecorded bool
	// MinConfidence is the minimum confidence of a result. "" is Unlikely: all.
	MinConfidence confidence.Level

	// These select what List and Around return, and are nothing to a search, which finds what answers its query.
	In   record.Visibility // in one compartment that the audience may read; "": all
	Text string            // with all of its words in the content, the source or a tag, in any letter case
	All  bool              // also what is past, bound to another session, or below the minimum confidence
}

// Found is the answer to a search.
type Found struct {
	Hits    []record.Hit
	Lessons []record.Hit // best first; only if asked for, and those of at least MinConfidence and Possible
	// Standing is instructions and preferences that hold until they are revised and that the query brings up, up to
	// maxStanding. They may be among the hits as well.
	Standing []record.Hit
	// Ordered: the query asks for an order, and the first ten hits are in the order of time, as are those after them.
	Ordered bool
	// More is the number of memories about as close to a broad question, such as for a summary, as the hits are.
	More int
	// Asked is the time that the query names, "" for none: "Tuesday 17 November 2026". Memories of that time are
	// preferred.
	Asked string
	// Off: no embedding model is installed on this machine, so only keywords decided, and will until `yamo-mcp setup` was
	// run.
	Off bool
	// Pending is how many memories were found by keyword only, because they have no vector yet, or all of
	// them, because the embedder failed for the query (Degraded).
	Pending int
	// Degraded: the embedder failed, as a remote one may; only keywords decided this time.
	Degraded bool
	// Damaged lists compartments of whose ledger only the part before a damaged line was searched.
	Damaged []record.Visibility
}

// Confidence is how likely it is that one of the hits answers the query.
func (f Found) Confidence() confidence.Level {
	best := 0.
	for _, h := range f.Hits {
		best = max(best, h.Probability)
	}
	return confidence.Of(best)
}

// Search finds the memories that answer a query (RFC-0011 §4.1 search), best first, in every compartment the audience
// may read, and writes a recall block (§3.3) to its own ledger. Invalid requests are faults. A missing or failing
// embedder is no error, see Found.
func (v *View) Search(ctx context.Context, q SearchRequest) (Found, error) {
	if utf8.ValidString(q.Query) && strings.TrimSpace(q.Query) == "" {
		return Found{}, fault.New("query: say what to look for, in words or as a question")
	}
	conditions, accesses, err := v.conditions(ctx, &q)
	if err != nil {
		return Found{}, err
	}
	if q.InProject == "" {
		q.InProject = v.Project(ctx)
	}
	if v.Ranking == rank.RFC0011 { // it knows no time
		conditions.asked, conditions.subject = nil, q.Query
	}
	query, _ := v.scrubber.Redact(strings.TrimSpace(q.Query))
	// The words of the time itself would find memories that have them, of any day.
	subject, _ := v.scrubber.Redact(strings.TrimSpace(conditions.subject))
	stores, damaged, err := v.compartments(ctx)
	if err != nil {
		return Found{}, err
	}
	found := Found{Damaged: damaged, Asked: when.Describe(conditions.asked)}
	meaning, err := v.embedQuery(ctx, stores, query, &found)
	if err != nil {
		return Found{}, err
	}
	among, pending, err := v.files.Join(ctx, v.sources(stores), meaning != nil, v.patience)
	if err != nil {
		return Found{}, err
	}
	found.Pending += pending
	if !anyIn(conditions.asked, among) {
		conditions.asked, subject = nil, query
	}
	filter := conditions.filter(accesses)
	var result cache.Result
	// An answer that lacks something is not kept, nor are lessons, which expire, nor one that depends on
	// what each search changes.
	if meaning == nil || found.Pending > 0 || damaged != nil || q.IncludeLessons || conditions.byAccess() {
		result, found.Lessons, err = v.rank(ctx, stores, among, subject, meaning, q, filter)
	} else {
		key := q
		key.Query = query + "\n" + found.Asked // redacted, and with the time that it names today
		result, err = v.answers.Find(among, key, v.Now, func() (cache.Result, error) {
			result, _, err := v.rank(ctx, stores, among, subject, meaning, q, filter)
			return result, err
		})
	}
	if err != nil {
		return Found{}, err
	}
	found.Hits, found.Standing, found.More = result.Hits, result.Standing, result.More
	if found.Ordered = v.Ranking == rank.Context && rank.Ordered(query); found.Ordered {
		first := min(orderedFirst, len(found.Hits))
		zone := v.zone()
		byTime := func(a, b record.Hit) int { return compareTimes(a, b, zone) }
		slices.SortFunc(found.Hits[:first], byTime)
		slices.SortFunc(found.Hits[first:], byTime)
	}
	found.Hits = v.resume(q, func(r *record.Record) bool {
		return len(conditions.asked) == 0 || conditions.asked.Holds(r)
	}, found.Hits)
	v.files.Mark(found.Hits)
	markElsewhere(found.Hits, q.InProject)
	if !q.Unrecorded {
		v.recall(ctx, query, q, found)
	}
	return found, nil
}

// conditions checks a request, fills in its defaults, and redacts it: what a memory was stored with was redacted,
// so what is compared with it is too; and all this is noted in the ledger. accesses returns how often the audience
// has found a memory.
func (v *View) conditions(
	ctx context.Context, q *SearchRequest,
) (c conditions, accesses func(id string) record.Accesses, err error) {
	s := intake.New(v.scrubber)
	q.SessionID, q.AgentID = s.Field("session_id", q.SessionID), s.Field("agent_id", q.AgentID)
	q.Skill = s.Field("skill_name", q.Skill)
	q.Tags = slices.Clone(q.Tags)
	for i, tag := range q.Tags {
		q.Tags[i] = s.Field("tags", tag)
	}
	q.Project = s.Field("project", strings.TrimSpace(q.Project))
	q.Person = s.Field("person", strings.TrimSpace(q.Person))
	if s.Err() != nil {
		return c, nil, s.Err()
	}
	if c, err = q.conditions(v.local); err != nil {
		return c, nil, err
	}
	c.inSession, c.certain = v.inSession(c), v.lessonMinConfidence()
	var counts map[string]record.Accesses
	if c.byAccess() {
		if counts, err = v.allAccesses(ctx); err != nil {
			return c, nil, err
		}
	}
	return c, func(id string) record.Accesses { return counts[id] }, nil
}

// rank returns the best memories that f admits and, if q asks for them, the best active lessons, both with their
// confidence.
func (v *View) rank(
	ctx context.Context, stores []*compartment, among []rank.Source, query string, meaning []float32, q SearchRequest,
	f rank.Filter,
) (result cache.Result, lessons []record.Hit, err error) {
	result, lessons = v.order(stores, among, query, meaning, q, f)
	if all := allOf(query, f); all != nil {
		result.Hits = v.assessTime(result.Hits, all, q.MinConfidence)
	} else if result.Hits, err = v.assessHits(ctx, rank.About(query), result.Hits, q.MinConfidence); err != nil {
		return cache.Result{}, nil, err
	}
	lessons, err = v.assessLessons(ctx, query, lessons, q.MinConfidence.Or(confidence.Possible))
	result.Hits = result.Hits[:min(q.Limit, len(result.Hits))]
	return result, lessons, err
}

// compareTimes orders hits by when what they tell happened, or else when they were stored, by the calendar of zone.
func compareTimes(a, b record.Hit, zone *time.Location) int {
	when := func(h record.Hit) string {
		if h.OccurredAt != "" {
			return h.OccurredAt[:min(len(time.DateOnly), len(h.OccurredAt))]
		}
		return h.CreatedAt.In(zone).Format(time.DateOnly)
	}
	return cmp.Or(strings.Compare(when(a), when(b)), record.CompareStored(a, b))
}

// order is rank before the results are assessed: at least as many as decide how confident the answer is.
func (v *View) order(
	stores []*compartment, among []rank.Source, query string, meaning []float32, q SearchRequest, f rank.Filter,
) (result cache.Result, lessons []record.Hit) {
	var active map[string]bool
	if q.IncludeLessons { // before the candidates: it takes snapshots, which may not nest
		active = v.activeIDs(stores)
		// An active lesson that the query has little to do with is left out; it is no ordinary result instead.
		if admit := f.Admit; q.Type == "" {
			f.Admit = func(r *record.Record) bool {
				return (r.Lesson == nil || !active[r.ID]) && (admit == nil || admit(r))
			}
		}
	}
	candidates := v.candidates(among, query, meaning)
	defer candidates.Release()
	limit := q.Limit
	f.Places = q.Limit
	if v.Ranking != rank.RFC0011 { // whose scores depend on how many results are asked for
		limit = max(limit, deciding)
	}
	result.Hits = candidates.Top(limit, f)
	result.More = candidates.More(q.Limit)
	if all := allOf(query, f); all != nil {
		result.Hits = timely(candidates, limit, f, all, result.Hits)
	} else if q.Type == "" {
		result.Standing = candidates.Standing(maxStanding, f)
	}
	if q.IncludeLessons {
		lessons = candidates.Top(maxLessons, rank.Filter{
			Admit: func(r *record.Record) bool { return r.Lesson != nil && active[r.ID] }, NoOrdinary: true,
			Project: q.InProject,
		})
	}
	return result, lessons
}

// candidates returns the memories of sources with their signals for a query. The caller releases them.
func (v *View) candidates(among []rank.Source, query string, meaning []float32) *rank.Candidates {
	return rank.New(v.Ranking, among, query, meaning)
}

// sources returns compartments in the form that the ranking reads.
func (v *View) sources(stores []*compartment) []rank.Source {
	list := make([]rank.Source, len(stores))
	for i, c := range stores {
		list[i] = rank.Source{Projection: c.Projection, Foreign: v.foreign(c.Visibility), Nearest: c.index.Nearest}
	}
	return list
}

// embedQuery returns the query's vector, nil if the embedder made none, after waiting up to patience for memories
// without a vector. It sets Off, Degraded and Pending. Only vectors of another model and the end of ctx are errors.
func (v *View) embedQuery(ctx context.Context, stores []*compartment, query string, found *Found) ([]float32, error) {
	meaning, off, err := v.queryVector(ctx, query)
	if err != nil {
		return nil, err
	}
	if meaning == nil {
		found.Off, found.Degraded = off, !off
		if found.Degraded {
			for _, c := range stores {
				found.Pending += c.count()
			}
		}
		return nil, nil
	}
	// One deadline for all compartments: a DM with many groups must not wait two seconds for each.
	deadline := time.Now().Add(v.patience)
	for _, c := range stores {
		wait := time.Until(deadline)
		// SECURITY: a DM does not wait for what groups have stored, or one of them could slow down every search. Their own
		// sessions embed it; until then its words are matched.
		if v.foreign(c.Visibility) {
			wait = 0
		}
		pending, err := c.index.Ready(ctx, wait)
		if err != nil {
			return nil, err
		}
		found.Pending += pending
	}
	return meaning, nil
}

// queryVector returns the query's vector, nil if it has none: off reports that no model is installed; otherwise the
// embedder failed, which is logged. Only the end of ctx is an error.
func (v *View) queryVector(ctx context.Context, query string) (meaning []float32, off bool, err error) {
	vectors, err := embed.Queries(ctx, v.Embedder, []string{query})
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, false, ctx.Err()
	case errors.Is(err, embed.ErrNoAssets):
		return nil, true, nil
	case err == nil && len(vectors) != 1:
		err = fmt.Errorf("%d vectors for one text", len(vectors))
	}
	v.noteEmbedder(err)
	if err != nil {
		return nil, false, nil
	}
	return vectors[0], false, nil
}

// noteEmbedder logs when the embedder begins to fail and when it works again, not for each query.
func (v *View) noteEmbedder(err error) {
	v.mu.Lock()
	before := v.failing
	v.failing = err != nil
	v.mu.Unlock()
	switch {
	case err != nil && !before:
		v.Logger.Error("embed a query; searching by keywords only", "error", err)
	case err == nil && before:
		v.Logger.Info("embedding works again")
	}
}

// recallWait is the maximum time a search waits for the ledger's lock to write its recall block.
const recallWait = time.Second

// recall writes the search's block (RFC-0011 §3.3) to the audience's own ledger. It is a statistic that no caller
// depends on, so it does not wait for an fsync, which takes longer than the search, and only logs a failure. A missing
// ledger is not created, so that a search leaves an unused workspace as it is, except for a group that has found
// something shared: the operator sees what groups have found.
func (v *View) recall(ctx context.Context, query string, q SearchRequest, found Found) {
	c, err := v.open(v.home())
	shared := func(hit record.Hit) bool { return !v.Audience.IsDM() && hit.Visibility == record.Shared }
	if err != nil || c.untouched() && !slices.ContainsFunc(found.Hits, shared) {
		return
	}
	filter, _ := v.scrubber.Redact(q.describe())
	ctx, cancel := context.WithTimeout(ctx, recallWait)
	defer cancel()
	err = c.AppendRelaxed(ctx, func(_ *store.Snapshot, now time.Time) ([]ledger.Draft, error) {
		b := block.Recall{Agent: v.AgentID, Query: query, Limit: q.Limit, Filter: filter, Time: now, Results: len(found.Hits)}
		if len(found.Hits) > 0 {
			b.TopScore = found.Hits[0].Score
		}
		return []ledger.Draft{{Op: store.OpRecall, Block: b.Block().String(), Data: v.recalled(found)}}, nil
	})
	if err != nil {
		v.Logger.Warn("note a search in the ledger", "error", err)
	}
}

// describe returns the request's conditions as the recall block's filter.
func (q *SearchRequest) describe() string {
	var parts []string
	add := func(name, value string) {
		if value != "" {
			parts = append(parts, name+" = "+strconv.Quote(value))
		}
	}
	add("type", q.Type)
	add("session_id", q.SessionID)
	add("agent_id", q.AgentID)
	add("skill_name", q.Skill)
	add("project", q.Project)
	add("person", q.Person)
	if q.MinImportance != nil {
		parts = append(parts, "importance_score >= "+strconv.FormatFloat(float64(*q.MinImportance), 'f', -1, 32))
	}
	for _, tag := range q.Tags {
		add("tag", tag)
	}
	add("since", q.Since)
	add("until", q.Until)
	add("as_of", q.AsOf)
	if q.Filter != "" {
		parts = append(parts, "("+q.Filter+")")
	}
	return strings.Join(parts, " AND ")
}

// resume puts what the last session saved, flushed and logged before the hits of a question about it, whose words match
// anything else as well. A search with filters stays as it is.
func (v *View) resume(q SearchRequest, asked func(*record.Record) bool, hits []record.Hit) []record.Hit {
	plain := q.Type == "" && len(q.Tags) == 0 && q.SessionID == "" && q.AgentID == "" && q.Skill == "" &&
		q.Project == "" && q.Person == "" && q.MinImportance == nil && q.Since == "" && q.Until == "" && q.AsOf == "" &&
		q.Filter == ""
	if !plain || !keyword.AsksLastSession(q.Query) {
		return hits
	}
	latest := v.files.Latest(q.Limit, asked)
	for i := range latest {
		latest[i].Score, latest[i].Probability = 1, byTime
	}
	for _, hit := range hits {
		if !slices.ContainsFunc(latest, func(l record.Hit) bool { return l.ID == hit.ID }) {
			latest = append(latest, hit)
		}
	}
	return latest[:min(len(latest), q.Limit)]
}
