package when

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is counted from a date is another one.
func TestOffsets(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"The parcel came two days before 5 May 2025.": "2025-05-03",
		"The day after 3 May we left.":                "2026-05-04",
		"The Monday after 17 November we met.":        "2026-11-23",
		"We met on the Friday before 3 May 2025.":     "2025-05-02",
		"A week after 5 May 2025 the roof leaked.":    "2025-05-09/2025-05-15",
		"It rained for two days after 5 May 2025.":    "2025-05-05",
		"Two weeks before the exam we met.":           "",
		"The Friday after work was fun.":              "2026-11-20",
		"The rest of the week is free.":               "2026-11-25/2026-11-29",
		"The rest of May was warm.":                   "2026-05-01/2026-05-31",
		"The rest of us left.":                        "",
	} {
		if diff := cmp.Diff(want, isoOf(InText(text, wednesday(t)))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
	for text, want := range map[string]string{
		"what is on for the rest of the week?":         "2026-11-25/2026-11-29",
		"what did we do three days after 17 November?": "2026-11-20",
		"what did we do the week before 3 May?":        "",
		"what did we do two weekends after 3 May?":     "",
	} {
		if diff := cmp.Diff(want, isoOf(asked(text, wednesday(t)))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
	if got, err := Parse("two weeks before 5 May 2025", wednesday(t)); err != nil || got.ISO() != "2025-04-21" {
		t.Errorf("two weeks before 5 May 2025 is %s, %v", got.ISO(), err)
	}
}
