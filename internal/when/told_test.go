package when

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// These were written before their results were seen.
var (
	toldTexts = map[string]string{
		"The concert is on the evening of 3 December.":                           "2026-12-03",
		"We signed the lease on the 1st of this month.":                          "2026-11-01",
		"The rent rose on the 1st of last month.":                                "2026-10-01",
		"The inspection took place on 4 and 5 March, and again on 9 April 2026.": "2026-03-04/2026-03-05 2026-04-09",
		"Ana graduated in June of 2019.":                                         "2019-06",
		"Back in 2017 the shop was a bakery.":                                    "2017",
		"The warranty expires by the end of next month.":                         "2026-12-21/2026-12-31",
		"Exam week: 7–11 December.":                                              "2026-12-07/2026-12-11",
		"I have been vegetarian from 2015 on.":                                   "2015",
		"Dinner with Marta this Saturday at half past seven in the evening.":     "2026-11-28T19:30",
		"The strike began a fortnight ago.":                                      "2026-11-08/2026-11-14",
		"She was promoted in early 2024.":                                        "2024-01-01/2024-04-30",
		"The council meets on Monday the 30th.":                                  "2026-11-30",
		"We closed the deal on Friday the 13th.":                                 "2026-11-13",
		"Born on the 4th of July, 1976":                                          "1976-07-04",
		"The visa runs out on 2027-02-14.":                                       "2027-02-14",
		"The workshop is Thursday and Friday next week.":                         "2026-12-03 2026-12-04",
		"The roof was done on Sept 9th.":                                         "2026-09-09",
		"The exhibition closes Sunday.":                                          "2026-11-29",
		"Both trains were late on Monday morning and Tuesday evening.":           "2026-11-23 2026-11-24",
		"The twins were born in the night of 3 to 4 May 2021.":                   "2021-05-03/2021-05-04",
		"The sale lasts until 31 December.":                                      "2026-12-31",
		"The flat was empty from 10 Jan to 2 Feb.":                               "2026-01-10/2026-02-02",
		"The parcel came two days before 5 May 2025.":                            "2025-05-03",
		"The boiler was serviced in Feb '24.":                                    "2024-02",
		"We moved here in the autumn of '21.":                                    "2021-09-01/2021-11-30",
		"In the second week of Dec. the office closes.":                          "2026-12-08/2026-12-14",
		"Season tickets were on sale 1-15 October.":                              "2026-10-01/2026-10-15",
		"Call +351 21 9 16 12 for the dentist.":                                  "",
		"Options 2 and 3 may be wrong.":                                          "",
		"Sections 4, 5 and 6 may be skipped.":                                    "",
		"The museum is closed on Mondays.":                                       "",
		"The team plays on Saturday mornings.":                                   "",
		"The Sunday Times reviewed our app.":                                     "",
		"He is a Sunday driver.":                                                 "",
		"Our build took 2019 seconds.":                                           "",
		"Room 2024 has a projector.":                                             "",
		"The Monday app costs 9 euros a seat.":                                   "",
		"Casual Friday is a stupid idea.":                                        "",
		"They won 3-5 in overtime.":                                              "",
		"He said: march 10 km before breakfast.":                                 "",
		"Model 1999 in blue is sold out.":                                        "",
		"We open on weekdays from 9 to 17.":                                      "",
		"Sun, sand and sea for a week.":                                          "",
		"The first of many steps was hard.":                                      "",
		"The kiln was fired on 6, 7 and 11 October.":                             "2026-10-06/2026-10-07 2026-10-11",
		"Choose 8 or 9 January for the photo session.":                           "2027-01-08 2027-01-09",
		"The road was closed 14–16 and 20 August 2025.":                          "2025-08-14/2025-08-16 2025-08-20",
		"July 1st, 2nd & 8th 2025 were the hottest days.":                        "2025-07-01/2025-07-02 2025-07-08",
		"The choir performs on the 5th, 12th and 19th of December.":              "2026-12-05 2026-12-12 2026-12-19",
		"Nuno had shifts on 1 and 2 November, and on 7 November.":                "2026-11-01/2026-11-02 2026-11-07",
		"The Thursday yoga class was full.":                                      "2026-11-19",
		"Our Tuesday release broke the login.":                                   "2026-11-24",
		"The Saturday soup is made of leftovers.":                                "",
		"A Sunday kind of love is her song.":                                     "",
		"The Friday playlist has too much jazz.":                                 "",
		"My Monday mood improves with coffee.":                                   "",
		"Thursday's rehearsal ran late.":                                         "2026-11-19",
		"Saturday breakfast with Rui was fun.":                                   "2026-11-21",
		"The Sunday paper is delivered late.":                                    "",
		"The Monday exam went badly.":                                            "2026-11-23",
		"Marta taught in Braga throughout 2016 and 2017.":                        "2016 2017",
		"The bridge repair took most of 2021.":                                   "2021",
		"Vinyl came back in the late 2010s.":                                     "2016-09-01/2019-12-31",
		"Between 1998 and 2003 Nuno lived in Macau.":                             "1998-01-01/2003-12-31",
		"The farm has been organic since the eighties.":                          "1980-01-01/1989-12-31",
		"The mid-2000s were good for the shop.":                                  "2003-05-01/2006-08-31",
		"The windows date from the 1930s.":                                       "1930-01-01/1939-12-31",
		"Grandpa is in his eighties.":                                            "",
		"Temperatures stayed below 40s for weeks.":                               "",
		"Steps 3 to 5 may fail.":                                                 "",
		"The invoice is dated the 28th of last month.":                           "2026-10-28",
		"Everything changed the day after 9 June 2025.":                          "2025-06-10",
		"The vet comes on 1 or 2 December.":                                      "2026-12-01 2026-12-02",
		"Ana fasted on March 5, 6 and 12.":                                       "2026-03-05/2026-03-06 2026-03-12",
		"The stall is booked for 28-30 November and 5 December.":                 "2026-11-28/2026-11-30 2026-12-05",
		"Invoices 7 and 8 may contain errors.":                                   "",
		"The Thursday pub is closed for good.":                                   "",
		"Our Saturday swim was cold.":                                            "2026-11-21",
		"The Wednesday group has new members.":                                   "",
		"Tuesday's vote failed.":                                                 "2026-11-24",
		"Her Sunday dress is red.":                                               "",
		"The Friday flight was delayed.":                                         "2026-11-20",
		"Oil was cheap throughout the 1990s.":                                    "1990-01-01/1999-12-31",
		"We renovated for all of 2020.":                                          "2020",
		"Disco peaked in the late seventies.":                                    "1976-09-01/1979-12-31",
		"Turnover 2022-2024 doubled.":                                            "2022-01-01/2024-12-31",
		"The dog was born in the early 2010s.":                                   "2010-01-01/2013-04-30",
		"She turned thirty in 2004.":                                             "2004",
		"The heater failed on Tuesday the 17th.":                                 "2026-11-17",
		"Pay by the 5th of next month.":                                          "2026-12-05",
		"Three days after 1 June 2025 the pump died.":                            "2025-06-04",
		"He sold the car in Aug '23.":                                            "2023-08",
		"The Tuesday crossword is easy.":                                         "",
	}
	toldQuestions = map[string]string{
		"what did we do on 4, 5 and 8 March?":              "2026-03-04/2026-03-05 2026-03-08",
		"which bugs did we fix between 9 and 13 November?": "2026-11-09/2026-11-13",
		"what happened in the first week of this month?":   "2026-11-01/2026-11-07",
		"what changed after the 15th of October?":          "2026-10-16/..",
		"what is on for the rest of the week?":             "2026-11-25/2026-11-29",
		"what have I read so far this year?":               "2026",
		"what did Ana say the other day?":                  "",
		"what are we doing the day after tomorrow?":        "2026-11-27",
		"who was the boss before 2020?":                    "../2020-01-01",
		"what did we spend in Q1 and Q2 of 2026?":          "2026-01-01/2026-06-30",
		"what did we bake on 6 or 7 October?":              "2026-10-06 2026-10-07",
		"what was built in the 1970s?":                     "1970-01-01/1979-12-31",
		"what did Nuno do between 1998 and 2003?":          "1998-01-01/2003-12-31",
		"what does the Saturday soup contain?":             "",
		"who came to the Thursday workshop?":               "2026-11-19",
		"what did they record in the seventies?":           "1970-01-01/1979-12-31",
		"what was on the Thursday agenda?":                 "",
		"what did we plant on 3, 4 and 10 April?":          "2026-04-03/2026-04-04 2026-04-10",
		"who led the team between 2012 and 2016?":          "2012-01-01/2016-12-31",
		"what did we order the day before 3 May?":          "2026-05-02",
	}
	toldArguments = map[string]string{
		"start of the year":                      "2026-01-01/2026-04-30",
		"1 Jan":                                  "2026-01-01",
		"the day before yesterday":               "2026-11-23",
		"Monday and Tuesday":                     "2026-11-23 2026-11-24",
		"2025-03-04, 2025-03-11":                 "2025-03-04 2025-03-11",
		"2026-07-04T09:00:00+02:00":              "2026-07-04T08:00",
		"end of 2024":                            "2024-09-01/2024-12-31",
		"12/2025":                                "2025-12",
		"today at 8am":                           "2026-11-25T08:00",
		"Tuesday, 3 March 2026, 15:30":           "2026-03-03T15:30",
		"15 to 18 of March 2026":                 "2026-03-15/2026-03-18",
		"early last month":                       "2026-10-01/2026-10-10",
		"from 2019 to 2021":                      "2019-01-01/2021-12-31",
		"summer of '09":                          "2009-06-01/2009-08-31",
		"5, 12 and 19 December 2026":             "2026-12-05 2026-12-12 2026-12-19",
		"3 March and 9 June 2026":                "2026-03-03 2026-06-09",
		"between 1998 and 2003":                  "1998-01-01/2003-12-31",
		"the late 1980s":                         "1986-09-01/1989-12-31",
		"2026-01-05; 2026-01-12; 2026-01-19":     "2026-01-05 2026-01-12 2026-01-19",
		"March, June and September 2025":         "2025-03 2025-06 2025-09",
		"whenever":                               "",
		"7 or 8 June 2026":                       "2026-06-07 2026-06-08",
		"the sixties":                            "1960-01-01/1969-12-31",
		"Jan 5, Jan 12 and Jan 19, 2026":         "2026-01-05 2026-01-12 2026-01-19",
		"2019, 2021":                             "2019 2021",
		"yesterday and the day before yesterday": "2026-11-24 2026-11-23",
		"March 2025 and sometime":                "",
	}
)

func TestToldTimes(t *testing.T) {
	t.Parallel()
	now := wednesday(t)
	for _, test := range []struct {
		rows map[string]string
		read func(string) []Span
	}{
		{toldTexts, func(text string) []Span { return InText(text, now) }},
		{toldQuestions, func(text string) []Span { return asked(text, now) }},
		{toldArguments, func(text string) []Span {
			spans, _ := ParseEvent(text, "Rui works there.", now)
			return spans
		}},
	} {
		for text, want := range test.rows {
			if diff := cmp.Diff(want, isoOf(test.read(text))); diff != "" {
				t.Errorf("%q (-want +got):\n%s", text, diff)
			}
		}
	}
}
