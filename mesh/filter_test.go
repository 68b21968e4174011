package mesh

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh/rank"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

func TestMoreFilters(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	high, low := float32(.9), float32(.2)
	v := open(t, dir, audience.DM(), new(words))
	keep(t, v, record.Memory{Content: "tea one", Type: "event", Importance: &high, Skill: "brewing"})
	keep(t, v, record.Memory{Content: "tea two", Importance: &low, SessionID: "it's"})
	keep(t, v, record.Memory{Content: "tea three"})
	for name, test := range map[string]struct {
		request SearchRequest
		want    []string
	}{
		"agent":           {SearchRequest{AgentID: v.AgentID}, []string{"tea one", "tea two", "tea three"}},
		"another agent":   {SearchRequest{AgentID: "nobody"}, nil},
		"skill":           {SearchRequest{Skill: "brewing"}, []string{"tea one"}},
		"importance":      {SearchRequest{MinImportance: &low}, []string{"tea one", "tea two"}},
		"more importance": {SearchRequest{MinImportance: &high, Type: "event"}, []string{"tea one"}},
		"expression": {
			SearchRequest{Filter: "session_id = 'it''s' OR source_skill_id = 'brewing'"},
			[]string{"tea one", "tea two"},
		},
		"as written": {SearchRequest{Filter: "importance_score = 0.9"}, []string{"tea one"}},
		"null": {
			SearchRequest{Filter: "importance_score IS NULL AND lesson_pattern_id IS NULL"},
			[]string{"tea three"},
		},
		"both": {SearchRequest{Filter: "memory_type = 'global'", MinImportance: &low}, []string{"tea two"}},
		"time": {SearchRequest{Filter: "created_at < '1999-01-01'"}, nil},
	} {
		test.request.Query = "tea"
		got := contents(search(t, v, test.request).Hits)
		if diff := cmp.Diff(test.want, got, cmpopts.SortSlices(func(a, b string) bool { return a < b }),
			cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	wrong := float32(2)
	_, err := v.Search(t.Context(), SearchRequest{Query: "tea", MinImportance: &wrong})
	wantFault(t, err, "min_importance:")
	_, err = v.Search(t.Context(), SearchRequest{Query: "tea", Filter: "id = 'a' OR true"})
	wantFault(t, err, "filter: at character 13: ")
}

func TestColumnsOfALesson(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r := record.Record{
		ID: "mem_1", AgentID: "a", Memory: record.Memory{Type: "lesson"},
		Lesson: &record.Lesson{PatternID: "p"}, CreatedAt: at,
	}
	var got []any
	for _, column := range []string{"id", "agent_id", "memory_type", "lesson_pattern_id", "created_at", "session_id"} {
		got = append(got, r.Column(column))
	}
	if want := []any{"mem_1", "a", "lesson", "p", at, nil}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Each audience filters by what its own searches found.
func TestFilterByAccess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, order := range []rank.Ranking{rank.Context, rank.RFC0011} {
		v := open(t, dir, audience.DM(), new(words))
		topic := string(order) + "tea"
		keep(t, v, record.Memory{Content: topic + " green"}, record.Shared)
		keep(t, v, record.Memory{Content: topic + " black"})
		club := open(t, dir, group(t, "club"), new(words))
		v.Ranking, club.Ranking = order, order
		keep(t, club, record.Memory{Content: "something, so that the group has a ledger"})
		filtered := func(v *View, filter string) []string {
			got := contents(search(t, v, SearchRequest{Query: topic, Filter: filter}).Hits)
			slices.Sort(got)
			return slices.DeleteFunc(got, func(s string) bool { return !strings.HasPrefix(s, topic) })
		}
		if got := filtered(v, "access_count >= 1"); len(got) != 0 {
			t.Errorf("%s: found before any search: %q", order, got)
		}
		search(t, v, SearchRequest{Query: topic + " green", Limit: 1})
		for range 2 { // an answer that a search outdates does not come from the cache
			if got := filtered(v, "access_count >= 1"); !slices.Equal(got, []string{topic + " green"}) {
				t.Errorf("%s: found before: %q", order, got)
			}
		}
		if got := filtered(v, "access_count > 2 AND memory_type = 'global'"); !slices.Equal(got, []string{topic + " green"}) {
			t.Errorf("%s: found three times: %q", order, got)
		}
		if got := filtered(v, "access_count IS NULL"); !slices.Equal(got, []string{topic + " black"}) {
			t.Errorf("%s: never found: %q", order, got)
		}
		both := []string{topic + " black", topic + " green"}
		if got := filtered(v, "last_accessed >= '2020-01-01'"); !slices.Equal(got, both) {
			t.Errorf("%s: found by now: %q", order, got)
		}
		process := open(t, dir, audience.DM(), new(words)) // which has read nothing yet
		process.Ranking = order
		if got := filtered(process, "access_count >= 1"); !slices.Equal(got, both) {
			t.Errorf("%s: found by now, in a new process: %q", order, got)
		}
		for _, filter := range []string{"Access_Count >= 1", "last_accessed IS NOT NULL"} {
			if got := filtered(club, filter); len(got) != 0 {
				t.Errorf("%s, %s: a group is told what a DM looked for: %q", order, filter, got)
			}
		}
	}
}

// updated_at is the time of the last change of a memory's fields, else that of the memory, in every process.
func TestFilterByUpdate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v, clock := clocked(t, dir, audience.DM())
	keep(t, v, record.Memory{Content: "tea with milk"})
	keep(t, v, record.Memory{Content: "tea with lemon"})
	clock.advance(48 * time.Hour)
	keep(t, v, record.Memory{Content: "tea with lemon", Tags: []string{"new"}})
	filter := "updated_at BETWEEN '" + clock.now().Add(-time.Hour).Format(time.RFC3339) + "' AND '2100-01-01'"
	for _, process := range []*View{v, open(t, dir, audience.DM(), new(words))} {
		got := contents(search(t, process, SearchRequest{Query: "tea", Filter: filter}).Hits)
		if diff := cmp.Diff([]string{"tea with lemon"}, got); diff != "" {
			t.Errorf("updated lately (-want +got):\n%s", diff)
		}
	}
}

// What a search names is compared as it was stored, and noted as it may be kept.
func TestFiltersAreRedacted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := open(t, dir, audience.DM(), new(words))
	const person = "anna@acme-mail.com"
	keep(t, v, record.Memory{Content: "tea with lemon", SessionID: person, Skill: "ask " + person, Tags: []string{person}})
	for name, q := range map[string]SearchRequest{
		"session": {SessionID: person}, "skill": {Skill: "ask  " + person}, "tag": {Tags: []string{person}},
	} {
		q.Query = "tea"
		if got := contents(search(t, v, q).Hits); len(got) != 1 {
			t.Errorf("by %s: %q", name, got)
		}
	}
	search(t, v, SearchRequest{Query: "tea", Filter: "agent_id = '" + person + "'"})
	ledger, err := os.ReadFile(filepath.Join(dir, ".yamo", "private", "ledger.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(ledger), person) || !strings.Contains(string(ledger), "agent_id = '[REDACTED:email]'") {
		t.Errorf("the ledger notes\n%s", ledger)
	}
}
