package grammar

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
)

var noon = time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC)

func apply(t *testing.T, name, text string, e Edit) (string, Applied) {
	t.Helper()
	typ, _ := TypeOf(name)
	if e.Rationale == "" {
		e.Rationale = "because"
	}
	d := Parse(text)
	done, err := d.Apply(typ, e, noon)
	if err != nil {
		t.Fatalf("%s %q: %v", e.Op, e.Section, err)
	}
	return d.String(), done
}

// What each operation makes of a file without a declared type, byte for byte.
func TestApply(t *testing.T) {
	t.Parallel()
	const memory = "# Memory\n\nintro\n\n## People\n\n- Ana\n  of Oslo\n- Luis\n\n## Plans\ntext\n\n\n## Change log\n\n" +
		"## End"
	for name, test := range map[string]struct {
		text string
		edit Edit
		want string // the text in the place of the section
		at   string // what it replaces
	}{
		"replace": {
			memory,
			Edit{Op: ReplaceSection, Section: "Plans", Content: "new\n\n### sub\n"},
			"## Plans\nnew\n\n### sub\n\n\n## Ch", "## Plans\ntext\n\n\n## Ch",
		},
		"append": {
			memory,
			Edit{Op: AppendSection, Section: "plans", Content: "more"},
			"## Plans\ntext\n\nmore\n\n\n## Ch",
			"## Plans\ntext\n\n\n## Ch",
		},
		"append at the end": {
			memory, Edit{Op: AppendSection, Section: "End", Content: "more"}, "## End\n\nmore\n", "## End",
		},
		"lead": {
			memory, Edit{Op: AppendSection, Content: "more"}, "\n\nintro\n\nmore\n\n## P", "\n\nintro\n\n## P",
		},
		"item": {
			memory,
			Edit{Op: AppendItem, Section: "People", Content: "- Eva\nand her dog"},
			"- Luis\n- Eva\n  and her dog\n\n",
			"- Luis\n\n",
		},
		"items": {
			memory,
			Edit{Op: AppendItem, Section: "People", Items: []string{"Eva", "* Uwe"}},
			"- Luis\n- Eva\n- Uwe\n\n",
			"- Luis\n\n",
		},
		"item after text": {
			memory,
			Edit{Op: AppendItem, Section: "Plans", Content: "one"},
			"## Plans\ntext\n\n- one\n\n\n",
			"## Plans\ntext\n\n\n",
		},
		"curate": {
			memory,
			Edit{Op: CurateItems, Section: "People", Items: []string{"Luis", "Eva"}},
			"\n- Luis\n- Eva\n\n",
			"\n- Ana\n  of Oslo\n- Luis\n\n",
		},
		"merge": {
			memory,
			Edit{Op: CurateItems, Section: "People", Items: []string{"Ana and Luis"}},
			"\n- Ana and Luis\n\n",
			"\n- Ana\n  of Oslo\n- Luis\n\n",
		},
		"prune": {
			memory,
			Edit{Op: CurateItems, Section: "People", Items: []string{"Ana\nof Oslo"}},
			"  of Oslo\n\n",
			"  of Oslo\n- Luis\n\n",
		},
		"prune all": {
			memory,
			Edit{Op: CurateItems, Section: "People"},
			"## People\n\n## Pl",
			"## People\n\n- Ana\n  of Oslo\n- Luis\n\n## Pl",
		},
		"tombstone": {
			memory,
			Edit{Op: TombstoneSection, Section: "Plans", Rationale: "all\ndone"},
			"## Plans\n_Retired 2026-02-14T12:00:00Z: all done_\n\n\n## Ch", "## Plans\ntext\n\n\n## Ch",
		},
		"new section": {
			memory, Edit{Op: AppendItem, Section: "New", Content: "x", Create: true}, "## End\n\n## New\n\n- x\n", "## End",
		},
		"into nothing":   {"", Edit{Op: AppendSection, Content: "x"}, "x\n", ""},
		"new in nothing": {"", Edit{Op: AppendSection, Section: "A", Content: "x", Create: true}, "## A\n\nx\n", ""},
		"no end of line": {"# T", Edit{Op: AppendSection, Content: "x"}, "# T\n\nx\n", "# T"},
		"loose list": {
			"## A\n\n* x\n\n* y\n", Edit{Op: AppendItem, Section: "A", Content: "z"}, "* y\n\n* z\n", "* y\n",
		},
		"loose list pruned": {
			"## A\n\n* x\n\n* y\n\ntext\n",
			Edit{Op: CurateItems, Section: "A", Items: []string{"y"}},
			"## A\n\n* y\n\ntext\n",
			"## A\n\n* x\n\n* y\n\ntext\n",
		},
		"prune above text": {
			"## A\n\n- x\n- y\n\ntext\n",
			Edit{Op: CurateItems, Section: "A", Items: []string{"x"}},
			"- x\n\ntext\n",
			"- x\n- y\n\ntext\n",
		},
		"prune below text": {
			"## A\nthese:\n- x\n\ntext\n", Edit{Op: CurateItems, Section: "A"}, "these:\n\ntext\n", "these:\n- x\n\ntext\n",
		},
		"numbers": {
			"## A\n1. x\n9) y\n",
			Edit{Op: AppendItem, Section: "A", Items: []string{"z\nzz", "a"}},
			"9) y\n10) z\n    zz\n11) a\n", "9) y\n",
		},
		"numbers pruned": {
			"## A\n1. x\n2. y\n   yy\n\n     deep\n3. z\n",
			Edit{Op: CurateItems, Section: "A", Items: []string{"y\nyy\n\n  deep", "a"}},
			"\n2. y\n   yy\n\n     deep\n3. a\n",
			"\n1. x\n2. y\n   yy\n\n     deep\n3. z\n",
		},
		"line ends of Windows": {
			"# T\r\n\r\n## A\r\nx\r\n",
			Edit{Op: AppendSection, Section: "A", Content: "y\nz"},
			"## A\r\nx\r\n\r\ny\r\nz\r\n",
			"## A\r\nx\r\n",
		},
		"by anchor": {
			"## A\n<!-- @anchor: b v1 -->\nx\n", Edit{Op: ReplaceSection, Section: "b", Content: "y"}, "-->\ny\n", "-->\nx\n",
		},
		"code": {
			"## A\nx\n",
			Edit{Op: ReplaceSection, Section: "A", Content: "```\n## no heading\n# comment\n```"},
			"\n```\n## no heading\n# comment\n```\n", "\nx\n",
		},
		"change log": {
			memory,
			Edit{Op: AppendItem, Section: "Change log", Content: "looked through"},
			"## Change log\n\n- 2026-02-14T12:00:00Z: looked through\n\n## E", "## Change log\n\n## E",
		},
		"nothing invisible": {
			"## A\nx\n",
			Edit{Op: ReplaceSection, Section: "A", Content: "\n \na\x00\u202eb\r\nc\u2028 \n\n"},
			"\nab\nc\n",
			"\nx\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.Count(test.text, test.at) != 1 && test.at != "" {
				t.Fatalf("%q is not there once", test.at)
			}
			want := strings.Replace(test.text, test.at, test.want, 1)
			got, _ := apply(t, "MEMORY.md", test.text, test.edit)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestApplyToProfile(t *testing.T) {
	t.Parallel()
	clean := New(partFile, "2026-01-02T03:04:05Z")
	// A section that is missing comes where it belongs, with its anchor.
	without := strings.Replace(clean, "\n## Needs\n<!-- @anchor: needs v1 -->\n", "", 1)
	got, done := apply(t, partFile, without, Edit{Op: AppendSection, Section: "needs", Content: "Rest."})
	want := strings.Replace(clean, "<!-- @anchor: needs v1 -->\n", "<!-- @anchor: needs v1 -->\n\nRest.\n", 1)
	switch diff := cmp.Diff(want, got); {
	case diff != "":
		t.Errorf("-want +got:\n%s", diff)
	case !done.Made:
		t.Error("done.Made = false")
	case done.Anchor != "needs":
		t.Errorf("done.Anchor = %q, want %q", done.Anchor, "needs")
	}
	// One that is misspelt is found in its region, once, and keeps its heading.
	misspelt := strings.Replace(clean, "## Concerns\n<!-- @anchor: concerns v1 -->\n", "## Concern\n", 1)
	got, done = apply(t, partFile, misspelt, Edit{Op: AppendSection, Section: "Concerns", Content: "Noise."})
	if !strings.Contains(got, "## Concern\n\nNoise.\n\n## Allies") || done.Match != ByNearest {
		t.Errorf("%+v\n%s", done, got)
	}
	// Not outside of it.
	elsewhere := strings.Replace(clean, "## Concerns\n<!-- @anchor: concerns v1 -->\n\n", "", 1) + "\n## Concern\n"
	got, done = apply(t, partFile, elsewhere, Edit{Op: AppendSection, Section: "Concerns", Content: "Noise."})
	if !done.Made || !strings.HasSuffix(got, "## Concern\n") {
		t.Errorf("%+v\n%s", done, got)
	}
	// Evidence gets the tokens it is given.
	token, err := ParseToken("mem_1767323045678_0a1b2c")
	if err != nil {
		t.Fatal(err)
	}
	got, done = apply(t, partFile, clean, Edit{
		Op: AppendItem, Section: "Evidence (curated)", Content: `"I stand at the door"`, Evidence: []Token{token},
	})
	if !strings.Contains(got, "\n\n- \"I stand at the door\" ("+token.String()+")\n\n## Working") || done.Items != 1 {
		t.Errorf("%+v\n%s", done, got)
	}
	if findings := checked(partFile, got); len(findings) > 0 {
		t.Errorf("%q", findings)
	}
}

// How far two headings are apart is counted in letters, of which each is two bytes here.
func TestReanchorCountsLetters(t *testing.T) {
	t.Parallel()
	for heading, want := range map[string]bool{
		"Предпочтения":      true,
		"Предпочтенья":      true, // one letter differs
		"Прeдпочтэнья":      true, // three letters
		"Предложения здесь": false,
	} {
		d := Parse("# М\n\n## " + heading + "\n\nx\n\n## Планы\n")
		if i, found := d.Reanchor(nil, "Предпочтения"); found != want || found && i != 1 {
			t.Errorf("%s: %d, %t", heading, i, found)
		}
	}
}

func TestRecord(t *testing.T) {
	t.Parallel()
	d := Parse(New(partFile, "2026-01-02T03:04:05Z"))
	edits := []Done{
		{Op: AppendItem, Section: "Allies", Items: 2},
		{Op: AppendSection, Section: "Role"},
		{Op: AppendSection, Section: "Needs"},
		{Op: AppendItem, Section: "Open Questions", Items: 1},
	}
	first := Rollup(noon, edits)
	d.Record(partType, "", first)
	second := Rollup(noon, append(edits, Done{Op: AppendItem, Section: "Allies", Items: 1},
		Done{Op: ReplaceSection, Section: "Role"}))
	d.Record(partType, first, second, "", "2026-02-14T12:00:00Z: refined Role: it grew")
	want := "- 2026-02-14: added 3 items to Allies, 1 item to Open Questions; updated Role, Needs; refined Role\n" +
		"- 2026-02-14T12:00:00Z: refined Role: it grew\n"
	if got := d.String(); !strings.HasSuffix(got, "<!-- @anchor: change-log v1 -->\n\n"+want) {
		t.Error(got)
	}
	// A rollup that was changed by hand stays, and another follows.
	changed := Parse(strings.Replace(d.String(), "3 items", "three items", 1))
	changed.Record(partType, second, first)
	kept := strings.Replace(want, "3 items", "three items", 1) + "- " + first + "\n"
	if got := changed.String(); !strings.HasSuffix(got, kept) {
		t.Error(got)
	}
	// Where there is no Change Log, one is made in a profile only.
	for name, wanted := range map[string]bool{partFile: true, "users/a/notes.md": false, "MEMORY.md": false} {
		typ, _ := TypeOf(name)
		d := Parse("# T\n\n## Identity\n")
		d.Record(typ, "", first)
		section := "\n\n## Change Log\n<!-- @anchor: change-log v1 -->\n\n- " + first + "\n"
		if got := d.String(); strings.HasSuffix(got, section) != wanted {
			t.Errorf("%s: %q", name, got)
		}
	}
	refined := Material(Edit{Op: ReplaceSection, Rationale: "it grew"}, Applied{}, noon)
	if want := "2026-02-14T12:00:00Z: refined the introduction: it grew"; refined != want {
		t.Errorf("%s, want %s", refined, want)
	}
	d.Touch(noon)
	if got := d.String(); !strings.Contains(got, "\nlast_updated: 2026-02-14T12:00:00Z\n---\n") {
		t.Error(got)
	}
}

// An edit changes only its section, and never which sections there are.
func FuzzApply(f *testing.F) {
	for _, text := range awkward {
		f.Add(text, "A", "content", "item", uint8(0))
	}
	f.Add(New(partFile, "2026-01-02T03:04:05Z"), "Role", "x\n```\n## y\n```", "b", uint8(9))
	f.Add("## A\n- a\n- b\n\ntext\n", "A", "a", "c", uint8(3))
	f.Add("## Role\n## Change Log\n## Change Log", "", "0", "0", uint8(0xd3))
	f.Add("## Role\n## X\n<!-- @anchor: change-log v1 -->\n## Y\n<!-- @anchor: change-log v1 -->\n", "Role", "0", "0",
		uint8(10))
	f.Fuzz(func(t *testing.T, text, section, content, item string, kind uint8) {
		name := []string{"MEMORY.md", partFile, "users/a/notes.md"}[int(kind/10)%3]
		typ, _ := TypeOf(name)
		e := Edit{Op: Ops[int(kind%5)], Section: section, Rationale: "r" + item, Override: content, Create: kind%10 >= 5}
		switch e.Op {
		case AppendItem, CurateItems:
			e.Items = []string{item, content}
		case ReplaceSection, AppendSection:
			e.Content = content
		case TombstoneSection:
		}
		before, d := Parse(text), Parse(text)
		done, err := d.Apply(typ, e, noon)
		if err != nil {
			if _, ok := fault.As(err); !ok {
				t.Fatal(err)
			}
			return
		}
		d.Record(typ, "", Rollup(noon, []Done{{Op: e.Op, Section: done.Section, Items: done.Items}}), Material(e, done, noon),
			Exceeding(e, done, noon))
		d.Touch(noon)
		after := Parse(d.String())
		if len(after.Parts) != len(d.Parts) {
			t.Fatalf("%q: %d parts are read as %d:\n%s", text, len(d.Parts), len(after.Parts), d.String())
		}
		for i, j := 0, 0; j < len(after.Parts); j++ {
			p := after.Parts[j]
			if p != d.Parts[j] && (p.Text() != d.Parts[j].Text() || p.Hidden != d.Parts[j].Hidden) {
				t.Fatalf("%q: %+v is read as %+v", text, d.Parts[j], p)
			}
			if i == len(before.Parts) || before.Parts[i].Heading != p.Heading || before.Parts[i].Hidden != p.Hidden {
				// Made by the edit. A heading that ended the file without a line end got one.
				if i < len(before.Parts) && before.Parts[i].Name == p.Name {
					i++
				}
				continue
			}
			old := before.Parts[i]
			i++
			log, ok := before.changeLog(typ)
			touched := p.Name == done.Section || ok && log == i-1
			if !touched && strings.TrimRight(old.Body, "\r\n") != strings.TrimRight(p.Body, "\r\n") {
				t.Fatalf("%q: %q was changed from %q to %q", text, p.Name, old.Body, p.Body)
			}
		}
	})
}
