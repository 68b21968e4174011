package mesh

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

func TestAsOf(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	v := openAt(t, &now)
	lisbon := revised(t, v, "Ana lives in Lisbon.")
	now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	revised(t, v, "Ana moved to Porto.", lisbon.ID)
	now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for at, want := range map[string][]string{
		"":                     {"Ana moved to Porto."},
		"2026-10-31":           nil,
		"2026-11-01":           {"Ana lives in Lisbon."},
		"2026-11-19":           {"Ana lives in Lisbon."},
		"2026-11-20":           {"Ana moved to Porto."},
		"2026-11-20T11:59:00Z": {"Ana lives in Lisbon."},
		"2026-12-31":           {"Ana moved to Porto."},
	} {
		if diff := cmp.Diff(want, texts(t, v, SearchRequest{Query: "Ana", AsOf: at})); diff != "" {
			t.Errorf("as of %q (-want +got):\n%s", at, diff)
		}
	}
	_, err := v.Search(t.Context(), SearchRequest{Query: "Ana", AsOf: "soon"})
	wantFault(t, err, "as_of:")
}

// What happened at a time of day holds from that minute on.
func TestAsOfAnInstant(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	v := inZone(t, t.TempDir(), audience.DM(), "Asia/Tokyo", &now)
	keep(t, v, record.Memory{Content: "Ana moved to Porto.", OccurredAt: "noon yesterday"})
	for at, want := range map[string][]string{
		"noon yesterday":            {"Ana moved to Porto."},
		"2026-11-19T12:00:00+09:00": {"Ana moved to Porto."},
		"2026-11-19T11:59":          nil,
	} {
		if diff := cmp.Diff(want, texts(t, v, SearchRequest{Query: "Ana", AsOf: at})); diff != "" {
			t.Errorf("as of %q (-want +got):\n%s", at, diff)
		}
	}
}

// What is stored late about an earlier time held then, and what it replaced did not hold any more.
func TestAsOfWhenItHappened(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 10, 12, 0, 0, 0, time.UTC)
	v := openAt(t, &now)
	lisbon := revised(t, v, "Ana lives in Lisbon.")
	now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	s, err := v.Scrub(record.Memory{Content: "Ana moved to Porto.", OccurredAt: "2026-03"}, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.Remember(t.Context(), s, Intent{Supersedes: []string{lisbon.ID}}); err != nil {
		t.Fatal(err)
	}
	keep(t, v, record.Memory{Content: "Ana bought a boat on 3 December 2026."})
	for at, want := range map[string][]string{
		"":           {"Ana bought a boat on 3 December 2026.", "Ana moved to Porto."},
		"2026-01-09": nil,
		"2026-03-30": {"Ana lives in Lisbon."},
		"2026-03":    {"Ana moved to Porto."},
		"2026-04-15": {"Ana moved to Porto."},
		"2026-11-20": {"Ana bought a boat on 3 December 2026.", "Ana moved to Porto."},
	} {
		got := texts(t, v, SearchRequest{Query: "Ana", AsOf: at})
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("as of %q (-want +got):\n%s", at, diff)
		}
	}
}

// A date that a text names in passing does not say since when it is true.
func TestAsOfIgnoresEarlierDates(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ query, before, after string }{
		{"Rui", "Rui is a developer.", "Rui, who joined us in 2019, is the team lead."},
		{"flat", "The flat costs 800.", "The flat that we rented in March 2025 costs 900."},
	} {
		now := time.Date(2026, 1, 10, 12, 0, 0, 0, time.UTC)
		v := openAt(t, &now)
		old := revised(t, v, test.before)
		now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
		revised(t, v, test.after, old.ID)
		for at, want := range map[string]string{"2026-05": test.before, "2026-11-20": test.after} {
			if diff := cmp.Diff([]string{want}, texts(t, v, SearchRequest{Query: test.query, AsOf: at})); diff != "" {
				t.Errorf("as of %q (-want +got):\n%s", at, diff)
			}
		}
	}
}

// A history that is entered in one go holds as its dates say.
func TestAsOfEnteredLater(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	v := openAt(t, &now)
	last := ""
	for _, fact := range []struct{ text, when string }{
		{"The club meets on Mondays.", "2020-01-01"},
		{"The club meets on Tuesdays.", "2024-01-01"},
		{"The club meets on Fridays.", "2025-03"},
	} {
		last = correctedBy(t, v, record.Memory{Content: fact.text, OccurredAt: fact.when}, last)
		now = now.Add(time.Minute)
	}
	for at, want := range map[string][]string{
		"2019": nil, "2023": {"The club meets on Mondays."}, "2024-06": {"The club meets on Tuesdays."},
		"2025-02": {"The club meets on Tuesdays."}, "2025-04": {"The club meets on Fridays."},
		"": {"The club meets on Fridays."},
	} {
		if diff := cmp.Diff(want, texts(t, v, SearchRequest{Query: "club", AsOf: at})); diff != "" {
			t.Errorf("as of %q (-want +got):\n%s", at, diff)
		}
	}
}

// What the middle of a chain replaced, which has no date, does not hold beside what has replaced that since an earlier
// time.
func TestAsOfChain(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	v := openAt(t, &now)
	last := ""
	for _, fact := range []struct{ text, when string }{
		{"The club meets on Mondays.", "2022"},
		{"The club meets on Tuesdays.", ""},
		{"The club meets on Fridays.", "2025-03"},
	} {
		last = correctedBy(t, v, record.Memory{Content: fact.text, OccurredAt: fact.when}, last)
		now = now.Add(time.Minute)
	}
	for at, want := range map[string]string{
		"2023": "The club meets on Mondays.", "2025-06": "The club meets on Fridays.", "": "The club meets on Fridays.",
	} {
		if diff := cmp.Diff([]string{want}, texts(t, v, SearchRequest{Query: "club", AsOf: at})); diff != "" {
			t.Errorf("as of %q (-want +got):\n%s", at, diff)
		}
	}
}

// A correction that takes effect later leaves what it replaces true until then; what was moved to another date is not
// true any more.
func TestAsOfBeforeACorrectionTakesEffect(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		before, after record.Memory
		until         string // "" is the time of the correction
	}{
		{record.Memory{Content: "The rent is 800."}, record.Memory{Content: "From January the rent is 900."}, "2027-01-01"},
		{
			record.Memory{Content: "Ana works for Acme."},
			record.Memory{Content: "Ana works for Globex.", OccurredAt: "2026-12-07"},
			"2026-12-07",
		},
		{
			record.Memory{Content: "Ines is on call for the review."},
			record.Memory{Content: "Tomorrow Paulo takes over the review call."},
			"2026-11-21",
		},
		{
			record.Memory{Content: "Marta takes 50 mg before the review."},
			record.Memory{Content: "In two weeks Marta will take 100 mg before the review."},
			"2026-12-01",
		},
		{
			record.Memory{Content: "The review is on 1 December."},
			record.Memory{Content: "The review is on 3 December.", OccurredAt: "2026-12-03"},
			"",
		},
		{
			record.Memory{Content: "The review is in room 4."},
			record.Memory{Content: "The review is on 3 December in room 5."},
			"",
		},
	} {
		now := at
		v := openAt(t, &now)
		old := correctedBy(t, v, test.before, "")
		now = now.Add(time.Hour)
		correctedBy(t, v, test.after, old)
		if got := texts(t, v, SearchRequest{Query: "rent Ana review", AsOf: "2026-11-20"}); test.until != "" &&
			!slices.Equal(got, []string{test.before.Content}) {
			t.Errorf("before %s: %q, want %q", test.until, got, test.before.Content)
		}
		want := now
		if test.until != "" {
			want, _ = time.Parse(time.DateOnly, test.until)
		}
		hit, err := v.Get(t.Context(), old)
		if err != nil || hit.Past == nil || !hit.Past.At.Equal(want) {
			t.Errorf("%q: %+v, %v, want that it was true until %v", test.before.Content, hit.Past, err, want)
		}
	}
}

// correctedBy stores a memory that supersedes the one called old, if there is one, and returns its id.
func correctedBy(t *testing.T, v *View, m record.Memory, old string) string {
	t.Helper()
	s, err := v.Scrub(m, "")
	if err != nil {
		t.Fatal(err)
	}
	var how Intent
	if old != "" {
		how.Supersedes = []string{old}
	}
	done, err := v.Remember(t.Context(), s, how)
	if err != nil {
		t.Fatal(err)
	}
	return done.ID
}

// A plan that replaces another one leaves true until then what the first was to replace.
func TestAsOfOfANewPlan(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	v := openAt(t, &now)
	last := ""
	for _, text := range []string{
		"Parking costs 5 euros.", "From January parking costs 6 euros.", "From February parking costs 6 euros.",
	} {
		last = correctedBy(t, v, record.Memory{Content: text}, last)
		now = now.Add(time.Minute)
	}
	for at, want := range map[string]string{
		"2026-11-25": "Parking costs 5 euros.", "2027-01-15": "Parking costs 5 euros.",
		"2027-02-15": "From February parking costs 6 euros.", "": "From February parking costs 6 euros.",
	} {
		if diff := cmp.Diff([]string{want}, texts(t, v, SearchRequest{Query: "parking", AsOf: at})); diff != "" {
			t.Errorf("as of %q (-want +got):\n%s", at, diff)
		}
	}
}
