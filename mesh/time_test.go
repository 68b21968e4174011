package mesh

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh/confidence"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// inZone is a view whose time is *now, for a user in zone ("" for the machine's).
func inZone(t *testing.T, dir string, who audience.Audience, zone string, now *time.Time) *View {
	t.Helper()
	o := Options{
		Dir: filepath.Join(dir, ".yamo"), Audience: who, AgentID: "tester", Embedder: new(words),
		Now: func() time.Time { return *now },
	}
	if zone != "" {
		location, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		o.Zone = func() *time.Location { return location }
	}
	v := Open(o)
	t.Cleanup(func() { _ = v.Close(context.Background()) })
	return v
}

// The dates of a memory are those of the user's calendar, also around midnight.
func TestOccurred(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 23, 30, 0, 0, time.UTC) // 21 November in Tokyo
	v := inZone(t, t.TempDir(), audience.DM(), "Asia/Tokyo", &now)
	for _, c := range []struct {
		content, at string
		want        string
	}{
		{"Yesterday we changed the boiler", "", "2026-11-20"},
		{"On 17 November we moved the database to Porto", "", "2026-11-17"},
		{"Ana passed the exam", "yesterday at 9", "2026-11-20T09:00"},
		{"The text names 3 March 2025, the caller another day", "2026-01-02", "2026-01-02"},
		{"Rui arrived", "2026-11-20T15:30:00Z", "2026-11-21T00:30"},
		{"I may march for a second", "", ""},
	} {
		stored := keep(t, v, record.Memory{Content: c.content, OccurredAt: c.at})
		if diff := cmp.Diff(c.want, stored.OccurredAt); diff != "" {
			t.Errorf("%s, %q (-want +got):\n%s", c.content, c.at, diff)
		}
		hit, err := v.Get(t.Context(), stored.ID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, hit.OccurredAt); diff != "" {
			t.Errorf("kept of %s (-want +got):\n%s", c.content, diff)
		}
	}
	_, err := v.Store(t.Context(), record.Memory{Content: "x", OccurredAt: "when I was young"}, "")
	wantFault(t, err, "occurred_at:", "2026-01-31", "last Tuesday")
}

// What is shared is dated in the machine's time zone: the user's would tell a group where the user is.
func TestSharedDatesHideTheZone(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 23, 30, 0, 0, time.UTC)
	dir := t.TempDir()
	dm := inZone(t, dir, audience.DM(), "Asia/Tokyo", &now)
	yesterday := now.In(time.Local).AddDate(0, 0, -1)
	machine := yesterday.Format(time.DateOnly)
	shared := keep(t, dm, record.Memory{Content: "Yesterday we released"}, record.Shared)
	if diff := cmp.Diff(machine, shared.OccurredAt); diff != "" {
		t.Errorf("shared (-want +got):\n%s", diff)
	}
	keep(t, dm, record.Memory{Content: "Rui arrived"}, record.Shared)
	red := inZone(t, dir, group(t, "red"), "", &now)
	if got := keep(t, red, record.Memory{Content: "Yesterday we rested"}).OccurredAt; got != machine {
		t.Errorf("a group's yesterday is %s, want the machine's", got)
	}
	want := yesterday.Format("Monday 2 January 2006")
	if got := search(t, red, SearchRequest{Query: "what happened yesterday?"}).Asked; got != want {
		t.Errorf("a group's question is about %q, want the machine's yesterday, %s", got, want)
	}
	if found := search(t, dm, SearchRequest{Query: "what happened yesterday?"}); found.Asked != "Friday 20 November 2026" {
		t.Errorf("a DM's question is about %q, want the user's yesterday", found.Asked)
	}
}

// since and until take phrases, and find by when something was stored and by when it happened.
func TestSinceUntil(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 10, 12, 0, 0, 0, time.UTC)
	v := inZone(t, t.TempDir(), audience.DM(), "Europe/Lisbon", &now)
	keep(t, v, record.Memory{Content: "tea on the tenth"})
	now = time.Date(2026, 11, 17, 12, 0, 0, 0, time.UTC)
	keep(t, v, record.Memory{Content: "tea on a Tuesday"})
	now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	keep(t, v, record.Memory{Content: "tea was bought on 3 March 2026"})
	settle(t, v)
	for name, c := range map[string]struct {
		since, until string
		want         []string
	}{
		"a weekday":         {"last tuesday", "", []string{"tea on a Tuesday", "tea was bought on 3 March 2026"}},
		"until a weekday":   {"", "last tuesday", []string{"tea on the tenth", "tea was bought on 3 March 2026"}},
		"both":              {"2026-11-16", "yesterday", []string{"tea on a Tuesday"}},
		"event":             {"in March", "2026-04", []string{"tea was bought on 3 March 2026"}},
		"two weeks ago":     {"two weeks ago", "last week", nil},
		"a time":            {"2026-11-17T12:00:00Z", "2026-11-17T12:00:01Z", []string{"tea on a Tuesday"}},
		"since the weekend": {"since monday", "2026-11-18", []string{"tea on a Tuesday"}},
	} {
		got := contents(search(t, v, SearchRequest{Query: "tea", Since: c.since, Until: c.until}).Hits)
		slices.Sort(got)
		if diff := cmp.Diff(c.want, got); diff != "" && len(c.want)+len(got) > 0 {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for field, q := range map[string]SearchRequest{
		"since:": {Query: "tea", Since: "soon"}, "until:": {Query: "tea", Until: "the other day"},
	} {
		_, err := v.Search(t.Context(), q)
		wantFault(t, err, field, "2026-01-31", "last Tuesday", "in March")
	}
}

// A question's time is preferred, and excludes nothing.
func TestPreferredTime(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 17, 12, 0, 0, 0, time.UTC)
	v := inZone(t, t.TempDir(), audience.DM(), "Europe/Lisbon", &now)
	keep(t, v, record.Memory{Content: "We decided on the blue database"})
	now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	keep(t, v, record.Memory{Content: "What we decide about the database, last of all: nothing happened on any Tuesday"})
	keep(t, v, record.Memory{Content: "On 3 March 2026 the roof was repaired"})
	settle(t, v)
	found := search(t, v, SearchRequest{Query: "what did we decide last Tuesday?"})
	if found.Asked != "Tuesday 17 November 2026" {
		t.Errorf("asked about %q", found.Asked)
	}
	if got := contents(found.Hits); len(got) < 2 || got[0] != "We decided on the blue database" {
		t.Errorf("found %q, want Tuesday's first and others after it", got)
	}
	if got := contents(search(t, v, SearchRequest{Query: "what did I do in March?"}).Hits); len(got) == 0 ||
		got[0] != "On 3 March 2026 the roof was repaired" {
		t.Errorf("of March: %q", got)
	}
	// The same words mean another day a week later, so an earlier answer is not used.
	now = now.AddDate(0, 0, 7)
	later := search(t, v, SearchRequest{Query: "what did we decide last Tuesday?"})
	if later.Asked != "Tuesday 24 November 2026" {
		t.Errorf("a week later it is %q", later.Asked)
	}
}

// A question for all of a time is answered by what is of that time, although it shares no word with it.
func TestAllOfATime(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	v := inZone(t, t.TempDir(), audience.DM(), "UTC", &now)
	now = now.AddDate(0, 0, -20)
	for content, day := range map[string]string{
		"A filling was replaced at the dentist": "2026-11-17", "The bank called": "2026-11-17",
		"Planted garlic": "2026-11-15", "I prefer tea to coffee": "2026-09-02",
	} {
		keep(t, v, record.Memory{Content: content, OccurredAt: day})
	}
	now = now.AddDate(0, 0, 20)
	for query, want := range map[string][]string{
		"What did I do last Tuesday?":   {"A filling was replaced at the dentist", "The bank called"},
		"What happened on 15 November?": {"Planted garlic"},
		"What did I do on 16 November?": nil, // nothing is of that day
		"What did I eat last Tuesday?":  nil, // nothing tells of that
	} {
		found, err := v.Search(t.Context(), SearchRequest{Query: query, MinConfidence: confidence.Likely})
		if err != nil {
			t.Fatal(err)
		}
		got := contents(found.Hits)
		slices.Sort(got)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
		if len(found.Standing) > 0 && len(want) > 0 {
			t.Errorf("%s brings up %q", query, contents(found.Standing))
		}
	}
	// Memories with more words of the question do not displace them.
	for i := range 30 {
		keep(t, v, record.Memory{Content: fmt.Sprint("What I did do at work, part ", i), OccurredAt: "2026-10-02"})
	}
	for _, query := range []string{"What did I do at work last Tuesday?", "last Tuesday"} {
		found, err := v.Search(t.Context(), SearchRequest{Query: query, Limit: 3})
		if err != nil {
			t.Fatal(err)
		}
		var levels []confidence.Level
		for _, hit := range found.Hits {
			levels = append(levels, confidence.Of(hit.Probability))
		}
		want := []confidence.Level{confidence.Likely, confidence.Likely, confidence.Unlikely}
		if diff := cmp.Diff(want, levels); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
	found, err := v.Search(t.Context(), SearchRequest{Query: "What did I do in 2026?"})
	if err != nil {
		t.Fatal(err)
	}
	if got := found.Confidence(); got != confidence.Possible {
		t.Errorf("all of a year is %s, not possible", got)
	}
}
