package edit

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// extended is a part profile with this in its Extensions.
func extended(text string) string {
	const anchor = "<!-- @anchor: extensions v1 -->\n"
	return strings.Replace(grammar.New(partFile, "2026-01-02T03:04:05Z"), anchor, anchor+"\n"+text+"\n", 1)
}

func (d *fixture) promote(e *Editor, subsection, section string) Changed {
	d.tb.Helper()
	_, c, err := e.Promote(d.tb.Context(), partFile, subsection, section, "operator", "it lasts", "")
	if err != nil {
		d.tb.Fatal(err)
	}
	return c
}

func TestPromote(t *testing.T) {
	t.Parallel()
	const token = "ev:20260102T030405Z-01KDYAK3SE01PPAV800000M6SC"
	text := extended("Before.\n\n### Rituals\n\nTea at five (" + token +
		").\n\n```\n### no heading\n```\n\n### Friends\n\n- Ana\n- Luis\n\n### Quotes\n\n* \"Tea!\" (" + token + ")")
	for _, ends := range []string{"\n", "\r\n"} {
		d := newFixture(t, map[string]string{partFile: strings.ReplaceAll(text, "\n", ends)})
		e := d.open()
		if _, err := e.SetPin(t.Context(), partFile, OpLock, "operator"); err != nil {
			t.Fatal(err)
		}
		first := d.promote(e, "rituals", "role")
		d.promote(e, "Friends", "Allies")
		d.promote(e, "Quotes", "Evidence (curated)")
		file := d.read(partFile)
		if first.Before == file || strings.Count(file, "\r\n") != map[string]int{"\r\n": strings.Count(file, "\n")}[ends] {
			t.Errorf("line ends: %q", file)
		}
		file = strings.ReplaceAll(file, "\r\n", "\n")
		for _, want := range []string{
			"## Role\n<!-- @anchor: role v1 -->\n\n### Rituals\n\nTea at five (" + token +
				").\n\n```\n### no heading\n```\n\n## Triggers",
			"## Allies\n<!-- @anchor: allies v1 -->\n\n- Ana\n- Luis\n\n## Polarizations",
			"## Evidence (curated)\n<!-- @anchor: evidence-curated v1 -->\n\n- \"Tea!\" (" + token + ")\n\n## Working",
			"## Extensions\n<!-- @anchor: extensions v1 -->\n\nBefore.\n\n## Open",
		} {
			if !strings.Contains(file, want) {
				t.Errorf("no %q in\n%s", want, file)
			}
		}
		if r := d.replay(d.open(), partFile, ""); r.Text != d.read(partFile) || r.Drift != nil {
			t.Errorf("%+v", r)
		}
		events, err := e.History(t.Context(), partFile, "role")
		switch {
		case err != nil:
			t.Error(err)
		case len(events) != 1:
			t.Errorf("len(events) = %v, want 1", len(events))
		case len(events[0].Changes) < 2:
			t.Errorf("len(events[0].Changes) = %v", len(events[0].Changes))
		case cmp.Diff([]string{token}, events[0].Evidence) != "":
			t.Errorf("evidence %q, want %q", events[0].Evidence, token)
		case events[0].Rationale != "Rituals: it lasts":
			t.Errorf("events[0].Rationale = %q, want %q", events[0].Rationale, "Rituals: it lasts")
		}
		if _, err := e.Verify(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestPromoteRefuses(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", grammar.NarrativeWords+1)
	d := newFixture(t, map[string]string{
		"MEMORY.md": memoryText,
		partFile: extended("### A\n\ntext\n\n### B\n\n- item\n\n" +
			"### Twice\n\n1\n\n### Twice\n\n2\n\n### None\n\n### Long\n\n" + long),
	})
	e := d.open()
	d.edit(e, request(partFile, grammar.ReplaceSection, "Needs", "### A\n\nhere"))
	for _, c := range []struct{ file, from, to, words string }{
		{partFile, "C", "Role", `there is no subsection "C"; there are A, B, Twice, Twice, None, Long`},
		{partFile, "Twice", "Role", "there are 2 subsections"},
		{partFile, "None", "Role", "is empty"},
		{partFile, "A", "Allies", "is a list"},
		{partFile, "B", "Evidence (curated)", "evidence_refs: each item of evidence"},
		{partFile, "A", "Needs", "has a subsection"},
		{partFile, "A", "Extensions", "takes nothing from Extensions"},
		{partFile, "A", "Change Log", "takes nothing from Extensions"},
		{partFile, "A", "Nothing", "takes nothing from Extensions"},
		{partFile, "Long", "Role", "403 words"},
		{"MEMORY.md", "A", "Plans", "only the profiles"},
		{"users/eva/overview.md", "A", "Identity", "there is no such file"},
	} {
		before, err := e.opt.View.Read(partFile)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = e.Promote(t.Context(), c.file, c.from, c.to, "operator", "w", "")
		wants(t, err, c.words)
		if d.read(partFile) != string(before) {
			t.Errorf("%+v changed the file", c)
		}
	}
	if _, _, err := e.Promote(t.Context(), partFile, "Long", "Role", "operator", "w", "for a week"); err != nil ||
		!strings.Contains(d.read(partFile), "Exceeded the cap of Role") {
		t.Errorf("with a reason: %v", err)
	}
	_, err := e.Edit(t.Context(), request(partFile, grammar.Promote, "Role", "x"))
	wants(t, err, `unknown operation "promote"`)
}

// What is moved is in one of the sections, never in both or neither, wherever the program is killed.
func TestInterruptedPromotion(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"recorded", "replaced"} {
		d := newFixture(t, map[string]string{partFile: extended("### Rituals\n\nTea at five.")})
		dying := d.open()
		stopAt(dying, at)
		if _, _, err := dying.Promote(t.Context(), partFile, "Rituals", "Role", "operator", "w", ""); at == "recorded" &&
			!errors.Is(err, errCrash) {
			t.Fatal(err)
		}
		e := d.open()
		mustRecover(d, e)
		if file := d.read(partFile); strings.Count(file, "Tea at five.") != 1 ||
			!strings.Contains(file, "role v1 -->\n\n### Rituals\n\nTea at five.\n") {
			t.Errorf("killed when %s:\n%s", at, file)
		}
		if r := d.replay(e, partFile, ""); r.Text != d.read(partFile) || r.Drift != nil {
			t.Errorf("%+v", r)
		}
	}
}

func TestExtensions(t *testing.T) {
	t.Parallel()
	d := newFixture(t, map[string]string{
		partFile:                          extended("### Tea\n\n1\n\n### Walks\n\n2"),
		"users/kate/parts/two/profile.md": extended("### tea\n\n1"),
		"users/kate/overview.md": strings.Replace(grammar.New("users/kate/overview.md", "2026-01-02T03:04:05Z"),
			"extensions v1 -->\n", "extensions v1 -->\n\n### Tea\n\nx\n", 1),
		"users/kate/notes.md": "# Notes\n\n## Extensions\n\n### Tea\n",
	})
	got, err := d.open().Extensions()
	want := []Extension{
		{"part profile", "Tea", []string{partFile, "users/kate/parts/two/profile.md"}},
		{"part profile", "Walks", []string{partFile}},
		{"user overview", "Tea", []string{"users/kate/overview.md"}},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
