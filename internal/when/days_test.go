package when

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Days of a month in lists and ranges are all of them, whether its name comes before or after.
func TestDays(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"The exams will be on 12 or 13 December.":           "2026-12-12 2026-12-13",
		"We met on 3, 4, and 5 May.":                        "2026-05-03/2026-05-05",
		"We met on 3-5 and 9 May.":                          "2026-05-03/2026-05-05 2026-05-09",
		"We met on 3, 4 and 9 May 2025.":                    "2025-05-03/2025-05-04 2025-05-09",
		"It was on May 3rd, 4th or 9th.":                    "2026-05-03 2026-05-04 2026-05-09",
		"The clinic opens on the 12th, 13th & 15th of June": "2027-06-12/2027-06-13 2027-06-15",
		"We met on the 3rd and the 5th of June 2025.":       "2025-06-03 2025-06-05",
		"Rui was away from the 3rd to the 5th of June.":     "2026-06-03/2026-06-05",
		"Rui is away May 3 through 5.":                      "2027-05-03/2027-05-05",
		"It rained on 2–4, 9 and 11–13 October.":            "2026-10-02/2026-10-04 2026-10-09 2026-10-11/2026-10-13",
		"The trip was moved from 3 to 5 May.":               "2027-05-03 2027-05-05",
		"It was between 3 and 5 May 2025.":                  "2025-05-03/2025-05-05",
		"On June 3 and 5 Ana sang.":                         "2026-06-03 2026-06-05",
		"On June 3 and 4 people came.":                      "2026-06-03",
		"On June 30 and 31 Ana sang.":                       "2026-06-30",
		"On June 3, 5 people came.":                         "2026-06-03",
		"In May 3-5 people came.":                           "2026-05",
		"On 9 and 3 May it rained.":                         "2026-05-03",
		"In rooms 4, 5 and 31 February is on the wall.":     "",
		"Options 2 and 3 may be wrong.":                     "",
		"Option 3 may have failed.":                         "",
		"Cut from backup-17-Nov-2026, standup-nov9":         "",
		"The invoice of 17-Nov-2025 is paid.":               "2025-11-17",
		"It was in Nov-2025, or early-february-2026":        "2025-11 2026-02-01/2026-02-09",
		"It was dropped on Dec. 3 and is no longer there.":  "2025-12-03",
		"Steps 3 to 5 may fail.":                            "",
		"We met on 3 may at the bakery, then on 9 may":      "2026-05-03 2026-05-09",
		"We met on 2 and on 9 December 2025.":               "2025-12-02 2025-12-09",
		"3 May, 9 June and 2 July 2025 were holidays.":      "2025-05-03 2025-06-09 2025-07-02",
		"We sang on Monday, Tuesday and Thursday last week": "2026-11-16 2026-11-17 2026-11-19",
		"The council meets on Monday the 30th.":             "2026-11-30",
		"We closed the deal on Friday the 13th.":            "2026-11-13",
		"We met on Friday, 3rd floor.":                      "2026-11-20",
		"The rent rose on the 1st of last month.":           "2026-10-01",
		"The 2nd of this month was a Monday.":               "2026-11-02",
		"The rent is due on the 1st of each month.":         "",
		"The rent is due on the 1st of the month.":          "",
	} {
		if diff := cmp.Diff(want, isoOf(InText(text, wednesday(t)))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
	for text, want := range map[string]string{
		"What did we do on 12 or 13 December 2025?": "2025-12-12 2025-12-13",
		"What did we do on 4, 5 and 8 March?":       "2026-03-04/2026-03-05 2026-03-08",
		"What is there on 20 or 22 May?":            "2027-05-20 2027-05-22",
		"Where was Ana before 3 and 5 May?":         "../2026-05-03 ../2026-05-05",
	} {
		if diff := cmp.Diff(want, isoOf(asked(text, wednesday(t)))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}
