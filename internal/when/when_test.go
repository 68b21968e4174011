package when

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// friday is the time of the tests: Friday 20 November 2026, 14:30 in Lisbon.
func friday(t *testing.T) time.Time {
	t.Helper()
	return in(t, "Europe/Lisbon", "2026-11-20T14:30")
}

func in(t *testing.T, zone, moment string) time.Time {
	t.Helper()
	location, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	at, err := time.ParseInLocation(isoMinute, moment, location)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func isoOf(spans []Span) string {
	var list []string
	for _, s := range spans {
		switch {
		case s.To.IsZero():
			list = append(list, s.From.Format(time.DateOnly)+"/..")
		case s.From.IsZero():
			list = append(list, "../"+s.To.Format(time.DateOnly))
		default:
			list = append(list, s.ISO())
		}
	}
	return strings.Join(list, " ")
}

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2026-03-04":                "2026-03-04",
		"2026-03":                   "2026-03",
		"2026/03/04":                "2026-03-04",
		"2026-03-04T10:15":          "2026-03-04T10:15",
		"2026-03-04 10:15":          "2026-03-04T10:15",
		"2026-07-04T10:15:30Z":      "2026-07-04T11:15",
		"2026-07-04T10:15Z":         "2026-07-04T11:15",
		"2026-07-04T10:15:30-05:00": "2026-07-04T16:15",
		"17.11.2026":                "2026-11-17",
		"17/11/2026":                "2026-11-17",
		"11/17/2026":                "2026-11-17",
		"5/5/2026":                  "2026-05-05",
		"2024":                      "2024",
		"17 November":               "2026-11-17",
		"November 17th":             "2026-11-17",
		"the 17th of november":      "2026-11-17",
		"Nov 17, 2025":              "2025-11-17",
		"Nov. 17":                   "2026-11-17",
		"3 December":                "2025-12-03",
		"29 February":               "2024-02-29",
		"3-5 March":                 "2026-03-03/2026-03-05",
		"the 3rd":                   "2026-11-03",
		"march":                     "2026-03",
		"in March":                  "2026-03",
		"may 2025":                  "2025-05",
		"last March":                "2026-03",
		"today":                     "2026-11-20",
		"yesterday":                 "2026-11-19",
		"yesterday at 9":            "2026-11-19T09:00",
		"yesterday at 9:30 pm":      "2026-11-19T21:30",
		"yesterday, 21:30":          "2026-11-19T21:30",
		"yesterday morning":         "2026-11-19",
		"last tuesday at 3pm":       "2026-11-17T15:00",
		"the day before yesterday":  "2026-11-18",
		"last night":                "2026-11-19",
		"tuesday":                   "2026-11-17",
		"friday":                    "2026-11-20",
		"last friday":               "2026-11-13",
		"last tuesday":              "2026-11-17",
		"Last Tuesday.":             "2026-11-17",
		"since monday":              "2026-11-16",
		"Wednesday two weeks ago":   "2026-11-04",
		"tuesday of last week":      "2026-11-10",
		"last week on tuesday":      "2026-11-10",
		"Tuesday, 17 November":      "2026-11-17",
		"last week":                 "2026-11-09/2026-11-15",
		"this week":                 "2026-11-16/2026-11-22",
		"last weekend":              "2026-11-14/2026-11-15",
		"over the weekend":          "2026-11-14/2026-11-15",
		"since the weekend":         "2026-11-14/2026-11-15",
		"the weekend before last":   "2026-11-07/2026-11-08",
		"the week before last":      "2026-11-02/2026-11-08",
		"the month before last":     "2026-09",
		"the year before last":      "2024",
		"the Tuesday before last":   "2026-11-10",
		"friday before last":        "2026-11-06",
		"last month":                "2026-10",
		"this year":                 "2026",
		"last quarter":              "2026-07-01/2026-09-30",
		"Q3":                        "2026-07-01/2026-09-30",
		"q1 2025":                   "2025-01-01/2025-03-31",
		"two weeks ago":             "2026-11-06",
		"a week ago":                "2026-11-13",
		"3 days ago":                "2026-11-17",
		"a couple of months ago":    "2026-09-20",
		"two hours ago":             "2026-11-20T12:30",
		"a year ago":                "2025-11-20",
		"the last ten days":         "2026-11-10/2026-11-20",
		"the past week":             "2026-11-13/2026-11-20",
		"tomorrow":                  "2026-11-21",
		"in two weeks":              "2026-12-04",
		"next monday":               "2026-11-23",
	} {
		got, err := Parse(text, friday(t))
		if err != nil {
			t.Errorf("Parse(%q): %v", text, err)
		} else if got.ISO() != want {
			t.Errorf("Parse(%q) = %s, want %s", text, got.ISO(), want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "soon", "when I was young", "second", "sat down", "30 February", "2026-13", "2026-02-30", "32 May", "04/05/2026",
		"yesterday I ate", "last", "5", "the", "since", "2026-03-04x", "on the", "week",
	} {
		if got, err := Parse(text, friday(t)); err == nil {
			t.Errorf("Parse(%q) = %s, want an error", text, got.ISO())
		}
	}
}

func TestParseEvent(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, told, want string }{
		{"3 December", "", "2026-12-03"},
		{"2025-12-20/2026-01-05", "", "2025-12-20/2026-01-05"},
		{"17 November", "", "2026-11-17"},
		{"2 January", "", "2027-01-02"},
		{"tomorrow at noon", "", "2026-11-21T12:00"},
		{"in March", "We adopted two goats.", "2026-03"},
		{"in March", "The goats will be adopted.", "2027-03"},
		{"3 December", "I sold the ducks.", "2025-12-03"},
		{"in October", "We met to plan the trip.", "2026-10"},
	} {
		if got, err := ParseEvent(test.text, test.told, friday(t)); err != nil || isoOf(got) != test.want {
			t.Errorf("ParseEvent(%q, %q) = %s, %v, want %s", test.text, test.told, isoOf(got), err, test.want)
		}
	}
}

func TestInText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"On 17 November we moved the database to Porto.":          "2026-11-17",
		"The landlord is Sofia since the end of October.":         "2026-10-21/2026-10-31",
		"We met last Tuesday at 3pm and again on 2026-03-04.":     "2026-11-17T15:00 2026-03-04",
		"Yesterday at 9 the boiler was repaired":                  "2026-11-19T09:00",
		"The dentist appointment is on 3 December at 10:30":       "2026-12-03T10:30",
		"We moved into the flat in March":                         "2026-03",
		"The conference will be in March":                         "2027-03",
		"The review is on Thursday":                               "2026-11-26",
		"Talked to Ana on Thursday":                               "2026-11-19",
		"Ana was born on 5 May 1990.":                             "1990-05-05",
		"He worked there from 2015 to 2018":                       "2015-01-01/2018-12-31",
		"Holidays from 3 to 5 August 2027":                        "2027-08-03/2027-08-05",
		"We lived there between March and May 2025":               "2025-03-01/2025-05-31",
		"Two weeks ago we changed the tyres":                      "2026-11-03/2026-11-09",
		"The contract ends in two weeks":                          "2026-12-01/2026-12-07",
		"It took us three days, in two weeks we wrote all of it":  "",
		"I may go there, march with me for a second, and sat sun": "",
		"We may 3 times a week march 5 miles":                     "",
		"Mark and April sat in the sun; May was second":           "",
		"A message from April and a present for June":             "",
		"The museum is free on the first Sunday":                  "",
		"Every Tuesday we meet; Black Friday sales":               "",
		"Ana reads papers on Sunday evenings":                     "",
		"Ana reads papers on Sunday evening":                      "2026-11-22",
		"Version 1.2.2026-rc1 of lib-2026-03-04.tar.gz":           "",
		"The 3rd floor, the 2nd attempt, on the 1st floor":        "",
		"We shipped on the 17th.":                                 "2026-11-17",
		"Tests run in 2 minutes, port 2026, 2000 items":           "",
		"Always answer in a second; in a minute":                  "",
		"this may take 5 days; last may fail":                     "",
		"mid-March was rainy":                                     "2026-03-11/2026-03-20",
		"next Friday we release":                                  "2026-11-27",
		"Today is 2026-11-20, today we start":                     "2026-11-20",
		"Lunch at 1/2/2026 or so":                                 "",
		"We painted the fence in the last week of October.":       "2026-10-25/2026-10-31",
		"The first week of May was warm":                          "2026-05-01/2026-05-07",
		"I was ill from Tuesday to Thursday last week":            "2026-11-10/2026-11-12",
		"The fair ran from Monday until Wednesday of last week":   "2026-11-09/2026-11-11",
		"On the second Sunday of March 2025 we ran":               "2025-03-09",
		"On the last Friday of last month we danced":              "2026-10-30",
		"It was due on the last day of February":                  "2027-02-28",
		"We were away on the first weekend of November":           "2026-11-07/2026-11-08",
		"The fifth Monday of November is the last":                "2026-11-30",
		"The week of 9 November was quiet":                        "2026-11-09/2026-11-15",
		"In the week of the 9th we slept":                         "2026-11-09/2026-11-15",
		"The weekend of 14 November was wet":                      "2026-11-14/2026-11-15",
		"The course starts in 2026-W50":                           "2026-12-07/2026-12-13",
		"It ended on 2021W53 or 2020-W53-5":                       "2021-01-01",
		"We met on 10 and 11 November":                            "2026-11-10/2026-11-11",
		"We met on 10 and 17 November":                            "2026-11-10 2026-11-17",
		"The course was on 2, 9, and 16 October":                  "2026-10-02 2026-10-09 2026-10-16",
		"We met on June 3 and 5, 2025":                            "2025-06-03 2025-06-05",
		"We met on the 3rd and 5th of June 2025":                  "2025-06-03 2025-06-05",
		"The exams will be on 12 or 14 December":                  "2026-12-12 2026-12-14",
		"Yesterday is her favourite song":                         "",
		"On June 3 and 5 people came":                             "2026-06-03",
		"The review was postponed to 3 March.":                    "2027-03-03",
		"The check-up was moved to Sunday, 6 December":            "2026-12-06",
		"The standup moved from Tuesday to Thursday":              "2026-11-17 2026-11-26",
		"The appointment was on Thursday.":                        "2026-11-19",
		"The appointment was moved to Thursday.":                  "2026-11-26",
		"The dentist appointment is on Thursday":                  "2026-11-26",
		"I planned for Thursday":                                  "2026-11-26",
		"The sale ran from Tuesday to Thursday":                   "2026-11-17/2026-11-19",
		"The meeting got pushed to Monday.":                       "2026-11-23",
		"The wedding was set for 6 June.":                         "2027-06-06",
		"Rui bought tickets for 20 December.":                     "2026-12-20",
		"Rui bought tickets on 20 December.":                      "2025-12-20",
		"We agreed to meet on 3 December.":                        "2026-12-03",
		"The doctor told me to come back on the 14th.":            "2026-12-14",
		"She told Rui about the trip to Porto on 3 December":      "2025-12-03",
		"We agreed to it on 3 December. Ana left on 3 December":   "2025-12-03",
		"I went to see Ana on 3 December":                         "2025-12-03",
		"1 January 2024, 2 January 2024, 1 January 2024":          "2024-01-01 2024-01-02",
	} {
		if diff := cmp.Diff(want, isoOf(InText(text, friday(t)))); diff != "" {
			t.Errorf("InText(%q) (-want +got):\n%s", text, diff)
		}
	}
}

func asked(text string, now time.Time) []Span {
	spans, _ := InQuestion(text, now)
	return spans
}

func TestRest(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"what did we decide last Tuesday?":            "what did we decide ?",
		"What happened on 17 November with the roof?": "What happened  with the roof?",
		"In March, where did Ana go?":                 ", where did Ana go?",
		"What may I do?":                              "What may I do?",
	} {
		if _, rest := InQuestion(text, friday(t)); rest != want {
			t.Errorf("the rest of %q is %q, want %q", text, rest, want)
		}
	}
}

func TestInQuestion(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"what did we decide last Tuesday?":                 "2026-11-17",
		"What happened on 17 November?":                    "2026-11-17",
		"what did I do in March?":                          "2026-03",
		"what did i do in may?":                            "2026-05",
		"what's planned for next Friday?":                  "2026-11-27",
		"what is planned for December?":                    "2026-12",
		"What did I tell you yesterday at 9?":              "2026-11-19",
		"Where was Ana two weeks ago?":                     "2026-11-03/2026-11-09",
		"What have we done since Monday?":                  "2026-11-16/..",
		"What did we agree on before 17 November?":         "../2026-11-17",
		"What happened after 17 November?":                 "2026-11-18/..",
		"standup Wednesday":                                "2026-11-18 2026-11-25",
		"Who may I call in a second?":                      "",
		"how do I march the array?":                        "",
		"What did we buy between 3 and 5 March?":           "2026-03-03/2026-03-05",
		"Which tickets did I close from Monday to Friday?": "2026-11-16/2026-11-20",
		"what did Sun Microsystems sell?":                  "",
		"Who came to the party on Saturday?":               "2026-11-14",
		"What am I doing on Saturday?":                     "2026-11-21",
		"What did I do over the weekend?":                  "2026-11-14/2026-11-15",
		"What did we do at the weekend?":                   "2026-11-14/2026-11-15",
		"What is planned for the weekend?":                 "2026-11-21/2026-11-22",
		"What did we decide the Tuesday before last?":      "2026-11-10",
		"What did I do the week before last?":              "2026-11-02/2026-11-08",
		"What did I buy the week before last Christmas?":   "",
		"Who minds the shop at the weekend?":               "",
		"What have I done since my birthday on 3 May?":     "2026-05-03/..",
		"What did we do in the last week of October?":      "2026-10-25/2026-10-31",
		"What did Ana do on the first Monday of November?": "2026-11-02",
		"What happened in 2026-W40?":                       "2026-09-28/2026-10-04",
		"What was Rui's phone plan in March?":              "2026-03",
		"When was the deadline in March?":                  "2026-03",
		"What is the plan in March?":                       "2027-03",
		"What did I do on 10 and 11 November?":             "2026-11-10/2026-11-11",
	} {
		if diff := cmp.Diff(want, isoOf(asked(text, friday(t)))); diff != "" {
			t.Errorf("InQuestion(%q) (-want +got):\n%s", text, diff)
		}
	}
	monday := in(t, "Europe/Lisbon", "2026-11-16T10:00")
	if got := isoOf(asked("what's planned for next Friday?", monday)); got != "2026-11-20 2026-11-27" {
		t.Errorf("next Friday on a Monday is %s, want both", got)
	}
}

// A day is the zone's, also around midnight and where the clock changes.
func TestZones(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ zone, now, phrase, from, to string }{
		{"America/New_York", "2026-11-20T23:30", "yesterday", "2026-11-19T05:00:00Z", "2026-11-20T05:00:00Z"},
		{"Asia/Tokyo", "2026-11-21T00:30", "yesterday", "2026-11-19T15:00:00Z", "2026-11-20T15:00:00Z"},
		// The clocks go back on 25 October 2026 in Lisbon: the day has 25 hours.
		{"Europe/Lisbon", "2026-10-26T00:10", "yesterday", "2026-10-24T23:00:00Z", "2026-10-26T00:00:00Z"},
		// They go forward on 8 March 2026 in New York: 23 hours.
		{"America/New_York", "2026-03-09T00:10", "yesterday", "2026-03-08T05:00:00Z", "2026-03-09T04:00:00Z"},
		// São Paulo once changed its clocks at midnight.
		{"America/Sao_Paulo", "2018-11-05T10:00", "yesterday", "2018-11-04T03:00:00Z", "2018-11-05T02:00:00Z"},
		{"Pacific/Kiritimati", "2026-01-01T00:00", "today", "2025-12-31T10:00:00Z", "2026-01-01T10:00:00Z"},
	} {
		got, err := Parse(test.phrase, in(t, test.zone, test.now))
		if err != nil {
			t.Errorf("%s in %s: %v", test.phrase, test.zone, err)
			continue
		}
		from, to := got.From.UTC().Format(time.RFC3339), got.To.UTC().Format(time.RFC3339)
		if from != test.from || to != test.to {
			t.Errorf("%s in %s is %s to %s, want %s to %s", test.phrase, test.zone, from, to, test.from, test.to)
		}
	}
}

func TestISO(t *testing.T) {
	t.Parallel()
	for _, iso := range []string{"2026", "2026-03", "2026-11-17", "2026-11-17T09:00", "2026-11-16/2026-11-22"} {
		got, err := ParseISO(iso, time.UTC)
		if err != nil || got.ISO() != iso {
			t.Errorf("ParseISO(%q) = %s, %v", iso, got.ISO(), err)
		}
	}
	for _, iso := range []string{"", "x", "2026-13", "2026-11-17/", "2026-11-17T9"} {
		if got, err := ParseISO(iso, time.UTC); err == nil {
			t.Errorf("ParseISO(%q) = %v, want an error", iso, got)
		}
	}
}

func TestOver(t *testing.T) {
	t.Parallel()
	for dates, want := range map[string]string{
		"2026-11-17T12:00":      "2026-11-17T12:00:00Z",
		"2026-11-17":            "2026-11-17T23:59:59.999Z",
		"2026-03 2026-01-01":    "2026-03-31T23:59:59.999Z",
		"2026-11-16/2026-11-22": "2026-11-22T23:59:59.999Z",
		"soon":                  "0001-01-01T00:00:00Z",
	} {
		if got := Over(dates, time.UTC).Format(time.RFC3339Nano); got != want {
			t.Errorf("%s is over at %s, want %s", dates, got, want)
		}
	}
}

func FuzzFind(f *testing.F) {
	now := time.Date(2026, 11, 20, 14, 30, 0, 0, time.UTC)
	for _, seed := range []string{
		"last Tuesday at 9:30 pm", "3-5 March 2026", "in 2026-03-04T10:00:00Z", "Q3 2026",
		"a couple of", "between 3 and", "the last two weeks of July", "spring and autumn 2025", "from March to May",
		"quarter to ten on Friday", "last year in March", "before the end of week 40", "October 2024 and 2025",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, s := range append(InText(text, now), asked(text, now)...) {
			if !s.To.IsZero() && !s.From.Before(s.To) {
				t.Errorf("%q names an empty span: %v", text, s)
			}
		}
		_, _ = Parse(text, now)
	})
}
