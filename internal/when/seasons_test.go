package when

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The rules were made with the first of these lists. The second was written before them and held back.
var (
	thirdsChosen = map[string]string{
		"noon yesterday":                   "2026-11-19T12:00",
		"yesterday at noon":                "2026-11-19T12:00",
		"midday on Friday":                 "2026-11-20T12:00",
		"3 pm yesterday":                   "2026-11-19T15:00",
		"end of October":                   "2026-10-21/2026-10-31",
		"beginning of May":                 "2026-05-01/2026-05-10",
		"mid-June":                         "2026-06-11/2026-06-20",
		"early March 2025":                 "2025-03-01/2025-03-10",
		"the end of last week":             "2026-11-13/2026-11-15",
		"week 40":                          "2026-09-28/2026-10-04",
		"in week 40 of 2025":               "2025-09-29/2025-10-05",
		"last summer":                      "2026-06-01/2026-08-31",
		"in winter 2025":                   "2025-12-01/2026-02-28",
		"this spring":                      "2026-03-01/2026-05-31",
		"the day before yesterday evening": "2026-11-18",
		"the first half of October":        "2026-10-01/2026-10-15",
		"second half of 2025":              "2025-07-01/2025-12-31",
		"summer last year":                 "2025-06-01/2025-08-31",
		"in the spring of last year":       "2025-03-01/2025-05-31",
		"in early October last year":       "2025-10-01/2025-10-10",
		"end October":                      "2026-10-21/2026-10-31",
		"mid of June":                      "2026-06-11/2026-06-20",
		"CW 40":                            "2026-09-28/2026-10-04",
		"yesterday evening at 8":           "2026-11-19T20:00",
		"yesterday morning at 6":           "2026-11-19T06:00",
	}
	thirdsHeld = map[string]string{
		"noon on 3 March":            "2026-03-03T12:00",
		"9:30 on Tuesday":            "2026-11-17T09:30",
		"the start of 2025":          "2025-01-01/2025-04-30",
		"the middle of last month":   "2026-10-11/2026-10-20",
		"mid January":                "2026-01-11/2026-01-20",
		"late in September":          "2026-09-21/2026-09-30",
		"calendar week 2":            "2026-01-05/2026-01-11",
		"week 53 of 2026":            "2026-12-28/2027-01-03",
		"next summer":                "2027-06-01/2027-08-31",
		"the winter of 2024":         "2024-12-01/2025-02-28",
		"last fall":                  "2025-09-01/2025-11-30",
		"in autumn":                  "2026-09-01/2026-11-30",
		"spring 2024":                "2024-03-01/2024-05-31",
		"the end of the year":        "2026-09-01/2026-12-31",
		"winter 2023/24":             "2023-12-01/2024-02-29",
		"this winter":                "2026-12-01/2027-02-28",
		"by the end of August 2025":  "2025-08-21/2025-08-31",
		"the summer before last":     "2025-06-01/2025-08-31",
		"late last year":             "2025-09-01/2025-12-31",
		"the beginning of this week": "2026-11-16/2026-11-17",
	}
)

func TestThirdsSeasonsAndWeeks(t *testing.T) {
	t.Parallel()
	now := friday(t)
	for what, list := range map[string]map[string]string{"chosen": thirdsChosen, "held back": thirdsHeld} {
		right := 0
		for text, want := range list {
			s, err := Parse(text, now)
			if err == nil && s.ISO() == want {
				right++
			} else {
				t.Errorf("%s: %q is %s, %v; want %s", what, text, isoOf([]Span{s}), err, want)
			}
		}
		t.Logf("%s: %d of %d", what, right, len(list))
	}
	for _, text := range []string{
		"week 54", "week 53 of 2025", "end", "end of", "mid", "early", "noon", "winter of discontent",
	} {
		if s, err := Parse(text, now); err == nil {
			t.Errorf("%q is %s", text, isoOf([]Span{s}))
		}
	}
	for text, want := range map[string]string{
		"end of October": "2026-11-01", "the beginning of May": "2026-05-01", "mid-June": "2026-06-11",
		"last week": "2026-11-09",
	} {
		if got, err := ParseUntil(text, now); err != nil || got.Format("2006-01-02") != want {
			t.Errorf("until %q is %s, %v; want %s", text, got, err, want)
		}
	}
}

func TestThirdsSeasonsAndWeeksInTexts(t *testing.T) {
	t.Parallel()
	now := friday(t)
	for text, want := range map[string]string{
		"We moved at the end of October.":              "2026-10-21/2026-10-31",
		"The roof was repaired in early May 2025.":     "2025-05-01/2025-05-10",
		"Ana came home last summer.":                   "2026-06-01/2026-08-31",
		"The review was in week 40 of 2025.":           "2025-09-29/2025-10-05",
		"They opened in the winter of 2024/25.":        "2024-12-01/2025-02-28",
		"The lecture was at noon on Tuesday.":          "2026-11-17T12:00",
		"In week 3 of the course we fall behind.":      "",
		"She is in week 30.":                           "",
		"It was built after 2000s of waiting.":         "",
		"Rui called late last night.":                  "2026-11-19",
		"His last fall broke a rib.":                   "",
		"We swim in the summer.":                       "",
		"At the end of the day it does not matter.":    "",
		"Winter tyres and spring onions, early birds.": "",
		"Spring Boot 3 needs a mid-size machine.":      "",
		"The motor has 11 kW 40 times.":                "",
		"May this year be kind to you.":                "2026",
		"In March, last year's budget was approved.":   "2026-03 2025",
		"The oven draws 11 KW 2 times.":                "",
		"We met in October last year.":                 "2025-10",
		"We ate half of it, the first half, in a day.": "",
	} {
		if diff := cmp.Diff(want, isoOf(InText(text, now))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
	for text, want := range map[string]string{
		"what did we discuss in week 40?":          "2026-09-28/2026-10-04",
		"what did I do in the summer?":             "2026-06-01/2026-08-31",
		"where were we at the end of May?":         "2026-05-21/2026-05-31",
		"what happened in winter 2025?":            "2025-12-01/2026-02-28 2024-12-01/2025-02-28",
		"what did Rui say at noon yesterday?":      "2026-11-19",
		"what comes in week 3 of the course?":      "",
		"what did we see since last spring?":       "2026-03-01/..",
		"who called the day before yesterday late": "2026-11-18",
	} {
		spans, _ := InQuestion(text, now)
		if diff := cmp.Diff(want, isoOf(spans)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

// A timetable has a time in each line, and no day after it.
func TestManyTimes(t *testing.T) {
	t.Parallel()
	const most = 5 * time.Second
	start := time.Now()
	for _, word := range []string{"9:30 ", "noon ", "at 9 "} {
		InText(strings.Repeat(word, 64<<10/len(word)), friday(t))
	}
	if took := time.Since(start); took > most {
		t.Errorf("took %v, want at most %v", took, most)
	}
}
