package when

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A weekday before a noun is a date only if the noun is something that takes place on it.
func TestWeekdaysOfThings(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"The Friday cocktail was invented there.":          "",
		"The Monday blues are real.":                       "",
		"Sunday roast is her favourite.":                   "",
		"Rui is a Tuesday person.":                         "",
		"The Sunday Times reviewed our app.":               "",
		"The Monday app costs 9 euros a seat.":             "",
		"The Wednesday menu has fish.":                     "",
		"She wore her Sunday best.":                        "",
		"Friday traffic was terrible.":                     "",
		"The Friday meetings are long.":                    "",
		"Our weekly Friday call is too long.":              "",
		"Casual Friday is a stupid idea.":                  "",
		"On Easter Monday we hiked.":                       "",
		"The paper by Sun and Mon et al. 2019 is good.":    "",
		"The Friday meeting was moved.":                    "2026-11-20",
		"The Friday budget review was short.":              "2026-11-20",
		"The Friday deadline is tight.":                    "2026-11-27",
		"The Monday stand-up was short.":                   "2026-11-23",
		"Ana's Tuesday class was fun.":                     "2026-11-24",
		"Friday's demo went well.":                         "2026-11-20",
		"Sunday lunch was at Rita's.":                      "2026-11-22",
		"On Friday traffic was terrible.":                  "2026-11-20",
		"Monday works for me.":                             "2026-11-23",
		"Is Thursday free?":                                "2026-11-26",
		"Meet me Friday, please.":                          "2026-11-27",
		"The Friday last week was a holiday.":              "2026-11-20",
		"The Tuesday night show sold out.":                 "2026-11-24",
		"We dance on Thu, Fri and Sat next week.":          "2026-12-03 2026-12-04 2026-12-05",
		"They offer the Sunday boat instead.":              "2026-11-22",
		"Mon and Fri are French for my and nothing.":       "",
		"Call Ana Friday instead of Marta.":                "2026-11-27",
		"We meet at the station on Thu and Fri next week.": "2026-12-03 2026-12-04",
	} {
		if diff := cmp.Diff(want, isoOf(InText(text, wednesday(t)))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
	for text, want := range map[string]string{
		"what is on the Friday menu?":               "",
		"what did we decide in the Friday meeting?": "2026-11-20",
	} {
		if diff := cmp.Diff(want, isoOf(asked(text, wednesday(t)))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}
