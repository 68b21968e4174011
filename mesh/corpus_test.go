package mesh

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/testsize"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// notes writes n different sentences that a person might want remembered.
func notes(n int) []string {
	r := rand.New(rand.NewPCG(7, 7))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	person := func() string {
		return pick("Amir", "Beatriz", "Chen", "Dagmar", "Elias", "Fatou", "Goran", "Hanna", "Ikram", "Jonas", "Kaori",
			"Lucia", "Mateo", "Nadia", "Oskar", "Priya")
	}
	place := func() string {
		return pick("Lisbon", "the old harbour", "Nairobi", "the north office", "Kyoto", "the cabin", "Tromsø", "the clinic",
			"Quito", "the workshop")
	}
	day := func() string {
		return pick("Monday", "the third of May", "last winter", "tomorrow morning", "the weekend", "October",
			"the first day of spring")
	}
	kinds := []func() string{
		func() string {
			return fmt.Sprintf("%s moves to %s on %s and needs help with %s.", person(), place(), day(),
				pick("the piano", "her books", "two cats", "the visa", "a lease", "the furniture"))
		},
		func() string {
			return fmt.Sprintf("The %s service failed at %d:%02d because the %s ran out of %s.",
				pick("billing", "search", "login", "mail", "backup", "map"), r.IntN(24), r.IntN(60),
				pick("primary node", "queue", "cache", "disk array", "worker pool"),
				pick("memory", "disk space", "connections", "file handles", "time"))
		},
		func() string {
			return fmt.Sprintf("%s is allergic to %s, so cook %s for the dinner in %s.", person(),
				pick("peanuts", "shellfish", "gluten", "milk", "strawberries", "celery"),
				pick("risotto", "lentil soup", "roast vegetables", "dumplings", "a curry", "pancakes"), place())
		},
		func() string {
			return fmt.Sprintf("Pay %d euros to %s for the %s before %s.", 10+r.IntN(900), person(),
				pick("tickets", "repair", "translation", "deposit", "paint", "violin strings"), day())
		},
		func() string {
			return fmt.Sprintf("%s recommended the %s about %s that was shown in %s.", person(),
				pick("film", "novel", "lecture", "podcast", "exhibition"),
				pick("glaciers", "a clockmaker", "railway strikes", "deep-sea fish", "Bauhaus", "beekeeping", "tax reform"),
				place())
		},
		func() string {
			return fmt.Sprintf("We decided with %s to use %s for the %s, effective %s.", person(),
				pick("Postgres", "Go", "a message queue", "weekly reviews", "feature flags", "a monorepo"),
				pick("inventory", "new website", "sensor data", "payroll", "release process"), day())
		},
	}
	seen := map[string]bool{}
	var list []string
	for len(list) < n {
		if text := kinds[r.IntN(len(kinds))](); !seen[text] {
			seen[text] = true
			list = append(list, text)
		}
	}
	return list
}

// Memories stored one by one are found with the cosines that an exact comparison gives, and so after a
// rebuild and after each loss of what is derived.
func TestThousandsOfMemories(t *testing.T) {
	t.Parallel()
	n := testsize.Pick(1000, 2000)
	dir, e := t.TempDir(), embed.Cached(model(t), n+100) // each text goes through the model once
	v := open(t, dir, audience.DM(), e)
	texts := notes(n)
	for i, text := range texts {
		keep(t, v, record.Memory{Content: text, SessionID: fmt.Sprint("s", i/25)})
	}
	settle(t, v)
	exact, err := e.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	queries := []string{
		"who cannot eat seafood?", "outages caused by full disks", "when does Kaori relocate?",
		"which database do we use for the warehouse?",
		"documentary on ice", "how much do I owe for the concert?", texts[n/3], texts[n-1],
	}
	check := func(name string, v *View) {
		t.Helper()
		for _, query := range queries {
			qv, err := e.Embed(t.Context(), []string{query})
			if err != nil {
				t.Fatal(err)
			}
			checkCosines(t, name, v, query, qv[0], texts, exact)
		}
	}
	check("stored", v)
	if found := search(t, v, SearchRequest{Query: texts[n/2], Limit: 1}); len(found.Hits) != 1 ||
		found.Hits[0].Content != texts[n/2] {
		t.Errorf("a memory's own words find %q", contents(found.Hits))
	}
	reopen := func() *View {
		if err := v.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		v = open(t, dir, audience.DM(), e)
		return v
	}
	private := filepath.Join(dir, ".yamo", "private")
	for _, loss := range []string{"vectors.f32", "lance"} {
		if err := os.RemoveAll(filepath.Join(private, loss)); err != nil {
			t.Fatal(err)
		}
		v := reopen()
		if _, _, err := v.compartments(t.Context()); err != nil {
			t.Fatal(err)
		}
		settle(t, v)
		check("without "+loss, v)
	}
	if err := reopen().Maintenance().Rebuild(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	check("rebuilt", v)
	if rows, err := v.stores[record.Private].index.Tables.Count(t.Context()); err != nil || rows != n {
		t.Errorf("%d rows in LanceDB (%v), want %d", rows, err, n)
	}
}

// checkCosines compares the ranking's cosines of all memories, the 20 best of them in order, and those of
// the results with what was computed from the texts.
func checkCosines(t *testing.T, name string, v *View, query string, qv []float32, texts []string, exact [][]float32) {
	t.Helper()
	found := search(t, v, SearchRequest{Query: query, Limit: 10})
	if found.Pending != 0 || len(found.Hits) == 0 {
		t.Fatalf("%s: %q: %d hits, %d pending", name, query, len(found.Hits), found.Pending)
	}
	want := make([]float64, len(texts))
	at := map[string]int{}
	for i := range texts {
		at[texts[i]] = i
		for j := range qv {
			want[i] += float64(qv[j]) * float64(exact[i][j])
		}
	}
	got := v.stores[record.Private].Vectors.Cosines(qv, nil)
	for i := range want {
		if math.Abs(float64(got[i])-want[i]) > 1e-4 {
			t.Fatalf("%s: %q: cosine of memory %d is %v, exactly %v", name, query, i, got[i], want[i])
		}
	}
	order := func(score func(int) float64) []int {
		list := make([]int, len(texts))
		for i := range list {
			list[i] = i
		}
		slices.SortStableFunc(list, func(a, b int) int {
			if score(a) > score(b) {
				return -1
			}
			return 1
		})
		return list[:20]
	}
	ours, theirs := order(func(i int) float64 { return float64(got[i]) }), order(func(i int) float64 { return want[i] })
	for i := range ours {
		if math.Abs(want[ours[i]]-want[theirs[i]]) > 1e-4 {
			t.Errorf("%s: %q: neighbour %d is %q, exactly %q", name, query, i, texts[ours[i]], texts[theirs[i]])
		}
	}
	for _, h := range found.Hits {
		if exactly := max(0, want[at[h.Content]]); math.Abs(h.Signals[0].Value-exactly) > .0051 {
			t.Errorf("%s: %q: %q has cosine %v, exactly %.4f", name, query, h.Content, h.Signals[0].Value, exactly)
		}
	}
}
