package grammar

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// awkward are texts whose sections are easy to mistake.
var awkward = []string{
	"", "\n", "text", "## A", "## A\n", "# T\n## A\n\n<!-- @anchor: a v1 -->\nx",
	"\uFEFF# T\r\n\r\n## A\r\n[//]: # (anchor: a v2)\r\nx\r\n",
	"---\na: 1\n---\n# T\n\n## A\n", "---\n# T\n## A\n", "```\n## A\n```\n## B\n", "~~~~\n## A\n~~~\n## B\n",
	"<!--\n## A\n-->\n## B\n",
	"<!-- x --> ## A\n", "#\n##\n## \n##A\n ## B\n", "## A ##\n## B #\n## C#\n", "## A\n## A\n", "## ```\nx\n## B\n",
	"``` `\n## A\n",
	"# T\n# T\n", "\n\n# T\n\nlead\n\n## A\n- x\n\n\n", "## \u00e9\n\n<!-- @anchor: e v1 -->\n<!-- @anchor: e v1 -->\n",
}

func TestParse(t *testing.T) {
	t.Parallel()
	d := Parse("---\nlast_updated: x\n---\n\n# Title\n\nlead\n\n## A b ##\n[//]: # (anchor: a-b v12)\n\ntext\n```\n" +
		"## not\n```\n\n## C\n\n<!-- @anchor: c v1 -->\n- x\n")
	want := &Document{Head: "---\nlast_updated: x\n---\n\n# Title", Parts: []Part{
		{Body: "\n\nlead\n\n", Line: 5},
		{
			Heading: "## A b ##", Hidden: "\n[//]: # (anchor: a-b v12)", Body: "\n\ntext\n```\n## not\n```\n\n", Name: "A b",
			Anchor: Anchor{"a-b", "12"}, Line: 9,
		},
		{
			Heading: "## C", Hidden: "\n\n<!-- @anchor: c v1 -->", Body: "\n- x\n", Name: "C", Anchor: Anchor{"c", "1"},
			Line: 17,
		},
	}}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Error(diff)
	}
}

func TestSectionsOfAwkwardTexts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"```\n## A\n```\n## B\n":          "B",
		"~~~~\n## A\n~~~\n## B\n":         "",
		"<!--\n## A\n-->\n## B\n":         "B",
		"#\n##\n## \n##A\n ## B\n":        "",
		"## A ##\n## B #\n## C#\n":        "A|B|C#",
		"---\n# T\n## A\n":                "A",
		"## ```\nx\n## B\n":               "```|B",
		"``` `\n## A\n":                   "A",
		"- x\n  ```\n  ## y\n  ```\n## A": "A",
	} {
		d := Parse(text)
		if got := strings.Join(d.Sections(), "|"); got != want {
			t.Errorf("%q: sections %q, want %q", text, got, want)
		}
	}
}

// Both hidden forms, and nothing that only looks like one (seed 004 §2).
func TestAnchorForms(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]Anchor{
		"[//]: # (anchor: concerns v1)":      {"concerns", "1"},
		"<!-- @anchor: concerns v1 -->":      {"concerns", "1"},
		"<!-- @anchor: evidence-2 v10 -->  ": {"evidence-2", "10"},
		"<!-- anchor: concerns v1 -->":       {},
		"<!-- @anchor: Concerns v1 -->":      {},
		"<!-- @anchor: concerns -->":         {},
		"[//]: # (anchor: concerns v1":       {},
		"text <!-- @anchor: concerns v1 -->": {},
	} {
		if got, ok := anchorOf(line); got != want || ok != (want.ID != "") {
			t.Errorf("%q: %v, %t", line, got, ok)
		}
	}
}

// Printing what was parsed is the text, and parsing again finds the same.
func FuzzParse(f *testing.F) {
	for _, text := range awkward {
		f.Add(text)
	}
	f.Add(New("users/kate/parts/p/profile.md", "2026-01-02T03:04:05Z"))
	f.Fuzz(func(t *testing.T, text string) {
		d := Parse(text)
		if got := d.String(); got != text {
			t.Fatalf("%q is printed as %q", text, got)
		}
		if len(d.Parts) == 0 || d.Parts[0].Heading != "" {
			t.Fatalf("%q: the first part is %+v", text, d.Parts)
		}
		for i, p := range d.Parts {
			if i > 0 && !strings.HasPrefix(p.Heading, "##") {
				t.Fatalf("%q: heading %q", text, p.Heading)
			}
			var joined strings.Builder
			for _, b := range blocks(p.Body) {
				joined.WriteString(b.raw)
			}
			if joined.String() != p.Body {
				t.Fatalf("%q: blocks of %q give %q", text, p.Body, joined.String())
			}
		}
		for _, finding := range Check("users/kate/parts/p/profile.md", text) {
			switch {
			case finding.Line < 1:
				t.Fatalf("%q: finding.Line = %v", text, finding.Line)
			case finding.Line > 2+strings.Count(text, "\n"):
				t.Fatalf("%q: finding.Line = %v", text, finding.Line)
			case finding.Rule == "":
				t.Fatalf("%q: finding.Rule is empty", text)
			}
		}
	})
}

func TestTypeOf(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		typ    *Type
		entity Entity
	}{
		"users/kate/overview.md":                  {overviewType, Entity{"kate", "user", "kate"}},
		"users/kate/notes.md":                     {notesType, Entity{"kate", "note", "kate"}},
		"users/kate/parts/p_1/profile.md":         {partType, Entity{"kate", "part", "p_1"}},
		"users/kate/parts/p_1/notes.md":           {notesType, Entity{"kate", "note", "p_1"}},
		"users/kate/relationships/a-b/profile.md": {relationshipType, Entity{"kate", "relationship", "a-b"}},
		"users/kate/relationships/a-b/notes.md":   {notesType, Entity{"kate", "note", "a-b"}},
		"users/kate/parts/p/pattern.md":           {nil, Entity{Primary, "note", "users/kate/parts/p/pattern"}},
		"users/../x/overview.md":                  {nil, Entity{Primary, "note", "users/../x/overview"}},
		"USER.md":                                 {nil, Entity{Primary, "user", Primary}},
		"MEMORY.md":                               {nil, Entity{Primary, "note", "MEMORY"}},
	} {
		typ, entity := TypeOf(name)
		if typ != want.typ || entity != want.entity {
			t.Errorf("%s: %+v, %+v", name, typ, entity)
		}
	}
}

// The table, written out a second time from seed 004 §1 and §3.
func TestTable(t *testing.T) {
	t.Parallel()
	for typ, want := range map[*Type]string{
		overviewType: "Identity, Current Focus, Confirmed Parts, Active Themes, Working Agreements, Recent Highlights, " +
			"Extensions, Open Questions, Change Log",
		partType: "Identity, Role, Triggers, Needs, Concerns, Allies, Polarizations, Evidence (curated), Working " +
			"Agreements, Evolution, Extensions, " +
			"Open Questions, Change Log",
		relationshipType: "Participants, Type, Dynamics, Evidence of Interplay, Tensions, Agreements, Evolution, " +
			"Extensions, Open Questions, Change Log",
		notesType: "Inbox, Focus, Parking Lot, Research, Drafts",
	} {
		if got := strings.Join(typ.names(), ", "); got != want {
			t.Errorf("%s: %s", typ.Name, got)
		}
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	const event = "01KE0QJ1BM8Y4W8D6S0T2RTX3V"
	token, err := ParseToken(event)
	if err != nil {
		t.Fatal(err)
	}
	switch again, err := ParseToken(token.String()); {
	case again != token:
		t.Errorf("%s: again = %v, want %v", token, again, token)
	case err != nil:
		t.Errorf("%s: %v", token, err)
	case token.MemoryID() != "":
		t.Errorf("%s: token.MemoryID() = %q, want none", token, token.MemoryID())
	}
	memory, err := ParseToken("mem_1767323045678_0a1b2c")
	if err != nil || !strings.HasPrefix(memory.String(), "ev:20260102T030405Z-") {
		t.Errorf("%s, %v", memory, err)
	}
	if again, err := ParseToken(memory.String()); again.MemoryID() != "mem_1767323045678_0a1b2c" || err != nil {
		t.Errorf("%s, %v", again.MemoryID(), err)
	}
	for _, wrong := range []string{
		"", "ev:", event[1:], strings.ToLower(event), "ev:20260102T030405Z-" + event,
		strings.Replace(memory.String(), "Z-", "-", 1),
		"mem_1_xyz", "mem_01_0a1b2c", "mem_999999999999999_0a1b2c", "ev:20260102T030405Z-mem_1767323045678_0a1b2c",
		memory.String() + "0",
	} {
		if got, err := ParseToken(wrong); err == nil {
			t.Errorf("%q is %s", wrong, got)
		}
	}
	switch got := Tokens("x (" + memory.String() + ", ev:20000101T000000Z-" + event + ") " + token.String()); {
	case len(got) != 2:
		t.Errorf("tokens: len(got) = %v, want 2", len(got))
	case got[0] != memory:
		t.Errorf("tokens: got[0] = %v, want %v", got[0], memory)
	case got[1] != token:
		t.Errorf("tokens: got[1] = %v, want %v", got[1], token)
	}
}

// A heading without text has no name to edit it by: it belongs to the section that it is in.
func TestHeadingWithoutText(t *testing.T) {
	t.Parallel()
	d := Parse("# T\n\n##\nhigh\n\n## A\n\n## ##\n\nx\n")
	if got := d.Sections(); len(got) != 1 || got[0] != "A" {
		t.Errorf("sections %q", got)
	}
	if got, want := d.Parts[1].Body, "\n\n## ##\n\nx\n"; got != want {
		t.Errorf("body %q, want %q", got, want)
	}
}

func TestCanonical(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Evidence": "Evidence (curated)", "evidence": "Evidence (curated)", "open": "Open Questions", "Role": "Role",
		"Ev": "Ev", "": "", "Working": "Working Agreements",
		"trigger": "Triggers", "Ally": "Allies", "Open question": "Open Questions", "Evolutions": "Evolution",
		"Roles": "Role", "Triggering": "Triggering",
	} {
		if got := partType.Canonical(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	if got := (*Type)(nil).Canonical("Evidence"); got != "Evidence" {
		t.Errorf("without a type: %q", got)
	}
}
