package workspace

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
)

func TestDays(t *testing.T) {
	t.Parallel()
	newYork, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	utc := func(text string) time.Time {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	late := utc("2026-02-14T23:30:00Z")
	tests := map[string]struct {
		user      string
		now       time.Time
		dm, group string // today
	}{
		"machine":        {"", late, "2026-02-14", "2026-02-14"},
		"machine's zone": {"", late.In(newYork), "2026-02-14", "2026-02-14"},
		"user ahead":     {"# User\n\n**Timezone:** Europe/Oslo\n", late, "2026-02-15", "2026-02-14"},
		"list item":      {"- **timezone**: `Asia/Tokyo`\r\n", late, "2026-02-15", "2026-02-14"},
		"user behind":    {"**Timezone:** America/Bogota", utc("2026-02-15T03:00:00Z"), "2026-02-14", "2026-02-15"},
		"with an offset": {"**Timezone:** America/Bogota (UTC-5)", utc("2026-02-15T03:00:00Z"), "2026-02-14", "2026-02-15"},
		"with a country": {"Time zone: Norway, Europe/Oslo", late, "2026-02-15", "2026-02-14"},
		"offset only":    {"- **Timezone**: UTC+5:30\n", late, "2026-02-15", "2026-02-14"},
		"minus sign":     {"**Timezone:** GMT−5", utc("2026-02-15T03:00:00Z"), "2026-02-14", "2026-02-15"},
		"prose":          {"The time zone changed, and Cuba is far.\n", late, "2026-02-14", "2026-02-14"},
		"small letters":  {"**Timezone:** america/bogota", utc("2026-02-15T03:00:00Z"), "2026-02-14", "2026-02-15"},
		"unknown zone":   {"**Timezone:** Middle/Earth\n", late, "2026-02-14", "2026-02-14"},
		"placeholder":    {"**Timezone:** [TZ identifier]\n", late, "2026-02-14", "2026-02-14"},
		"outside":        {"**Timezone:** ../../etc/localtime\n", late, "2026-02-14", "2026-02-14"},
	}
	for name, test := range tests {
		w := folderOf(t, map[string]string{"USER.md": test.user})
		w.now = func() time.Time { return test.now }
		for who, want := range map[audience.Audience]string{audience.DM(): test.dm, group(t, "a"): test.group} {
			today, yesterday := w.View(who).Days()
			before := utc(want+"T12:00:00Z").AddDate(0, 0, -1).Format(time.DateOnly)
			if today != want || yesterday != before {
				t.Errorf("%s: %v has %s and %s, want %s and %s", name, who, today, yesterday, want, before)
			}
		}
	}
}

func TestLogDates(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for _, name := range []string{
		"2026-02-14", "2026-02-13", "2019-12-31", "2026-02-30", "2026-02-14-topic", "2026-02-10-group-a",
		"2026-02-14-group-a", "2020-01-01-group-a", "2026-02-12-group-b",
	} {
		files["memory/"+name+".md"] = "x"
	}
	w := folderOf(t, files)
	want := map[audience.Audience][]string{
		audience.DM():   {"2026-02-14", "2026-02-13", "2019-12-31"},
		group(t, "a"):   {"2026-02-14", "2026-02-10"},
		group(t, "b"):   {"2026-02-12"},
		group(t, "new"): {},
	}
	for who, dates := range want {
		if diff := cmp.Diff(dates, w.View(who).LogDates()); diff != "" {
			t.Errorf("%v (-want +got):\n%s", who, diff)
		}
	}
}
