package edit

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit/applied"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// A record that was cut at its end, or removed, is noticed without any note outside of the workspace.
func TestLostLinesAreNoticed(t *testing.T) {
	t.Parallel()
	for name, cut := range map[string]func(lines [][]byte) []byte{
		"the last lines": func(lines [][]byte) []byte { return bytes.Join(lines[:len(lines)-2], nil) },
		"all of them":    func([][]byte) []byte { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newFixture(t, map[string]string{"MEMORY.md": memoryText})
			e := d.open()
			for _, item := range []string{"Eva", "Uwe", "Kim"} {
				d.edit(e, request("MEMORY.md", grammar.AppendItem, "People", item))
			}
			if _, err := e.Verify(t.Context()); err != nil {
				t.Fatalf("an intact record: %v", err)
			}
			path := filepath.Join(d.dir, ".yamo", "private", "edits.ndjson")
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			lines := bytes.SplitAfter(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
			if err := os.WriteFile(path, cut(lines), 0o600); err != nil {
				t.Fatal(err)
			}
			incomplete := (*applied.IncompleteError)(nil)
			if _, err := d.open().Verify(t.Context()); !errors.As(err, &incomplete) || incomplete.Missing < 1 {
				t.Errorf("verify: %v", err)
			}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if err := applied.Check(filepath.Join(d.dir, ".yamo")); !errors.As(err, &incomplete) {
				t.Errorf("without the file: %v", err)
			}
		})
	}
}

// A record that was cut takes no further edit, which would hide that, in a copy of the workspace too: there nothing but
// the folder itself knows of the lines. Once the owner accepts the loss it does.
func TestCutRecordTakesNoEdit(t *testing.T) {
	t.Parallel()
	d := newFixture(t, map[string]string{"MEMORY.md": memoryText})
	for _, item := range []string{"Eva", "Uwe", "Kim"} {
		d.edit(d.open(), request("MEMORY.md", grammar.AppendItem, "People", item))
	}
	path := filepath.Join(d.dir, ".yamo", "private", "edits.ndjson")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
	if err := os.WriteFile(path, bytes.Join(lines[:len(lines)-2], nil), 0o600); err != nil {
		t.Fatal(err)
	}
	before := d.read("MEMORY.md")
	_, err = d.open().Edit(t.Context(), request("MEMORY.md", grammar.AppendItem, "People", "Noa"))
	if _, ok := fault.As(err); !ok || !strings.Contains(err.Error(), "lacks its last lines (2") {
		t.Errorf("the error is %v", err)
	}
	if _, err := d.open().SetPin(t.Context(), "MEMORY.md#People", OpPin, "operator"); err == nil {
		t.Error("a pin is recorded")
	}
	if d.read("MEMORY.md") != before {
		t.Errorf("MEMORY.md:\n%s", d.read("MEMORY.md"))
	}
	if missing, err := applied.Accept(filepath.Join(d.dir, ".yamo")); missing != 2 || err != nil {
		t.Errorf("accepted: %d, %v", missing, err)
	}
	d.edit(d.open(), request("MEMORY.md", grammar.AppendItem, "People", "Noa"))
	if err := d.open().Complete(); err != nil {
		t.Error(err)
	}
}

// Without the note in its folder too, what this machine has seen of the record tells that lines are missing: no edit
// takes their place, and none that is complete is finished or undone.
func TestCutRecordWithoutItsNote(t *testing.T) {
	t.Parallel()
	for name, left := range map[string]int{"cut": 3, "gone": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newFixture(t, map[string]string{"MEMORY.md": memoryText})
			state, heads := filepath.Join(d.dir, ".yamo"), t.TempDir()
			open := func() *Editor {
				return d.open(func(o *Options) { o.Heads = heads })
			}
			for _, item := range []string{"Eva", "Uwe", "Kim"} {
				d.edit(open(), request("MEMORY.md", grammar.AppendItem, "People", item))
			}
			data, err := os.ReadFile(applied.Record(state))
			if err != nil {
				t.Fatal(err)
			}
			cut := bytes.Join(bytes.SplitAfter(data, []byte("\n"))[:left], nil)
			if err := errors.Join(os.Remove(filepath.Join(state, "private", "edits.applied")),
				os.Remove(applied.Record(state))); err != nil {
				t.Fatal(err)
			}
			if left > 0 {
				if err := os.WriteFile(applied.Record(state), cut, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := open().Recover(t.Context()); left > 0 && err == nil {
				t.Error("an edit before the missing ones was settled")
			}
			_, err = open().Edit(t.Context(), request("MEMORY.md", grammar.AppendItem, "People", "Noa"))
			if _, ok := fault.As(err); !ok || !strings.Contains(err.Error(), "the record of edits is not complete") {
				t.Errorf("the error is %v", err)
			}
			after, err := os.ReadFile(applied.Record(state))
			if err != nil && left > 0 || !bytes.Equal(after, cut) {
				t.Errorf("the record became %s, %v", after, err)
			}
			if strings.Contains(d.read("MEMORY.md"), "Noa") {
				t.Error("the edit was made")
			}
		})
	}
}

// Line ends and quotation marks of front matter are an editor's; another id is drift.
func TestFrontMatterDrift(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		old, new string
		drift    bool
	}{
		"line ends":       {"\n", "\r\n", false},
		"quotation marks": {"part_id: guard", `part_id: "guard"`, false},
		"spaces":          {"part_id: guard", "part_id:  guard  ", false},
		"another id":      {"part_id: guard", "part_id: guest", true},
		"no id":           {"part_id: guard\n", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newFixture(t, map[string]string{partFile: grammar.New(partFile, "2026-01-02T03:04:05Z")})
			e := d.open()
			d.edit(e, request(partFile, grammar.AppendSection, "Role", "Guards."))
			d.write(partFile, strings.ReplaceAll(d.read(partFile), tc.old, tc.new))
			drifts, err := e.Scan(t.Context())
			if err != nil || len(drifts) > 0 != tc.drift {
				t.Errorf("%+v, %v; want drift: %v", drifts, err, tc.drift)
			}
		})
	}
}

// The sibling of a numbered or dated section that is gone does not hide that.
func TestNumberedSectionDrift(t *testing.T) {
	t.Parallel()
	for _, names := range [][2]string{
		{"Plans 2025", "Plans 2026"}, {"Week 7", "Week 8"}, {"Trip to Cork", "Trip to York"},
	} {
		text := "# M\n\n## " + names[0] + "\n\n- a\n\n## " + names[1] + "\n\n- b\n"
		d := newFixture(t, map[string]string{"MEMORY.md": text})
		e := d.open()
		d.edit(e, request("MEMORY.md", grammar.AppendItem, names[0], "c"))
		d.write("MEMORY.md", "# M\n\n## "+names[1]+"\n\n- b\n")
		drifts, err := e.Scan(t.Context())
		if err != nil || len(drifts) != 1 || !strings.Contains(drifts[0].Rationale, names[0]) {
			t.Errorf("%s: %+v, %v", names[0], drifts, err)
		}
	}
}

// A pin of a section or file that no longer exists can be removed, as the list names it.
func TestVoidPinIsRemoved(t *testing.T) {
	t.Parallel()
	d := newFixture(t, map[string]string{"MEMORY.md": memoryText, "notes/a.md": "# A\n\n## B\n\nx\n"})
	e := d.open()
	for _, target := range []string{"MEMORY.md#People", "notes/a.md#B", "notes/a.md"} {
		if _, err := e.SetPin(t.Context(), target, OpPin, "operator"); err != nil {
			t.Fatal(err)
		}
	}
	d.write("MEMORY.md", "# Memory\n")
	if err := os.Remove(filepath.Join(d.dir, "notes", "a.md")); err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"MEMORY.md#people", "notes/a.md#b", "notes/a.md"} {
		if _, err := e.SetPin(t.Context(), target, OpUnpin, "operator"); err != nil {
			t.Errorf("%s: %v", target, err)
		}
	}
	if pins, err := e.Pins(t.Context()); err != nil || len(pins) > 0 {
		t.Errorf("%+v, %v", pins, err)
	}
	if _, err := e.SetPin(t.Context(), "MEMORY.md#people", OpUnpin, "operator"); err == nil {
		t.Error("what is not pinned was unpinned")
	}
}

// A Change Log folds after 20 entries into one that counts and names the record; the file can still be replayed.
func TestChangeLogFolds(t *testing.T) {
	t.Parallel()
	d := newFixture(t, map[string]string{partFile: grammar.New(partFile, "2026-01-02T03:04:05Z")})
	e := d.open()
	const byHand = "- 2026-02-14T08:00:00Z: Luis told Ana about it\n"
	for i := range 45 {
		if i == 35 { // it is then among the oldest that the last fold takes
			doc := d.read(partFile)
			d.write(partFile, strings.Replace(doc, "\n- ", "\n"+byHand+"- ", 1))
		}
		d.edit(e, request(partFile, grammar.ReplaceSection, "Role", "Guards "+strings.Repeat("well ", i+1)+"."))
	}
	items := logItems(grammar.Parse(d.read(partFile)))
	if len(items) > 20 {
		t.Errorf("%d entries", len(items))
	}
	all := strings.Join(items, "\n")
	_, id, ok := strings.Cut(all, " since 2026-02-14 were taken out here: yamo-mcp diff "+partFile+" --to ")
	if !ok || strings.Count(all, " earlier entries since ") != 1 {
		t.Fatalf("the Change Log is\n%s", all)
	}
	// The command shows the entries, also those by hand.
	id, _, _ = strings.Cut(id, "\n")
	shown, err := e.Diff(t.Context(), partFile, "", id)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(shown.Before, byHand) || strings.Contains(shown.After, byHand) {
		t.Errorf("%s: before\n%s\nafter\n%s", id, shown.Before, shown.After)
	}
	if r := d.replay(d.open(), partFile, ""); r.Text != d.read(partFile) || r.Drift != nil {
		t.Errorf("replayed: %+v", r)
	}
	if found := grammar.Check(partFile, d.read(partFile)); len(found) > 0 {
		t.Errorf("lint: %+v", found)
	}
}

// The overview's rollup names what was done to the user's parts (seed 004 §6).
func TestRollupOfOverview(t *testing.T) {
	t.Parallel()
	const overview = "users/kate/overview.md"
	d := newFixture(t, map[string]string{
		overview: grammar.New(overview, "2026-01-02T03:04:05Z"), partFile: grammar.New(partFile, "2026-01-02T03:04:05Z"),
	})
	e := d.open()
	d.edit(e, request(overview, grammar.AppendSection, "Active Themes", "Trust."))
	d.edit(e, request(partFile, grammar.AppendSection, "Concerns", "Noise."))
	d.edit(e, request(overview, grammar.AppendItem, "Open Questions", "Why?"))
	want := "2026-02-14: updated Active Themes, Part guard Concerns; added 1 item to Open Questions"
	if items := logItems(grammar.Parse(d.read(overview))); len(items) != 1 || items[0] != want {
		t.Errorf("%q, want %q", items, want)
	}
}

// A line that writes no file, such as a pin, is missed too.
func TestLostPinIsNoticed(t *testing.T) {
	t.Parallel()
	d := newFixture(t, map[string]string{"MEMORY.md": memoryText})
	heads := t.TempDir()
	open := func() *Editor {
		e := d.open()
		e.opt.Heads = heads
		e.reset()
		return e
	}
	e := open()
	d.edit(e, request("MEMORY.md", grammar.AppendItem, "People", "Eva"))
	if _, err := e.SetPin(t.Context(), "MEMORY.md#People", OpPin, "operator"); err != nil {
		t.Fatal(err)
	}
	if err := open().Complete(); err != nil {
		t.Fatalf("an intact record: %v", err)
	}
	path := filepath.Join(d.dir, ".yamo", "private", "edits.ndjson")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
	if err := os.WriteFile(path, bytes.Join(lines[:len(lines)-1], nil), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := open().Complete(); err == nil || !strings.Contains(err.Error(), "1 entries") {
		t.Errorf("without the pin's line: %v", err)
	}
}

// The reason why a section exceeds its cap is not folded away: lint would ask for it again.
func TestFoldedLogKeepsReasons(t *testing.T) {
	t.Parallel()
	d := newFixture(t, map[string]string{partFile: grammar.New(partFile, "2026-01-02T03:04:05Z")})
	e := d.open()
	long := request(partFile, grammar.ReplaceSection, "Role", strings.Repeat("Guards well. ", 300))
	long.Override = "until it is curated"
	d.edit(e, long)
	for i := range 45 {
		d.edit(e, request(partFile, grammar.ReplaceSection, "Concerns", "Noise "+strings.Repeat("now ", i+1)+"."))
	}
	text := d.read(partFile)
	if items := logItems(grammar.Parse(text)); len(items) > 21 || strings.Count(text, "until it is curated") != 1 {
		t.Errorf("%d entries:\n%s", len(items), strings.Join(items, "\n"))
	}
	if found := grammar.Check(partFile, text); len(found) > 0 {
		t.Errorf("lint: %+v", found)
	}
}
