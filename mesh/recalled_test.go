package mesh

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/ledger"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/mesh/store"
)

func TestRecalled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	dm, clock := clocked(t, dir, audience.DM())
	red := open(t, dir, group(t, "red"), new(words))
	red.Now = clock.now
	own := keep(t, dm, record.Memory{Content: "the zebra pump"}).ID
	theirs := keep(t, red, record.Memory{Content: "the zebra crossing of red"}).ID
	gone := keep(t, dm, record.Memory{Content: "the zebra that is forgotten"}).ID
	for i := range 4 { // none of these is ever an answer
		keep(t, dm, record.Memory{Content: fmt.Sprintf("a greenhouse of kind %d", i)})
	}
	for _, v := range []*View{dm, red} {
		settle(t, v)
	}
	search(t, dm, SearchRequest{Query: "zebra pump"}) // before the time asked for
	clock.advance(24 * time.Hour)
	since := clock.now()
	var sum float64
	for i := range 3 {
		clock.advance(8 * time.Hour) // the last is of the next day
		for _, hit := range search(t, dm, SearchRequest{Query: "zebra pump"}).Hits {
			if hit.ID == own {
				sum += hit.Strength
			}
		}
		search(t, dm, SearchRequest{Query: "red zebra crossing"})
		search(t, dm, SearchRequest{Query: "Crossing of the red zebra?"})
		for range i {
			search(t, red, SearchRequest{Query: "zebra"}) // a group's searches do not count
		}
	}
	if err := dm.Delete(t.Context(), gone, ""); err != nil {
		t.Fatal(err)
	}
	got, err := dm.Recalled(t.Context(), since, nil)
	if err != nil || len(got) != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	for _, r := range got {
		switch {
		case r.Days != 2 || r.Hits != 2: // a question counts once a day
			t.Errorf("%s: %d hits on %d days", r.ID, r.Hits, r.Days)
		case r.ID == own && (math.Abs(r.Mean-sum/3) > 1e-9 || len(r.Groups()) != 0):
			t.Errorf("a score of %v, want %v; groups %v", r.Mean, sum/3, r.Groups())
		case r.ID == theirs && (len(r.Groups()) != 1 || r.Groups()[0] != "red"):
			t.Errorf("groups %v", r.Groups())
		case r.ID != own && r.ID != theirs:
			t.Errorf("%s was recalled", r.ID)
		}
	}
	if got, err := red.Recalled(t.Context(), time.Time{}, nil); got != nil || err != nil {
		t.Errorf("a group has signals: %+v, %v", got, err)
	}
	// A group's ledger keeps no scores, and no signal has the question.
	for name, v := range map[string]*View{"dm": dm, "red": red} {
		err := ledger.New(v.ledgerOptions(v.home())).Sync(t.Context(), func(e ledger.Entry) error {
			if e.Op != store.OpRecall {
				return nil
			}
			var data map[string]any
			if err := json.Unmarshal(e.Data, &data); err != nil {
				return err
			}
			if _, scores := data["scores"]; scores != (name == "dm") {
				t.Errorf("%s: %s", name, e.Data)
			}
			for key := range data {
				if key != "agent_id" && key != "found" && key != "scores" {
					t.Errorf("%s: a signal has %q", name, key)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// What only fills up the answers of a search is not recalled by it, nor is one of two that are about as good, unless
// both tell the same.
func TestRecalledCountsTheAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		scores []float64
		hits   int // of the memory with the highest score
		mean   float64
	}{
		{"clear", []float64{.9, .5, .19, .4, .3}, 1, .9},
		{"a rival", []float64{.9, .2, .19, .8, .7}, 0, 0},
		{"in the order of time", []float64{.3, .5, .9, .4, .3}, 1, .9},
		{"no bearing", []float64{.19, .1, .1, .1, .1}, 0, 0},
		{"restated", []float64{.9, .5, .3, .3, .3, .89}, 1, .9},
		{"an older version", nil, 0, 0},
	} {
		v, clock := clocked(t, t.TempDir(), audience.DM())
		for _, text := range []string{"Ana rows", "the pump is blue", "bees sleep", "a red door", "ten cats"} {
			keep(t, v, record.Memory{Content: text})
		}
		keep(t, v, record.Memory{Content: "Ana rows!", Type: "event"})
		p, err := v.open(record.Private)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		snapshot := p.Snapshot()
		for r := range snapshot.Memories() {
			ids = append(ids, r.ID)
		}
		snapshot.Release()
		err = p.Append(t.Context(), func(*store.Snapshot, time.Time) ([]ledger.Draft, error) {
			data := store.Recall{Found: ids[:max(1, len(c.scores))], Scores: c.scores}
			return []ledger.Draft{{Op: store.OpRecall, Data: data}}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		got, err := v.Recalled(t.Context(), clock.now().Add(-time.Hour), nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != c.hits {
			t.Errorf("%s: %d memories were recalled, want %d", c.name, len(got), c.hits)
		} else if len(got) > 0 && (got[0].Mean != c.mean || got[0].Hits != c.hits) {
			t.Errorf("%s: %+v", c.name, got[0])
		}
	}
}

func TestRecalledGroupsOfReflection(t *testing.T) {
	t.Parallel()
	r := Recalled{Hit: record.Hit{
		Visibility: record.Private,
		Record: &record.Record{Reflection: &record.Reflection{Sources: []record.Source{
			{ID: "a", Origin: "group:red"},
			{ID: "b", Origin: record.Private},
			{ID: "c", Origin: "group:blue"},
			{ID: "d", Origin: "group:red"},
		}}},
	}}
	if got := fmt.Sprint(r.Groups()); got != "[blue red]" {
		t.Error(got)
	}
}

// What was deleted is not recalled by the searches that found it, also if it comes back by an import with its id.
func TestRecalledForgetsWhatIsDeleted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	dm, clock := clocked(t, dir, audience.DM())
	red := open(t, dir, group(t, "red"), new(words))
	red.Now = clock.now
	since := clock.now()
	mine, theirs := keep(t, dm, record.Memory{Content: "the zebra pump"}).ID,
		keep(t, red, record.Memory{Content: "the zebra crossing"}).ID
	for _, v := range []*View{dm, red} {
		settle(t, v)
	}
	hits := func() string {
		t.Helper()
		got, err := dm.Recalled(t.Context(), since, nil)
		if err != nil {
			t.Fatal(err)
		}
		list := []string{}
		for _, r := range got {
			list = append(list, fmt.Sprintf("%s %d", r.Content, r.Hits))
		}
		slices.Sort(list)
		return strings.Join(list, ", ")
	}
	search(t, dm, SearchRequest{Query: "zebra pump"})
	search(t, dm, SearchRequest{Query: "zebra crossing"})
	if got := hits(); got != "the zebra crossing 1, the zebra pump 1" {
		t.Fatal(got)
	}
	clock.advance(time.Hour)
	for _, id := range []string{mine, theirs} {
		if err := dm.Delete(t.Context(), id, ""); err != nil {
			t.Fatal(err)
		}
	}
	if got := hits(); got != "" {
		t.Errorf("deleted, and recalled: %s", got)
	}
	clock.advance(time.Hour)
	for v, q := range map[*View]record.Record{
		dm:  {ID: mine, CreatedAt: since, Memory: record.Memory{Content: "the zebra pump"}},
		red: {ID: theirs, CreatedAt: since, Memory: record.Memory{Content: "the zebra crossing"}},
	} {
		got, err := v.Import(t.Context(), []record.Foreign{{Record: q}}, false)
		switch {
		case err != nil:
			t.Fatal(err)
		case got[0].ID != q.ID:
			t.Fatalf("got[0].ID = %v, want %v", got[0].ID, q.ID)
		case !got[0].Created:
			t.Fatal("got[0].Created is false")
		}
		settle(t, v)
	}
	if got := hits(); got != "" {
		t.Errorf("imported, and recalled by what found it before: %s", got)
	}
	for _, v := range []*View{dm, open(t, dir, audience.DM(), new(words))} {
		search(t, v, SearchRequest{Query: "zebra pump"})
		search(t, v, SearchRequest{Query: "zebra crossing"})
		clock.advance(24 * time.Hour)
	}
	if got := hits(); got != "the zebra crossing 2, the zebra pump 2" {
		t.Errorf("recalled since: %s", got)
	}
}

func TestEchoed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	dm, red, blue := open(t, dir, audience.DM(), new(words)), open(t, dir, group(t, "red"), new(words)),
		open(t, dir, group(t, "blue"), new(words))
	keep(t, red, record.Memory{Content: "The hut on the ridge opens in June, and Eve has the keys."})
	keep(t, blue, record.Memory{Content: "They say that the hut on the ridge opens in June and Eve has all keys, which " +
		"is good."})
	keep(t, dm, record.Memory{Content: "The user's timezone is America/Bogota"})
	gone := keep(t, red, record.Memory{Content: "The lift is closed on Mondays"}).ID
	if err := red.Delete(t.Context(), gone, ""); err != nil {
		t.Fatal(err)
	}
	texts := []string{
		"the hut on the ridge opens in June and Eve has the keys",
		"According to somebody: the hut on the ridge opens in June, Eve has keys",
		"The user's timezone is America/Bogota", "The hut has a red roof", "The lift is closed on Mondays", "",
	}
	got, err := dm.Echoed(t.Context(), texts)
	if err != nil || fmt.Sprint(got) != "[[blue red] [blue red] [] [] [] []]" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := red.Echoed(t.Context(), texts[:1]); err != nil || fmt.Sprint(got) != "[[]]" {
		t.Errorf("a group hears of others: %q, %v", got, err)
	}
}
