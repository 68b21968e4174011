package heartbeat

import (
	"cmp"
	"slices"
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
// after the interval that a line of HEARTBEAT.md gives it ("email: twice a day", "(log_rotation, monthly)"), or else
// what the line is listed under ("## Weekly"), else after every. A line belongs to a check if it contains its name.
// With days of the week ("Mondays") a check is due from the next such day on.
func Due(tasks []workspace.Task, checks []workspace.Checked, now time.Time, every time.Duration) []Check {
	lines := linesByWord(tasks)
	list := make([]Check, 0, len(checks))
	for _, c := range checks {
		check := Check{Name: c.Check, Last: c.Last, Every: every, Problem: c.Problem}
		since := now.Add(-every)
		if found, ok := lines.find(c.Check); ok {
			if interval, days := found.interval(); interval > 0 {
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
type line struct {
	task  workspace.Task
	words string
}

// interval is the interval of the line, or that of the nearest text that it is listed under.
func (l line) interval() (interval time.Duration, days []time.Weekday) {
	for _, text := range append([]string{l.task.Text}, l.task.Under...) {
		if interval, days = Interval(text); interval > 0 || len(days) > 0 {
			break
		}
	}
	return interval, days
}

// linesByWord returns the tasks' lines, in their order under each of their words.
func linesByWord(tasks []workspace.Task) checklist {
	list := checklist{}
	for _, t := range tasks {
		words := wordsOf(t.Text)
		l := line{t, spaced(words)}
		for _, word := range words {
			list[word] = append(list[word], l)
		}
	}
	return list
}

// find returns the first line that contains name as whole words.
func (l checklist) find(name string) (found line, ok bool) {
	words := wordsOf(name)
	if len(words) == 0 {
		return line{}, false
	}
	rarest := slices.MinFunc(words, func(a, b string) int { return cmp.Compare(len(l[a]), len(l[b])) })
	for _, line := range l[rarest] {
		if strings.Contains(line.words, spaced(words)) {
			return line, true
		}
	}
	return line{}, false
}

// wordsOf returns the words of s in lower case. Spaces, hyphens and underscores divide words alike.
func wordsOf(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return strings.ContainsRune(" \t_-.,;:()[]/*`\"'?!", r)
	})
}

func spaced(words []string) string { return " " + strings.Join(words, " ") + " " }
