package mesh

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// recorder is words that remembers what it was given.
type recorder struct {
	words
	mu    sync.Mutex
	given strings.Builder
}

func (r *recorder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	r.mu.Lock()
	r.given.WriteString(strings.Join(texts, "\n") + "\n")
	r.mu.Unlock()
	return r.words.Embed(ctx, texts)
}

func (r *recorder) saw(text string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Contains(r.given.String(), text)
}

// The real model: each question shares no telling word with its answer.
func TestSearchByMeaning(t *testing.T) {
	t.Parallel()
	v := open(t, t.TempDir(), audience.DM(), model(t))
	for _, text := range []string{
		"Nora adopted a puppy called Biscuit last spring.",
		"The quarterly invoices are due on the tenth of the month.",
		"Ivan is allergic to peanuts and shellfish.",
		"The production database was migrated to the Frankfurt region.",
		"Grandmother's apple cake needs cinnamon and a pinch of salt.",
	} {
		keep(t, v, record.Memory{Content: text})
	}
	for query, want := range map[string]string{
		"does anybody have a dog":                    "Nora adopted",
		"which foods make someone ill":               "Ivan is allergic",
		"where do the servers keep our data":         "The production database",
		"dessert recipe":                             "Grandmother's apple cake",
		"when must bills be paid":                    "The quarterly invoices",
		"WHERE was the Production Database MIGRATED": "The production database",
	} {
		found := search(t, v, SearchRequest{Query: query})
		if len(found.Hits) == 0 || !strings.HasPrefix(found.Hits[0].Content, want) {
			t.Errorf("%q: %q, want %q first", query, contents(found.Hits), want)
		}
		switch {
		case found.Pending != 0:
			t.Errorf("found.Pending = %v, want 0", found.Pending)
		case found.Off:
			t.Error("found.Off is true")
		case found.Degraded:
			t.Error("found.Degraded is true")
		case found.Damaged != nil:
			t.Errorf("found.Damaged = %v, want nil", found.Damaged)
		}
		for i, h := range found.Hits {
			switch {
			case h.Score < 0:
				t.Errorf("h.Score = %v, must not be < 0", h.Score)
			case h.Score > 1:
				t.Errorf("h.Score = %v, must not be > 1", h.Score)
			case i > 0 && h.Score > found.Hits[i-1].Score:
				t.Errorf("%q: score %v at %d after %v", query, h.Score, i, found.Hits[max(0, i-1)].Score)
			}
		}
	}
	if hits := search(t, v, SearchRequest{Query: "xylophone zeppelin"}).Hits; len(hits) > 0 && hits[0].Score > .35 {
		t.Errorf("nonsense is answered with a score of %v", hits[0].Score)
	}
}

func TestFilters(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	v := Open(Options{
		Dir: filepath.Join(dir, ".yamo"), Audience: audience.DM(), AgentID: "tester", Embedder: new(words),
		Now: func() time.Time { now = now.Add(24 * time.Hour); return now },
	})
	t.Cleanup(func() { _ = v.Close(context.Background()) })
	keep(t, v, record.Memory{Content: "tea one", Type: "event", Tags: []string{"Green", "hot"}, SessionID: "a"}) // March 2
	keep(t, v, record.Memory{Content: "tea two", Tags: []string{"green"}, SessionID: "b"})                       // March 3
	keep(t, v, record.Memory{Content: "tea three", Type: "event", SessionID: "b"})                               // March 4
	settle(t, v)
	for name, test := range map[string]struct {
		request SearchRequest
		want    []string
	}{
		"all":             {SearchRequest{}, []string{"tea one", "tea two", "tea three"}},
		"type":            {SearchRequest{Type: "event"}, []string{"tea one", "tea three"}},
		"tag, any case":   {SearchRequest{Tags: []string{"GREEN"}}, []string{"tea one", "tea two"}},
		"all of the tags": {SearchRequest{Tags: []string{"green", "hot"}}, []string{"tea one"}},
		"session":         {SearchRequest{SessionID: "b"}, []string{"tea two", "tea three"}},
		"since is in":     {SearchRequest{Since: "2026-03-03T12:00:00Z"}, []string{"tea two", "tea three"}},
		"until is out":    {SearchRequest{Until: "2026-03-03T12:00:00Z"}, []string{"tea one"}},
		"a day":           {SearchRequest{Since: "2026-03-03", Until: "2026-03-04"}, []string{"tea two"}},
		"nothing":         {SearchRequest{Type: "event", Tags: []string{"green"}, SessionID: "b"}, []string{}},
		"limit":           {SearchRequest{Limit: 1, Type: "event", SessionID: "b"}, []string{"tea three"}},
	} {
		test.request.Query = "tea"
		got := map[string]bool{}
		for _, text := range contents(search(t, v, test.request).Hits) {
			got[text] = true
		}
		want := map[string]bool{}
		for _, text := range test.want {
			want[text] = true
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestSearchRefuses(t *testing.T) {
	t.Parallel()
	v := open(t, t.TempDir(), audience.DM(), new(words))
	for name, test := range map[string]struct {
		request SearchRequest
		want    []string
	}{
		"empty":         {SearchRequest{Query: "  "}, []string{"query:"}},
		"too long":      {SearchRequest{Query: strings.Repeat("é", maxQuery+1)}, []string{"query: 4001 characters", "4000"}},
		"not UTF-8":     {SearchRequest{Query: "\xff"}, []string{"query:", "UTF-8"}},
		"limit":         {SearchRequest{Query: "x", Limit: 51}, []string{"limit:", "1 to 50"}},
		"negative":      {SearchRequest{Query: "x", Limit: -1}, []string{"limit:"}},
		"type":          {SearchRequest{Query: "x", Type: "note"}, []string{"type: use one of"}},
		"since":         {SearchRequest{Query: "x", Since: "soon"}, []string{"since:", "2026-01-31"}},
		"until":         {SearchRequest{Query: "x", Until: "1"}, []string{"until:"}},
		"until < since": {SearchRequest{Query: "x", Since: "2026-02-01", Until: "2026-01-01"}, []string{"until:", "later"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := v.Search(t.Context(), test.request)
			wantFault(t, err, test.want...)
		})
	}
}

func TestVisibility(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	dm := open(t, dir, audience.DM(), new(words))
	red, blue := open(t, dir, group(t, "red"), new(words)), open(t, dir, group(t, "blue"), new(words))
	ids := map[string]string{
		"private":    keep(t, dm, record.Memory{Content: "orchard private"}).ID,
		"shared":     keep(t, dm, record.Memory{Content: "orchard shared"}, record.Shared).ID,
		"group:red":  keep(t, red, record.Memory{Content: "orchard red"}).ID,
		"group:blue": keep(t, blue, record.Memory{Content: "orchard blue"}).ID,
	}
	for name, test := range map[string]struct {
		view *View
		sees []string
	}{
		"dm":   {dm, []string{"private", "shared", "group:red", "group:blue"}},
		"red":  {red, []string{"group:red", "shared"}},
		"blue": {blue, []string{"group:blue", "shared"}},
	} {
		want, got := map[string]bool{}, map[string]bool{}
		for _, s := range test.sees {
			want[s] = true
		}
		for _, h := range search(t, test.view, SearchRequest{Query: "orchard"}).Hits {
			got[string(h.Visibility)] = true
			if strings.TrimPrefix(string(h.Visibility), "group:") != strings.TrimPrefix(h.Content, "orchard ") {
				t.Errorf("%s: %q is said to be %s", name, h.Content, h.Visibility)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s searches (-want +got):\n%s", name, diff)
		}
		for where, id := range ids {
			hit, err := test.view.Get(t.Context(), id)
			if want[where] != (err == nil) || err == nil && string(hit.Visibility) != where {
				t.Errorf("%s gets a memory of %s: %v, %v", name, where, hit.Visibility, err)
			}
			if err != nil {
				_, absent := test.view.Get(t.Context(), "mem_1_abcdef")
				got := strings.ReplaceAll(err.Error(), id, "ID")
				if want := strings.ReplaceAll(absent.Error(), "mem_1_abcdef", "ID"); got != want {
					t.Errorf("denied is %q, absent is %q", got, want)
				}
			}
		}
	}
	// SECURITY: a group's view never opened anything else.
	for name, v := range map[string]*View{"red": red, "blue": blue} {
		for where := range v.stores {
			if where != record.Shared && where != record.Visibility("group:"+name) {
				t.Errorf("%s opened %s", name, where)
			}
		}
	}
}

// What is private must not change what a group gets in any way, be it a score.
func TestPrivateMemoriesDoNotRankForAGroup(t *testing.T) {
	t.Parallel()
	answers := make([]Found, 2)
	for i := range answers {
		dir := t.TempDir()
		if i == 1 {
			dm := open(t, dir, audience.DM(), new(words))
			for _, text := range []string{"the harbour harbour harbour", "a boat in the harbour", "harbour tickets"} {
				keep(t, dm, record.Memory{Content: text})
			}
		}
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		g := Open(Options{
			Dir: filepath.Join(dir, ".yamo"), Audience: group(t, "red"), Embedder: new(words),
			Now: func() time.Time { return now }, Random: zeros{},
		})
		keep(t, g, record.Memory{Content: "we meet at the harbour"})
		now = now.Add(time.Second)
		keep(t, g, record.Memory{Content: "bring a boat and sandwiches"})
		answers[i] = search(t, g, SearchRequest{Query: "harbour boat"})
		if err := g.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(answers[0], answers[1]); diff != "" || len(answers[0].Hits) != 2 {
		t.Errorf("a private memory shows (-without +with):\n%s", diff)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestReadingCreatesNothing(t *testing.T) {
	t.Parallel()
	for _, a := range []audience.Audience{audience.DM(), group(t, "red")} {
		dir := t.TempDir()
		v := open(t, dir, a, new(words))
		found := search(t, v, SearchRequest{Query: "anything", IncludeLessons: true})
		if len(found.Hits)+len(found.Lessons) != 0 {
			t.Errorf("found %+v in nothing", found)
		}
		if _, err := v.Get(t.Context(), "mem_1_abcdef"); err == nil {
			t.Error("got a memory from nothing")
		}
		wantFault(t, v.Delete(t.Context(), "mem_1_abcdef", ""), "id:", "mem_1_abcdef")
		switch reports, err := v.Maintenance().Verify(t.Context()); {
		case err != nil:
			t.Fatal(err)
		case len(reports) != 2:
			t.Errorf("len(reports) = %v, want 2", len(reports))
		case !reports[0].Intact():
			t.Error("reports[0].Intact() is false")
		}
		if err := v.Maintenance().Rebuild(t.Context(), nil); err != nil {
			t.Error(err)
		}
		if err := v.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if names := tree(t, dir); len(names) != 1 {
			t.Errorf("%v: reading made %v", a, names[1:])
		}
	}
	// Nor does a group that finds nothing begin a ledger of its own. One that finds what is shared does, because the
	// operator sees what groups have found.
	dir := t.TempDir()
	keep(t, open(t, dir, audience.DM(), new(words)), record.Memory{Content: "shared tea"}, record.Shared)
	red := open(t, dir, group(t, "red"), new(words))
	if found := search(t, red, SearchRequest{Query: "coffee"}); len(found.Hits) != 0 {
		t.Errorf("found %d", len(found.Hits))
	}
	if _, err := os.Stat(filepath.Join(dir, ".yamo", "groups")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a group's search made its compartment (%v)", err)
	}
	if found := search(t, red, SearchRequest{Query: "tea"}); len(found.Hits) != 1 {
		t.Errorf("found %d", len(found.Hits))
	}
	list, err := open(t, dir, audience.DM(), new(words)).Shared(t.Context())
	if err != nil || len(list) != 1 {
		t.Fatalf("%d are shared, %v", len(list), err)
	}
	if seen := list[0].Seen; len(seen) != 1 || seen[0].Group != "red" || seen[0].Count != 1 {
		t.Errorf("seen by %+v, want red once", seen)
	}
}

func TestEmbedderFailures(t *testing.T) {
	fail := func(w *words, err error) { w.fail.Store(&err) }
	t.Run("no assets", func(t *testing.T) {
		w := new(words)
		fail(w, embed.ErrNoAssets)
		v := open(t, t.TempDir(), audience.DM(), w)
		keep(t, v, record.Memory{Content: "the spare key is under the mat"})
		found := search(t, v, SearchRequest{Query: "spare key"})
		switch {
		case !found.Off:
			t.Error("found.Off is false")
		case found.Degraded:
			t.Error("found.Degraded is true")
		case found.Pending != 0:
			t.Errorf("found.Pending = %v, want 0", found.Pending)
		case len(found.Hits) != 1:
			t.Errorf("len(found.Hits) = %v, want 1", len(found.Hits))
		}
		w.fail.Store(nil) // installed meanwhile
		found = search(t, v, SearchRequest{Query: "spare key"})
		switch {
		case found.Off:
			t.Error("found.Off is true")
		case found.Pending != 0:
			t.Errorf("found.Pending = %v, want 0", found.Pending)
		case len(found.Hits) != 1:
			t.Errorf("len(found.Hits) = %v, want 1", len(found.Hits))
		case found.Hits[0].Signals[0].Value == 0:
			t.Errorf("found.Hits[0].Signals[0].Value = %v, must not be 0", found.Hits[0].Signals[0].Value)
		}
	})
	t.Run("provider fails", func(t *testing.T) {
		w := new(words)
		fail(w, errors.New("connection refused"))
		var log strings.Builder
		v := Open(Options{Dir: t.TempDir() + "/.yamo", Audience: audience.DM(), Embedder: w, Logger: logger(&log)})
		v.patience = giveUp // which a search that waits reaches
		keep(t, v, record.Memory{Content: "the spare key is under the mat"})
		for range 5 {
			start := time.Now()
			found := search(t, v, SearchRequest{Query: "spare key"})
			switch {
			case found.Off:
				t.Error("found.Off is true")
			case !found.Degraded:
				t.Error("found.Degraded is false")
			case found.Pending != 1:
				t.Errorf("found.Pending = %v, want 1", found.Pending)
			case len(found.Hits) != 1:
				t.Errorf("len(found.Hits) = %v, want 1", len(found.Hits))
			}
			if took := time.Since(start); took >= giveUp {
				t.Errorf("the search waited %v for a provider that is down", took)
			}
		}
		if err := v.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		// Once for the query, once for the index.
		if n := strings.Count(log.String(), "connection refused"); n < 1 || n > 2 {
			t.Errorf("the failure was logged %d times:\n%s", n, log.String())
		}
		if strings.Contains(log.String(), "spare key") {
			t.Error("the log has the query")
		}
	})
	t.Run("caller gives up", func(t *testing.T) {
		v := open(t, t.TempDir(), audience.DM(), &words{delay: time.Minute})
		keep(t, v, record.Memory{Content: "slow"})
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if _, err := v.Search(ctx, SearchRequest{Query: "slow"}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("search: %v, want the context's error", err)
		}
	})
}

// A search answers after its patience, by keywords for what has no vector.
func TestSearchIsPatientForTwoSeconds(t *testing.T) {
	w := &slowly{}
	v := open(t, t.TempDir(), audience.DM(), w)
	for _, text := range []string{"alpha gate", "beta gate", "gamma gate"} {
		keep(t, v, record.Memory{Content: text})
	}
	start := time.Now()
	found := search(t, v, SearchRequest{Query: "gamma gate?"})
	if took := time.Since(start); took < patience || took > giveUp {
		t.Errorf("took %v, want about %v", took, patience)
	}
	switch {
	case found.Pending != 3:
		t.Errorf("found.Pending = %v, want 3", found.Pending)
	case len(found.Hits) != 3:
		t.Errorf("len(found.Hits) = %v, want 3", len(found.Hits))
	case found.Hits[0].Content != "gamma gate":
		t.Errorf(`found.Hits[0].Content = %v, want "gamma gate"`, found.Hits[0].Content)
	}
}

// slowly is words that answers queries at once and never finishes a memory.
type slowly struct{ words }

func (s *slowly) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if strings.HasSuffix(texts[0], "?") {
		return s.words.Embed(ctx, texts)
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

// With another model than before, words find the memories at once, and the background makes their vectors again. As
// long as the new model makes none, nothing of the old one's is lost.
func TestAnotherModel(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := open(t, dir, audience.DM(), new(words))
	id := keep(t, v, record.Memory{Content: "made with one model"}).ID
	keep(t, v, record.Memory{Content: "the second memory"})
	settle(t, v)
	if err := v.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	failing := new(words)
	silent := errors.New("no answer")
	failing.fail.Store(&silent)
	broken := open(t, dir, audience.DM(), renamed{failing})
	if found := search(t, broken, SearchRequest{Query: "model"}); len(found.Hits) != 1 || !found.Degraded {
		t.Errorf("while the new model does not answer: %+v", found)
	}
	if err := broken.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	again := new(words)
	v = open(t, dir, audience.DM(), again)
	if found := search(t, v, SearchRequest{Query: "model"}); found.Pending != 0 || again.texts.Load() > 1 {
		t.Errorf("back at the old model its vectors are lost: %+v", found)
	}
	if err := v.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	slow := &slowly{}
	first := open(t, dir, audience.DM(), renamed2{slow})
	if found := search(t, first, SearchRequest{Query: "model?"}); len(found.Hits) == 0 || found.Pending != 2 {
		t.Errorf("before the first vector: %+v", found)
	}
	if err := first.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	other := open(t, dir, audience.DM(), renamed{new(words)})
	search(t, other, SearchRequest{Query: "model"})
	settle(t, other)
	if found := search(t, other, SearchRequest{Query: "model"}); len(found.Hits) != 1 || found.Pending != 0 {
		t.Errorf("with the new vectors: %+v", found)
	}
	if err := other.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	other = open(t, dir, audience.DM(), renamed{new(words)})
	if r := check(t, other); len(r.Problems) > 0 || r.Rows != 2 {
		t.Errorf("the tables after the change: %+v", r)
	}
	if err := other.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	// A deletion takes the vectors of another model off the disk as well.
	v = open(t, dir, audience.DM(), failing)
	if err := v.Delete(t.Context(), id, ""); err != nil {
		t.Fatal(err)
	}
	if a, err := v.stores[record.Private].Vectors.Audit(); err != nil || a.Rows != 0 {
		t.Errorf("the other model's vectors: %+v, %v", a, err)
	}
}

type renamed struct{ *words }

func (renamed) Model() embed.Model { return embed.Model{Name: "other words", Dim: wordsDim} }

type renamed2 struct{ *slowly }

func (renamed2) Model() embed.Model { return embed.Model{Name: "other words", Dim: wordsDim} }
