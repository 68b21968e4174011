package period

import (
	"testing"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/when"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// A period that has no begin is longer than any event.
func TestShareOfAnOpenPeriod(t *testing.T) {
	t.Parallel()
	day := func(day int) time.Time { return time.Date(2026, 3, day, 0, 0, 0, 0, time.UTC) }
	for _, test := range []struct {
		span when.Span
		date string
		want float32
	}{
		{when.Span{To: day(10), Unit: when.Days}, "2026-02", 1},
		{when.Span{From: day(9), To: day(10), Unit: when.Day}, "2026-03", vagueShare},
		{when.Span{To: day(10), Unit: when.Days}, "2026-03-10", 0},
		{when.Span{From: day(10), Unit: when.Days}, "2026-03", 1},
	} {
		r := &record.Record{CreatedAt: day(20), Memory: record.Memory{OccurredAt: test.date}}
		if test.span.To.IsZero() {
			r.CreatedAt = day(1)
		}
		if got := (Period{test.span}).Share(r); got != test.want {
			t.Errorf("the share of %s in %s is %v, want %v", test.date, test.span, got, test.want)
		}
	}
}
