package heartbeat

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/yamo-protocol/yamo-mcp/workspace"
)

// DefaultInterval is when a check is due again if HEARTBEAT.md names no interval for it.
const DefaultInterval = 6 * time.Hour

// Check is a periodic check.
type Check struct {
	Name    string
	Last    time.Time     // zero: never done
	Every   time.Duration // the interval that counts for it
	Due     bool
	Problem string // what is wrong with its recorded time, "" for nothing
}

// Due returns the recorded checks, in the order of checks. A check is due if it was last done that long ago or never:
// after the interval that a line of HEARTBEAT.md gives it ("email: twice a day", "(log_rotation, monthly)"), else after
// every. A line belongs to a check if it contains its name. With days of the week ("Mondays") a check is due from the
// next such day on.
func Due(tasks []workspace.Task, checks []workspace.Checked, now time.Time, every time.Duration) []Check {
	lines := linesByWord(tasks)
	list := make([]Check, 0, len(checks))
	for _, c := range checks {
		check := Check{Name: c.Check, Last: c.Last, Every: every, Problem: c.Problem}
		since := now.Add(-every)
		if text, ok := lines.find(c.Check); ok {
			if interval, days := Interval(text); interval > 0 {
				check.Every, since = interval, now.Add(-interval)
			} else if len(days) > 0 {
				check.Every, since = 7*24*time.Hour/time.Duration(len(days)), lastOf(days, now)
			}
		}
		// A time in the future is a mistake, which must not hide the check until then.
		check.Due = check.Problem != "" || !c.Last.After(since) || c.Last.After(now.Add(24*time.Hour))
		list = append(list, check)
	}
	return list
}

// lastOf returns the beginning of the last of the days of the week, today included.
func lastOf(days []time.Weekday, now time.Time) time.Time {
	year, month, day := now.Date()
	at := time.Date(year, month, day, 0, 0, 0, 0, now.Location())
	for !slices.Contains(days, at.Weekday()) {
		at = at.AddDate(0, 0, -1)
	}
	return at
}

// checklist has the lines of HEARTBEAT.md by their words, because a session may have recorded thousands of checks.
type checklist map[string][]line

// line is a line of HEARTBEAT.md, and its words, with a space around each.
type line struct{ text, words string }

// linesByWord returns the tasks' lines, in their order under each of their words.
func linesByWord(tasks []workspace.Task) checklist {
	list := checklist{}
	for _, t := range tasks {
		words := wordsOf(t.Text)
		l := line{t.Text, spaced(words)}
		for _, word := range words {
			list[word] = append(list[word], l)
		}
	}
	return list
}

// find returns the first line that contains name as whole words.
func (l checklist) find(name string) (text string, ok bool) {
	words := wordsOf(name)
	if len(words) == 0 {
		return "", false
	}
	rarest := slices.MinFunc(words, func(a, b string) int { return cmp.Compare(len(l[a]), len(l[b])) })
	for _, line := range l[rarest] {
		if strings.Contains(line.words, spaced(words)) {
			return line.text, true
		}
	}
	return "", false
}

// wordsOf returns the words of s in lower case. Spaces, hyphens and underscores divide words alike.
func wordsOf(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return strings.ContainsRune(" \t_-.,;:()[]/*`\"'?!", r)
	})
}

func spaced(words []string) string { return " " + strings.Join(words, " ") + " " }

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
		"evening": day, "night": day, "weekday": day, "workday": day, "week": week, "fortnight": 2 * week, "weekend": week,
		"month": month, "quarter": 3 * month, "year": year,
	}
	// adverbs are intervals of one word.
	adverbs = map[string]time.Duration{
		"hourly": time.Hour, "daily": day, "nightly": day, "weekly": week, "biweekly": 2 * week, "fortnightly": 2 * week,
		"monthly": month, "bimonthly": 2 * month, "quarterly": 3 * month, "yearly": year, "annually": year,
	}
	numbers = map[string]float64{
		"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
		"nine": 9, "ten": 10, "twelve": 12, "few": 3, "several": 3, "couple": 2, "other": 2, "second": 2, "third": 3,
		"half": 0.5, "once": 1, "twice": 2, "thrice": 3,
	}
	unitWords = `(minute|hour|day|morning|noon|afternoon|evening|night|weekday|workday|week|fortnight|weekend|month|` +
		`quarter|year|min|hr|h|d|w)s?`
	number   = `(\d+(?:\.\d+)?|` + strings.Join(slices.Sorted(keys(numbers)), "|") + `)`
	timesPer = regexp.MustCompile(`\b` + number +
		`(?:[ -](?:or [a-z]+ |to [a-z]+ )?times?)? ?(?:an? |per |each |every |/ ?)` + unitWords + `\b`)
	everySome = regexp.MustCompile(`\b(?:every|each)(?: ` + number + `)?(?: (?:of|an?))? ?` + unitWords + `\b`)
	adverb    = regexp.MustCompile(`\b(?:twice[ -]|once[ -])?(` + strings.Join(slices.Sorted(keys(adverbs)), "|") + `)\b`)
	weekday   = regexp.MustCompile(`\b(sun|mon|tues|wednes|thurs|fri|satur)days?\b`)
	weekdays  = []string{"sun", "mon", "tues", "wednes", "thurs", "fri", "satur"}
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
	text = strings.ToLower(text)
	if m := timesPer.FindStringSubmatch(text); m != nil && !strings.HasPrefix(m[0], "a ") &&
		!strings.HasPrefix(m[0], "other ") {
		if n := numberOf(m[1]); n > 0 {
			return time.Duration(float64(unit(m[2])) / n), nil
		}
	}
	for m := range slices.Values(weekday.FindAllStringSubmatch(text, -1)) {
		if d := time.Weekday(slices.Index(weekdays, m[1])); !slices.Contains(days, d) {
			days = append(days, d)
		}
	}
	if len(days) > 0 {
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
		interval = adverbs[m[1]]
		if strings.HasPrefix(m[0], "twice") {
			interval /= 2
		}
		return interval, nil
	}
	return 0, nil
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
