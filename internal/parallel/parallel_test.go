package parallel

import (
	"sync"
	"testing"
)

func TestRanges(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 7, 8, 9, 1000} {
		var mu sync.Mutex
		calls := make([]int, n)
		Ranges(n, 8, func(from, to int) {
			mu.Lock()
			defer mu.Unlock()
			if to-from > 8 || from >= to {
				t.Errorf("Ranges(%d, 8) calls f(%d, %d), must be 1 to 8 long", n, from, to)
			}
			for i := from; i < to; i++ {
				calls[i]++
			}
		})
		for i, got := range calls {
			if got != 1 {
				t.Errorf("Ranges(%d, 8) covers %d %d times, must be once", n, i, got)
			}
		}
	}
}
