package tools

import (
	"testing"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/sysclock"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

func TestReplaces(t *testing.T) {
	t.Parallel()
	next := sysclock.Now().UTC().Year() + 1
	until := func(text string, at time.Time) record.Past {
		return record.Past{Record: &record.Record{Memory: record.Memory{Content: text}}, Until: at}
	}
	past := until("The rent is 700.", time.Date(2020, 3, 2, 0, 0, 0, 0, time.UTC))
	present := until("The rent is 800.", time.Date(next, 1, 1, 0, 0, 0, 0, time.UTC))
	want := present.Until.Format("until 2 January 2006: ") + "The rent is 800.; before 2 March 2020: The rent is 700."
	if got := replaces([]record.Past{past, present}, time.UTC); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
