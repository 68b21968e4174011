package mesh

import (
	"slices"
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

func TestSimilar(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := open(t, dir, audience.DM(), model(t))
	compare := func(v *View, content string, in ...string) []string {
		t.Helper()
		m := record.Memory{Content: content, SessionID: append(in, "")[0]}
		s, err := v.Scrub(m, "")
		if err != nil {
			t.Fatal(err)
		}
		kept, err := v.Remember(t.Context(), s, Intent{Compare: true})
		if err != nil {
			t.Fatal(err)
		}
		list := []string{}
		for _, other := range kept.Similar {
			list = append(list, other.Relation+": "+other.Excerpt)
		}
		return list
	}
	for _, text := range []string{
		"Ana lives in Lisbon.", "Ana likes tea.", "The deploy runs on Fridays.", "The boiler was serviced in March.",
	} {
		compare(v, text, "first")
	}
	settle(t, v)
	for name, view := range map[string]*View{
		"with a model":        v,
		"right after a start": open(t, dir, audience.DM(), model(t)),
	} {
		view.comparePatience = giveUp
		for text, want := range map[string][]string{
			"Ana moved to Porto.":                          {"differs: Ana lives in Lisbon."},
			"The deploy runs on Tuesdays.":                 {"differs: The deploy runs on Fridays."},
			"Rui plays chess with his sister on weekends.": {},
		} {
			got := compare(view, text)
			if first := got[:min(len(got), max(1, len(want)))]; !slices.Equal(first, want) {
				t.Errorf("%s: %q resembles %q, want %q first", name, text, got, want)
			}
			forget(t, view, text)
		}
	}
	if got := compare(v, "Ana lives in Lisbon.", "second"); !slices.Contains(got, "same: Ana lives in Lisbon.") {
		t.Errorf("the same text of another session resembles %q", got)
	}
}

// forget deletes the memory with a text.
func forget(t testing.TB, v *View, content string) {
	t.Helper()
	all, err := v.All(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, hit := range all {
		if hit.Content == content {
			if err := v.Delete(t.Context(), hit.ID, ""); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// What one session noted for itself is shown to it alone.
func TestSimilarStaysWithItsSession(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one, other := open(t, dir, audience.DM(), new(words)), open(t, dir, audience.DM(), new(words))
	const draft = "The draft of the new novel for Marta is called "
	keep(t, one, record.Memory{Content: draft + "Kingfisher.", Type: record.SessionType, SessionID: "s1"})
	for bird, want := range map[string]bool{"Heron": true, "Egret": false} {
		v := one
		if !want {
			v = other
		}
		s, err := v.Scrub(record.Memory{Content: draft + bird + "."}, "")
		if err != nil {
			t.Fatal(err)
		}
		kept, err := v.Remember(t.Context(), s, Intent{Compare: true})
		if err != nil {
			t.Fatal(err)
		}
		told := slices.ContainsFunc(kept.Similar, func(s Similar) bool { return strings.Contains(s.Excerpt, "Kingfisher") })
		if told != want {
			t.Errorf("%+v, want the session's: %v", kept.Similar, want)
		}
	}
}

// A group's store call names memories of the group only, whatever the DM and other groups have.
func TestSimilarStaysWithItsGroup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const fact = "Ana lives in Lisbon."
	for _, who := range []audience.Audience{audience.DM(), group(t, "blue")} {
		keep(t, open(t, dir, who, new(words)), record.Memory{Content: fact})
	}
	red := open(t, dir, group(t, "red"), new(words))
	for _, known := range []int{0, 1} {
		s, err := red.Scrub(record.Memory{Content: fact, SessionID: strings.Repeat("x", known)}, "")
		if err != nil {
			t.Fatal(err)
		}
		kept, err := red.Remember(t.Context(), s, Intent{Compare: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range kept.Similar {
			if other.Visibility != record.OfGroup("red") {
				t.Errorf("the group red is told of %+v", other)
			}
		}
	}
}
