package mesh

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/workspace/audience"
)

// openPlain opens a memory with the RFC's own ranking.
func openPlain(t *testing.T, dir string) *View {
	t.Helper()
	v := Open(Options{Dir: filepath.Join(dir, ".yamo"), Audience: audience.DM(), AgentID: "tester", Embedder: new(words), Logger: testLog(t), Ranking: RFC0011})
	t.Cleanup(func() { _ = v.Close(context.Background()) })
	return v
}

func TestRFC0011Fusion(t *testing.T) {
	dir := t.TempDir()
	v := openPlain(t, dir)
	both := store(t, v, StoreRequest{Content: "green tea"})
	for i := range 9 {
		store(t, v, StoreRequest{Content: fmt.Sprintf("paint number%d dries", i), Type: "event"})
	}
	found := search(t, v, SearchRequest{Query: "green tea", Limit: 3})
	if len(found.Hits) != 3 || found.Hits[0].ID != both.ID {
		t.Fatalf("got %q", contents(found.Hits))
	}
	wantSignals := []Signal{{"keyword_rank", 1}, {"vector_rank", 1}}
	if diff := cmp.Diff(wantSignals, found.Hits[0].Signals); diff != "" || found.Hits[0].Score != 1 {
		t.Errorf("score %v, signals (-want +got):\n%s", found.Hits[0].Score, diff)
	}
	// The second of one list alone: 1/62 beside the first's 2/61.
	if diff := cmp.Diff([]Signal{{"vector_rank", 2}}, found.Hits[1].Signals); diff != "" || found.Hits[1].Score != .49 {
		t.Errorf("second: score %v, signals (-want +got):\n%s", found.Hits[1].Score, diff)
	}
	events := search(t, v, SearchRequest{Query: "green tea", Type: "event"})
	if len(events.Hits) != 9 || events.Hits[0].Type != "event" {
		t.Errorf("filtered: %q", contents(events.Hits))
	}

	// The same from LanceDB and from memory, and after another process took one away.
	if err := v.Rebuild(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	flushed := search(t, v, SearchRequest{Query: "green tea", Limit: 3})
	if diff := cmp.Diff(contents(found.Hits), contents(flushed.Hits)); diff != "" {
		t.Errorf("after the flush (-before +after):\n%s", diff)
	}
	other := openPlain(t, dir)
	if err := other.Delete(t.Context(), both.ID, ""); err != nil {
		t.Fatal(err)
	}
	for _, h := range search(t, v, SearchRequest{Query: "green tea"}).Hits {
		if h.ID == both.ID || len(h.Signals) != 1 {
			t.Errorf("after the deletion: %q, %v", h.Content, h.Signals)
		}
	}
}
