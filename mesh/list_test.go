package mesh

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

func TestList(t *testing.T) {
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	dir := t.TempDir()
	dm, red := inZone(t, dir, audience.DM(), "", &now), inZone(t, dir, group(t, "red"), "", &now)
	ids := map[string]string{}
	for i := range 7 {
		now = now.Add(24 * time.Hour)
		m := record.Memory{Content: fmt.Sprintf("note %d", i)}
		if i%2 == 0 {
			m.Tags, m.Type = []string{"even"}, "event"
		}
		ids[m.Content] = keep(t, dm, m).ID
	}
	now = now.Add(time.Hour)
	keep(t, red, record.Memory{Content: "of the group"})

	var pages [][]string
	for after := ""; ; {
		l, err := dm.List(t.Context(), SearchRequest{Limit: 3}, after)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, contents(l.Hits))
		if after = l.Next; after == "" {
			break
		}
	}
	want := [][]string{{"of the group", "note 6", "note 5"}, {"note 4", "note 3", "note 2"}, {"note 1", "note 0"}}
	if diff := cmp.Diff(want, pages); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	for name, c := range map[string]struct {
		q    SearchRequest
		want []string
	}{
		"tag":   {SearchRequest{Tags: []string{"even"}, Limit: 2}, []string{"note 6", "note 4"}},
		"type":  {SearchRequest{Type: "event", Until: "2026-11-04"}, []string{"note 0"}},
		"since": {SearchRequest{Since: "2026-11-08"}, []string{"of the group", "note 6"}},
	} {
		l, err := dm.List(t.Context(), c.q, "")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, contents(l.Hits)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for id, want := range map[string][]string{
		ids["note 3"]: {"note 2", "note 3", "note 4"},
		ids["note 0"]: {"note 0", "note 1", "note 2"},
	} {
		l, err := dm.Around(t.Context(), SearchRequest{Limit: 3}, id)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, contents(l.Hits)); diff != "" {
			t.Errorf("around %s (-want +got):\n%s", id, diff)
		}
	}
	// A group lists its own and what is shared, and cannot ask what was stored around a private memory.
	l, err := red.List(t.Context(), SearchRequest{}, "")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"of the group"}, contents(l.Hits)); diff != "" {
		t.Errorf("a group's list (-want +got):\n%s", diff)
	}
	_, known := red.Around(t.Context(), SearchRequest{}, ids["note 3"])
	wantFault(t, known, "around:")
	_, err = red.List(t.Context(), SearchRequest{}, ids["note 3"])
	wantFault(t, err, "after:")
}

// People are found by their names in the text, the source or a tag, with or without accents; a group's in its own
// memory only.
func TestListByPerson(t *testing.T) {
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	dir := t.TempDir()
	dm, red := inZone(t, dir, audience.DM(), "", &now), inZone(t, dir, group(t, "red"), "", &now)
	for _, m := range []record.Memory{
		{Content: "Lunch with José Falcão\nHe pays next time."},
		{Content: "Falcao's number has changed"},
		{Content: "A falcon nests on the roof"},
		{Content: "The parcel was for the neighbor", Source: "José Falcão"},
	} {
		now = now.Add(time.Hour)
		keep(t, dm, m)
	}
	now = now.Add(time.Hour)
	keep(t, red, record.Memory{Content: "Falcao leads the hike"})
	for name, c := range map[string]struct {
		v    *View
		want []string
	}{
		"in a DM": {dm, []string{
			"Falcao leads the hike", "The parcel was for the neighbor", "Falcao's number has changed",
			"Lunch with José Falcão\nHe pays next time.",
		}},
		"in the group": {red, []string{"Falcao leads the hike"}},
	} {
		for what, list := range map[string]func() ([]record.Hit, error){
			"list": func() ([]record.Hit, error) {
				l, err := c.v.List(t.Context(), SearchRequest{Person: "Falcao"}, "")
				return l.Hits, err
			},
			"search": func() ([]record.Hit, error) {
				found, err := c.v.Search(t.Context(), SearchRequest{Query: "Falcao, Falcão", Person: "Falcao"})
				slices.SortFunc(found.Hits, func(a, b record.Hit) int { return record.CompareStored(b, a) })
				return found.Hits, err
			},
		} {
			hits, err := list()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, contents(hits)); diff != "" {
				t.Errorf("%s by person %s (-want +got):\n%s", what, name, diff)
			}
		}
	}
	_, err := dm.List(t.Context(), SearchRequest{Person: "-"}, "")
	if err == nil || !strings.Contains(err.Error(), "person:") {
		t.Errorf("a person without a name: %v", err)
	}
}

// A memory of type session is found from its session, and for 30 days.
func TestSessionMemories(t *testing.T) {
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	dir := t.TempDir()
	v, other := inZone(t, dir, audience.DM(), "", &now), inZone(t, dir, audience.DM(), "", &now)
	keep(t, v, record.Memory{Content: "tea of s1", Type: "session", SessionID: "s1"})
	keep(t, v, record.Memory{Content: "tea of nobody", Type: "session"})
	keep(t, v, record.Memory{Content: "tea for all", SessionID: "s1"})
	settle(t, v)
	find := func(v *View, q SearchRequest) map[string]bool {
		q.Query = "tea"
		found := map[string]bool{}
		for _, text := range contents(search(t, v, q).Hits) {
			found[text] = true
		}
		return found
	}
	check := func(name string, got map[string]bool, want ...string) {
		t.Helper()
		wanted := map[string]bool{}
		for _, text := range want {
			wanted[text] = true
		}
		if diff := cmp.Diff(wanted, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	check("its own process", find(v, SearchRequest{}), "tea of s1", "tea of nobody", "tea for all")
	check("another", find(other, SearchRequest{}), "tea for all")
	check("another, by type", find(other, SearchRequest{Type: "session"}))
	check("another, with the session", find(other, SearchRequest{SessionID: "s1"}), "tea of s1", "tea for all")
	check("another, by a filter", find(other, SearchRequest{Filter: "session_id = 's1'"}), "tea of s1", "tea for all")
	l, err := other.List(t.Context(), SearchRequest{}, "")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"tea for all"}, contents(l.Hits)); diff != "" {
		t.Errorf("another's list (-want +got):\n%s", diff)
	}
	now = now.Add(record.SessionDays*24*time.Hour + time.Minute)
	check("a month later", find(other, SearchRequest{SessionID: "s1"}), "tea for all")
	check("a month later, its own process", find(v, SearchRequest{}), "tea for all")
}

// What an abbreviated id may mean is only what the audience sees, and a tag changes only what it may write to.
func TestNamesAndTagsStayWithTheAudience(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	dm, red := inZone(t, dir, audience.DM(), "", &now), inZone(t, dir, group(t, "red"), "", &now)
	blue := inZone(t, dir, group(t, "blue"), "", &now)
	private := keep(t, dm, record.Memory{Content: "private", Tags: []string{"house"}})
	reds := keep(t, red, record.Memory{Content: "of red"})
	end := func(id string) string { return id[strings.LastIndexByte(id, '_')+1:] }
	for name, c := range map[string]struct {
		view  *View
		short string
		want  []string
	}{
		"everything of a DM": {dm, "", []string{reds.ID, private.ID}},
		"the whole id":       {dm, private.ID, []string{private.ID}},
		"its end":            {dm, end(private.ID), []string{private.ID}},
		"its beginning":      {red, "mem_", []string{reds.ID}},
		"a private id":       {red, private.ID, []string{}},
		"a private end":      {red, end(private.ID), []string{}},
		"another group's":    {blue, "", []string{}},
	} {
		found, err := c.view.Named(t.Context(), c.short)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := []string{}
		for _, n := range found {
			got = append(got, n.ID)
		}
		if diff := cmp.Diff(c.want, got, cmpopts.SortSlices(strings.Compare)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if _, err := red.SetTag(t.Context(), private.ID, "pinned", true); err == nil {
		t.Error("a group has tagged a private memory")
	}
	if _, err := dm.SetTag(t.Context(), reds.ID, "pinned", true); err == nil {
		t.Error("a DM has tagged a memory of a group")
	}
	for i, on := range []bool{true, true, false, false} {
		changed, err := dm.SetTag(t.Context(), private.ID, "Pinned", on)
		if err != nil || changed != (i%2 == 0) {
			t.Errorf("set %d to %v: changed %v, %v", i, on, changed, err)
		}
		hit, err := dm.Get(t.Context(), private.ID)
		if err != nil || hit.HasTag("pinned") != on || !hit.HasTag("house") || hit.Content != "private" {
			t.Errorf("after %d: %v, %q, %v", i, hit.Tags, hit.Content, err)
		}
	}
}
