package foreign

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/lance"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// noModel is the embedder of a machine without a model.
type noModel struct{}

func (noModel) Embed(context.Context, []string) ([][]float32, error) { return nil, embed.ErrNoAssets }

func (noModel) Model() embed.Model { return embed.Model{Name: "none", Dim: 384} }

// Whatever a row holds, it can be imported or is refused.
func FuzzFromRow(f *testing.F) {
	f.Add(`{"type":"lesson","tags":["x"],"importance":2}`, `{"intentChain":["a"]}`, "lesson")
	f.Add(`null`, `[]`, "")
	v := mesh.Open(mesh.Options{
		Dir: f.TempDir() + "/.yamo", Audience: audience.DM(), AgentID: "tester",
		Embedder: noModel{},
	})
	f.Fuzz(func(t *testing.T, metadata, heritage, kind string) {
		q := fromRow(lance.Memory{
			ID: "mem_1_a", Content: "text", Metadata: metadata, HeritageChain: heritage,
			MemoryType: kind,
		})
		outcomes, err := v.Import(t.Context(), []record.Foreign{q}, true)
		if err != nil {
			t.Fatalf("%q, %q: %v", metadata, heritage, err)
		}
		if outcomes[0].Err == nil && outcomes[0].ID == "" {
			t.Errorf("neither imported nor refused: %+v", outcomes[0])
		}
		if _, err := json.Marshal(q.Metadata); err != nil {
			t.Error(err)
		}
	})
}

// What another store did not take for current is not current here, since it was not there; and it keeps its accesses.
func TestPastRows(t *testing.T) {
	t.Parallel()
	day := func(n int) time.Time { return time.Date(2026, 5, n, 0, 0, 0, 0, time.UTC) }
	seven := int32(7)
	since := func(n int) *record.Revision { return &record.Revision{Old: "mem_1_a", At: day(n)} }
	for name, test := range map[string]struct {
		row  lance.Memory
		past *record.Revision
	}{
		"current":              {lance.Memory{}, nil},
		"active":               {lance.Memory{State: "active", UpdatedAt: day(2)}, nil},
		"superseded":           {lance.Memory{SupersededAt: day(3), UpdatedAt: day(4)}, since(3)},
		"no time, as 1970":     {lance.Memory{SupersededAt: time.Unix(0, 0)}, nil},
		"archived":             {lance.Memory{State: "archived", UpdatedAt: day(4)}, since(4)},
		"archived, never used": {lance.Memory{State: "archived"}, since(1)},
	} {
		test.row.ID, test.row.Content, test.row.CreatedAt = "mem_1_a", "text", day(1)
		test.row.AccessCount, test.row.LastAccessed = &seven, day(1)
		q := fromRow(test.row)
		if diff := cmp.Diff(test.past, q.Past); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(record.Accesses{Count: 7, Last: day(1)}, q.Accesses); diff != "" {
			t.Errorf("%s: accesses (-want +got):\n%s", name, diff)
		}
	}
}
