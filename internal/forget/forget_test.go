package forget

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/workspace"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// noModel is an embedder without a model: what is forgotten is found by its words.
type noModel struct{}

func (noModel) Model() embed.Model { return embed.Model{Name: "none", Dim: 3} }

func (noModel) Embed(context.Context, []string) ([][]float32, error) { return nil, embed.ErrNoAssets }

func subject(t *testing.T, text string) mesh.Subject {
	t.Helper()
	s, err := mesh.ParseSubject(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestLinesAbout(t *testing.T) {
	t.Parallel()
	const text = `---
tags: [zebulon, soup]
---
# Notes of Zebulon

Everything starts somewhere. Zebulon
is the reason.

Another paragraph.

## People
- Ana likes tea
- Zebulon likes soup
  with leeks
  - and bread
- Rui likes both

### Zebulon

He lives in Porto.

- Born in May

## Places
| Who | Where |
|---|---|
| zebulon's | Porto |
| Ana | Lisbon |
`
	const want = `---
tags: [zebulon, soup]
---
# Notes of Zebulon


Another paragraph.

## People
- Ana likes tea
- Rui likes both




## Places
| Who | Where |
|---|---|
| Ana | Lisbon |
`
	lines := linesAbout(text, subject(t, "Zebulon"), nil)
	if diff := cmp.Diff(want, without(text, lines)); diff != "" {
		t.Errorf("wanted (-), left (+):\n%s", diff)
	}
	for _, l := range lines {
		if kept := l.Line <= 4; kept != (l.Kept != "") {
			t.Errorf("line %d %q is kept: %q", l.Line, l.Text, l.Kept)
		}
	}
	for _, l := range linesAbout(text, subject(t, "soup"), pinned{"people": true}) {
		if l.Kept == "" {
			t.Errorf("line %d of a pinned section is erased", l.Line)
		}
	}
	const fields = "**Name:** Ana\n**Timezone:** Europe/Lisbon\n**Notes**: likes Ana's\n  tea\n"
	left := without(fields, linesAbout(fields, subject(t, "Ana"), nil))
	if diff := cmp.Diff("**Timezone:** Europe/Lisbon\n", left); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	if lines := linesAbout(text, subject(t, "giraffe"), nil); len(lines) > 0 {
		t.Errorf("%+v", lines)
	}
}

// An item to keep is looked up in the whole list, whatever the items before it have taken out.
func TestSpare(t *testing.T) {
	t.Parallel()
	for _, items := range [][]string{
		{"n.md:3", "n.md:9"}, {"n.md", "n.md:3"}, {"n.md:9", "n.md"}, {"n.md:3", "n.md:3"},
	} {
		p := Plan{Recorded: []string{"o.md"}, Lines: []Line{
			{File: "n.md", Line: 3, Text: "Rose called"},
			{File: "n.md", Line: 9, Text: "Rose called"},
			{File: "o.md", Line: 3, Text: "Rose called"},
		}}
		if err := p.Spare(items); err != nil || len(p.Lines) != 1 || p.Lines[0].File != "o.md" || len(p.Recorded) != 1 {
			t.Errorf("without %q: %+v, %v", items, p, err)
		}
		if want := slices.Compact(slices.Clone(items)); !slices.Equal(p.Spared, want) {
			t.Errorf("spared %q, want %q", p.Spared, want)
		}
		if err := p.Spare([]string{"o.md:3", "n.md:4"}); err == nil || len(p.Lines) != 1 {
			t.Errorf("n.md:4 is not in the list: %+v, %v", p, err)
		}
	}
}

// What is listed and not erased may be named too: everything in a list can be kept.
func TestSpareInDoubt(t *testing.T) {
	t.Parallel()
	p := Plan{Mentions: mesh.Mentions{
		Doubtful:       []record.Hit{hit("mem_1_aaaaaa"), hit("mem_1_bbbbbb")},
		DoubtfulSkills: []record.SkillHit{{Skill: &record.Skill{ID: "skill_1_cccccc"}}},
		Related:        []record.Hit{hit("mem_1_dddddd")},
	}}
	items := []string{"mem_1_aaaaaa", "cccccc", "dddddd"}
	if err := p.Spare(items); err != nil || len(p.Doubtful) != 1 || len(p.DoubtfulSkills)+len(p.Related) != 0 {
		t.Errorf("without %q: %+v, %v", items, p, err)
	}
	if err := p.Spare([]string{"mem_1_eeeeee"}); err == nil || len(p.Doubtful) != 1 {
		t.Errorf("mem_1_eeeeee is not in the list: %+v, %v", p, err)
	}
}

func hit(id string) record.Hit { return record.Hit{Record: &record.Record{ID: id}} }

func TestLeftMayHaveOnlyTheWord(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	archive := filepath.Join(dir, "memory", "archive")
	if err := os.MkdirAll(archive, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"a.md": "In spring prices rose.\n", "b.md": "We asked Rose.\n"} {
		if err := os.WriteFile(filepath.Join(archive, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	folder, err := workspace.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = folder.Close() })
	left := Forgetter{Workspace: folder.View(audience.DM())}.left(subject(t, "Rose"))
	for _, want := range []string{
		"memory/archive/a.md may have only the word: look before you delete it",
		"memory/archive/b.md mentions it: delete the file",
	} {
		if !slices.Contains(left, want) {
			t.Errorf("%q lacks %q", left, want)
		}
	}
}

// After a subject is forgotten, no file of the workspace has it except what the receipt names.
func TestForgetEverywhere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("SOUL.md", "# Soul\n\nKind to Zebulon.\n")
	write("IDENTITY.md", "# Identity\n\n- **Name:** Kit\n")
	write("USER.md", "# User\n\n- Rui, friend of Zebulon\n- Likes tea\n")
	write("MEMORY.md", "# Memory\n\n## Decisions\n\n- 2026-01-01: buy a pump\n")
	write("memory/2026-01-02.md", "# 2026-01-02\n\n- Zebulon called\n- The pump works\n")
	write("memory/2026-01-03-hiking.md", "# 2026-01-03\n\n- zebulon hiked\n")
	write("notes/soup.md", "# Soup\n\nZebulon's recipe:\nleeks.\n\nSalt.\n")
	write(".yamo/private/hooks/session-1.json", `{"started":"2026-01-01T00:00:00Z","prompt":"who is Zebulon?"}`)
	write(".yamo/private/imported/c1.jsonl", `{"type":"entry","role":"user","content":"Zebulon moved"}`)
	folder, err := workspace.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = folder.Close() })
	view := folder.View(audience.DM())
	memory := mesh.Open(mesh.Options{Dir: filepath.Join(dir, ".yamo"), Audience: audience.DM(), Embedder: noModel{}})
	t.Cleanup(func() { _ = memory.Close(context.Background()) })
	editor, err := edit.Open(edit.Options{View: view, Dir: filepath.Join(dir, ".yamo")})
	if err != nil {
		t.Fatal(err)
	}
	f := Forgetter{Memory: memory, Workspace: view, Editor: editor, Actor: "operator"}
	kept, err := memory.Store(t.Context(), record.Memory{Content: "Zebulon lives in Porto."}, "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = editor.Edit(t.Context(), edit.Request{
		File: workspace.MemoryFile, Actor: "kit", Refs: []string{kept.ID},
		Edit: grammar.Edit{
			Op: grammar.AppendItem, Section: "Decisions", Items: []string{"invite Zebulon"}, Rationale: "Zebulon asked",
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	has := func() (names []string) {
		_ = filepath.WalkDir(dir, func(path string, _ os.DirEntry, _ error) error {
			if data, err := os.ReadFile(path); err == nil && strings.Contains(strings.ToLower(string(data)), "zebulon") {
				name, _ := filepath.Rel(dir, path)
				names = append(names, filepath.ToSlash(name))
			}
			return nil
		})
		return names
	}
	before := has()
	plan, err := f.Plan(t.Context(), subject(t, "Zebulon"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, has()); diff != "" {
		t.Errorf("the plan changed files:\n%s", diff)
	}
	if plan.Empty() || len(plan.Memories) != 1 || plan.Prompts != 1 {
		t.Errorf("%+v", plan)
	}
	// What was written while the person looked at the list stays, and the receipt tells.
	log := filepath.Join(dir, "notes", "late.md")
	if err := os.MkdirAll(filepath.Dir(log), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(log, []byte("# Late\n\nZebulon came back.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	done, err := f.Forget(t.Context(), subject(t, "Zebulon"), plan)
	if err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(log); err != nil || !strings.Contains(string(data), "Zebulon came back.") {
		t.Errorf("what was written since the list was made: %q, %v", data, err)
	}
	if !strings.Contains(done.Left[0], "after the list was made") {
		t.Errorf("the receipt does not name what came since: %q", done.Left)
	}
	if err := os.Remove(log); err != nil {
		t.Fatal(err)
	}
	// A session log is a whole conversation: it is named, and left to the person.
	const imported = ".yamo/private/imported/c1.jsonl"
	if !slices.Contains(done.Left, imported+" mentions it: delete the file") {
		t.Errorf("the receipt does not name the imported conversation: %q", done.Left)
	}
	if diff := cmp.Diff([]string{imported, "SOUL.md"}, has()); diff != "" {
		t.Errorf("wanted (-), still in (+):\n%s", diff)
	}
	for _, l := range done.Lines {
		if l.File == workspace.SoulFile && l.Kept == "" {
			t.Errorf("the receipt has %s:%d as erased", l.File, l.Line)
		}
	}
	for name, stays := range map[string]string{
		"USER.md": "Likes tea", "MEMORY.md": "buy a pump", "memory/2026-01-02.md": "The pump works", "notes/soup.md": "Salt.",
	} {
		if data, err := view.Read(name); err != nil || !strings.Contains(string(data), stays) {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	again, err := f.Plan(t.Context(), subject(t, "Zebulon"))
	if err != nil || !again.Empty() {
		t.Errorf("forgotten, and still listed: %+v, %v", again, err)
	}
}
