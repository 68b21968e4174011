package mesh

import (
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// A group's session stores up to its quota. What is there stays, can be corrected and makes room when it is deleted.
func TestQuota(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := open(t, dir, group(t, "hiking"), new(words))
	v.Quota = Quota{Memories: 3, Bytes: 1 << 20, Content: 100}
	_, err := v.Store(t.Context(), record.Memory{Content: strings.Repeat("x", 101)}, "")
	wantFault(t, err, "content: 101 bytes", "at most 100 bytes")
	first := keep(t, v, record.Memory{Content: "The hut is open."})
	keep(t, v, record.Memory{Content: "The hut is red."})
	if _, err := v.Skills().Ingest(t.Context(), SkillRequest{Text: "---\nname: a\nintent: b\n---\nc\n"}); err != nil {
		t.Fatal(err)
	}
	_, err = v.Skills().Ingest(t.Context(), SkillRequest{Text: strings.Repeat("x", 101)})
	wantFault(t, err, "text: 101 bytes")
	_, err = v.Store(t.Context(), record.Memory{Content: "The hut is far."}, "")
	wantFault(t, err, "the memory of this group is full", "at most 3 memories", "delete memories that are out of date")
	keep(t, v, record.Memory{Content: "The hut is open.", Tags: []string{"hut"}}) // an update
	if err := v.Delete(t.Context(), first.ID, "r"); err != nil {
		t.Fatal(err)
	}
	keep(t, v, record.Memory{Content: "The hut is far."})

	v.Quota = Quota{Memories: 100, Bytes: 150, Content: 100}
	large := map[string]any{"k": strings.Repeat("y", 100)}
	_, err = v.Store(t.Context(), record.Memory{Content: "It rains.", Metadata: large}, "")
	wantFault(t, err, "is full")

	dm := open(t, dir, audience.DM(), new(words))
	keep(t, dm, record.Memory{Content: strings.Repeat("A DM has no quota. ", 100)})
}
