package mesh_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// topics is a small substitute for an embedding model: each of its dimensions is one topic.
type topics []string

func (m topics) Embed(_ context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = make([]float32, len(m))
		for j, words := range m {
			for word := range strings.FieldsSeq(words) {
				if strings.Contains(strings.ToLower(text), word) {
					vectors[i][j] = 1
				}
			}
		}
	}
	return vectors, nil
}

func (m topics) Model() embed.Model { return embed.Model{Name: "topics", Dim: len(m)} }

// A direct conversation keeps two memories, and finds the one that is about the query though they share no word.
func ExampleView() {
	dir, err := os.MkdirTemp("", "mesh")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ctx := context.Background()
	memory := mesh.Open(mesh.Options{
		Dir: filepath.Join(dir, ".yamo"), Audience: audience.DM(), AgentID: "kate",
		Embedder: topics{"train rail journey", "tea cup kettle"},
	})
	for _, text := range []string{"Ada takes the train to Lyon.", "The kettle is in the blue cupboard."} {
		if _, err := memory.Store(ctx, record.Memory{Content: text}, record.Private); err != nil {
			panic(err)
		}
	}
	found, err := memory.Search(ctx, mesh.SearchRequest{Query: "plans for a journey", Limit: 1})
	if err != nil {
		panic(err)
	}
	for _, hit := range found.Hits {
		fmt.Println(hit.Visibility, hit.Type, hit.Content)
	}
	if err := memory.Close(ctx); err != nil {
		panic(err)
	}
	// Output: private global Ada takes the train to Lyon.
}
