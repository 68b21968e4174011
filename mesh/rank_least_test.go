package mesh

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/rank"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

// What is left out by its bound changes no result, whatever a query asks for and whatever raises or lowers a score: a
// filter with a preference that no memory has leaves nothing out.
func TestLeavingOutChangesNothing(t *testing.T) {
	t.Parallel()
	dm := open(t, t.TempDir(), audience.DM(), new(words))
	r := rand.New(rand.NewPCG(5, 6))
	vocabulary := newCorpus(7)
	var stores []*compartment
	for _, size := range []struct {
		v record.Visibility
		n int
	}{{record.Private, 3000}, {record.Shared, 300}, {"group:red", 300}} {
		c, err := dm.open(size.v)
		if err != nil {
			t.Fatal(err)
		}
		stores = append(stores, c)
		appendOfAllKinds(t, c, size.n, r, vocabulary)
		if err := c.index.Update(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	all := rank.Filter{Admit: func(*record.Record) bool { return true }, Project: "github.com/a/here"}
	lessons := rank.Filter{Admit: func(r *record.Record) bool { return r.Lesson != nil }, NoOrdinary: true}
	some := rank.Filter{Admit: func(r *record.Record) bool { return r.Seq%7 == 0 }}
	for i := range 2 {
		for _, form := range []string{
			"%s", "How do I %s?", "What did you recommend about %s?", "Give me an overview of %s",
			"List everything about %s in order", "%s in project there", "%s " + rareWord(500),
		} {
			query := fmt.Sprintf(form, vocabulary.text())
			for _, meaning := range [][]float32{wordVector(query), nil} {
				ranking := dm.candidates(dm.sources(stores), query, meaning)
				for _, f := range []rank.Filter{all, lessons, some} {
					got, more := ranking.Top(10, f), ranking.More(10)
					f.Prefer = func(*record.Record) float32 { return 0 }
					want, wantMore := ranking.Top(10, f), ranking.More(10)
					if diff := gocmp.Diff(want, got); diff != "" || more != wantMore {
						ranking.Release() // or closing the memory waits for it forever
						t.Fatalf("query %d, %q: %d more, not %d (-all +those above the bound):\n%.2000s", i, form, more, wantMore, diff)
					}
				}
				ranking.Release()
			}
		}
	}
}

// appendOfAllKinds makes n memories of c with everything that changes a score, in sessions that alternate.
func appendOfAllKinds(t *testing.T, c *compartment, n int, r *rand.Rand, vocabulary *corpus) {
	t.Helper()
	one := func(list ...string) string { return list[r.IntN(len(list))] }
	err := c.Append(context.Background(), func(_ *store.Snapshot, now time.Time) (drafts []ledger.Draft, err error) {
		for i := range n {
			m := record.Memory{
				Type: "global", Content: one("", "", "Always ", "I prefer ") + vocabulary.text(),
				SessionID: one("", fmt.Sprint("s", i/100*10+r.IntN(10))), Source: one("", "", "assistant", "user"),
			}
			if i%50 == 0 {
				m.Tags = []string{one("preference", rareWord(500))}
			}
			if i%97 == 0 {
				m.Content = minutes(400) + "\n\n" + ending(i)
			}
			memory := &record.Record{ID: fmt.Sprintf("%s_%06x", c.Visibility, i), Memory: m, CreatedAt: now}
			memory.Project = one("", "", "github.com/a/here", "github.com/a/there")
			drafts = append(drafts, ledger.Draft{Op: store.OpRetain, ID: memory.ID, Block: "agent: test;\n", Data: memory})
		}
		return drafts, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
