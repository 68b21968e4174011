package mesh

import (
	"errors"
	"math"
	"slices"
	"sync"

	"github.com/yamo-protocol/yamo-mcp/mesh/keyword"
	"github.com/yamo-protocol/yamo-mcp/mesh/lance"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/where"
)

// RFC0011 is the ranking of RFC-0011 §5.1: the 2N nearest vectors and the 2N best by BM25 over keyword.Terms, fused by
// their ranks with k = 60. The best has the score 1. Both lists are of memories that the filter admits.
const RFC0011 Ranking = "rfc0011"

// Rankings are the names of all rankings, the default first.
var Rankings = []Ranking{Context, RFC0011}

// fusionK is RFC-0011 §5.1's k.
const fusionK = 60

// plainIndex is the keyword index of RFC0011, made at the first search and kept in step with the compartment.
type plainIndex struct {
	mu      sync.Mutex
	bm25    *keyword.BM25
	records []*record.Record // that are in bm25, by document; nil once removed
}

// follow takes in what changed. c.mu and x.mu are held.
func (x *plainIndex) follow(c *compartment) {
	if x.bm25 == nil {
		x.bm25 = keyword.NewBM25()
	}
	for doc, r := range x.records {
		if r != nil && c.docs[doc].record == nil {
			x.bm25.Remove(doc, r.Content)
			x.records[doc] = nil
		}
	}
	for doc := len(x.records); doc < len(c.docs); doc++ {
		r, text := c.docs[doc].record, ""
		if r != nil {
			text = r.Content
		}
		x.bm25.Add(text)
		if r == nil {
			x.bm25.Remove(doc, "") // it was deleted before it was seen here
		}
		x.records = append(x.records, r)
	}
}

// fuse is top for RFC0011.
func (r *ranking) fuse(limit int, admit func(c *compartment, doc int) bool) []record.Hit {
	fused := map[place]float64{}
	signals := map[place][]record.Signal{}
	for name, list := range map[string][]leader{"vector_rank": r.nearest(2*limit, admit), "keyword_rank": r.matching(2*limit, admit)} {
		for rank, l := range list {
			at := place{l.part, l.doc}
			fused[at] += 1 / float64(fusionK+rank+1)
			signals[at] = append(signals[at], record.Signal{Name: name, Value: float64(rank + 1)})
		}
	}
	best := newLeaders(limit)
	for at, score := range fused {
		best.add(leader{float32(score), at.part, at.doc})
	}
	ranked := best.sorted()
	hits := make([]record.Hit, len(ranked))
	for i, l := range ranked {
		at, p := place{l.part, l.doc}, r.parts[l.part]
		if s := signals[at]; len(s) == 2 && s[0].Name > s[1].Name {
			s[0], s[1] = s[1], s[0]
		}
		hits[i] = record.Hit{Record: p.docs[l.doc].record, Visibility: p.visibility, Score: round2(l.score / ranked[0].score), Signals: signals[at]}
	}
	return hits
}

// nearest are the n nearest memories by their vectors: LanceDB's answer, or that of the vectors in memory where LanceDB
// does not have all of them yet or cannot be asked for what admit lets through.
func (r *ranking) nearest(n int, admit func(c *compartment, doc int) bool) []leader {
	if r.vector == nil {
		return nil
	}
	best := newLeaders(n)
	for i, p := range r.parts {
		if hits, ok := p.lanceNearest(r.vector, n, r.pushed); ok {
			for _, h := range hits {
				if doc, ok := p.byID[h.ID]; ok && admit(p.compartment, doc) {
					best.add(leader{float32(h.Similarity), i, doc})
				}
			}
			continue
		}
		for doc, cosine := range p.index.vectors.Cosines(r.vector, nil) {
			if doc < len(p.docs) && p.docs[doc].record != nil && !math.IsNaN(float64(cosine)) && admit(p.compartment, doc) {
				best.add(leader{cosine, i, doc})
			}
		}
	}
	return best.sorted()
}

// lanceNearest asks LanceDB, if its table is known to hold every memory of the compartment and a filter says which are
// wanted. Tables that cannot be read are no reason not to answer: every vector is in memory too.
func (p *part) lanceNearest(vector []float32, n int, f *lance.Filter) ([]lance.Hit, bool) {
	ix := p.index
	if f == nil || ix.tables == nil || ix.behind() {
		return nil, false
	}
	if rows, err := ix.tables.Count(ix.ctx); err != nil || rows != p.live {
		return nil, false
	}
	hits, err := ix.tables.Nearest(ix.ctx, vector, n, *f)
	if err != nil && !errors.Is(err, lance.ErrInvalid) { // what LanceDB cannot express is compared here
		ix.log.Warn("search the memory index", "error", err)
	}
	return hits, err == nil
}

// behind reports whether the tables may lack something or hold what was deleted, as far as this process knows.
func (ix *index) behind() bool {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	return ix.dirty
}

// pushable are the columns of whose conditions LanceDB and Expr.Match think alike. They do not of numbers: a row holds
// the float32 next to what was written.
var pushable = []string{"id", "session_id", "agent_id", "memory_type", "source_skill_id", "lesson_pattern_id", "created_at"}

// pushed is the request's filter as LanceDB can apply it before it searches, nil if it cannot: tags are no column. The
// request has passed admits.
func (q *SearchRequest) pushed() *lance.Filter {
	if len(q.Tags) > 0 {
		return nil
	}
	f := &lance.Filter{Type: q.Type, SessionID: q.SessionID, AgentID: q.AgentID, SkillID: q.Skill, MinImportance: q.MinImportance}
	if q.Since != "" {
		f.Since, _ = parseTime("since", q.Since)
	}
	if q.Until != "" {
		f.Until, _ = parseTime("until", q.Until)
	}
	if q.Filter != "" {
		expr, err := where.Parse(q.Filter)
		if err != nil || slices.ContainsFunc(expr.Columns(), func(c string) bool { return !slices.Contains(pushable, c) }) {
			return nil
		}
		f.Where = expr
	}
	return f
}

// matching are the n best memories by their words.
func (r *ranking) matching(n int, admit func(c *compartment, doc int) bool) []leader {
	terms := keyword.Terms(r.text)
	var stats keyword.BM25Statistics
	for _, p := range r.parts {
		p.plain.mu.Lock()
		defer p.plain.mu.Unlock()
		p.plain.follow(p.compartment)
		p.plain.bm25.Count(terms, &stats)
	}
	best := newLeaders(n)
	for i, p := range r.parts {
		for doc, score := range p.plain.bm25.Match(terms, stats) {
			if p.docs[doc].record != nil && admit(p.compartment, doc) {
				best.add(leader{float32(score), i, doc})
			}
		}
	}
	return best.sorted()
}
