package edit

import (
	"testing"

	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// The heading of a sweep goes with its last item, and an undo brings both back. The record reproduces all of it.
func TestEmptiedHeadingGoes(t *testing.T) {
	t.Parallel()
	const (
		heading = "Dreamed 2026-02-14 03:00 UTC"
		text    = "# Memory\n\n## People\n\n- Ana\n\n## " + heading + "\n\n- The pump is blue\n\n## Plans\n\nnone\n"
		without = "# Memory\n\n## People\n\n- Ana\n\n## Plans\n\nnone\n"
	)
	d := newFixture(t, map[string]string{"MEMORY.md": text})
	e := d.open()
	replayed := func(want string) {
		t.Helper()
		if got := d.read("MEMORY.md"); got != want {
			t.Errorf("MEMORY.md is\n%s\nwant\n%s", got, want)
		}
		if r, err := d.open().Replay(t.Context(), "MEMORY.md", ""); err != nil || r.Text != want || r.Drift != nil {
			t.Errorf("replayed as %+v, %v", r, err)
		}
	}
	q := request("MEMORY.md", grammar.CurateItems, heading, "")
	q.Items, q.Retire = nil, []string{"The pump is blue"}
	done := d.edit(e, q)
	if done.Event.After != "" || len(done.Event.Retired) != 1 {
		t.Errorf("event %+v", done.Event)
	}
	replayed(without)
	if _, _, err := e.Undo(t.Context(), done.Event.ID, "operator", "no"); err != nil {
		t.Fatal(err)
	}
	replayed(text)
	// After a later change the section comes back at its place.
	done = d.edit(e, q)
	d.edit(e, request("MEMORY.md", grammar.AppendItem, "People", "Luis"))
	if _, _, err := e.Undo(t.Context(), done.Event.ID, "operator", "no"); err != nil {
		t.Fatal(err)
	}
	replayed("# Memory\n\n## People\n\n- Ana\n- Luis\n\n## " + heading + "\n\n- The pump is blue\n\n## Plans\n\nnone\n")
	// Other sections stay.
	people := request("MEMORY.md", grammar.CurateItems, "People", "")
	people.Items, people.Retire = nil, []string{"Ana", "Luis"}
	d.edit(e, people)
	if got := grammar.Parse(d.read("MEMORY.md")).Sections(); len(got) != 3 || got[0] != "People" {
		t.Errorf("sections %q", got)
	}
	if _, err := e.Tidy(t.Context(), Request{Edit: grammar.Edit{Section: "People", Rationale: "empty"}}); err == nil {
		t.Error("a section that is no sweep's was removed")
	}
}

// An edit that removes a heading survives a crash at any point.
func TestEmptiedHeadingAfterACrash(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"recorded", "replaced"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			const heading = "Dreamed 2026-02-14 03:00 UTC"
			d := newFixture(t, map[string]string{"MEMORY.md": "# M\n\n## " + heading + "\n\n- blue\n\n## Plans\n\nnone\n"})
			e := d.open()
			e.crash = func(reached string) bool { return reached == at }
			q := request("MEMORY.md", grammar.CurateItems, heading, "")
			q.Items, q.Retire = nil, []string{"blue"}
			_, _ = e.Edit(t.Context(), q)
			next := d.open()
			if err := next.Recover(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got, want := d.read("MEMORY.md"), "# M\n\n## Plans\n\nnone\n"; got != want {
				t.Errorf("recovered as\n%s", got)
			}
			if drifts, err := next.Scan(t.Context()); err != nil || len(drifts) > 0 {
				t.Errorf("drifts %+v, %v", drifts, err)
			}
		})
	}
}
