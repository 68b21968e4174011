package garbage

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// It changes a setting of the whole process, so it does not run in parallel.
func TestAdjust(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	percent := func() int {
		p := debug.SetGCPercent(100)
		debug.SetGCPercent(p)
		return p
	}
	bounded := false
	for _, step := range []struct {
		size    uint64
		bounded bool
		percent int
	}{
		{1 << 20, false, 100},
		{large - 1, false, 100},
		{large, true, share},
		{2 * large, true, share},
		{large / 2, true, share},
		{large/2 - 1, false, 100},
		{large - 1, false, 100},
	} {
		if bounded = adjust(step.size, bounded); bounded != step.bounded || percent() != step.percent {
			t.Errorf("with %d bytes in use: bounded %v, %d percent, must be %v, %d", step.size, bounded, percent(),
				step.bounded, step.percent)
		}
	}
}

func TestInUse(t *testing.T) {
	const size = 64 << 20
	runtime.GC()
	before := inUse()
	much := make([]byte, size)
	runtime.GC()
	if got := inUse(); got < before+size {
		t.Errorf("inUse() = %d with %d bytes more than at %d", got, size, before)
	}
	runtime.KeepAlive(much)
}
