package viewer

import "testing"

func TestEventDate(t *testing.T) {
	t.Parallel()
	for at, want := range map[string]string{
		"2026-11-25": "25 November 2026", "2026-11-25T11:00": "25 November 2026, 11:00", "2026-11": "November 2026",
		"2026": "2026", "": "", "2026-11-25T11:00:05Z": "2026-11-25T11:00:05Z",
		"in the spring of 2026": "in the spring of 2026",
	} {
		if got := eventDate(at); got != want {
			t.Errorf("%q is shown as %q, want %q", at, got, want)
		}
	}
}
