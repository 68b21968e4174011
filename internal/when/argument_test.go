package when

import (
	"errors"
	"testing"
	"time"
)

// What happened several times is told as texts tell it, or as it is answered.
func TestParseEventSeveral(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2 and 9 December 2026":                    "2026-12-02 2026-12-09",
		"12 or 13 December 2025":                   "2025-12-12 2025-12-13",
		"on 2 and on 9 December 2026":              "2026-12-02 2026-12-09",
		"2, 9 and 16 December":                     "2025-12-02 2025-12-09 2025-12-16",
		"2025-03-04, 2025-03-11":                   "2025-03-04 2025-03-11",
		"2025-03-04 and 2025-03-11":                "2025-03-04 2025-03-11",
		"2025-03 2025-06":                          "2025-03 2025-06",
		"2025-09-29/2025-10-05 2025-12-01":         "2025-09-29/2025-10-05 2025-12-01",
		"3 May 2025; 4 June 2025":                  "2025-05-03 2025-06-04",
		"3 May, 9 June, and 2 July 2025":           "2025-05-03 2025-06-09 2025-07-02",
		"Monday, Wednesday and Friday":             "2026-11-16 2026-11-18 2026-11-20",
		"last week and yesterday":                  "2026-11-16/2026-11-22 2026-11-24",
		"all of 2022":                              "2022",
		"throughout last year":                     "2025",
		"2015-2018":                                "2015-01-01/2018-12-31",
		"the nineties":                             "1990-01-01/1999-12-31",
		"90s":                                      "1990-01-01/1999-12-31",
		"early 2000s":                              "2000-01-01/2003-04-30",
		"12/2025":                                  "2025-12",
		"summer of '09":                            "2009-06-01/2009-08-31",
		"3 May 2025, soon":                         "",
		"3 May 2025,":                              "",
		"2025-03-04 2025-03-99":                    "",
		"2025-03-11/2025-03-04 2025-03-20":         "",
		"the twenties":                             "",
		"1 2 3 May":                                "",
		"1, 3, 5, 7, 9, 11, 13, 15, 17 and 19 May": "",
	} {
		spans, err := ParseEvent(text, "Rui works there.", wednesday(t))
		if got := isoOf(spans); got != want || (want == "") != errors.Is(err, errEvent) {
			t.Errorf("ParseEvent(%q) = %s, %v; want %s", text, got, err, want)
		}
	}
}

// A limit is one time: the first of days that are named together, and not several dates.
func TestLimitsOfLists(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2 and 9 December 2025":  "2025-12-02",
		"the nineties":           "1990-01-01",
		"end of the 1990s":       "2000-01-01",
		"2025-03-04, 2025-03-11": "",
		"2025-03-04 2025-03-11":  "",
	} {
		got, err := ParseUntil(text, wednesday(t))
		if (want == "") != (err != nil) || err == nil && got.Format(time.DateOnly) != want {
			t.Errorf("ParseUntil(%q) = %s, %v; want %s", text, got, err, want)
		}
	}
}
