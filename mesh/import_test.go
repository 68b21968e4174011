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
	t.Parallel()
	rows := lancetest.Rows(4)
	rows[0].Metadata = `{"type":"note","source":"s","tags":["a",7,"b"],"rationale":"r","hypothesis":"h",` +
		`"skill_name":"k","session_id":"x","importance":0.5,"own":{"deep":1}}`
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
		ID: rows[0].ID,
		Memory: record.Memory{
			Content: rows[0].Content, Type: "global", Source: "s", Tags: []string{"a", "b"},
			Importance: new(float32(.5)), SessionID: "x", Skill: "k", Rationale: "r", Hypothesis: "h",
			Metadata: map[string]any{"own": map[string]any{"deep": 1.}, "original_type": "note"},
		},
		AgentID:   "tester",
		CreatedAt: rows[0].CreatedAt,
		Imported:  true,
	}
	if diff := cmp.Diff(want, hit.Record, cmpopts.IgnoreFields(record.Record{}, "Seq")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	switch o := byRow[rows[1].ID]; {
	case o.ID == rows[1].ID:
		t.Errorf("o.ID = %v, must not be rows[1].ID", o.ID)
	case !strings.HasPrefix(o.ID, "mem_"):
		t.Errorf(`o.ID does not begin with "mem_": %s`, o.ID)
	case o.CreatedAt.IsZero():
		t.Error("o.CreatedAt.IsZero() is true")
	case len(o.Notes) != 2:
		t.Errorf("len(o.Notes) = %v, want 2", len(o.Notes))
	}
	switch o := byRow[rows[2].ID]; {
	case !o.Created:
		t.Error("o.Created is false")
	case len(o.Redactions) != 1:
		t.Errorf("len(o.Redactions) = %v, want 1", len(o.Redactions))
	case len(o.Notes) != 1:
		t.Errorf("len(o.Notes) = %v, want 1", len(o.Notes))
	}
	wantFault(t, byRow[rows[3].ID].Err, "this is only a secret")
	if text := onDisk(t, v.Dir, "jon@example.org"); len(text) > 0 {
		t.Errorf("an address is in %q", text)
	}
}

func TestImportLessonsAndHeritage(t *testing.T) {
	t.Parallel()
	rows := lancetest.Rows(2)
	rows[0].CreatedAt = time.Now().AddDate(0, 0, -1).UTC().Truncate(time.Millisecond)
	rows[1].CreatedAt = rows[0].CreatedAt.Add(time.Hour)
	rows[0].Content = "[LESSON:abc] no plan | Rule: have one"
	rows[0].Metadata = `{"type":"lesson","tags":["#lesson_learned"],` +
		`"lesson_id":"lesson_1700000000000_abcdef","lesson_pattern_id":"0123456789abcdef",` +
		`"severity":"high","oversight":"no plan","preventative_rule":"have a plan","rule_confidence":0.8,` +
		`"applicable_scope":"migrations","yamo_wire_format":"x"}`
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
	switch l := hits[0].Lesson; {
	case l == nil:
		t.Errorf("l = %v, must not be nil", l)
	case l.PatternID != "0123456789abcdef":
		t.Errorf(`l.PatternID = %v, want "0123456789abcdef"`, l.PatternID)
	case l.LessonID != "lesson_1700000000000_abcdef":
		t.Errorf(`l.LessonID = %v, want "lesson_1700000000000_abcdef"`, l.LessonID)
	case !strings.Contains(l.WireFormat, "have a plan"):
		t.Errorf(`l.WireFormat does not contain "have a plan": %s`, l.WireFormat)
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
	t.Parallel()
	dir := t.TempDir()
	v := open(t, dir, audience.DM(), new(words))
	kept := keep(t, v, record.Memory{
		Content: "The tea is in the cupboard.", Type: "event", Tags: []string{"tea"},
		Importance: new(float32(.9)), SessionID: "s",
	})
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
	t.Parallel()
	v := open(t, t.TempDir(), audience.DM(), new(words))
	for _, visibility := range []record.Visibility{record.Private, record.Shared} {
		if _, err := v.Store(t.Context(), record.Memory{Content: "The tide table hangs in the " + string(visibility) +
			" hall."}, visibility); err != nil {
			t.Fatal(err)
		}
	}
	before, err := v.All(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	var requests []record.Foreign
	for _, hit := range before {
		requests = append(requests, record.Foreign{Record: record.Record{
			ID: hit.ID, CreatedAt: hit.CreatedAt,
			Memory: record.Memory{Content: hit.Content},
		}})
	}
	i := slices.IndexFunc(before, func(h record.Hit) bool { return h.Visibility == record.Shared })
	requests = append(requests, record.Foreign{Record: record.Record{
		ID:     before[i].ID,
		Memory: record.Memory{Content: "Something else altogether."},
	}})
	outcomes, err := v.Import(t.Context(), requests, false)
	if err != nil {
		t.Fatal(err)
	}
	for i, hit := range before {
		switch o := outcomes[i]; {
		case o.Err != nil:
			t.Errorf("o.Err = %v, want nil", o.Err)
		case o.Created:
			t.Error("o.Created is true")
		case o.ID != hit.ID:
			t.Errorf("o.ID = %v, want %v", o.ID, hit.ID)
		case o.Visibility != hit.Visibility:
			t.Errorf("o.Visibility = %v, want %v", o.Visibility, hit.Visibility)
		}
	}
	switch o := outcomes[len(before)]; {
	case o.Err != nil:
		t.Errorf("o.Err = %v, want nil", o.Err)
	case !o.Created:
		t.Error("o.Created is false")
	case o.ID == before[i].ID:
		t.Errorf("o.ID = %v, must not be before[i].ID", o.ID)
	}
	if after, err := v.All(t.Context(), 0); err != nil || len(after) != len(before)+1 {
		t.Errorf("%d memories, %v", len(after), err)
	}
}

func TestImportManyGoesOn(t *testing.T) {
	t.Parallel()
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
	switch {
	case err != nil:
		t.Fatal(err)
	case created != 6_000:
		t.Fatalf("created = %v, want 6_000", created)
	case len(hits) != len(rows):
		t.Fatalf("len(hits) = %v, want %v", len(hits), len(rows))
	}
	for i, row := range rows {
		switch h := hits[i]; {
		case h.ID != row.ID:
			t.Fatalf("h.ID = %v, want %v", h.ID, row.ID)
		case !h.CreatedAt.Equal(row.CreatedAt):
			t.Fatal("h.CreatedAt.Equal(row.CreatedAt) is false")
		case h.Content != row.Content:
			t.Fatalf("h.Content = %v, want %v", h.Content, row.Content)
		case h.Metadata["n"] != float64(i):
			t.Fatalf(`h.Metadata["n"] = %v, want %v`, h.Metadata["n"], float64(i))
		}
	}
	switch last, err := v.All(t.Context(), 3); {
	case err != nil:
		t.Fatal(err)
	case len(last) != 3:
		t.Errorf("len(last) = %v, want 3", len(last))
	case last[2].ID != rows[len(rows)-1].ID:
		t.Errorf("last[2].ID = %v, want %v", last[2].ID, rows[len(rows)-1].ID)
	}
	// The source is as it was, and can be migrated where it is.
	switch changed, n, err := foreign.Migrate(t.Context(), dir, time.Now()); {
	case !changed:
		t.Error("changed is false")
	case n != len(rows):
		t.Errorf("n = %v, want %v", n, len(rows))
	case err != nil:
		t.Fatal(err)
	}
	switch changed, n, err := foreign.Migrate(t.Context(), dir, time.Now()); {
	case changed:
		t.Error("changed is true")
	case n != len(rows):
		t.Errorf("n = %v, want %v", n, len(rows))
	case err != nil:
		t.Fatal(err)
	}
	again, err := foreign.Memories(t.Context(), dir)
	if diff := cmp.Diff(requests, again); diff != "" || err != nil {
		t.Errorf("after the migration: %v (-V1 +V2):\n%.2000s", err, diff)
	}
	if _, err := foreign.Memories(t.Context(), t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty folder: %v", err)
	}
}
