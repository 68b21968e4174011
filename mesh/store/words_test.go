package store

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// When the maps are made changes nothing that is found.
func TestWordsAreFoundWheneverTheyAreAskedFor(t *testing.T) {
	t.Parallel()
	key := func(n int) record.WordsKey { return record.WordsKey{byte(n)} }
	steps := []func(w *words){
		func(w *words) { w.add(0, key(1)) },
		func(w *words) { w.add(1, key(2)) },
		func(w *words) { w.add(2, key(1)) },
		func(w *words) { w.add(3, key(1)) },
		func(w *words) { w.remove(0, key(1)) },
		func(w *words) { w.add(4, key(2)) },
		func(w *words) { w.remove(4, key(2)) },
		func(w *words) { w.add(5, key(3)) },
	}
	want := [][]int{{2, 3}, {1}, {5}, nil}
	for ready := range len(steps) + 1 {
		var w words
		for i, step := range steps {
			if i == ready {
				w.ready()
			}
			step(&w)
		}
		keys := w.keys(6)
		if diff := cmp.Diff([]record.WordsKey{{}, key(2), key(1), key(1), {}, key(3)}, keys); diff != "" {
			t.Errorf("made before step %d: the words of all (-want +got):\n%s", ready, diff)
		}
		var got [][]int
		for n := 1; n <= len(want); n++ {
			got = append(got, slices.Collect(w.find(key(n))))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("made before step %d (-want +got):\n%s", ready, diff)
		}
	}
}
