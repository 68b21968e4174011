package mesh

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/mesh/block"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/ledger"
)

// Limits of a search.
const (
	MaxLimit     = 50
	defaultLimit = 10
	maxQuery     = 4_000 // characters
	maxLessons   = 5
	// patience is how long a search waits for memories that have no vector yet.
	patience = 2 * time.Second
)

// SearchRequest is a question to the memory (RFC-0011 §4.2 SearchOptions, §4.3 RecallOptions).
type SearchRequest struct {
	Query          string
	Limit          int // 1..MaxLimit; 0 is 10
	Type           string
	Tags           []string // all of them
	SessionID      string
	Since, Until   string // RFC 3339 or YYYY-MM-DD; since is included, until is not
	IncludeLessons bool
}

// Hit is a memory that was found.
type Hit struct {
	*Record
	Visibility Visibility
	Score      float64 // 0..1, two decimals
	Signals    []Signal
}

// Signal is what one part of the ranking contributed to a score.
type Signal struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// Found is the answer to a search.
type Found struct {
	Hits    []Hit
	Lessons []Hit // best first; only if asked for
	Off     bool  // there is no embedding model: keywords alone
	Pending int   // memories that are found by keyword only, because they have no vector yet
}

// Search finds the memories that answer a query, best first, in every compartment the audience may
// read, and leaves a recall block in its own ledger.
func (v *View) Search(ctx context.Context, q SearchRequest) (Found, error) {
	filter, err := q.filter()
	if err != nil {
		return Found{}, err
	}
	query, _ := v.scrubber.Redact(strings.TrimSpace(q.Query))
	stores, err := v.compartments(ctx)
	if err != nil {
		return Found{}, err
	}
	var found Found
	vector, err := v.embedQuery(ctx, stores, query, &found)
	if err != nil {
		return Found{}, err
	}
	found.Hits = v.rank(stores, query, vector, q.Limit, filter)
	if q.IncludeLessons {
		found.Lessons = v.rank(stores, query, vector, maxLessons, isActiveLesson(stores))
	}
	return found, v.recall(ctx, query, q, found)
}

// filter checks the request and returns which memories it admits.
func (q *SearchRequest) filter() (func(*Record) bool, error) {
	switch n := len([]rune(q.Query)); {
	case strings.TrimSpace(q.Query) == "":
		return nil, fault.New("query: say what to look for, in words or as a question")
	case n > maxQuery:
		return nil, fault.New("query: %d characters are too many; use at most %d", n, maxQuery)
	}
	if q.Limit == 0 {
		q.Limit = defaultLimit
	}
	if q.Limit < 1 || q.Limit > MaxLimit {
		return nil, fault.New("limit: use a number from 1 to %d", MaxLimit)
	}
	if q.Type != "" && !slices.Contains(Types, q.Type) {
		return nil, fault.New("type: use one of %s", strings.Join(Types, ", "))
	}
	var since, until time.Time
	var err error
	if q.Since != "" {
		if since, err = parseTime("since", q.Since); err != nil {
			return nil, err
		}
	}
	if q.Until != "" {
		if until, err = parseTime("until", q.Until); err != nil {
			return nil, err
		}
	}
	if !until.IsZero() && !since.Before(until) {
		return nil, fault.New("until: it must be later than since")
	}
	return func(r *Record) bool {
		return (q.Type == "" || r.Type == q.Type) &&
			(q.SessionID == "" || r.SessionID == q.SessionID) &&
			!r.CreatedAt.Before(since) && (until.IsZero() || r.CreatedAt.Before(until)) &&
			!slices.ContainsFunc(q.Tags, func(t string) bool { return !r.HasTag(t) })
	}, nil
}

// isActiveLesson admits the best lesson of each pattern, if it is certain enough to be a constraint
// (RFC-0011, LessonLearned Integrity).
func isActiveLesson(stores []*compartment) func(*Record) bool {
	active := map[*Record]bool{}
	for _, c := range stores {
		for _, r := range c.lessons() {
			active[r] = r.Lesson.RuleConfidence >= DefaultConfidence
		}
	}
	return func(r *Record) bool { return active[r] }
}

// embedQuery returns the query's vector, nil if there is no model, after giving memories without a
// vector a moment to get theirs.
func (v *View) embedQuery(ctx context.Context, stores []*compartment, query string, found *Found) ([]float32, error) {
	vectors, err := v.Embedder.Embed(ctx, []string{query})
	if errors.Is(err, embed.ErrNoAssets) {
		found.Off = true
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	deadline := time.Now().Add(patience)
	for _, c := range stores {
		pending, err := c.index.ready(ctx, c, time.Until(deadline))
		if err != nil {
			return nil, err
		}
		found.Pending += pending
	}
	return vectors[0], nil
}

// recall leaves the search's block (RFC-0011 §3.3) in the audience's own ledger. Nobody is promised it,
// so it does not wait for the disk; an empty memory has nothing to recall and gets none.
func (v *View) recall(ctx context.Context, query string, q SearchRequest, found Found) error {
	c, err := v.open(v.own())
	if err != nil {
		return err
	}
	if c.count() == 0 && len(found.Hits) == 0 {
		return nil
	}
	return c.append(ctx, false, func(now time.Time) (ledger.Draft, bool, error) {
		b := block.Recall{Agent: v.AgentID, Query: query, Limit: q.Limit, Filter: q.describe(), Time: now, Results: len(found.Hits)}
		if len(found.Hits) > 0 {
			b.TopScore = found.Hits[0].Score
		}
		return ledger.Draft{Op: opRecall, Block: b.Block().String()}, true, nil
	})
}

// describe is the filter for the recall block.
func (q *SearchRequest) describe() string {
	var parts []string
	add := func(name, value string) {
		if value != "" {
			parts = append(parts, name+" = "+strconv.Quote(value))
		}
	}
	add("type", q.Type)
	add("session_id", q.SessionID)
	for _, tag := range q.Tags {
		add("tag", tag)
	}
	add("since", q.Since)
	add("until", q.Until)
	return strings.Join(parts, " AND ")
}

// round2 is RFC-0011 §5.2's rounding.
func round2(score float64) float64 { return math.Round(score*100) / 100 }
