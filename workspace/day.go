package workspace

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // so that USER.md's time zone is known on machines without a zone database
	"unicode"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
)

// timezone is the field of RFC-0009 §2.3, as a line of its own or a list item.
var timezone = regexp.MustCompile(`(?mi)^[ \t]*(?:[-*+][ \t]+)?(?:\*\*|__)?time ?zone` +
	`(?::(?:\*\*|__)?|(?:\*\*|__):?)[ \t]*([^\n]*)$`)

var (
	zoneName   = regexp.MustCompile(`[A-Za-z][A-Za-z0-9_+-]*(?:/[A-Za-z0-9_+-]+)*`)
	zoneOffset = regexp.MustCompile(`(?i)\b(?:utc|gmt) ?([+\x{2212}-]) ?(\d{1,2})(?::?(\d{2}))?\b`)
)

// zoneOf returns the time zone that the value of the field timezone names: an IANA name anywhere in it, such as
// America/Bogota (UTC-5), or else an offset such as UTC+5:30. ok is false for any other value.
func zoneOf(value string) (zone *time.Location, ok bool) {
	names := zoneName.FindAllString(value, -1)
	// Names with a slash first: "Europe/Oslo (CET)", "Cuba" is a zone and a country.
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Compare(strings.Count(b, "/"), strings.Count(a, "/"))
	})
	offset := zoneOffset.FindStringSubmatch(value)
	for _, name := range names {
		if strings.EqualFold(name, "local") || offset != nil && !strings.Contains(name, "/") {
			continue
		}
		for _, spelling := range []string{name, capitalized(name)} {
			if zone, err := time.LoadLocation(spelling); err == nil {
				return zone, true
			}
		}
	}
	if offset == nil {
		return nil, false
	}
	hours, err := strconv.Atoi(offset[2])
	if err != nil || hours > 14 {
		return nil, false
	}
	minutes, _ := strconv.Atoi(offset[3]) // none is 0
	seconds := (hours*60 + minutes) * 60
	if offset[1] != "+" {
		seconds = -seconds
	}
	return time.FixedZone("UTC"+strings.Replace(offset[0][3:], " ", "", -1), seconds), true
}

// capitalized returns the name of a time zone with the usual capitals: America/New_York, CET. Some, such as
// America/Port-au-Prince, have others.
func capitalized(zone string) string {
	if !strings.Contains(zone, "/") {
		return strings.ToUpper(zone)
	}
	first := true
	return strings.Map(func(r rune) rune {
		wasFirst := first
		if first = !unicode.IsLetter(r); wasFirst {
			return unicode.ToUpper(r)
		}
		return unicode.ToLower(r)
	}, zone)
}

// profileHead is how much of USER.md is searched for the time zone, in bytes.
const profileHead = 64 << 10

// Now returns the current time in the audience's time zone (RFC-0009 §2.3): in a DM the zone that USER.md names, by
// its IANA name or as an offset. If it names none or an unknown one, and always in a group, it is the machine's.
func (v *View) Now() time.Time {
	now := v.ws.now()
	// SECURITY: the dates of a group would reveal where the workspace owner lives.
	if !v.who.May(audience.Read, audience.User) {
		return now
	}
	profile, _, err := v.head(UserFile, profileHead)
	if err != nil {
		return now
	}
	m := timezone.FindSubmatch(profile)
	if m == nil {
		return now
	}
	zone, ok := zoneOf(string(m[1]))
	if !ok {
		return now
	}
	return now.In(zone)
}

// Days returns today's and yesterday's dates (YYYY-MM-DD) in the time zone of Now.
func (v *View) Days() (today, yesterday string) {
	year, month, day := v.Now().Date()
	// In UTC yesterday is always 24 hours before; a zone's clock change could skip or repeat a date.
	noon := time.Date(year, month, day, 12, 0, 0, 0, time.UTC)
	return noon.Format(time.DateOnly), noon.AddDate(0, 0, -1).Format(time.DateOnly)
}

// DailyLog returns the name of the log of date (YYYY-MM-DD) that the audience writes to.
func (v *View) DailyLog(date string) string { return dailyLog(v.who, date) }

// groupLogDays bounds how many names are probed for a group's logs, since its folder is never listed.
const groupLogDays = 62

// LogDates returns the days (YYYY-MM-DD) that have a log of this audience, newest first: in a DM all of them, in a
// group those of the last 62 days.
func (v *View) LogDates() []string {
	dates := []string{}
	if v.who.IsDM() {
		for _, name := range slices.Concat(v.list(memoryFolder), v.archivedLogs()) {
			if classify(v.who, name) == audience.DailyLog {
				dates = append(dates, strings.TrimSuffix(path.Base(name), ".md"))
			}
		}
		slices.Sort(dates)
		slices.Reverse(dates)
		return slices.Compact(dates)
	}
	// SECURITY: exact names; listing the folder would see the logs of others.
	year, month, day := v.Now().Date()
	for back := range groupLogDays {
		date := time.Date(year, month, day-back, 12, 0, 0, 0, time.UTC).Format(time.DateOnly)
		if v.exists(dailyLog(v.who, date)) {
			dates = append(dates, date)
		}
	}
	return dates
}
