package mesh

import (
	"fmt"
	"slices"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// A group that repeats itself in other words takes few places in a DM's answers, and all that it says in its own.
func TestFloodOfAGroup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	dm, hikers := open(t, dir, audience.DM(), new(words)), open(t, dir, group(t, "hiking"), new(words))
	const fact = "The spare key of the hut is with the neighbour."
	keep(t, dm, record.Memory{Content: fact})
	keep(t, dm, record.Memory{Content: "The neighbour has a dog."})
	var flood []record.Memory
	for i := range 200 {
		content := fmt.Sprintf("The spare key of the hut is with the spare key hut %d.", i)
		flood = append(flood, record.Memory{Content: content})
	}
	outcomes, err := hikers.StoreFiles(t.Context(), flood)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range outcomes {
		if o.Err != nil {
			t.Fatal(o.Err)
		}
	}
	keep(t, hikers, record.Memory{Content: "A marmot ate the key of the boat house."})
	settle(t, hikers)
	settle(t, dm)
	for _, limit := range []int{5, 10, 50} {
		found := contents(search(t, dm, SearchRequest{Query: "where is the spare key of the hut", Limit: limit}).Hits)
		if at := slices.Index(found, fact); at < 0 || at > maxFlood {
			t.Errorf("limit %d: the fact has place %d of %d: %q", limit, at, len(found), found)
		}
		if !slices.Contains(found, "The neighbour has a dog.") {
			t.Errorf("limit %d: the DM's other memory is missing: %q", limit, found)
		}
		if limit == 50 && !slices.Contains(found, "A marmot ate the key of the boat house.") {
			t.Errorf("limit %d: what the group said only once is missing: %q", limit, found)
		}
	}
	own := search(t, hikers, SearchRequest{Query: "where is the spare key of the hut", Limit: 50})
	if len(own.Hits) != 50 {
		t.Errorf("the group finds %d of its own, want 50", len(own.Hits))
	}
}

// maxFlood is the number of near-duplicates that a group may put before a DM's memory: one, and two that are like it.
const maxFlood = 3
