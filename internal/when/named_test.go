package when

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// wednesday is the time of these tests: Wednesday 25 November 2026, 14:30 in Lisbon.
func wednesday(t *testing.T) time.Time {
	t.Helper()
	return in(t, "Europe/Lisbon", "2026-11-25T14:30")
}

// The rules were made with these.
var (
	partsInTexts = map[string]string{
		"Sales fell in the last quarter of 2025.":               "2025-10-01/2025-12-31",
		"We lived in Faro for the last three months of 2025.":   "2025-10-01/2025-12-31",
		"The last month of 2024 was cold.":                      "2024-12",
		"It rained in the last week of March.":                  "2026-03-25/2026-03-31",
		"We spent the first ten days of July in Porto.":         "2026-07-01/2026-07-10",
		"Ana was away for the first two weeks of July.":         "2026-07-01/2026-07-14",
		"Ana was away for the last two weeks of July.":          "2026-07-18/2026-07-31",
		"The last ten days of September were dry.":              "2026-09-21/2026-09-30",
		"We went hiking on the last weekend in May.":            "2026-05-30/2026-05-31",
		"The next two weeks of the course are about Go.":        "",
		"The last day of the course was fun.":                   "",
		"Last Friday of the course we all cooked.":              "",
		"The last two weeks before the exam were hard.":         "",
		"We bought the boat in summer three years ago.":         "2023-06-01/2023-08-31",
		"The roof leaked in winter two years ago.":              "2024-12-01/2025-02-28",
		"Two summers ago we sailed to Madeira.":                 "2025-06-01/2025-08-31",
		"In March two years ago the shop closed.":               "2024-03",
		"Three Fridays ago the boiler broke.":                   "2026-11-06",
		"Rui works for Acme since March.":                       "2026-03",
		"Ana is ill since Monday.":                              "2026-11-23",
		"Rui has been ill since the end of October.":            "2026-10-21/2026-10-31",
		"The lift is out of order since the first half of May.": "2026-05-01/2026-05-15",
		"Since Monday is a holiday, the shop will be closed.":   "2026-11-30",
		"Since his move in March Rui takes the train.":          "2026-03",
		"October and November 2025 were wet.":                   "2025-10-01/2025-11-30",
		"We were in Faro in October and November 2025.":         "2025-10-01/2025-11-30",
		"The spring and autumn of 2025 were busy.":              "2025-03-01/2025-05-31 2025-09-01/2025-11-30",
		"March and June 2025 were the best months.":             "2025-03 2025-06",
		"He visited on 3 March and 5 April 2025.":               "2025-03-03 2025-04-05",
		"The move took place in August or September 2024.":      "2024-08 2024-09",
		"March to May 2025 was quiet.":                          "2025-03-01/2025-05-31",
		"The budget is due in the first quarter of next year.":  "2027-01-01/2027-03-31",
		"Revenue doubled in the third quarter of 2025.":         "2025-07-01/2025-09-30",
		"H1 2025 was better than H2 2025.":                      "2025-01-01/2025-06-30 2025-07-01/2025-12-31",
		"The audit was in the 40th week of 2025.":               "2025-09-29/2025-10-05",
		"We leave on the weekend after next.":                   "2026-12-12/2026-12-13",
		"Rui moved in late-September.":                          "2026-09-21/2026-09-30",
		"The launch was in early-2025.":                         "2025-01-01/2025-04-30",
		"The lecture was yesterday at half past nine.":          "2026-11-24T09:30",
		"The call was at quarter to ten on Monday.":             "2026-11-23T09:45",
		"The call was at ten past nine yesterday.":              "2026-11-24T09:10",
		"The bakery is at the end of May Street.":               "",
		"The end of May Street is closed.":                      "",
		"He lives on 5 October Avenue.":                         "",
		"Winter 2025 tyres are in the cellar.":                  "",
		"Winter 2025 was mild.":                                 "2025-12-01/2026-02-28",
		"May is Ana's niece.":                                   "",
		"They march to the station.":                            "",
		"March to the station and wait.":                        "",
		"March or April is fine.":                               "2027-03 2027-04",
		"April and June came to dinner.":                        "",
		"The fair runs from mid-June to mid-July.":              "2027-06-11/2027-07-20",
		"The fair runs from mid-March to mid-April.":            "2027-03-11/2027-04-20",
		"The fair ran from mid-March to mid-April.":             "2026-03-11/2026-04-20",
		"They lived there from October to March.":               "2025-10-01/2026-03-31",
		"The course is from October to March.":                  "2026-10-01/2027-03-31",
		"This week of the course is about maps.":                "2026-11-23/2026-11-29",
		"In the last week in the office we celebrated.":         "2026-11-18/2026-11-25",
		"On Friday Bridge Street was closed.":                   "2026-11-20",
		"We met in the week after next.":                        "2026-12-07/2026-12-13",
		"The end of the third quarter of 2025 was a rush.":      "2025-09-01/2025-09-30",
		"Dinner was last night at nine o'clock.":                "2026-11-24T21:00",
		"The talk was on Monday at 8 in the evening.":           "2026-11-23T20:00",
		"Last week in 2025 planning we fell behind.":            "2026-11-16/2026-11-22 2025",
		"The first day of last week was a holiday.":             "2026-11-16",
		"The final week of August was hot.":                     "2026-08-25/2026-08-31",
		"Rui stayed from 3 March to 5 April.":                   "2026-03-03/2026-04-05",
		"The penultimate day of June was a Monday.":             "2026-06-29",
	}
	// Forms that came up when the first ones worked.
	moreInTexts = map[string]string{
		"The last third of October was cold.":                       "2026-10-21/2026-10-31",
		"Ana lives here since around March.":                        "2026-03",
		"Ana lives here since the weekend.":                         "2026-11-21/2026-11-22",
		"October/November 2025 was busy.":                           "2025-10-01/2025-11-30",
		"It rained in Sept. and Oct. 2025.":                         "2025-09-01/2025-10-31",
		"It rained in October 2024 and 2025.":                       "2024-10 2025-10",
		"In March, April and May 2025 we travelled.":                "2025-03-01/2025-05-31",
		"We were there in March, April and May.":                    "2026-03-01/2026-05-31",
		"We met on 3, 4 and 5 May 2025.":                            "2025-05-03/2025-05-05",
		"We worked in weeks 40 to 42 of 2025.":                      "2025-09-29/2025-10-19",
		"We lost money in the first and second quarter of 2025.":    "2025-01-01/2025-06-30",
		"It was in quarter 3 of 2025.":                              "2025-07-01/2025-09-30",
		"The course ran from last March to June.":                   "2026-03-01/2026-06-30",
		"The course ran from September 2024 to June.":               "2024-09-01/2025-06-30",
		"From June to August we are in Faro.":                       "2027-06-01/2027-08-31",
		"A letter from April to June.":                              "",
		"Last year in March we met.":                                "2025-03",
		"In the last two weeks of August the office is empty.":      "2027-08-18/2027-08-31",
		"Last year in summer we met.":                               "2025-06-01/2025-08-31",
		"Last year on Monday evenings we sang.":                     "2025",
		"Last year on the first Monday of March we met.":            "2025-03-03",
		"Last year on Friday 3 May we met.":                         "2025-05-03",
		"This year on Monday we met.":                               "2026 2026-11-23",
		"The report is due on the first Monday of the quarter.":     "",
		"The pool is closed from November to May.":                  "2026-11-01/2027-05-31",
		"In winter 2024 but not later we skied.":                    "2024-12-01/2025-02-28",
		"NATS runs since 16 November on a new machine.":             "2026-11-16",
		"The trip takes place from mid-June to mid-July.":           "2027-06-11/2027-07-20",
		"Summer 2024 too was hot.":                                  "2024-06-01/2024-08-31",
		"We crossed the April 25 Bridge.":                           "",
		"He retired in autumn, three years ago.":                    "2023-09-01/2023-11-30",
		"Dinner is this evening at nine.":                           "2026-11-25T21:00",
		"The first weeks of August were hot.":                       "2026-08-01/2026-08-21",
		"We met the weekend after that.":                            "",
		"The first three months of next year are for training.":     "2027-01-01/2027-03-31",
		"The second half of the third quarter of 2025 was quiet.":   "2025-08-16/2025-09-30",
		"He left a quarter to ten people, and half past nine came.": "",
		"In the first quarter of the game we lost.":                 "",
		"In March, April called.":                                   "2026-03",
	}
	partsInQuestions = map[string]string{
		"what did we sell in the last quarter of 2025?":    "2025-10-01/2025-12-31",
		"Was it in August or September?":                   "2026-08 2026-09",
		"August or September?":                             "2026-08 2026-09",
		"what did we do in the spring and autumn of 2025?": "2025-03-01/2025-05-31 2025-09-01/2025-11-30",
		"where did Ana live before last summer?":           "../2026-06-01",
		"what did we buy before mid-June?":                 "../2026-06-11",
		"what did we discuss before March?":                "../2026-03-01",
		"where was Rui until the end of October?":          "../2026-11-01",
		"what is due before Friday?":                       "2026-11-25/2026-11-26",
		"what did we do the week before 3 May?":            "",
		"who called two weekends ago?":                     "2026-11-14/2026-11-15",
		"what did I do at the end of the summer?":          "2026-08-01/2026-08-31",
		"what is planned for the weekend after next?":      "2026-12-12/2026-12-13",
		"what happened in week 40 of 2025?":                "2025-09-29/2025-10-05",
		"where are the winter 2025 tyres?":                 "",
		"who lives in May Street?":                         "",
		"what has Rui done since March?":                   "2026-03-01/..",
		"what happened summer three years ago?":            "2023-06-01/2023-08-31",
		"who came before the end of October?":              "../2026-11-01",
		"did Ana leave in 2024 or 2025?":                   "2024 2025",
		"did Ana leave on Monday or Tuesday?":              "2026-11-23 2026-11-24",
		"was it in the first or second week of July?":      "2026-07-01/2026-07-14",
		"where was ana from march to may?":                 "2026-03-01/2026-05-31",
		"what was our revenue in H1?":                      "2026-01-01/2026-06-30",
		"Did we go in spring or autumn?":                   "2026-03-01/2026-05-31 2026-09-01/2026-11-30",
		"who called two weekends before 17 July 2023?":     "",
		"who called the day after 3 May?":                  "2026-05-04",
		"is there a march to the station?":                 "",
	}
	partsAsArguments = map[string]string{
		"the last quarter of 2025":      "2025-10-01/2025-12-31",
		"last three months of 2025":     "2025-10-01/2025-12-31",
		"the last month of 2024":        "2024-12",
		"the last two weeks of July":    "2026-07-18/2026-07-31",
		"winter two years ago":          "2024-12-01/2025-02-28",
		"two summers ago":               "2025-06-01/2025-08-31",
		"since March":                   "2026-03",
		"October and November 2025":     "2025-10-01/2025-11-30",
		"the spring and autumn of 2025": "2025-03-01/2025-05-31 2025-09-01/2025-11-30",
		"first quarter of next year":    "2027-01-01/2027-03-31",
		"the third quarter of 2025":     "2025-07-01/2025-09-30",
		"H2 2025":                       "2025-07-01/2025-12-31",
		"the 40th week of 2025":         "2025-09-29/2025-10-05",
		"weekend after next":            "2026-12-12/2026-12-13",
		"before mid-June":               "2026-06-11/2026-06-20",
		"before last summer":            "2026-06-01/2026-08-31",
		"late-September":                "2026-09-21/2026-09-30",
		"early-2025":                    "2025-01-01/2025-04-30",
		"mid-March":                     "2026-03-11/2026-03-20",
		"half past nine yesterday":      "2026-11-24T09:30",
		"yesterday at quarter to ten":   "2026-11-24T09:45",
		"from March to May 2025":        "2025-03-01/2025-05-31",
		"noon yesterday":                "2026-11-24T12:00",
		"next March":                    "2027-03",
		"in the summer":                 "2026-06-01/2026-08-31",
		"first half 2025":               "2025-01-01/2025-06-30",
		"40th week 2025":                "2025-09-29/2025-10-05",
		"ever since March":              "2026-03",
		"yesterday at 9.30":             "2026-11-24T09:30",
		"nine o'clock yesterday":        "2026-11-24T09:00",
		"the last day of the course":    "",
		"half past nine":                "",
		"may street":                    "",
		"last three months of March":    "",
		"the fifth quarter of 2025":     "",
	}
)

func TestPartsInTexts(t *testing.T) {
	t.Parallel()
	for _, list := range []map[string]string{partsInTexts, moreInTexts} {
		for text, want := range list {
			if diff := cmp.Diff(want, isoOf(InText(text, wednesday(t)))); diff != "" {
				t.Errorf("%q (-want +got):\n%s", text, diff)
			}
		}
	}
}

func TestPartsInQuestions(t *testing.T) {
	t.Parallel()
	for text, want := range partsInQuestions {
		if diff := cmp.Diff(want, isoOf(asked(text, wednesday(t)))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func TestPartsAsArguments(t *testing.T) {
	t.Parallel()
	for text, want := range partsAsArguments {
		spans, err := ParseEvent(text, "Rui works there.", wednesday(t))
		if diff := cmp.Diff(want, isoOf(spans)); diff != "" || (want == "") != (err != nil) {
			t.Errorf("%q: %v (-want +got):\n%s", text, err, diff)
		}
	}
}
