// Package garbage bounds what a long-running process holds besides what it uses.
package garbage

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

// How much garbage there may be before it is collected, in percent of what is in use. A collection costs up to a second
// of the processor's time for a gigabyte in use, and some tens of searches lie between two.
const (
	// usual is Go's default.
	usual = 100
	// middling is from middle bytes in use on, a memory of some 50,000 entries, unless a workspace is just being read:
	// what is in use then grows by more than a quarter from one collection to the next.
	middling = 30
	middle   = 64 << 20
	// little is from large bytes in use on, some 500,000 entries, even then.
	little = 15
	large  = 512 << 20
)

// settled is how long after the last change of the share what reading a workspace has left is given back.
const settled = 10 * time.Second

// Bound bounds the garbage of the process while much is in use, until ctx ends. An operator's GOGC or GOMEMLIMIT is
// left alone. It returns at once.
func Bound(ctx context.Context) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	b := &bounds{share: usual, giving: time.AfterFunc(settled, giveBack)}
	afterEach(ctx, func() { b.collected(inUse()) })
}

// afterEach calls f after each collection until ctx ends.
func afterEach(ctx context.Context, f func()) {
	if ctx.Err() != nil {
		return
	}
	// Nothing refers to it, so that the next collection finds it.
	runtime.AddCleanup(&struct{ *int }{new(int)}, func(struct{}) { f(); afterEach(ctx, f) }, struct{}{})
}

// bounds is the share of garbage that was chosen last, and of what.
type bounds struct {
	mu     sync.Mutex
	size   uint64 // bytes in use at the last collection
	share  int
	giving *time.Timer // calls giveBack
}

// collected chooses the share after a collection that has found size bytes in use.
func (b *bounds) collected(size uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	before := b.share
	b.share = shareOf(before, b.size, size)
	b.size = size
	if b.share != before {
		debug.SetGCPercent(b.share)
	}
	if b.share < before {
		b.giving.Reset(settled)
	}
}

// shareOf returns the share for size bytes in use, which were before at the collection before, when share was chosen.
// It does not change back and forth at a border.
func shareOf(share int, before, size uint64) int {
	switch {
	case size >= large, share == little && size >= large/2:
		return little
	case size >= middle && size < before+before/4, share == middling && size >= middle/2:
		return middling
	}
	return usual
}

// giveBack gives what is not in use back to the system: also the memory of pools, which a first collection keeps.
func giveBack() {
	runtime.GC()
	debug.FreeOSMemory()
}

// inUse returns the bytes that the last collection has found in use.
func inUse() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
