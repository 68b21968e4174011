package when

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// All of a year, ranges of years, and decades.
func TestYearsAndDecades(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"The renovation took all of 2022.":              "2022",
		"We spent most of March in Lagos.":              "2026-03",
		"She lived in Rome throughout 2019.":            "2019",
		"It rained throughout May.":                     "2026-05",
		"He ran the shop between 2015 and 2018.":        "2015-01-01/2018-12-31",
		"Sales 2019–2021 were flat.":                    "2019-01-01/2021-12-31",
		"He ruled (1990-2001).":                         "1990-01-01/2001-12-31",
		"In 2019, 2021 and 2023 we moved.":              "2019 2021 2023",
		"Between March 2024 and 2025 we paid less.":     "2024-03-01/2025-12-31",
		"The boiler was serviced in Feb. '24.":          "2024-02",
		"We moved here in the autumn of ’98.":           "1998-09-01/1998-11-30",
		"In '98 he moved.":                              "1998",
		"He toured a lot in the 2010s.":                 "2010-01-01/2019-12-31",
		"The early 2000s were fun.":                     "2000-01-01/2003-04-30",
		"They have lived here since the nineties.":      "1990-01-01/1999-12-31",
		"The house is from the 1860s.":                  "1860-01-01/1869-12-31",
		"Prices fell in the late '90s.":                 "1996-09-01/1999-12-31",
		"They met in the mid-nineties.":                 "1993-05-01/1996-08-31",
		"At the end of the nineties they moved.":        "1996-09-01/1999-12-31",
		"From the 1960s to the 1980s it was a mill.":    "1960-01-01/1989-12-31",
		"In the 60s and 70s he sang.":                   "1960-01-01/1979-12-31",
		"In the 1920s jazz was new.":                    "1920-01-01/1929-12-31",
		"The 1990s music was fun.":                      "",
		"The timeout is 2000s.":                         "",
		"She is in her early thirties.":                 "",
		"He is in his 70s.":                             "",
		"The twenties were wild.":                       "", // of which century
		"The mill is from the 1700s.":                   "", // a century
		"Ports 2000-2010 are open, call 1990-2001-7.":   "",
		"The series '24 hours' is long, all of 12 days": "",
		"all of 2019 customers":                         "",
	} {
		if diff := cmp.Diff(want, isoOf(InText(text, wednesday(t)))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
	for text, want := range map[string]string{
		"where did we live in the 2010s?":          "2010-01-01/2019-12-31",
		"what has Rui sung since the nineties?":    "1990-01-01/..",
		"who lived here before the 1990s?":         "../1990-01-01",
		"what did Ana do throughout 2019?":         "2019",
		"where did we go in 2019, 2021 or 2023?":   "2019 2021 2023",
		"what changed after the 15th of October?":  "2026-10-16/..",
		"which songs did they play in the '80s?":   "1980-01-01/1989-12-31",
		"what happened after the end of the 1980s": "1990-01-01/..",
	} {
		if diff := cmp.Diff(want, isoOf(asked(text, wednesday(t)))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}
