package mesh

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// withoutOne makes no vector of one text.
type withoutOne struct {
	words
	text string
}

func (w *withoutOne) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if slices.Contains(texts, w.text) {
		return nil, errors.New("this one takes long")
	}
	return w.words.Embed(ctx, texts)
}

// A memory whose vector is not there yet is first for its own words, although others that say almost the same have
// theirs.
func TestMemoryWithoutVectorAmongOthers(t *testing.T) {
	t.Parallel()
	const latest = "the ferry 3 leaves for the island from the stone quay 21"
	now := time.Now()
	v := Open(Options{
		Dir: t.TempDir() + "/.yamo", Audience: audience.DM(), Embedder: &withoutOne{text: latest}, Logger: testLog(t),
		Now: func() time.Time { return now },
	})
	t.Cleanup(func() { _ = v.Close(context.Background()) }) // its index is not up to date
	v.patience = 0
	for i := range 60 {
		keep(t, v, record.Memory{Content: fmt.Sprintf("something else was noted about plan%d", i)})
	}
	for _, n := range []int{1, 2, 4, 5, 6} {
		keep(t, v, record.Memory{Content: fmt.Sprintf("the ferry %d leaves for the island from the stone quay %d", n, 7*n)})
	}
	settle(t, v)
	now = now.Add(-time.Hour) // so that the newer of two that say almost the same are the others
	keep(t, v, record.Memory{Content: latest})
	found := search(t, v, SearchRequest{Query: latest + "?", Limit: 3})
	if found.Pending != 1 || len(found.Hits) != 3 {
		t.Fatalf("%d without a vector, %d hits", found.Pending, len(found.Hits))
	}
	if got := found.Hits[0].Content; got != latest {
		t.Errorf("the first is %q", got)
	}
}
