package mesh

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh/foreign"
	"github.com/yamo-protocol/yamo-mcp/mesh/lance/lancetest"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

func otherStore(t *testing.T, rows []lancetest.Row) (dir string, requests []record.Foreign) {
	t.Helper()
	dir = t.TempDir()
	if err := lancetest.WriteV1(t.Context(), dir, rows); err != nil {
		t.Fatal(err)
	}
	requests, err := foreign.Memories(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir, requests
}

func TestImportKeepsWhatIsValid(t *testing.T) {
	rows := lancetest.Rows(4)
	rows[0].Metadata = `{"type":"note","source":"s","tags":["a",7,"b"],"rationale":"r","hypothesis":"h","skill_name":"k","session_id":"x","importance":0.5,"own":{"deep":1}}`
	rows[1].ID, rows[1].CreatedAt = "not an id; at all", time.Time{}
	rows[2].Content, rows[2].Metadata = "Write to jon@example.org.", `{"__proto__":{}}`
	rows[3].Content, rows[3].Metadata = "password: hunter2-Correct9", `[1]`
	_, requests := otherStore(t, rows)
	home := t.TempDir()
	v := open(t, home, audience.DM(), new(words))
	before, err := v.Import(t.Context(), requests, true)
	if err != nil {
		t.Fatal(err)
	}
	if files := tree(t, home); len(files) > 1 {
		t.Errorf("a dry run made %q", files)
	}
	outcomes, err := v.Import(t.Context(), requests, false)
	if err != nil {
		t.Fatal(err)
	}
	byRow := map[string]Outcome{}
	for i, q := range requests {
		byRow[q.ID] = outcomes[i]
		if before[i].Created != outcomes[i].Created || (before[i].Err == nil) != (outcomes[i].Err == nil) {
			t.Errorf("the dry run said %+v, then came %+v", before[i], outcomes[i])
		}
	}
	hit, err := v.Get(t.Context(), rows[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	want := &record.Record{
		ID:        rows[0].ID,
		Memory:    record.Memory{Content: rows[0].Content, Type: "global", Source: "s", Tags: []string{"a", "b"}, Importance: new(float32(.5)), SessionID: "x", Skill: "k", Rationale: "r", Hypothesis: "h", Metadata: map[string]any{"own": map[string]any{"deep": 1.}, "original_type": "note"}},
		AgentID:   "tester",
		CreatedAt: rows[0].CreatedAt,
		Imported:  true,
	}
	if diff := cmp.Diff(want, hit.Record, cmpopts.IgnoreFields(record.Record{}, "Seq")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if o := byRow[rows[1].ID]; o.ID == rows[1].ID || !strings.HasPrefix(o.ID, "mem_") || o.CreatedAt.IsZero() || len(o.Notes) != 2 {
		t.Errorf("without id and time: %+v", o)
	}
	if o := byRow[rows[2].ID]; !o.Created || len(o.Redactions) != 1 || len(o.Notes) != 1 {
		t.Errorf("with a forbidden key and an address: %+v", o)
	}
	wantFault(t, byRow[rows[3].ID].Err, "nothing but a secret")
	if text := onDisk(t, v.Dir, "jon@example.org"); len(text) > 0 {
		t.Errorf("an address is in %q", text)
	}
}

func TestImportLessonsAndHeritage(t *testing.T) {
	rows := lancetest.Rows(2)
	rows[0].CreatedAt = time.Now().AddDate(0, 0, -1).UTC().Truncate(time.Millisecond)
	rows[1].CreatedAt = rows[0].CreatedAt.Add(time.Hour)
	rows[0].Content = "[LESSON:abc] no plan | Rule: have one"
	rows[0].Metadata = `{"type":"lesson","tags":["#lesson_learned"],"lesson_id":"lesson_1700000000000_abcdef","lesson_pattern_id":"0123456789abcdef",` +
		`"severity":"high","oversight":"no plan","preventative_rule":"have a plan","rule_confidence":0.8,"applicable_scope":"migrations","yamo_wire_format":"x"}`
	rows[1].Metadata = `{"type":"lesson","preventative_rule":"too little"}`
	_, requests := otherStore(t, rows)
	requests[1].Heritage = &record.Heritage{IntentChain: []string{"first", "then"}}
	v := open(t, t.TempDir(), audience.DM(), new(words))
	for range 2 {
		if _, err := v.Import(t.Context(), requests, false); err != nil {
			t.Fatal(err)
		}
	}
	hits, err := v.All(t.Context(), 0)
	if err != nil || len(hits) != 2 {
		t.Fatalf("%d memories, %v", len(hits), err)
	}
	if l := hits[0].Lesson; l == nil || l.PatternID != "0123456789abcdef" || l.LessonID != "lesson_1700000000000_abcdef" || !strings.Contains(l.WireFormat, "have a plan") {
		t.Errorf("lesson: %+v", l)
	}
	if hits[1].Lesson != nil || hits[1].Type != "lesson" {
		t.Errorf("an incomplete lesson: %+v", hits[1].Record)
	}
	if diff := cmp.Diff(requests[1].Heritage.IntentChain, hits[1].Heritage.IntentChain); diff != "" {
		t.Errorf("heritage (-want +got):\n%s", diff)
	}
	found, err := v.Lessons(t.Context(), LessonQuery{})
	if err != nil || len(found.Lessons) != 1 {
		t.Errorf("active lessons: %+v, %v", found, err)
	}
}

// What this program writes to LanceDB, it can import.
func TestImportOwnTables(t *testing.T) {
	dir := t.TempDir()
	v := open(t, dir, audience.DM(), new(words))
	kept := keep(t, v, record.Memory{Content: "The tea is in the cupboard.", Type: "event", Tags: []string{"tea"}, Importance: new(float32(.9)), SessionID: "s"})
	lesson, err := v.Distill(t.Context(), sampleLesson())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.InsertHeritage(t.Context(), kept.ID, record.Heritage{IntentChain: []string{"why"}}); err != nil {
		t.Fatal(err)
	}
	settle(t, v)
	tables, err := filepath.Glob(filepath.Join(dir, ".yamo", "private", "lance", "g*"))
	if err != nil || len(tables) != 1 {
		t.Fatalf("%q, %v", tables, err)
	}
	requests, err := foreign.Memories(t.Context(), tables[0])
	if err != nil {
		t.Fatal(err)
	}
	other := open(t, t.TempDir(), audience.DM(), new(words))
	if _, err := other.Import(t.Context(), requests, false); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{kept.ID, lesson.MemoryID} {
		want, err := v.Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		want.Imported = true
		got, err := other.Get(t.Context(), id)
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(record.Record{}, "Seq")); diff != "" || err != nil {
			t.Errorf("%v (-kept +imported):\n%s", err, diff)
		}
	}
}

// The 10,000 rows of a V1 database are imported once, however often it is interrupted.
// What an audience exported is there already, in whichever compartment; an id that another compartment has is taken.
func TestImportWhatOtherCompartmentsHave(t *testing.T) {
	v := open(t, t.TempDir(), audience.DM(), new(words))
	for _, visibility := range []record.Visibility{record.Private, record.Shared} {
		if _, err := v.Store(t.Context(), record.Memory{Content: "The tide table hangs in the " + string(visibility) + " hall."}, visibility); err != nil {
			t.Fatal(err)
		}
	}
	before, err := v.All(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	var requests []record.Foreign
	for _, hit := range before {
		requests = append(requests, record.Foreign{Record: record.Record{ID: hit.ID, CreatedAt: hit.CreatedAt, Memory: record.Memory{Content: hit.Content}}})
	}
	i := slices.IndexFunc(before, func(h record.Hit) bool { return h.Visibility == record.Shared })
	requests = append(requests, record.Foreign{Record: record.Record{ID: before[i].ID, Memory: record.Memory{Content: "Something else altogether."}}})
	outcomes, err := v.Import(t.Context(), requests, false)
	if err != nil {
		t.Fatal(err)
	}
	for i, hit := range before {
		if o := outcomes[i]; o.Err != nil || o.Created || o.ID != hit.ID || o.Visibility != hit.Visibility {
			t.Errorf("of %s in %s came %+v", hit.ID, hit.Visibility, o)
		}
	}
	if o := outcomes[len(before)]; o.Err != nil || !o.Created || o.ID == before[i].ID {
		t.Errorf("of another text with a shared memory's id came %+v", o)
	}
	if after, err := v.All(t.Context(), 0); err != nil || len(after) != len(before)+1 {
		t.Errorf("%d memories, %v", len(after), err)
	}
}

func TestImportManyGoesOn(t *testing.T) {
	rows := lancetest.Rows(10_000)
	dir, requests := otherStore(t, rows)
	e := new(words)
	e.delay = time.Hour // nothing is embedded here
	v := open(t, t.TempDir(), audience.DM(), e)
	if _, err := v.Import(t.Context(), requests[:4_000], false); err != nil {
		t.Fatal(err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := v.Import(cancelled, requests, false); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	outcomes, err := v.Import(t.Context(), requests, false)
	if err != nil {
		t.Fatal(err)
	}
	created := 0
	for _, o := range outcomes {
		if o.Created {
			created++
		}
	}
	hits, err := v.All(t.Context(), 0)
	if err != nil || created != 6_000 || len(hits) != len(rows) {
		t.Fatalf("%d more, %d in all, %v", created, len(hits), err)
	}
	for i, row := range rows {
		if h := hits[i]; h.ID != row.ID || !h.CreatedAt.Equal(row.CreatedAt) || h.Content != row.Content || h.Metadata["n"] != float64(i) {
			t.Fatalf("row %d: %+v", i, h.Record)
		}
	}
	if last, err := v.All(t.Context(), 3); err != nil || len(last) != 3 || last[2].ID != rows[len(rows)-1].ID {
		t.Errorf("the newest three: %+v, %v", last, err)
	}
	// The source is as it was, and can be migrated where it is.
	if changed, n, err := foreign.Migrate(t.Context(), dir, time.Now()); !changed || n != len(rows) || err != nil {
		t.Errorf("migrated: %v, %d, %v", changed, n, err)
	}
	if changed, n, err := foreign.Migrate(t.Context(), dir, time.Now()); changed || n != len(rows) || err != nil {
		t.Errorf("migrated again: %v, %d, %v", changed, n, err)
	}
	again, err := foreign.Memories(t.Context(), dir)
	if diff := cmp.Diff(requests, again); diff != "" || err != nil {
		t.Errorf("after the migration: %v (-V1 +V2):\n%.2000s", err, diff)
	}
	if _, err := foreign.Memories(t.Context(), t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty folder: %v", err)
	}
}
