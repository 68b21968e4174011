package mesh

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh/cache"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

func TestCache(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	v := Open(Options{
		Dir: filepath.Join(dir, ".yamo"), Audience: audience.DM(), Embedder: new(words),
		Now: func() time.Time { return now },
	})
	t.Cleanup(func() { _ = v.Close(context.Background()) })
	tea := keep(t, v, record.Memory{Content: "green tea"})
	settle(t, v)
	ask := SearchRequest{Query: "tea"}
	blocks := func() int {
		t.Helper()
		lines, err := os.ReadFile(filepath.Join(v.Dir, "private", "ledger.ndjson"))
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Count(lines, []byte("\n"))
	}
	first := contents(search(t, v, ask).Hits)
	before := blocks()
	switch diff := cmp.Diff(first, contents(search(t, v, ask).Hits)); {
	case diff != "":
		t.Errorf("(-want +got):\n%s", diff)
	case v.answers.Stats().Answers != 1:
		t.Errorf("v.answers.Stats().Answers = %v, want 1", v.answers.Stats().Answers)
	case blocks() != before+1:
		t.Errorf("blocks() = %v, want %v", blocks(), before+1)
	}
	search(t, v, SearchRequest{Query: "tea", Limit: 1})
	search(t, v, SearchRequest{Query: "tea", Filter: "memory_type = 'event'"})
	if got, want := v.Maintenance().CacheStats(), (cache.Stats{Answers: 3, Hits: 1, Misses: 3}); got != want {
		t.Errorf("after three requests, one of them twice: %+v, want %+v", got, want)
	}

	// What is kept answers for five minutes, and not longer.
	now = now.Add(cache.MaxAge - time.Second)
	search(t, v, ask)
	if got := v.Maintenance().CacheStats().Hits; got != 2 {
		t.Errorf("a second before five minutes: %d answers from the cache, want 2", got)
	}
	now = now.Add(time.Second)
	if got := search(t, v, ask).Hits; len(got) != 1 {
		t.Errorf("after five minutes: %q", contents(got))
	}
	if got, want := v.Maintenance().CacheStats(), (cache.Stats{Answers: 3, Hits: 2, Misses: 4}); got != want {
		t.Errorf("after five minutes: %+v, want %+v", got, want)
	}

	// Another process's writes show at once.
	other := open(t, dir, audience.DM(), new(words))
	keep(t, other, record.Memory{Content: "black tea"})
	settle(t, other)
	if got := search(t, v, ask).Hits; len(got) != 2 {
		t.Errorf("after another process stored: %q", contents(got))
	}
	if err := other.Delete(t.Context(), tea.ID, ""); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"black tea"}, contents(search(t, v, ask).Hits)); diff != "" {
		t.Errorf("after another process deleted (-want +got):\n%s", diff)
	}
}
