package edit

import (
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// The overview's rollup of a day has what was done to the user's parts and relationships at once, not only when the
// overview itself is edited next, and also without what was undone (the example of seed 004 §6).
func TestRollupHasAllParts(t *testing.T) {
	t.Parallel()
	const (
		overview = "users/kate/overview.md"
		pair     = "users/kate/relationships/guard-child/profile.md"
	)
	files := map[string]string{}
	for _, name := range []string{overview, partFile, pair} {
		files[name] = grammar.New(name, "2026-01-02T03:04:05Z")
	}
	d := newFixture(t, files)
	e := d.open()
	rollup := func(want string) {
		t.Helper()
		var rollups []string
		for _, item := range logItems(grammar.Parse(d.read(overview))) {
			if grammar.RollupDay(item) != "" {
				rollups = append(rollups, item)
			}
		}
		if got := strings.Join(rollups, "\n"); got != "2026-02-14: "+want {
			t.Errorf("the rollup is\n%s\nwant\n2026-02-14: %s", got, want)
		}
		if r := d.replay(d.open(), overview, ""); r.Drift != nil || r.Text != d.read(overview) {
			t.Errorf("replayed: %+v", r)
		}
	}
	d.edit(e, request(partFile, grammar.AppendSection, "Role", "Keeps watch."))
	rollup("updated Part guard Role")
	d.edit(e, request(overview, grammar.ReplaceSection, "Active Themes", "Trust."))
	rollup("updated Part guard Role; refined Active Themes")
	first := d.edit(e, request(partFile, grammar.AppendSection, "Concerns", "Noise."))
	rollup("updated Part guard Role, Part guard Concerns; refined Active Themes")
	if _, _, err := e.Undo(t.Context(), first.Event.ID, "operator", "no"); err != nil {
		t.Fatal(err)
	}
	rollup("updated Part guard Role; refined Active Themes")
	// Another process, which has read the record only.
	e = d.open()
	d.edit(e, request(pair, grammar.AppendSection, "Dynamics", "They play."))
	rollup("updated Part guard Role, Relationship guard-child Dynamics; refined Active Themes")
	d.edit(e, request(overview, grammar.AppendItem, "Open Questions", "Why?"))
	rollup("updated Part guard Role, Relationship guard-child Dynamics; refined Active Themes; " +
		"added 1 item to Open Questions")
	if found := grammar.Check(overview, d.read(overview)); len(found) > 0 {
		t.Errorf("lint: %+v", found)
	}
	// A locked overview stays as it is.
	if _, err := e.SetPin(t.Context(), overview, OpLock, "operator"); err != nil {
		t.Fatal(err)
	}
	before := d.read(overview)
	d.edit(e, request(partFile, grammar.AppendSection, "Needs", "Rest."))
	if d.read(overview) != before {
		t.Errorf("the locked overview is\n%s", d.read(overview))
	}
}
