package mesh

import (
	"maps"
	"slices"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// Files that exchange their names keep their memories, and a change of one replaces its own.
func TestFilesThatSwapNames(t *testing.T) {
	t.Parallel()
	v := open(t, t.TempDir(), audience.DM(), new(words))
	ingest := func(texts map[string]string) (replaced []string) {
		t.Helper()
		var memories []record.Memory
		for _, name := range slices.Sorted(maps.Keys(texts)) {
			memories = append(memories, record.Memory{
				Content: texts[name], Metadata: map[string]any{FolderKey: "folder", PathKey: name},
			})
		}
		outcomes, err := v.StoreFiles(t.Context(), memories)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range outcomes {
			if o.Err != nil {
				t.Fatal(o.Err)
			}
			if o.Replaced != "" {
				replaced = append(replaced, o.Replaced)
			}
		}
		return replaced
	}
	const eggs, more, tyres = "The recipe needs two eggs.", "The recipe needs three eggs.", "The tyres have six bar."
	ingest(map[string]string{"a.md": eggs, "b.md": tyres})
	ingest(map[string]string{"a.md": tyres, "b.md": eggs})
	ingest(map[string]string{"a.md": tyres, "b.md": more})
	found := texts(t, v, SearchRequest{Query: "recipe eggs tyres bar"})
	slices.Sort(found)
	if want := []string{more, tyres}; !slices.Equal(found, want) {
		t.Errorf("current are %q, want %q", found, want)
	}
	if got := ingest(map[string]string{"a.md": "The recipe needs four eggs.", "b.md": tyres}); len(got) > 0 {
		t.Errorf("swapped and changed at once: %q replaced", got)
	}
}
