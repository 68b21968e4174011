package store

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// The table finds what a map finds, whatever was put, replaced and removed before, and stays in proportion.
func TestIDs(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	table, want := newIDs(0), map[string]int{}
	var list []held
	for range 50_000 {
		id := fmt.Sprint("mem_", r.IntN(3_000))
		if r.IntN(3) > 0 {
			list = append(list, held{id: id})
			table.put(len(list)-1, list)
			want[id] = len(list) - 1
		} else {
			table.remove(id, list)
			delete(want, id)
		}
		id = fmt.Sprint("mem_", r.IntN(3_000))
		doc, ok := table.find(id, list)
		if wanted, exists := want[id]; ok != exists || ok && doc != wanted {
			t.Fatalf("%s is document %d, %v; want %d, %v", id, doc, ok, wanted, exists)
		}
	}
	for id, doc := range want {
		if got, ok := table.find(id, list); !ok || got != doc {
			t.Errorf("%s is document %d, %v; want %d", id, got, ok, doc)
		}
	}
	if len(table.slots) > 1<<14 {
		t.Errorf("%d slots for %d documents", len(table.slots), len(want))
	}
}
