package mesh

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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
		s, err := v.Scrub(record.Memory{Content: fact.text, OccurredAt: fact.when}, "")
		if err != nil {
			t.Fatal(err)
		}
		var supersedes []string
		if last != "" {
			supersedes = []string{last}
		}
		done, err := v.Remember(t.Context(), s, Intent{Supersedes: supersedes})
		if err != nil {
			t.Fatal(err)
		}
		last = done.ID
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
