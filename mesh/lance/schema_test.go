package lance

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The tables on disk have the fields of RFC-0011 §2.2 to §2.4, in that order and of those types, and what the RFC
// does not call nullable is not.
func TestSchemas(t *testing.T) {
	t.Parallel()
	db := newTest(t)
	mustAdd(t, db, someMemories(testRNG(), 0, 1, testDim))
	if err := db.AddBlocks(t.Context(), []Block{{
		ID: "yamo_retain_1700000000000_000001", Operation: "retain",
		Text: "x",
	}}); err != nil {
		t.Fatal(err)
	}
	if err := db.AddSkills(t.Context(), []Skill{{
		ID:     "skill_1700000000000_000001",
		Vector: unit(testRNG(), testDim),
	}}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		memoryTable: `id: utf8
vector: fixed_size_list<item: float32, nullable>[16]
content: utf8
metadata: utf8
created_at: timestamp[ms]
updated_at: timestamp[ms]?
session_id: utf8?
agent_id: utf8?
memory_type: utf8?
importance_score: float32?
access_count: int32?
last_accessed: timestamp[ms]?
heritage_chain: utf8?
lesson_pattern_id: utf8?
source_skill_id: utf8?
`,
		blockTable: `id: utf8
agent_id: utf8?
operation_type: utf8
yamo_text: utf8
timestamp: timestamp[ms]
block_hash: utf8?
prev_hash: utf8?
metadata: utf8?
`,
		skillTable: `id: utf8
name: utf8
intent: utf8
yamo_text: utf8
vector: fixed_size_list<item: float32, nullable>[16]
metadata: utf8
created_at: timestamp[ms]
`,
	} {
		h, err := openTable(t.Context(), tablePath(filepath.Clean(generation(t, db.dir)), name))
		if err != nil {
			t.Fatal(err)
		}
		schema, err := h.Schema(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, f := range schema.Fields() {
			nullable := ""
			if f.Nullable {
				nullable = "?"
			}
			fmt.Fprintf(&b, "%s: %s%s\n", f.Name, f.Type, nullable)
		}
		if diff := cmp.Diff(want, b.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if err := h.release(); err != nil {
			t.Error(err)
		}
	}
}
