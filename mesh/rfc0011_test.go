package mesh

import (
	"context"
	"fmt"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh/lance"
	"github.com/yamo-protocol/yamo-mcp/mesh/rank"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// openPlain opens a memory with the RFC's own ranking.
func openPlain(t *testing.T, dir string) *View {
	t.Helper()
	v := Open(Options{
		Dir: filepath.Join(dir, ".yamo"), Audience: audience.DM(), AgentID: "tester", Embedder: new(words),
		Logger: testLog(t), Ranking: rank.RFC0011,
	})
	t.Cleanup(func() { _ = v.Close(context.Background()) })
	return v
}

func TestRFC0011Fusion(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := openPlain(t, dir)
	both := keep(t, v, record.Memory{Content: "green tea"})
	for i := range 9 {
		keep(t, v, record.Memory{Content: fmt.Sprintf("paint number%d dries", i), Type: "event"})
	}
	found := search(t, v, SearchRequest{Query: "green tea", Limit: 3})
	if len(found.Hits) != 3 || found.Hits[0].ID != both.ID {
		t.Fatalf("got %q", contents(found.Hits))
	}
	wantSignals := []record.Signal{{Name: "keyword_rank", Value: 1}, {Name: "vector_rank", Value: 1}}
	if diff := cmp.Diff(wantSignals, found.Hits[0].Signals); diff != "" || found.Hits[0].Score != 1 {
		t.Errorf("score %v, signals (-want +got):\n%s", found.Hits[0].Score, diff)
	}
	// Second in one list only: 1/62, the first has 2/61.
	second := found.Hits[1]
	if diff := cmp.Diff([]record.Signal{{Name: "vector_rank", Value: 2}}, second.Signals); diff != "" {
		t.Errorf("second: signals (-want +got):\n%s", diff)
	}
	if second.Score != .49 {
		t.Errorf("second: score %v, want .49", second.Score)
	}
	events := search(t, v, SearchRequest{Query: "green tea", Type: "event"})
	if len(events.Hits) != 9 || events.Hits[0].Type != "event" {
		t.Errorf("filtered: %q", contents(events.Hits))
	}

	// The same from LanceDB and from memory, and after another process took one away.
	if err := v.Maintenance().Rebuild(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	flushed := search(t, v, SearchRequest{Query: "green tea", Limit: 3})
	if diff := cmp.Diff(contents(found.Hits), contents(flushed.Hits)); diff != "" {
		t.Errorf("after the flush (-before +after):\n%s", diff)
	}
	other := openPlain(t, dir)
	if err := other.Delete(t.Context(), both.ID, ""); err != nil {
		t.Fatal(err)
	}
	for _, h := range search(t, v, SearchRequest{Query: "green tea"}).Hits {
		if h.ID == both.ID || len(h.Signals) != 1 {
			t.Errorf("after the deletion: %q, %v", h.Content, h.Signals)
		}
	}
}

// LanceDB's answer under a filter is the one that the vectors in memory give, whatever the filter contains.
func TestRFC0011AsksLanceDB(t *testing.T) {
	t.Parallel()
	v := openPlain(t, t.TempDir())
	sessions := []string{"plain", "it's", "x' OR 'a' = 'a", "a -- comment", `\'`, "1) OR (1=1", "漢字"}
	for i, s := range sessions {
		for j := range 3 {
			keep(t, v, record.Memory{
				Content:   fmt.Sprintf("green tea number%d cup%d", i, j),
				SessionID: s, Skill: "skill " + s, Type: []string{"event", "global"}[j%2],
			})
		}
	}
	settle(t, v)
	c := v.stores[record.Private]
	if err := c.index.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	requests := []SearchRequest{
		{},
		{Type: "event"},
		{Since: "2000-01-01", Until: "2900-01-01"},
		{Filter: "memory_type != 'event' AND NOT session_id = 'it''s'"},
		{SessionID: "nul\x00' OR 'a' = 'a"},
		{Filter: "importance_score IS NULL"},
		{Tags: []string{"none"}},
	}
	for _, s := range sessions {
		quoted := "'" + strings.ReplaceAll(s, "'", "''") + "'"
		requests = append(requests, SearchRequest{SessionID: s}, SearchRequest{Skill: "skill " + s, Type: "event"},
			SearchRequest{Filter: "session_id IN (" + quoted + ")"})
	}
	asked := 0
	for _, q := range requests {
		q.Query, q.Limit = "green tea", 5
		conditions, err := q.conditions(v.local)
		if err != nil {
			t.Fatalf("%+v: %v", q, err)
		}
		f := conditions.filter(nil)
		if f.Lance == nil {
			continue
		}
		hits, ok := c.index.Nearest(wordVector(q.Query), 2*q.Limit, c.count(), *f.Lance)
		if !ok {
			continue
		}
		asked++
		want := nearestInMemory(c, q.Query, 2*q.Limit, f.Admit)
		if diff := cmp.Diff(want, hits, cmpopts.EquateApprox(0, 1e-5), sortHits); diff != "" {
			t.Errorf("%+v (-memory +LanceDB):\n%s", q, diff)
		}
	}
	if want := len(requests) - 4; asked != want { // a year, a NUL, a number and tags are not LanceDB's
		t.Errorf("LanceDB answered %d of %d searches, want %d", asked, len(requests), want)
	}
	keep(t, v, record.Memory{Content: "green tea, the newest", SessionID: "plain"})
	if _, ok := c.index.Nearest(wordVector("green tea"), 10, c.count(), lance.Filter{}); ok {
		t.Error("LanceDB is asked though it lacks the newest memory")
	}
}

var sortHits = cmpopts.SortSlices(func(a, b lance.Hit) bool { return a.ID < b.ID })

// nearestInMemory are the n nearest memories by the vectors in memory, of equals the one stored first.
func nearestInMemory(c *compartment, query string, n int, admit func(*record.Record) bool) (hits []lance.Hit) {
	s := c.Snapshot()
	defer s.Release()
	for doc, cosine := range c.Vectors.Cosines(wordVector(query), nil) {
		if r := s.Record(doc); r != nil && admit(r) {
			hits = append(hits, lance.Hit{ID: r.ID, Similarity: float64(cosine)})
		}
	}
	sort.SliceStable(hits, func(i, j int) bool { return hits[i].Similarity > hits[j].Similarity })
	return hits[:min(n, len(hits))]
}
