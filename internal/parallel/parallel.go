// Package parallel divides work over all processors.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Ranges calls f with ranges that cover [0, n), each at most size long, from up to GOMAXPROCS goroutines, and returns
// when all calls have. A goroutine takes one range after the other. Fixed shares would be slower: other work runs at
// the same time, so some goroutines get less of a processor.
func Ranges(n, size int, f func(from, to int)) {
	var taken atomic.Int64
	work := func() {
		for {
			to := int(taken.Add(int64(size)))
			if to-size >= n {
				return
			}
			f(to-size, min(to, n))
		}
	}
	var wait sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (n+size-1)/size) - 1 {
		wait.Go(work)
	}
	work()
	wait.Wait()
}
