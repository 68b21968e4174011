package heartbeat

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	day   = 24 * time.Hour
	week  = 7 * day
	month = 30 * day
	year  = 365 * day
)

var (
	// units are the words for a length of time, in the forms that follow "every" and "a".
	units = map[string]time.Duration{
		"minute": time.Minute, "hour": time.Hour, "day": day, "morning": day, "noon": day, "afternoon": day,
		"evening": day, "night": day, "week": week, "fortnight": 2 * week, "month": month, "quarter": 3 * month,
		"year": year,
	}
	// adverbs are intervals of one word. A hyphen after bi and semi is removed before they are looked up.
	adverbs = map[string]time.Duration{
		"hourly": time.Hour, "daily": day, "nightly": day, "weekly": week, "biweekly": 2 * week, "semiweekly": week / 2,
		"fortnightly": 2 * week, "monthly": month, "bimonthly": 2 * month, "semimonthly": month / 2,
		"quarterly": 3 * month, "yearly": year, "annually": year, "semiannually": year / 2, "biannually": year / 2,
	}
	numbers = map[string]float64{
		"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
		"nine": 9, "ten": 10, "twelve": 12, "few": 3, "several": 3, "couple": 2, "other": 2, "second": 2, "third": 3,
		"half": 0.5, "once": 1, "twice": 2, "thrice": 3,
	}
	unitWords = `(minute|hour|day|morning|noon|afternoon|evening|night|week|fortnight|month|quarter|year|min|hr|h|d|w)s?`
	number    = `(\d+(?:\.\d+)?|` + strings.Join(slices.Sorted(keys(numbers)), "|") + `)`
	timesPer  = regexp.MustCompile(`\b` + number + ` ?(?:[x×]|[ -]?(?:or [a-z]+ |to [a-z]+ )?times?)?` +
		` ?(?:an? |per |each |every |/ ?)` + unitWords + `\b`)
	// A range counts by its smaller number: a check that may be due is offered.
	everySome = regexp.MustCompile(`\b(?:every|each)(?: ` + number + `(?: ?(?:-|–|to|or) ?\w+)?)?` +
		`(?: (?:of|an?|single|full|calendar))? ?` + unitWords + `\b`)
	adverb = regexp.MustCompile(`\b(?:` + number + `(?: ?[x×]|[ -]times?)?[ -])?(` +
		strings.Join(slices.Sorted(keys(adverbs)), "|") + `)\b`)
	weekday  = regexp.MustCompile(`\b(sun|mon|tues|wednes|thurs|fri|satur)days?\b`)
	weekdays = []string{"sun", "mon", "tues", "wednes", "thurs", "fri", "satur"}
	// workday and weekend are several days of the week.
	workday = regexp.MustCompile(`\b(?:week|work|(?:working|business|school) )days?\b`)
	weekend = regexp.MustCompile(`\bweekends?\b`)
	// otherWeek and ofMonth are days that do not come every week.
	otherWeek = regexp.MustCompile(`\b(?:every|each) (?:other|second) (?:sun|mon|tues|wednes|thurs|fri|satur)day\b`)
	ofMonth   = regexp.MustCompile(`\b(?:first|second|third|fourth|last|1st|2nd|3rd|4th) ` +
		`(?:sun|mon|tues|wednes|thurs|fri|satur|week|work)day (?:of|in)\b`)
	// ofThe is "on the 15th of the month", dated "on the 15th", and plural "in the mornings".
	ofThe  = regexp.MustCompile(`\bof the (week|month|quarter|year)\b`)
	dated  = regexp.MustCompile(`\bon the \d{1,2}(?:st|nd|rd|th)(?: of [a-z]+)?\b`)
	plural = regexp.MustCompile(`\b(?:mornings|afternoons|evenings|nights)\b`)
	prefix = regexp.MustCompile(`\b(bi|semi)-`)
)

// keys yields the keys of m, in no particular order.
func keys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// Interval returns the interval that a line of HEARTBEAT.md gives in English, 0 if it gives none. days are the days of
// the week that it names instead.
func Interval(text string) (interval time.Duration, days []time.Weekday) {
	text = prefix.ReplaceAllString(strings.ToLower(text), "$1")
	if m := timesPer.FindStringSubmatch(text); m != nil && !strings.HasPrefix(m[0], "a ") &&
		!strings.HasPrefix(m[0], "other ") {
		if n := numberOf(m[1]); n > 0 {
			return time.Duration(float64(unit(m[2])) / n), nil
		}
	}
	switch {
	case otherWeek.MatchString(text):
		return 2 * week, nil
	case ofMonth.MatchString(text):
		return month, nil
	}
	if days = daysOf(text); len(days) > 0 {
		return 0, days
	}
	if m := everySome.FindStringSubmatch(text); m != nil {
		n := 1.0
		if m[1] != "" {
			n = numberOf(m[1])
		}
		return time.Duration(float64(unit(m[2])) * n), nil
	}
	if m := adverb.FindStringSubmatch(text); m != nil {
		interval = adverbs[m[2]]
		// "3 times daily", "twice weekly"; but "2 weekly reports" are not two a week.
		if n := numberOf(m[1]); n > 0 && (strings.HasPrefix(m[0], "twice") || strings.HasPrefix(m[0], "thrice") ||
			strings.Contains(m[0], "time") || strings.ContainsAny(m[0], "x×")) {
			interval = time.Duration(float64(interval) / n)
		}
		return interval, nil
	}
	if m := ofThe.FindStringSubmatch(text); m != nil {
		return unit(m[1]), nil
	}
	if at := dated.FindString(text); at != "" && !strings.Contains(at, " of ") { // "of May" is once
		return month, nil
	}
	if plural.MatchString(text) {
		return day, nil
	}
	return 0, nil
}

// daysOf returns the days of the week that a text names, in lower case.
func daysOf(text string) (days []time.Weekday) {
	add := func(more ...time.Weekday) {
		for _, d := range more {
			if !slices.Contains(days, d) {
				days = append(days, d)
			}
		}
	}
	for _, m := range weekday.FindAllStringSubmatch(text, -1) {
		add(time.Weekday(slices.Index(weekdays, m[1])))
	}
	if workday.MatchString(text) {
		add(time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday)
	}
	if weekend.MatchString(text) {
		add(time.Saturday, time.Sunday)
	}
	return days
}

// numberOf returns the number that a word or numeral is, 0 if it is none.
func numberOf(word string) float64 {
	if n, ok := numbers[word]; ok {
		return n
	}
	n, err := strconv.ParseFloat(word, 64)
	if err != nil {
		return 0
	}
	return n
}

// unit returns the length of the unit of time that word names, 0 if it names none.
func unit(word string) time.Duration {
	switch word {
	case "min":
		return time.Minute
	case "h", "hr":
		return time.Hour
	case "d":
		return day
	case "w":
		return week
	}
	return units[word]
}
