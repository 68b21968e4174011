package dream

import (
	"strings"
	"testing"
	"time"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

func TestNormalized(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"The pump is blue", "- the pump is  blue.", "2026-01-02: The pump is blue", "# The pump\nis blue",
		"The pump is blue _(score=0.42, hits=5, days=3)_",
	} {
		if got := normalized(text); got != "the pump is blue" {
			t.Errorf("%q: %q", text, got)
		}
	}
	if normalized("The pump is blue") == normalized("The pump is blue at night") {
		t.Error("another text is the same")
	}
}

// Whose words a memory is decides, not who wrote them down.
func TestHeldForItsOrigin(t *testing.T) {
	t.Parallel()
	n := newFixture(t, nil)
	hikers, err := audience.Group("hiking")
	if err != nil {
		t.Fatal(err)
	}
	n.remember(hikers, "The walrus hut opens in June, and Eve has the keys")
	copied := n.remember(audience.DM(), "Walrus hut: opens in June, Eve has the keys")
	own := n.remember(audience.DM(), "The walrus eats fish")
	m := n.memory(audience.DM())
	thought, err := m.Store(t.Context(), record.Memory{Content: "The walrus is a friend of all", Type: "reflection"}, "")
	if err != nil {
		t.Fatal(err)
	}
	imported, err := m.Import(t.Context(), []record.Foreign{
		{Record: record.Record{Memory: record.Memory{Content: "The walrus sleeps at noon"}}},
	}, false)
	if err != nil {
		t.Fatal(err)
	}
	s := n.open()
	n.recall(3, "walrus hut keys", "walrus eats fish", "walrus friend", "walrus sleeps noon")
	plan, err := s.Plan(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := names(plan.Promote); len(got) != 1 || plan.Promote[0].ID != own {
		t.Errorf("promoted: %q", got)
	}
	why := map[string]string{}
	for _, c := range plan.Held {
		why[c.ID] = strings.Join(c.Held, "; ")
	}
	for id, want := range map[string]string{
		copied:         "nearly the same was said in the group hiking",
		thought.ID:     "it is a reflection without recorded sources",
		imported[0].ID: "it was imported, so its author is unknown",
	} {
		if why[id] != want {
			t.Errorf("%s: held for %q, want %q", id, why[id], want)
		}
	}
}

// What a person removed from MEMORY.md does not come back by being remembered again.
func TestPromotedBefore(t *testing.T) {
	t.Parallel()
	n := newFixture(t, nil)
	id := n.remember(audience.DM(), "The pump is blue")
	n.recall(3, "blue pump")
	n.sweep(n.open())
	n.write("MEMORY.md", "# Memory\n")
	n.mustDelete(id)
	again := n.remember(audience.DM(), "The pump is blue.")
	if plan, err := n.open().Plan(t.Context(), nil); err != nil || plan.Recalls != 0 {
		t.Errorf("the recalls of what was deleted count: %+v, %v", plan, err)
	}
	n.recall(3, "blue pump")
	s := n.open()
	plan := n.sweep(s).Plan
	if len(plan.Promote) != 0 || len(plan.Held) != 1 {
		t.Fatalf("promote %q, held %q", names(plan.Promote), names(plan.Held))
	}
	if c := plan.Held[0]; c.ID != again || strings.Join(c.Held, "; ") != "the same text was promoted before" {
		t.Errorf("%s is held because %q", c.ID, c.Held)
	}
	if n.read("MEMORY.md") != "# Memory\n" {
		t.Errorf("it is back:\n%s", n.read("MEMORY.md"))
	}
	if n.sweep(s, again); !strings.Contains(n.read("MEMORY.md"), "- 2026-04-23: The pump is blue. _(") {
		t.Errorf("a person's word does not count:\n%s", n.read("MEMORY.md"))
	}
}

// A reflection is what its sources are.
func TestHeldForItsSources(t *testing.T) {
	t.Parallel()
	n := newFixture(t, nil)
	hikers, err := audience.Group("hiking")
	if err != nil {
		t.Fatal(err)
	}
	n.remember(hikers, "The walrus hut opens in June, Eve has the keys")
	m := n.memory(audience.DM())
	reflect := func(text string) (source, reflection string) {
		t.Helper()
		source = n.remember(audience.DM(), text)
		r, err := m.Reflect(t.Context(), mesh.ReflectRequest{Lookback: 1})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Sources) != 1 || r.Sources[0].ID != source {
			t.Fatalf("sources %+v, want %s", r.Sources, source)
		}
		n.now = n.now.Add(time.Hour)
		return source, r.MemoryID
	}
	_, plain := reflect("Walrus Ana eats fish")
	_, copied := reflect("Walrus hut: opens in June, Eve has the keys")
	foreign, err := m.Import(t.Context(), []record.Foreign{
		{Record: record.Record{Memory: record.Memory{Content: "Walrus Eva eats shells"}, CreatedAt: n.now}},
	}, false)
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.Reflect(t.Context(), mesh.ReflectRequest{Lookback: 1})
	if err != nil || r.Sources[0].ID != foreign[0].ID {
		t.Fatalf("%+v, %v", r, err)
	}
	var recalled []mesh.Recalled
	for _, id := range []string{plain, copied, r.MemoryID} {
		hit, err := m.Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		recalled = append(recalled, mesh.Recalled{Hit: hit, Hits: 10, Days: 7, Mean: 1})
	}
	s := n.open()
	list, err := s.candidates(t.Context(), history{}, authorities{names: s.names()}, recalled, nil, n.now)
	if err != nil {
		t.Fatal(err)
	}
	why := map[string]string{}
	for _, c := range list {
		why[c.ID] = strings.Join(c.Held, "; ")
	}
	for id, want := range map[string]string{
		plain: "", copied: "nearly the same was said in the group hiking",
		r.MemoryID: "it was derived from a memory: it was imported, so its author is unknown",
	} {
		if why[id] != want {
			t.Errorf("%s: held for %q, want %q", id, why[id], want)
		}
	}
}
