package edit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/workspace/edit/splice"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

func (d *fixture) drifts(e *Editor) []Event {
	d.tb.Helper()
	drifts, err := e.Scan(d.tb.Context())
	if err != nil {
		d.tb.Fatal(err)
	}
	return drifts
}

func (d *fixture) replay(e *Editor, name, to string) Replayed {
	d.tb.Helper()
	r, err := e.Replay(d.tb.Context(), name, to)
	if err != nil {
		d.tb.Fatal(err)
	}
	return r
}

// What a human changes is recorded and is no drift, as long as what events are about can be found.
func TestChangesByHand(t *testing.T) {
	t.Parallel()
	d := newFixture(t, map[string]string{"MEMORY.md": memoryText})
	e := d.open()
	d.edit(e, request("MEMORY.md", grammar.AppendItem, "People", "Eva"))
	d.write("MEMORY.md", strings.Replace(d.read("MEMORY.md"), "## People", "## Peeple", 1)+"\n## New\n\nby hand\n")
	if drifts := d.drifts(e); len(drifts) > 0 {
		t.Fatalf("%+v", drifts)
	}
	if r := d.replay(e, "MEMORY.md", ""); r.Text != d.read("MEMORY.md") || r.Drift != nil {
		t.Errorf("%+v", r)
	}
	d.edit(e, request("MEMORY.md", grammar.AppendSection, "New", "and by tool"))
	history, err := e.History(t.Context(), "MEMORY.md", "")
	if err != nil {
		t.Fatal(err)
	}
	var ops []string
	for _, event := range history {
		ops = append(ops, event.Op+" by "+event.Actor)
	}
	want := "snapshot by , append_item by kate, observed by hand, append_section by kate"
	if got := strings.Join(ops, ", "); got != want {
		t.Error(got)
	}
	switch section, err := e.History(t.Context(), "MEMORY.md", "new"); {
	case err != nil:
		t.Error(err)
	case len(section) != 1:
		t.Errorf("len(section) = %v, want 1", len(section))
	case section[0].Op != "append_section":
		t.Errorf("section[0].Op = %q, want %q", section[0].Op, "append_section")
	}
	// Any earlier text is there: by event, by token, by time.
	first := strings.Replace(memoryText, "- Luis\n", "- Luis\n- Eva\n", 1)
	for _, to := range []string{history[1].ID, history[1].Token(), history[1].Time[:19] + "Z"} {
		if r := d.replay(e, "MEMORY.md", to); r.Text != first || !r.Exists {
			t.Errorf("to %s: %+v", to, r)
		}
	}
	if r := d.replay(e, "MEMORY.md", "2026-02-13"); r.Exists {
		t.Errorf("%+v", r)
	}
	for _, to := range []string{"yesterday", "01KE0QJ1BM8Y4W8D6S0T2RTX3V"} {
		if _, err := e.Replay(t.Context(), "MEMORY.md", to); err == nil {
			t.Errorf("%s is a point in time", to)
		}
	}
	// Of a file that cannot be edited nothing is recorded, which is no mistake.
	d.write("SOUL.md", "# Soul\n")
	if events, err := e.History(t.Context(), "SOUL.md", ""); err != nil || len(events) > 0 {
		t.Errorf("%+v, %v", events, err)
	}
	if _, err := e.Replay(t.Context(), "USER.md", ""); err == nil || !strings.Contains(err.Error(), "no recorded edits") {
		t.Error(err)
	}
}

// What takes away what events are about, or what §4 protects, is drift: the replay halts, the agent goes on.
func TestDrift(t *testing.T) {
	t.Parallel()
	profile := grammar.New(partFile, "2026-01-02T03:04:05Z")
	for name, test := range map[string]struct {
		file   string
		change func(text string) string // "" removes the file
		want   string
	}{
		"edited section gone": {
			"MEMORY.md", func(s string) string { return strings.Replace(s, "## People", "## Boats and trains", 1) },
			"the section ## People is gone",
		},
		"file gone": {"MEMORY.md", func(string) string { return "" }, "the file is gone"},
		"anchor gone": {
			partFile, func(s string) string { return strings.Replace(s, "<!-- @anchor: role v1 -->\n", "", 1) },
			"the anchor of ## Role is missing",
		},
		"anchor changed": {
			partFile, func(s string) string { return strings.Replace(s, "anchor: role", "anchor: rule", 1) },
			"the anchor of ## Role is missing or different",
		},
		"change log gone": {
			partFile, func(s string) string { return s[:strings.Index(s, "## Change Log")] },
			"the section ## Change Log is gone",
		},
		"id changed": {
			partFile, func(s string) string { return strings.Replace(s, "part_id: guard", "part_id: dog", 1) },
			`the front matter's "part_id: guard" is missing`,
		},
		"identity key renamed": {
			partFile, func(s string) string { return strings.Replace(s, "user_id:", "owner:", 1) },
			`the front matter's "user_id: kate" is missing`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newFixture(t, map[string]string{"MEMORY.md": memoryText, partFile: profile})
			e := d.open()
			if test.file == partFile {
				d.edit(e, request(partFile, grammar.AppendSection, "Role", "Keeps watch."))
			} else {
				d.edit(e, request("MEMORY.md", grammar.AppendItem, "People", "Eva"))
			}
			before := d.read(test.file)
			drifted := test.change(before)
			if drifted == "" {
				if err := os.Remove(filepath.Join(d.dir, test.file)); err != nil {
					t.Fatal(err)
				}
			} else {
				d.write(test.file, drifted)
			}
			r := d.replay(e, test.file, "")
			switch {
			case r.Drift == nil:
				t.Fatal("r.Drift is nil")
			case !strings.Contains(r.Drift.Rationale, test.want):
				t.Fatalf("%q lacks %q", r.Drift.Rationale, test.want)
			case r.Text != before:
				t.Fatalf("r.Text = %q, want %q", r.Text, before)
			}
			switch drifts := d.drifts(d.open()); {
			case len(drifts) != 1:
				t.Fatalf("the queue: len(drifts) = %v, want 1", len(drifts))
			case drifts[0].ID != r.Drift.ID:
				t.Fatalf("the queue: drifts[0].ID = %q, want %q", drifts[0].ID, r.Drift.ID)
			case drifts[0].File != test.file:
				t.Fatalf("the queue: drifts[0].File = %v, want %v", drifts[0].File, test.file)
			}
			// The agent is not asked and goes on, in both files.
			section := "Needs"
			if test.file == "MEMORY.md" {
				section = "Plans"
			}
			q := request(test.file, grammar.AppendSection, section, "Rest.")
			q.Create = true
			d.edit(e, q)

			// Restored: as before the drift, with what the agent added since.
			e = d.open()
			err := e.Restore(t.Context(), test.file, "operator", "not meant")
			if drifted == "" {
				// The file was made again, so its sections are not those of the one that is gone.
				if err == nil || !strings.Contains(err.Error(), "Accept the drift") {
					t.Fatal(err)
				}
				if n, err := e.Accept(t.Context(), test.file, "operator", "meant"); n != 1 || err != nil {
					t.Fatal(n, err)
				}
			} else if err != nil {
				t.Fatal(err)
			}
			text := d.read(test.file)
			if !strings.Contains(text, "Rest.") ||
				drifted != "" && grammar.Parse(text).Sections()[0] != grammar.Parse(before).Sections()[0] {
				t.Errorf("restored:\n%s", text)
			}
			if r := d.replay(e, test.file, ""); r.Drift != nil || r.Text != text {
				t.Errorf("replayed: %+v", r)
			}
			if drifts := d.drifts(e); len(drifts) > 0 {
				t.Errorf("the queue: %+v", drifts)
			}
		})
	}
}

// What events are about is not lost step by step.
func TestDriftInSteps(t *testing.T) {
	t.Parallel()
	d := newFixture(t, map[string]string{"MEMORY.md": memoryText})
	e := d.open()
	d.edit(e, request("MEMORY.md", grammar.AppendItem, "People", "Eva"))
	text := d.read("MEMORY.md")
	d.write("MEMORY.md", strings.Replace(text, "## People", "## Peeple", 1))
	if drifts := d.drifts(e); len(drifts) > 0 {
		t.Fatalf("%+v", drifts)
	}
	d.write("MEMORY.md", strings.Replace(text, "## People", "## Boats and trains", 1))
	if drifts := d.drifts(d.open()); len(drifts) != 1 ||
		!strings.Contains(drifts[0].Rationale, "the section ## Peeple is gone") {
		t.Errorf("%+v", drifts)
	}
}

// A restored file has one rollup of a day.
func TestRestoreRollup(t *testing.T) {
	t.Parallel()
	d := newFixture(t, nil)
	e := d.open()
	first := request(partFile, grammar.AppendSection, "Role", "Keeps watch.")
	first.Create = true
	d.edit(e, first)
	d.write(partFile, strings.Replace(d.read(partFile), "<!-- @anchor: role v1 -->\n", "", 1))
	d.edit(e, request(partFile, grammar.ReplaceSection, "Needs", "Rest."))
	if err := e.Restore(t.Context(), partFile, "operator", ""); err != nil {
		t.Fatal(err)
	}
	d.edit(e, request(partFile, grammar.AppendSection, "Needs", "Sleep."))
	want := []string{"2026-02-14: updated Role, Needs; refined Needs", "refined Needs: so it is"}
	got := logItems(grammar.Parse(d.read(partFile)))
	switch {
	case len(got) != len(want):
		t.Errorf("len(got) = %v, want %v", len(got), len(want))
	case got[0] != want[0]:
		t.Errorf("got[0] = %v, want %v", got[0], want[0])
	case !strings.HasSuffix(got[1], want[1]):
		t.Errorf("%q does not end in %q", got[1], want[1])
	}
}

// A file that has its Change Log twice, by hand, gets no third, and is replayed.
func TestTwoChangeLogs(t *testing.T) {
	t.Parallel()
	text := grammar.New(partFile, "2026-01-02T03:04:05Z") +
		"\n## Change Log\n<!-- @anchor: change-log v1 -->\n\n- 2026-01-02: made\n"
	d := newFixture(t, map[string]string{partFile: text})
	e := d.open()
	d.edit(e, request(partFile, grammar.AppendSection, "Role", "Keeps watch."))
	if got := strings.Count(d.read(partFile), "## Change Log"); got != 2 {
		t.Errorf("there are %d of them", got)
	}
	if r := d.replay(e, partFile, ""); r.Drift != nil || r.Text != d.read(partFile) {
		t.Errorf("%+v", r.Drift)
	}
}

// A profile with Windows line ends that was cut within the last one, wherever that is, is edited and replayed: the
// sections below stay what they were.
func TestCutWithinLineEnd(t *testing.T) {
	t.Parallel()
	whole := strings.ReplaceAll(grammar.New(partFile, "2026-01-02T03:04:05Z"), "\n", "\r\n")
	head := whole[:strings.Index(whole, "\r\n\r\n## Identity")]
	for name, test := range map[string]struct{ last, section string }{
		"a heading, another section edited": {"## Allies\r\n\r\n## Polarizations", "Allies"},
		"a heading, another section made":   {"## Allies\r\n\r\n## Polarizations", "Role"},
		"a heading, its section edited":     {"## Allies", "Allies"},
		"a heading, a section made below":   {"## Role", "Allies"},
		"an anchor":                         {"## Role\r\n<!-- @anchor: role v1 -->", "Allies"},
		"an item":                           {"## Allies\r\n\r\n- Eva", "Allies"},
		"text":                              {"## Allies\r\n\r\nEva", "Allies"},
		"the title":                         {"", "Allies"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := head + "\r"
			if test.last != "" {
				text = head + "\r\n\r\n" + test.last + "\r"
			}
			d := newFixture(t, map[string]string{partFile: text})
			op := grammar.AppendItem
			if test.section == "Role" {
				op = grammar.AppendSection
			}
			d.edit(d.open(), request(partFile, op, test.section, "Luis"))
			e := d.open()
			mustRecover(d, e)
			if r := d.replay(e, partFile, ""); r.Drift != nil || r.Text != d.read(partFile) {
				t.Errorf("%+v\nis replayed instead of\n%q", r, d.read(partFile))
			}
			if got := d.read(partFile); strings.Contains(got, "\r\r") {
				t.Errorf("a line has two ends: %q", got)
			}
		})
	}
}

func TestAccept(t *testing.T) {
	t.Parallel()
	d := newFixture(t, map[string]string{"MEMORY.md": memoryText})
	e := d.open()
	d.edit(e, request("MEMORY.md", grammar.AppendItem, "People", "Eva"))
	if _, err := e.Accept(t.Context(), "MEMORY.md", "operator", ""); err == nil ||
		!strings.Contains(err.Error(), "has not drifted") {
		t.Error(err)
	}
	if err := e.Restore(t.Context(), "MEMORY.md", "operator", ""); err == nil ||
		!strings.Contains(err.Error(), "has not drifted") {
		t.Error(err)
	}
	d.write("MEMORY.md", "# Memory\n\n## Else\n")
	d.drifts(e)
	d.edit(e, request("MEMORY.md", grammar.AppendSection, "Else", "x"))
	if r := d.replay(e, "MEMORY.md", ""); r.Drift == nil {
		t.Errorf("%+v", r)
	}
	if n, err := e.Accept(t.Context(), "MEMORY.md", "operator", "tidied"); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if r := d.replay(d.open(), "MEMORY.md", ""); r.Drift != nil || r.Text != d.read("MEMORY.md") {
		t.Errorf("%+v", r)
	}
	if drifts := d.drifts(e); len(drifts) != 0 {
		t.Errorf("%+v", drifts)
	}
	// What was not noticed yet is noticed by the decision.
	d.write("MEMORY.md", "# Memory\n")
	if n, err := d.open().Accept(t.Context(), "MEMORY.md", "operator", "tidied"); n != 1 || err != nil {
		t.Error(n, err)
	}
}

// The section of an event that was renamed is found once more, if its content is what it was (§10).
func TestReanchorOnReplay(t *testing.T) {
	t.Parallel()
	d := newFixture(t, map[string]string{"MEMORY.md": memoryText})
	e := d.open()
	event := d.edit(e, request("MEMORY.md", grammar.AppendItem, "People", "Eva")).Event
	all, err := e.readEvents(t.Context(), nil, func(v Event) bool { return v.ID == event.ID })
	if err != nil {
		t.Fatal(err)
	}
	k, err := e.keyOf(1)
	if err != nil {
		t.Fatal(err)
	}
	for text, ok := range map[string]bool{
		memoryText: true,
		strings.Replace(memoryText, "## People", "## Peeple", 1):                       true,
		strings.Replace(memoryText, "## People", "## PEOPLE", 1):                       true,
		strings.Replace(memoryText, "## People", "## Persons", 1):                      false,
		strings.Replace(memoryText, "- Luis", "- Luise", 1):                            false,
		strings.Replace(memoryText, "## People", "## Peopla\n\n## Peeple", 1):          false,
		strings.Replace(memoryText, "## People", "## Peeple\n\nother\n\n## Others", 1): false,
	} {
		doc := grammar.Parse(text)
		err := redo(k, doc, nil, all[0])
		if (err == nil) != ok || ok && !strings.Contains(doc.String(), "- Eva\n") {
			t.Errorf("%q: %v\n%s", text, err, doc)
		}
	}
}

// A record that does not reproduce the file is put before the maintainer, who accepts the file as it is; the history
// then goes on from there.
func TestBrokenRecordIsQueued(t *testing.T) {
	t.Parallel()
	d := newFixture(t, map[string]string{"MEMORY.md": memoryText})
	e := d.open()
	d.edit(e, request("MEMORY.md", grammar.AppendItem, "People", "Eva"))
	// As a faulty version of this program would write it: properly signed, and not what the file became.
	k, err := e.key()
	if err != nil {
		t.Fatal(err)
	}
	bad := e.newEvent(e.now(), string(grammar.AppendItem), "MEMORY.md")
	bad.Section, bad.FileBefore, bad.FileAfter = "People", k.File([]byte("x")), k.File([]byte(d.read("MEMORY.md")))
	bad.Changes = []splice.Change{{Section: "People", Insert: "- Uwe\n", Before: "b", After: "a"}}
	if err := e.record(t.Context(), k, bad); err != nil {
		t.Fatal(err)
	}
	e.applied()
	if found, err := d.open().CheckDrift(t.Context()); err != nil || len(found) != 1 ||
		!strings.Contains(found[0].Message, "the record cannot be replayed: event "+bad.ID) {
		t.Errorf("lint: %+v, %v", found, err)
	}
	if r := d.replay(d.open(), "MEMORY.md", ""); r.Broken != bad.ID {
		t.Fatalf("replayed: %+v", r)
	}
	e = d.open()
	for range 2 { // it is queued once
		if drifts := d.drifts(e); len(drifts) != 1 || drifts[0].RefersTo != bad.ID {
			t.Fatalf("the queue: %+v", drifts)
		}
	}
	if found, err := e.CheckDrift(t.Context()); err != nil || len(found) != 1 {
		t.Errorf("lint of what is queued: %+v, %v", found, err)
	}
	// The agent goes on meanwhile.
	d.edit(e, request("MEMORY.md", grammar.AppendItem, "People", "Kim"))
	if n, err := e.Accept(t.Context(), "MEMORY.md", "operator", "as it is"); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	last := d.edit(e, request("MEMORY.md", grammar.AppendItem, "People", "Zoe"))
	for _, next := range []*Editor{e, d.open()} {
		if r := d.replay(next, "MEMORY.md", ""); r.Drift != nil || r.Text != d.read("MEMORY.md") {
			t.Errorf("replayed: %+v", r)
		}
		if drifts := d.drifts(next); len(drifts) > 0 {
			t.Errorf("the queue: %+v", drifts)
		}
	}
	// Neither the broken event nor what followed is taken for reproduced.
	if r := d.replay(e, "MEMORY.md", bad.ID); r.Drift == nil {
		t.Errorf("up to the broken event: %+v", r)
	}
	steps := 0
	if err := e.Steps(t.Context(), "MEMORY.md", func(Event, string) { steps++ }); err != nil || steps < 4 {
		t.Errorf("%d steps, %v", steps, err)
	}
	if _, _, err := e.Undo(t.Context(), last.Event.ID, "operator", "no"); err != nil {
		t.Error(err)
	}
	if found, err := e.CheckDrift(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("lint: %+v, %v", found, err)
	}
}

// An id that is given back the value that the file's path has is mended, and no second drift.
func TestCorrectedID(t *testing.T) {
	t.Parallel()
	right := grammar.New(partFile, "2026-01-02T03:04:05Z")
	d := newFixture(t, map[string]string{partFile: right})
	e := d.open()
	d.edit(e, request(partFile, grammar.AppendSection, "Role", "Keeps watch."))
	for _, ids := range [][2]string{{"user_id: kate", "user_id: eve"}, {"part_id: guard", "part_id: dog"}} {
		before := len(d.drifts(e))
		d.write(partFile, strings.Replace(d.read(partFile), ids[0], ids[1], 1))
		wrong := d.drifts(e)
		if len(wrong) != before+1 || !strings.Contains(wrong[before].Rationale, ids[0]) {
			t.Errorf("%s: the drifts are %+v", ids[1], wrong)
		}
		d.write(partFile, strings.Replace(d.read(partFile), ids[1], ids[0], 1))
		if after := d.drifts(e); len(after) != len(wrong) {
			t.Errorf("corrected from %s, it has drifted again: %+v", ids[1], after[len(wrong):])
		}
	}
}

// Lint reports drift that the record does not have yet, and writes nothing.
func TestCheckDrift(t *testing.T) {
	t.Parallel()
	d := newFixture(t, map[string]string{"MEMORY.md": memoryText})
	e := d.open()
	d.edit(e, request("MEMORY.md", grammar.AppendItem, "People", "Eva"))
	d.write("MEMORY.md", strings.Replace(d.read("MEMORY.md"), "- Ana\n", "- Ana Pardo\n", 1))
	if found, err := e.CheckDrift(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("an ordinary change by hand: %+v, %v", found, err)
	}
	d.write("MEMORY.md", "# Memory\n")
	record := filepath.Join(d.dir, ".yamo", "private", "edits.ndjson")
	before, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	found, err := d.open().CheckDrift(t.Context())
	if err != nil || len(found) != 1 || !found[0].Error || !strings.Contains(found[0].Message, "## People is gone") {
		t.Errorf("drifted: %+v, %v", found, err)
	}
	if after, err := os.ReadFile(record); err != nil || string(after) != string(before) {
		t.Errorf("lint wrote to the record: %v", err)
	}
	if drifts := d.drifts(e); len(drifts) != 1 {
		t.Errorf("the queue: %+v", drifts)
	}
	if found, err := e.CheckDrift(t.Context()); err != nil || len(found) != 1 {
		t.Errorf("lint of what is queued: %+v, %v", found, err)
	}
}
