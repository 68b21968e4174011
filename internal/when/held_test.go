package when

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// These were written after the rules, and held back.
var (
	heldTexts = map[string]string{
		"Profits rose in the last two quarters of 2024.":                 "2024-07-01/2024-12-31",
		"The builders came in the first three weeks of April.":           "2026-04-01/2026-04-21",
		"I read twelve books in the last six months of 2025.":            "2025-07-01/2025-12-31",
		"The cat went missing in the last days of January.":              "2026-01-29/2026-01-31",
		"We had guests on the first weekend in August 2025.":             "2025-08-02/2025-08-03",
		"The second week of May 2024 was stormy.":                        "2024-05-08/2024-05-14",
		"The last hour of the exam was tough.":                           "",
		"The next month of the project is for tests.":                    "",
		"The final chapter of the book is dull.":                         "",
		"In the last minute of the match we scored.":                     "",
		"The first ten days of the diet were awful.":                     "",
		"Autumn two years ago we planted the vines.":                     "2024-09-01/2024-11-30",
		"We met three winters ago.":                                      "2023-12-01/2024-02-29",
		"Two weekends ago Ana fell off her bike.":                        "2026-11-14/2026-11-15",
		"My sister works in Braga since September.":                      "2026-09",
		"The lift is broken since Thursday.":                             "2026-11-19",
		"The heating has been off since the beginning of the month.":     "2026-11-01/2026-11-10",
		"She will have been here since December.":                        "2025-12",
		"He is on sick leave since 2 December.":                          "2025-12-02",
		"June and July 2024 were very hot.":                              "2024-06-01/2024-07-31",
		"In January and March 2025 the rent was late.":                   "2025-01 2025-03",
		"The summer and winter of 2024 were dry.":                        "2024-06-01/2024-08-31 2024-12-01/2025-02-28",
		"February, March and April 2025 were slow.":                      "2025-02-01/2025-04-30",
		"It was painted in May or June 2025.":                            "2025-05 2025-06",
		"The report for the fourth quarter of last year is late.":        "2025-10-01/2025-12-31",
		"In H2 2024 we hired nine people.":                               "2024-07-01/2024-12-31",
		"In the 3rd week of 2026 the server failed.":                     "2026-01-12/2026-01-18",
		"The wedding is on the Saturday after next.":                     "2026-12-05",
		"Ana leaves the month after next.":                               "2027-01",
		"We launched in mid-October.":                                    "2026-10-11/2026-10-20",
		"Sales began in late-2024.":                                      "2024-09-01/2024-12-31",
		"The train left yesterday at quarter past six.":                  "2026-11-24T18:15",
		"We met on Monday at half past ten in the morning.":              "2026-11-23T10:30",
		"The alarm rang at twenty to seven yesterday.":                   "2026-11-24T06:40",
		"Her office is on March Avenue.":                                 "",
		"The corner of June Road and 4 July Lane was flooded on Monday.": "2026-11-23",
		"Our spring 2026 brochure is printed.":                           "",
		"I like my Summer 2023 playlist.":                                "",
		"Spring 2026 was mild and wet.":                                  "2026-03-01/2026-05-31",
		"June is my sister.":                                             "",
		"April said that Augustus may come.":                             "",
		"They march on for an hour.":                                     "",
		"The market runs from early December to mid-January.":            "2026-12-01/2027-01-20",
		"The strike lasted from late May to early June.":                 "2026-05-21/2026-06-10",
		"The show runs from 5 May to 9 June.":                            "2027-05-05/2027-06-09",
		"The show ran from 5 May to 9 June.":                             "2026-05-05/2026-06-09",
		"I was in Rome from December to February.":                       "2025-12-01/2026-02-28",
		"The pool is open from May to September.":                        "2027-05-01/2027-09-30",
		"In the last week of the course Ana left.":                       "",
		"Rui's last day at work was Friday.":                             "2026-11-20",
	}
	heldQuestions = map[string]string{
		"How was the last month of summer?":                "2026-08",
		"What did we spend in the first half of 2025?":     "2025-01-01/2025-06-30",
		"was the leak in june or july?":                    "2026-06 2026-07",
		"Who visited in May and June 2025?":                "2025-05-01/2025-06-30",
		"What did I weigh before last winter?":             "../2025-12-01",
		"Who lived here before 2020?":                      "../2020-01-01",
		"What did we do until mid-August?":                 "../2026-08-21",
		"What has happened since the first week of March?": "2026-03-01/..",
		"What did we do two autumns ago?":                  "2024-09-01/2024-11-30",
		"Who came in the last ten days of October?":        "2026-10-22/2026-10-31",
		"Where is the shop in Sunday Street?":              "",
		"what comes in the next week of the course?":       "",
		"What was said in the third quarter of 2025?":      "2025-07-01/2025-09-30",
		"Who called the weekend before last?":              "2026-11-14/2026-11-15",
	}
	heldArguments = map[string]string{
		"the first quarter of 2026":         "2026-01-01/2026-03-31",
		"the last weekend of August":        "2026-08-29/2026-08-30",
		"the last five days of last month":  "2026-10-27/2026-10-31",
		"spring two years ago":              "2024-03-01/2024-05-31",
		"since the end of May":              "2026-05-21/2026-05-31",
		"since Monday":                      "2026-11-23",
		"in December":                       "2025-12",
		"next December":                     "2026-12",
		"December 2027":                     "2027-12",
		"May and June 2025":                 "2025-05-01/2025-06-30",
		"second half of next year":          "2027-07-01/2027-12-31",
		"H1 last year":                      "2025-01-01/2025-06-30",
		"the 2nd week of 2025":              "2025-01-06/2025-01-12",
		"the year after next":               "2028",
		"early-August":                      "2026-08-01/2026-08-10",
		"quarter to nine yesterday":         "2026-11-24T08:45",
		"on Monday at quarter past four":    "2026-11-23T16:15",
		"from 3 May to 7 June":              "2026-05-03/2026-06-07",
		"the last week of the course":       "",
		"the first two weeks of the season": "",
		"June Street":                       "",
		"the sixth quarter of 2025":         "",
	}
)

func TestHeldBack(t *testing.T) {
	t.Parallel()
	now := wednesday(t)
	right, count := 0, 0
	check := func(text, want, got string) {
		count++
		if want == got {
			right++
			return
		}
		t.Errorf("%q (-want +got):\n%s", text, cmp.Diff(want, got))
	}
	for text, want := range heldTexts {
		check(text, want, isoOf(InText(text, now)))
	}
	for text, want := range heldQuestions {
		check(text, want, isoOf(asked(text, now)))
	}
	for text, want := range heldArguments {
		spans, _ := ParseEvent(text, "It is painted.", now)
		check(text, want, isoOf(spans))
	}
	t.Logf("%d of %d", right, count)
}
