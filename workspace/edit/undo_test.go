package edit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// undo takes back the edit and fails the test if that fails.
func (d *fixture) undo(e *Editor, id string) Result {
	d.tb.Helper()
	r, _, err := e.Undo(d.tb.Context(), id, "operator", "a mistake")
	if err != nil {
		d.tb.Fatalf("undo %s: %v", id, err)
	}
	return r
}

// Each operation is taken back byte for byte, the undo too, and a replay shows all of it.
func TestUndoIsExact(t *testing.T) {
	t.Parallel()
	const profile = "users/kate/overview.md"
	for name, q := range map[string]Request{
		"replace":   request("MEMORY.md", grammar.ReplaceSection, "Plans", "Sail."),
		"append":    request("MEMORY.md", grammar.AppendSection, "Plans", "Sail."),
		"item":      request("MEMORY.md", grammar.AppendItem, "People", "Eva"),
		"tombstone": request("MEMORY.md", grammar.TombstoneSection, "People", ""),
		"curate": {File: "MEMORY.md", Retire: []string{"Ana"}, Edit: grammar.Edit{
			Op: grammar.CurateItems, Section: "People", Rationale: "r",
		}},
		"section": {File: "MEMORY.md", Edit: grammar.Edit{
			Op: grammar.AppendItem, Section: "Boats", Items: []string{"Yawl"}, Rationale: "r", Create: true,
		}},
		"profile": request(profile, grammar.ReplaceSection, "Current Focus", "The garden."),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newFixture(t, map[string]string{
				"MEMORY.md": strings.TrimSuffix(memoryText, "\n"), profile: grammar.New(profile, "2026-01-02T03:04:05Z"),
			})
			e := d.open()
			before := d.read(q.File)
			made := d.edit(e, q)
			after := d.read(q.File)
			undo := d.undo(d.open(), made.Event.Token())
			if diff := cmp.Diff(before, d.read(q.File)); diff != "" {
				t.Errorf("undone (-want +got):\n%s", diff)
			}
			if !undo.Event.Exact || undo.Event.RefersTo != made.Event.ID {
				t.Errorf("the event is %+v", undo.Event)
			}
			if _, _, err := e.Undo(t.Context(), made.Event.ID, "operator", "r"); err == nil ||
				!strings.Contains(err.Error(), "already undone by "+undo.Event.ID) {
				t.Errorf("undone again: %v", err)
			}
			d.undo(e, undo.Event.ID)
			if diff := cmp.Diff(after, d.read(q.File)); diff != "" {
				t.Errorf("the undo undone (-want +got):\n%s", diff)
			}
			d.undo(e, made.Event.ID)
			if diff := cmp.Diff(before, d.read(q.File)); diff != "" {
				t.Errorf("undone once more (-want +got):\n%s", diff)
			}
			if r := d.replay(d.open(), q.File, ""); r.Text != before || r.Drift != nil {
				t.Errorf("replayed: %+v", r)
			}
			// The edits that follow find the Change Log's rollup as the record has it.
			q.Key = ""
			d.edit(e, q)
			if n := strings.Count(d.read(q.File), "- 2026-02-14: "); n > 1 {
				t.Errorf("%d rollups of a day:\n%s", n, d.read(q.File))
			}
		})
	}
}

// What others changed in other places stays; a change in the same place is refused with both texts.
func TestUndoAfterChanges(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		q          Request
		old, new   string // a change by hand after the edit
		want, fail string // of the file's text, or of the error
	}{
		"another section": {
			request("MEMORY.md", grammar.ReplaceSection, "Plans", "Sail."), "- Ana\n", "- Anna\n",
			"# Memory\n\n## People\n\n- Anna\n- Luis\n\n## Plans\n\nnone\n", "",
		},
		"an item after it": {
			request("MEMORY.md", grammar.AppendItem, "People", "Eva"), "- Eva\n", "- Eva\n- Uwe\n",
			"# Memory\n\n## People\n\n- Ana\n- Luis\n- Uwe\n\n## Plans\n\nnone\n", "",
		},
		"an item before it": {
			request("MEMORY.md", grammar.AppendItem, "People", "Eva"), "- Ana\n", "- Kim\n- Ana\n",
			"# Memory\n\n## People\n\n- Kim\n- Ana\n- Luis\n\n## Plans\n\nnone\n", "",
		},
		"the same text": {
			request("MEMORY.md", grammar.ReplaceSection, "Plans", "Sail."), "Sail.", "Row.", "",
			"The edit left:\nSail.\nNow it is:\nRow.\nBefore the edit it was:\nnone\nUndo the later edits first",
		},
		"the section is gone": {
			request("MEMORY.md", grammar.ReplaceSection, "Plans", "Sail."), "## Plans\n\nSail.\n", "", "", "no longer exists",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newFixture(t, map[string]string{"MEMORY.md": memoryText})
			e := d.open()
			made := d.edit(e, tc.q)
			d.write("MEMORY.md", strings.Replace(d.read("MEMORY.md"), tc.old, tc.new, 1))
			before := d.read("MEMORY.md")
			_, _, err := e.Undo(t.Context(), made.Event.ID, "operator", "r")
			if tc.fail != "" {
				if err == nil || !strings.Contains(err.Error(), tc.fail) {
					t.Errorf("%v, want %q", err, tc.fail)
				}
				tc.want = before
			} else if err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(tc.want, d.read("MEMORY.md")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if r := d.replay(d.open(), "MEMORY.md", ""); r.Drift == nil && r.Text != tc.want {
				t.Errorf("replayed:\n%s", r.Text)
			}
		})
	}
}

// A session takes back its own last edits, newest first, and no other session's; a pin binds it.
func TestUndoLast(t *testing.T) {
	t.Parallel()
	d := newFixture(t, map[string]string{"MEMORY.md": memoryText})
	e := d.open()
	for i, session := range []string{"a", "b", "a"} {
		q := request("MEMORY.md", grammar.AppendItem, "People", fmt.Sprintf("Eva %d", i))
		q.Session = session
		d.edit(e, q)
	}
	last := Request{File: "MEMORY.md", Session: "a", Actor: "kate", Key: "k", Edit: grammar.Edit{Rationale: "wrong"}}
	for range 2 { // the second is a retry
		if _, err := e.UndoLast(t.Context(), last); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"Ana", "Luis", "Eva 0", "Eva 1"}, peopleIn(d)); diff != "" {
		t.Errorf("the last edit of a (-want +got):\n%s", diff)
	}
	last.Key = ""
	if _, err := e.SetPin(t.Context(), "MEMORY.md#People", OpPin, "operator"); err != nil {
		t.Fatal(err)
	}
	if _, err := e.UndoLast(t.Context(), last); err == nil || !strings.Contains(err.Error(), "pinned") {
		t.Errorf("in a pinned section: %v", err)
	}
	if _, err := e.SetPin(t.Context(), "MEMORY.md#People", OpUnpin, "operator"); err != nil {
		t.Fatal(err)
	}
	done, err := e.UndoLast(t.Context(), last)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"Ana", "Luis", "Eva 1"}, peopleIn(d)); diff != "" {
		t.Errorf("the first edit of a (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Eva 0"}, done.Event.Retired); diff != "" {
		t.Errorf("what went (-want +got):\n%s", diff)
	}
	if _, err := e.UndoLast(t.Context(), last); err == nil || !strings.Contains(err.Error(), "no edit of MEMORY.md left") {
		t.Errorf("without an edit: %v", err)
	}
	// Nobody has agreed to what groups would read again.
	last.File = "AGENTS.md"
	if _, err := e.UndoLast(t.Context(), last); err == nil || !strings.Contains(err.Error(), "every group reads") {
		t.Errorf("of a file that groups read: %v", err)
	}
}

func peopleIn(d *fixture) []string {
	doc := grammar.Parse(d.read("MEMORY.md"))
	i, _, err := doc.Find(nil, "People")
	if err != nil {
		d.tb.Fatal(err)
	}
	return grammar.Items(doc.Parts[i].Body)
}

// An undo that was killed between the record and the file is finished by the next process.
func TestUndoSurvivesCrash(t *testing.T) {
	t.Parallel()
	d := newFixture(t, map[string]string{"MEMORY.md": memoryText})
	e := d.open()
	made := d.edit(e, request("MEMORY.md", grammar.AppendItem, "People", "Eva"))
	e.crash = func(at string) bool { return at == "recorded" }
	if _, _, err := e.Undo(t.Context(), made.Event.ID, "operator", "r"); err == nil {
		t.Fatal("it did not stop")
	}
	if err := d.open().Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(memoryText, d.read("MEMORY.md")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// What a list loses is in the result, the record and the Change Log.
func TestRemovedIsNamed(t *testing.T) {
	t.Parallel()
	for op, q := range map[string]Request{
		"curate": {
			Retire: []string{"Ana", "Eva"}, Edit: grammar.Edit{Op: grammar.CurateItems, Items: []string{"Anna", "Uwe"}},
		},
		"all":    {Edit: grammar.Edit{Op: grammar.CurateItems, Items: []string{"Luis"}}},
		"retire": {Edit: grammar.Edit{Op: grammar.TombstoneSection}},
	} {
		t.Run(op, func(t *testing.T) {
			t.Parallel()
			d := newFixture(t, map[string]string{
				"MEMORY.md": "# M\n\n## People\n\n1. Ana\n2. Luis\n3. Eva\n\n## Change Log\n\n",
			})
			q.File, q.Section, q.Rationale = "MEMORY.md", "People", "moved"
			done := d.edit(d.open(), q)
			want := []string{"Ana", "Luis", "Eva"}
			if op != "retire" {
				want = []string{"Ana", "Eva"}
			}
			if diff := cmp.Diff(want, done.Event.Retired); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			_, log, _ := strings.Cut(d.read("MEMORY.md"), "## Change Log")
			if !strings.Contains(log, `removed: "`+strings.Join(want, `", "`)+`"`) {
				t.Errorf("the Change Log is %s", log)
			}
			if op == "curate" && !strings.Contains(d.read("MEMORY.md"), "1. Anna\n2. Luis\n3. Uwe\n") {
				t.Errorf("replaced in place:\n%s", d.read("MEMORY.md"))
			}
		})
	}
}

// An editor that writes other line ends changes nothing that an undo would restore.
func TestUndoWithOtherLineEnds(t *testing.T) {
	t.Parallel()
	crlf := func(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }
	for name, q := range map[string]Request{
		"replace": request("MEMORY.md", grammar.ReplaceSection, "Plans", "Sail.\n\nFar."),
		"item":    request("MEMORY.md", grammar.AppendItem, "People", "Eva"),
		"retire": {File: "MEMORY.md", Retire: []string{"Ana"}, Edit: grammar.Edit{
			Op: grammar.CurateItems, Section: "People", Rationale: "r",
		}},
	} {
		d := newFixture(t, map[string]string{"MEMORY.md": memoryText})
		made := d.edit(d.open(), q)
		d.write("MEMORY.md", crlf(d.read("MEMORY.md")))
		d.undo(d.open(), made.Event.ID)
		if diff := cmp.Diff(crlf(memoryText), d.read("MEMORY.md")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		// And back again.
		d = newFixture(t, map[string]string{"MEMORY.md": crlf(memoryText)})
		made = d.edit(d.open(), q)
		d.write("MEMORY.md", strings.ReplaceAll(d.read("MEMORY.md"), "\r\n", "\n")+"\n## Mine\n\n- x\n")
		d.undo(d.open(), made.Event.ID)
		if text := d.read("MEMORY.md"); !strings.HasPrefix(text, memoryText) || !strings.Contains(text, "## Mine") {
			t.Errorf("%s: %q", name, text)
		}
	}
}
