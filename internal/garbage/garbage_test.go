package garbage

import (
	"context"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

func TestShareOf(t *testing.T) {
	t.Parallel()
	share, before := usual, uint64(0)
	for _, step := range []struct {
		size uint64
		want int
	}{
		{1 << 20, usual},
		{middle - 1, usual},
		{2 * middle, usual}, // it is just being read
		{4 * middle, usual},
		{4*middle + 1, middling},
		{6 * middle, middling},
		{large, little},
		{2 * large, little},
		{large / 2, little},
		{large/2 - 1, middling},
		{middle / 2, middling},
		{middle/2 - 1, usual},
		{large, little}, // even if it is
	} {
		if share = shareOf(share, before, step.size); share != step.want {
			t.Fatalf("with %d bytes in use, and %d before: %d percent, must be %d", step.size, before, share, step.want)
		}
		before = step.size
	}
}

// What Bound does to the process: with much in use there is little garbage, and with little in use as much as usual. It
// changes a setting of the whole process, so it does not run in parallel.
func TestBound(t *testing.T) {
	t.Setenv("GOGC", "")
	t.Setenv("GOMEMLIMIT", "")
	before := debug.SetGCPercent(usual)
	defer debug.SetGCPercent(before)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	Bound(ctx)
	becomes := func(want int) {
		t.Helper()
		for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
			runtime.GC()
			percent := debug.SetGCPercent(usual)
			debug.SetGCPercent(percent)
			if percent == want {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%d percent, must be %d", percent, want)
			}
		}
	}
	much := make([]byte, 2*middle)
	becomes(middling)
	runtime.KeepAlive(much)
	becomes(usual)
}

func TestInUse(t *testing.T) {
	const size, rest = 64 << 20, 1 << 20
	runtime.GC()
	before := inUse()
	much := make([]byte, size)
	runtime.GC()
	if got := inUse(); got+rest < before+size {
		t.Errorf("inUse() = %d with %d bytes more than at %d", got, size, before)
	}
	runtime.KeepAlive(much)
}
