package heartbeat

import (
	"testing"
	"time"

	"github.com/yamo-protocol/yamo-mcp/workspace"
)

func TestInterval(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"Mail, twice a day": 12 * time.Hour, "every few days": 3 * day, "log_rotation, monthly": month, "weekly": week,
		"Check the weather daily": day, "every 4 hours": 4 * time.Hour, "every other day": 2 * day,
		"three times a week": week / 3,
		"once a month":       month, "each morning": day, "every two weeks": 2 * week, "hourly": time.Hour,
		"3x per day":      8 * time.Hour,
		"3 times per day": 8 * time.Hour, "quarterly": 3 * month, "every couple of days": 2 * day, "biweekly": 2 * week,
		"twice daily": 12 * time.Hour, "every 30 minutes": 30 * time.Minute, "once a year": year, "every week": week,
		"bi-weekly": 2 * week, "semi-annually": year / 2, "4 times daily": 6 * time.Hour, "3x a day": 8 * time.Hour,
		"every 1-2 days": day, "every two to three weeks": 2 * week, "every 10 or so minutes": 10 * time.Minute,
		"every single day": day, "every other Monday": 2 * week, "the first Monday of the month": month,
		"on the 15th of the month": month, "on the 1st": month, "on the 3rd of May": 0,
		"in the evenings": day, "1 weekly report": week, "2 weekly reports": week,
		"Is a new version out?": 0, "Remind Mira": 0, "every now and then": 0,
	} {
		if got, days := Interval(text); got != want || len(days) > 0 {
			t.Errorf("%q: %v, %v, want %v", text, got, days, want)
		}
	}
	if _, days := Interval("Mail from the museum (Mondays and Thursdays)"); len(days) != 2 || days[0] != time.Monday {
		t.Errorf("days %v", days)
	}
	for text, want := range map[string]int{
		"weekdays": 5, "every working day": 5, "at the weekend": 2, "each school day": 5,
	} {
		if got, days := Interval(text); got != 0 || len(days) != want {
			t.Errorf("%q: %v, %v, want %d days", text, got, days, want)
		}
	}
}

func TestDue(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 2, 11, 12, 0, 0, 0, time.UTC) // a Wednesday
	tasks := []workspace.Task{
		{Text: "Keep what matters (memory_maintenance, every few days)"},
		{Text: "log rotation: monthly"},
		{Text: "Look at the museum mail on Mondays"},
		{Text: "email twice a day"},
		{Text: "garden", Under: []string{"Outside:", "Weekly", "Daily"}},
	}
	for name, test := range map[string]struct {
		check workspace.Checked
		due   bool
	}{
		"few days, not yet":   {workspace.Checked{Check: "memory_maintenance", Last: now.Add(-2 * day)}, false},
		"few days":            {workspace.Checked{Check: "memory_maintenance", Last: now.Add(-4 * day)}, true},
		"monthly, not yet":    {workspace.Checked{Check: "log_rotation", Last: now.Add(-20 * day)}, false},
		"monthly":             {workspace.Checked{Check: "log-rotation", Last: now.Add(-31 * day)}, true},
		"since last Monday":   {workspace.Checked{Check: "museum_mail", Last: now.Add(-day)}, false},
		"before last Monday":  {workspace.Checked{Check: "museum mail", Last: now.Add(-3 * day)}, true},
		"twice a day":         {workspace.Checked{Check: "email", Last: now.Add(-13 * time.Hour)}, true},
		"twice a day, so far": {workspace.Checked{Check: "email", Last: now.Add(-11 * time.Hour)}, false},
		"under, not yet":      {workspace.Checked{Check: "garden", Last: now.Add(-2 * day)}, false},
		"under":               {workspace.Checked{Check: "garden", Last: now.Add(-8 * day)}, true},
		"no interval":         {workspace.Checked{Check: "weather", Last: now.Add(-7 * time.Hour)}, true},
		"never":               {workspace.Checked{Check: "log_rotation"}, true},
		"in the future":       {workspace.Checked{Check: "weather", Last: now.Add(300 * day)}, true},
		"unusable":            {workspace.Checked{Check: "weather", Problem: "x"}, true},
	} {
		got := Due(tasks, []workspace.Checked{test.check}, now, DefaultInterval)
		if len(got) != 1 || got[0].Due != test.due {
			t.Errorf("%s: %+v, want due %t", name, got, test.due)
		}
	}
}
