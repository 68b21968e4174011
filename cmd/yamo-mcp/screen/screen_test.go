package screen

import (
	"io"
	"testing"
	"time"
)

func TestTimesAreInTheZone(t *testing.T) {
	t.Parallel()
	s := New(io.Discard, io.Discard, func(string) string { return "" })
	s.Zone = time.FixedZone("far east", 14*60*60)
	at := time.Date(2026, 1, 31, 20, 0, 0, 0, time.UTC)
	if got := s.Day(at); got != "2026-02-01" {
		t.Errorf("the day is %s", got)
	}
	if got := s.Stamp(at); got != "2026-02-01 10:00:00" {
		t.Errorf("the time is %s", got)
	}
}
