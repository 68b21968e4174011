// Package garbage bounds what a long-running process holds besides what it uses.
package garbage

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// large is the size of what is in use, in bytes, from which on garbage is bounded: a memory of about 400,000 entries.
	large = 512 << 20
	// share is how much garbage there may be then before it is collected, in percent of what is in use. Go's default is
	// 100, so that a process would hold twice what it uses. A collection costs a second of the processor's time for a
	// gigabyte in use, and a hundred searches or more lie between two.
	share = 15
	// interval is the time between two looks at the size, which grows when a workspace is read and hardly after that.
	interval = 20 * time.Second
)

// Bound bounds the garbage of the process while much is in use, until ctx ends. An operator's GOGC or GOMEMLIMIT is
// left alone. It returns at once.
func Bound(ctx context.Context) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	go func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		bounded := false
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				bounded = adjust(inUse(), bounded)
			}
		}
	}()
}

// adjust bounds the garbage if size bytes are much and it is not bounded yet, or ends that if they are little. It
// returns whether garbage is bounded now.
func adjust(size uint64, bounded bool) bool {
	switch {
	case size >= large && !bounded:
		debug.SetGCPercent(share)
		debug.FreeOSMemory() // what reading the workspace has left
		return true
	case size < large/2 && bounded:
		debug.SetGCPercent(100)
		return false
	}
	return bounded
}

// inUse returns the bytes that the last collection has found in use.
func inUse() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
