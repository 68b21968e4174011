package cli

import (
	"testing"
	"time"
)

// No estimate is made of the first tick, and none of what an earlier run has done.
func TestEstimate(t *testing.T) {
	t.Parallel()
	start := time.Now()
	for _, c := range []struct {
		name               string
		first, done, total int
		passed             time.Duration
		want               string
	}{
		{"first tick", 0, 1, 1000, time.Microsecond, ""},
		{"too early", 0, 900, 1000, basis - 1, ""},
		{"nothing done yet", 500, 500, 1000, time.Minute, ""},
		{"unknown total", 0, 10, Unknown, time.Minute, ""},
		{"measured", 0, 100, 1000, 10 * time.Second, " (about 1m30s left)"},
		{"after an interruption", 900, 950, 1000, 10 * time.Second, " (about 10s left)"},
		{"almost done", 0, 999, 1000, 10 * time.Second, " (about 1s left)"},
	} {
		if got := (measured{start, c.first}).left(start.Add(c.passed), c.done, c.total); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
