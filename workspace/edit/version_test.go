package edit

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// read reads MEMORY.md as the session would.
func (d *fixture) version(e *Editor, session string) Version {
	return e.Read(session, "MEMORY.md", []byte(d.read("MEMORY.md")))
}

func TestReadDescribesSections(t *testing.T) {
	t.Parallel()
	d := newFixture(t, map[string]string{"MEMORY.md": "# M\n\nAbove.\n\n## People\n\n- Ana\n"})
	v := d.version(d.open(), "s")
	for i := range v.Sections {
		if len(v.Sections[i].Hash) != 16 {
			t.Errorf("the hash is %q", v.Sections[i].Hash)
		}
		v.Sections[i].Hash = ""
	}
	want := []SectionVersion{{Form: "free"}, {Heading: "People", Form: "free"}}
	if diff := cmp.Diff(want, v.Sections); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	profile := d.open().Read("s", partFile, []byte(grammar.New(partFile, "2026-01-02T03:04:05Z")))
	want = nil
	for _, s := range profile.Sections {
		s.Hash = ""
		if s.Heading == "Role" || s.Heading == "Allies" || s.Heading == "Evidence (curated)" || s.Heading == "Change Log" {
			want = append(want, s)
		}
	}
	if diff := cmp.Diff(want, []SectionVersion{
		{Heading: "Role", Form: "narrative", Cap: "400 words"},
		{Heading: "Allies", Form: "list"},
		{Heading: "Evidence (curated)", Form: "evidence", Cap: "7 items"},
		{Heading: "Change Log", Form: "log"},
	}); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// What a person changed between a session's read and its edit is never overwritten unseen: with and without a hash.
func TestChangedSinceRead(t *testing.T) {
	t.Parallel()
	ofFile := func(v Version) string { return v.File }
	ofSection := func(v Version) string { return v.Sections[1].Hash }
	none := func(Version) string { return "" }
	for name, tc := range map[string]struct {
		expect  func(v Version) string
		old     string // of the file, which gets a line of a person
		op      grammar.Op
		refused bool
	}{
		"another section, hash of the file":    {ofFile, "- Luis\n", grammar.ReplaceSection, false},
		"the section, hash of the file":        {ofFile, "none\n", grammar.ReplaceSection, true},
		"another section, hash of the section": {ofSection, "- Luis\n", grammar.ReplaceSection, false},
		"the section, hash of the section":     {ofSection, "none\n", grammar.ReplaceSection, true},
		"another section, no hash":             {none, "- Luis\n", grammar.ReplaceSection, false},
		"the section, no hash":                 {none, "none\n", grammar.ReplaceSection, true},
		"the section is retired, no hash":      {none, "none\n", grammar.TombstoneSection, true},
		"the section is added to, no hash":     {none, "none\n", grammar.AppendSection, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newFixture(t, map[string]string{"MEMORY.md": memoryText})
			e := d.open()
			v := d.version(e, "s")
			d.write("MEMORY.md", strings.Replace(memoryText, tc.old, tc.old+"- by hand\n", 1))
			q := request("MEMORY.md", tc.op, "Plans", "Sail.")
			if tc.op == grammar.TombstoneSection {
				q.Content = ""
			}
			q.Session, q.Expected = "s", tc.expect(v)
			_, err := e.Edit(t.Context(), q)
			if !strings.Contains(d.read("MEMORY.md"), "- by hand") {
				t.Errorf("the person's line is lost:\n%s", d.read("MEMORY.md"))
			}
			if !tc.refused {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil {
				t.Fatal("the edit was made")
			}
			for _, want := range []string{"expected_hash", "none\n- by hand"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v lacks %q", err, want)
				}
			}
			if tc.op == grammar.ReplaceSection && !strings.Contains(err.Error(), "With your edit:\nSail.") {
				t.Errorf("%v lacks the text of the edit", err)
			}
			q.Expected = "" // not until it was read again
			if _, err := e.Edit(t.Context(), q); err == nil {
				t.Error("repeated without a hash, it was made")
			}
			d.version(e, "s")
			if _, err := e.Edit(t.Context(), q); err != nil {
				t.Errorf("once it was read: %v", err)
			}
		})
	}
}

// What a session never read, it does not replace: a search or a hook may have shown a part of it.
func TestUnreadIsNotReplaced(t *testing.T) {
	t.Parallel()
	d := newFixture(t, map[string]string{"MEMORY.md": memoryText + "\n## Empty\n"})
	e := d.open()
	of := func(op grammar.Op, section string) Request {
		q := request("MEMORY.md", op, section, "Sail.")
		if op == grammar.TombstoneSection {
			q.Content = ""
		}
		q.Session = "s"
		return q
	}
	refused := func(q Request) (hash string) {
		t.Helper()
		_, err := e.Edit(t.Context(), q)
		if err == nil || !strings.Contains(err.Error(), "expected_hash: you have not read the section in this session") {
			t.Fatalf("%s of %q: %v", q.Op, q.Section, err)
		}
		_, rest, _ := strings.Cut(err.Error(), "its hash is ")
		hash, _, _ = strings.Cut(rest, ";")
		return hash
	}
	refused(of(grammar.TombstoneSection, "Plans"))
	q := of(grammar.ReplaceSection, "Plans")
	q.Expected = refused(q)
	d.edit(e, q)
	d.edit(e, of(grammar.ReplaceSection, "Empty"))
	d.edit(e, of(grammar.AppendSection, "People"))

	// A section that a person wrote after the file was read.
	d.version(e, "s")
	d.write("MEMORY.md", d.read("MEMORY.md")+"\n## Garden\n\nBy hand.\n")
	refused(of(grammar.ReplaceSection, "Garden"))
	proposed := of(grammar.ReplaceSection, "Garden")
	proposed.Propose = true
	d.edit(e, proposed)
	preview := of(grammar.AppendSection, "Garden")
	preview.Preview = true
	before := d.read("MEMORY.md")
	d.edit(e, preview)
	if got := d.read("MEMORY.md"); got != before || !strings.Contains(got, "By hand.") {
		t.Errorf("the file is\n%s", got)
	}
}

// A session's own edits are no reason to refuse, and what another session read is none to allow.
func TestOwnEditsAreKnown(t *testing.T) {
	t.Parallel()
	d := newFixture(t, map[string]string{"MEMORY.md": memoryText})
	e := d.open()
	d.version(e, "s")
	for _, text := range []string{"one", "two"} {
		q := request("MEMORY.md", grammar.ReplaceSection, "Plans", text)
		q.Session = "s"
		d.edit(e, q)
	}
	d.write("MEMORY.md", strings.Replace(d.read("MEMORY.md"), "two", "three", 1))
	q := request("MEMORY.md", grammar.ReplaceSection, "Plans", "four")
	q.Session = "s"
	if _, err := e.Edit(t.Context(), q); err == nil {
		t.Error("a change after the session's own edit was overwritten")
	}
	q.Session = "other"
	if _, err := e.Edit(t.Context(), q); err == nil {
		t.Error("another session overwrote what it had not read")
	}
	d.version(e, "other")
	d.edit(e, q)
}

// A hash stays valid when the key of the record is replaced and the section is not.
func TestExpectedAfterRotation(t *testing.T) {
	t.Parallel()
	d := newFixture(t, map[string]string{"MEMORY.md": memoryText})
	e := d.open()
	first := d.edit(e, request("MEMORY.md", grammar.ReplaceSection, "Plans", "one"))
	if _, err := e.RotateKey(t.Context(), "operator"); err != nil {
		t.Fatal(err)
	}
	q := request("MEMORY.md", grammar.ReplaceSection, "Plans", "two")
	q.Expected = first.Event.After
	d.edit(d.open(), q)
	q.Content = "three"
	if _, err := e.Edit(t.Context(), q); err == nil {
		t.Error("the hash of an earlier text was accepted")
	}
}

// An item that a person made longer since the session read it is not removed by its beginning.
func TestItemChangedSinceRead(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		retire, session string
		refused         bool
	}{
		"by its beginning":                {"Ana", "s", true},
		"by the former text":              {"Ana lives in Quito", "s", true},
		"by its present text":             {"Ana lives in Quito, and her door code is new", "s", false},
		"another one":                     {"Luis", "s", false},
		"by a session that never read it": {"Ana", "other", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newFixture(t, map[string]string{"MEMORY.md": "# M\n\n## People\n\n- Ana lives in Quito\n- Luis\n"})
			e := d.open()
			d.version(e, "s")
			changed := "# M\n\n## People\n\n- Ana lives in Quito, and her door code is new\n- Luis\n"
			d.write("MEMORY.md", changed)
			_, err := e.Edit(t.Context(), Request{
				File: "MEMORY.md", Session: tc.session, Retire: []string{tc.retire},
				Edit: grammar.Edit{Op: grammar.CurateItems, Section: "People", Rationale: "r"},
			})
			if (err != nil) != tc.refused {
				t.Fatalf("refused: %v", err)
			}
			if !tc.refused {
				return
			}
			for _, want := range []string{
				"now:\nAna lives in Quito, and her door code is new\n", "read it:\nAna lives in Quito\n",
			} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v lacks %q", err, want)
				}
			}
			if d.read("MEMORY.md") != changed {
				t.Errorf("written:\n%s", d.read("MEMORY.md"))
			}
		})
	}
}
