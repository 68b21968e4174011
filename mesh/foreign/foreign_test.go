package foreign

import (
	"context"
	"encoding/json"
	"testing"

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
