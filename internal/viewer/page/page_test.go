package page

import (
	"slices"
	"testing"
	"time"
)

func TestDiffLines(t *testing.T) {
	t.Parallel()
	got := diffLines("diff a b\n--- a\n+++ b\n@@ -17,2 +18,2 @@\n - same\n-- old\n+- new\n")
	want := []DiffLine{
		{Class: "where", Text: "from line 18"},
		{"same", "", " ", "- same"},
		{"removed", "removed", "−", "- old"},
		{"added", "added", "+", "- new"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("diffLines = %q, want %q", got, want)
	}
	if got := place("@@ -0,0 +1 @@"); got != "from line 1" {
		t.Errorf("of a diff with one line, place = %q", got)
	}
}

func TestStamp(t *testing.T) {
	t.Parallel()
	for at, want := range map[time.Time]string{
		time.Date(2026, 2, 14, 0, 0, 0, 0, time.UTC):   "14 February 2026",
		time.Date(2026, 2, 14, 0, 0, 0, 1, time.UTC):   "14 February 2026, 00:00",
		time.Date(2026, 2, 14, 19, 30, 0, 0, time.UTC): "14 February 2026, 19:30",
	} {
		if got := stamp(at); got != want {
			t.Errorf("stamp(%v) = %q, want %q", at, got, want)
		}
	}
}

func TestMoments(t *testing.T) {
	t.Parallel()
	lisbon := time.FixedZone("", 3600)
	for s, want := range map[string]string{
		"2026-11-20T10:00:00.000Z":                     "20 November 2026, 11:00",
		"already accepted at 2026-11-23T07:18:51.689Z": "already accepted at 23 November 2026, 08:18",
		"at 2026-99-23T07:18:51Z":                      "at 2026-99-23T07:18:51Z",
		"yesterday":                                    "yesterday",
	} {
		if got := Moments(s, lisbon); got != want {
			t.Errorf("Moments(%q) = %q, want %q", s, got, want)
		}
	}
}
