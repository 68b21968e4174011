package index

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/lance"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

// RFC-0011 §1.1: the id of a record's block is known from the record's id, so that a deletion finds it.
func TestBlockID(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(1_700_000_000_000)
	for want, e := range map[string]ledger.Entry{
		"yamo_retain_123_abcdef":            {Op: store.OpRetain, ID: "mem_123_abcdef", Time: at, Seq: 7},
		"yamo_lesson_123_abcdef":            {Op: store.OpLesson, ID: "mem_123_abcdef", Time: at, Seq: 7},
		"yamo_recall_1700000000000_00001f":  {Op: store.OpRecall, Time: at, Seq: 31},
		"yamo_retain_1700000000000_000007":  {Op: ledger.OpDelete, ID: "mem_123_abcdef", Time: at, Seq: 7},
		"yamo_reflect_1700000000000_000001": {Op: store.OpReflect, ID: "nodigits", Time: at, Seq: 1},
	} {
		if got := blockID(e); got != want {
			t.Errorf("%s of %s: %s, want %s", e.Op, e.ID, got, want)
		}
	}
	for _, op := range lance.Operations {
		id := blockID(ledger.Entry{Op: op, ID: "mem_123_abcdef", Time: at, Seq: 7})
		if !slices.Contains(blocksOf("mem_123_abcdef"), id) {
			t.Errorf("a deletion does not find the block %s", id)
		}
	}
}

func TestHasRow(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		e    ledger.Entry
		want bool
	}{
		"a memory":             {ledger.Entry{Op: store.OpRetain, Block: "b"}, true},
		"a deletion":           {ledger.Entry{Op: ledger.OpDelete, Block: "b"}, true},
		"without a block":      {ledger.Entry{Op: store.OpHeritage}, false},
		"erased":               {ledger.Entry{Op: store.OpRetain, Erased: true}, false},
		"not of the operation": {ledger.Entry{Op: store.OpSkill, Block: "b"}, false},
	} {
		if got := hasRow(test.e); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// What is deleted before it was written never reaches the table.
func TestDeletionDropsRowsThatWait(t *testing.T) {
	t.Parallel()
	var w blockWriter
	for _, e := range []ledger.Entry{
		{Op: store.OpRetain, ID: "mem_1_a", Block: "secret", Seq: 1},
		{Op: store.OpRetain, ID: "mem_2_b", Block: "kept", Seq: 2},
		{Op: ledger.OpDelete, ID: "mem_1_a", Block: "deleted", Seq: 3},
	} {
		if err := w.take(t.Context(), nil, e); err != nil { // it writes nothing yet, so it needs no tables
			t.Fatal(err)
		}
	}
	var texts []string
	for _, row := range w.rows {
		texts = append(texts, row.Text)
	}
	if diff := cmp.Diff([]string{"kept", "deleted"}, texts); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if !slices.Contains(w.delete, "yamo_retain_1_a") {
		t.Errorf("the row that may be in the table is not deleted: %q", w.delete)
	}
}

func TestBlockRow(t *testing.T) {
	t.Parallel()
	e := ledger.Entry{
		Op: ledger.OpDelete, ID: "mem_1_a", Block: "text", Seq: 3, Hash: "h3", PrevHash: "h2",
		Data: json.RawMessage(`{"agent_id":"kate","reason":"wrong"}`),
	}
	row, err := blockRow(e)
	if err != nil {
		t.Fatal(err)
	}
	want := lance.Block{
		ID: blockID(e), AgentID: "kate", Operation: store.OpRetain, Text: "text", Hash: e.BlockHash(),
		Metadata: `{"entry_hash":"h3","record_id":"mem_1_a","seq":3,"status":"deleted"}`,
	}
	if diff := cmp.Diff(want, row); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The columns of RFC-0011 §2.2, and in the metadata those of §2.1 under their names; what is empty is left out.
func TestMemoryRow(t *testing.T) {
	t.Parallel()
	half := float32(.5)
	at := time.UnixMilli(1_700_000_000_000).UTC()
	for name, test := range map[string]struct {
		r        record.Record
		past     *record.Revision
		want     lance.Memory
		metadata string
	}{
		"plain": {
			record.Record{ID: "mem_1_a", CreatedAt: at, Memory: record.Memory{Content: "x", Type: "event"}},
			nil,
			lance.Memory{ID: "mem_1_a", Content: "x", CreatedAt: at, MemoryType: "event"},
			`{"type":"event"}`,
		},
		"whole": {
			record.Record{
				ID: "mem_1_a", CreatedAt: at, AgentID: "kate",
				Memory: record.Memory{
					Content: "x", Type: "lesson", Tags: []string{"t"}, Importance: &half, SessionID: "s", Source: "user",
					Rationale: "why", Hypothesis: "what for", Skill: "tea", Metadata: map[string]any{"own": 1.0, "source": "hidden"},
				},
				Heritage: &record.Heritage{IntentChain: []string{"i"}, Hypotheses: []string{}, Rationales: []string{}},
				Lesson:   &record.Lesson{PatternID: "p"},
			},
			&record.Revision{At: at, New: "mem_2_b"},
			lance.Memory{
				ID: "mem_1_a", Content: "x", CreatedAt: at, MemoryType: "lesson", AgentID: "kate", SessionID: "s",
				ImportanceScore: &half, SourceSkillID: "tea", LessonPatternID: "p",
				HeritageChain: `{"intentChain":["i"],"hypotheses":[],"rationales":[]}`,
			},
			`{"type":"lesson","source":"user","rationale":"why","hypothesis":"what for","skill_name":"tea",` +
				`"session_id":"s","tags":["t"],"own":1,` +
				`"superseded_at":"2023-11-14T22:13:20Z","superseded_by":"mem_2_b"}`,
		},
	} {
		vector := []float32{1, 0}
		got, err := memoryRow(&test.r, vector, test.past)
		if err != nil {
			t.Fatal(err)
		}
		var wantMeta, gotMeta map[string]any
		if err := json.Unmarshal([]byte(test.metadata), &wantMeta); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(got.Metadata), &gotMeta); err != nil {
			t.Fatal(err)
		}
		if _, ok := gotMeta["lesson"]; ok != (test.r.Lesson != nil) {
			t.Errorf("%s: a lesson in the metadata: %v", name, ok)
		}
		delete(gotMeta, "lesson")
		if diff := cmp.Diff(wantMeta, gotMeta); diff != "" {
			t.Errorf("%s: metadata (-want +got):\n%s", name, diff)
		}
		got.Metadata = ""
		test.want.Vector = vector
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
