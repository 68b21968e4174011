package edit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// stopAt makes an editor stop as if it were killed there.
func stopAt(e *Editor, at string) { e.crash = func(here string) bool { return here == at } }

func TestInterruptedEditIsFinished(t *testing.T) {
	t.Parallel()
	want := strings.Replace(memoryText, "- Luis\n", "- Luis\n- Eva\n", 1)
	q := request("MEMORY.md", grammar.AppendItem, "People", "Eva")
	q.Key = "k"
	for _, at := range []string{"recorded", "replaced"} {
		for what, next := range map[string]func(*fixture, *Editor){
			"the next start":     func(d *fixture, e *Editor) { mustRecover(d, e) },
			"the same edit":      func(d *fixture, e *Editor) { d.edit(e, q) },
			"a look at the file": func(d *fixture, e *Editor) { d.replay(e, "MEMORY.md", "") },
		} {
			d := newFixture(t, map[string]string{"MEMORY.md": memoryText, "USER.md": "# U\n"})
			dying := d.open()
			stopAt(dying, at)
			if _, err := dying.Edit(t.Context(), q); at == "recorded" && !errors.Is(err, errCrash) {
				t.Fatal(err)
			}
			if at == "recorded" && d.read("MEMORY.md") != memoryText {
				t.Fatal("the file was replaced")
			}
			next(d, d.open())
			if got := d.read("MEMORY.md"); got != want {
				t.Errorf("stopped when %s, then %s:\n%s", at, what, got)
			}
			d.edit(d.open(), request("USER.md", grammar.AppendSection, "", "x"))
			if r := d.replay(d.open(), "MEMORY.md", ""); r.Text != want || r.Drift != nil {
				t.Errorf("stopped when %s, then %s: %+v", at, what, r)
			}
		}
	}
}

func mustRecover(d *fixture, e *Editor) {
	d.tb.Helper()
	if err := e.Recover(d.tb.Context()); err != nil {
		d.tb.Fatal(err)
	}
}

// An edit that never reached the file is undone when a human was quicker, and can be asked for again.
func TestInterruptedEditIsUndone(t *testing.T) {
	t.Parallel()
	d := newFixture(t, map[string]string{"MEMORY.md": memoryText})
	d.edit(d.open(), request("MEMORY.md", grammar.AppendSection, "Plans", "before"))
	dying := d.open()
	stopAt(dying, "recorded")
	q := request("MEMORY.md", grammar.AppendItem, "People", "Eva")
	q.Key = "k"
	if _, err := dying.Edit(t.Context(), q); !errors.Is(err, errCrash) {
		t.Fatal(err)
	}
	changed := strings.Replace(d.read("MEMORY.md"), "- Luis", "- Luise", 1)
	d.write("MEMORY.md", changed)
	e := d.open()
	mustRecover(d, e)
	if got := d.read("MEMORY.md"); got != changed {
		t.Errorf("the change by hand is lost:\n%s", got)
	}
	if r := d.replay(e, "MEMORY.md", ""); r.Text != changed || r.Drift != nil {
		t.Errorf("%+v", r)
	}
	if r := d.edit(e, q); r.Repeated {
		t.Errorf("%+v", r)
	}
	history, err := e.History(t.Context(), "MEMORY.md", "")
	if err != nil || !strings.Contains(fmt.Sprint(ops(history)), "append_item undone observed append_item") {
		t.Errorf("%v, %v", ops(history), err)
	}
}

func ops(events []Event) (list []string) {
	for _, e := range events {
		list = append(list, e.Op)
	}
	return list
}

// A human who goes back to the text before an edit is not overruled: the edit was complete.
func TestUndoByHandStays(t *testing.T) {
	t.Parallel()
	d := newFixture(t, map[string]string{"MEMORY.md": memoryText})
	d.edit(d.open(), request("MEMORY.md", grammar.AppendItem, "People", "Eva"))
	d.write("MEMORY.md", memoryText)
	mustRecover(d, d.open())
	d.edit(d.open(), request("MEMORY.md", grammar.AppendSection, "Plans", "x"))
	if got := d.read("MEMORY.md"); strings.Contains(got, "Eva") {
		t.Errorf("the edit is back:\n%s", got)
	}
}

// Whatever tools and hands do, and wherever the program is killed: after the next start a replay gives the
// file, or drift is flagged; and an edit that was acknowledged is in the file, once.
func TestReplayEqualsFileOrDriftIsFlagged(t *testing.T) {
	t.Parallel()
	names := []string{"MEMORY.md", partFile, "users/kate/notes.md"}
	rapid.Check(t, func(r *rapid.T) {
		d := newFixture(t, map[string]string{
			"MEMORY.md": memoryText, partFile: grammar.New(partFile, "2026-01-02T03:04:05Z"),
		})
		defer func() { _ = os.RemoveAll(filepath.Join(d.dir, ".yamo")) }()
		e := d.open()
		count := 0
		r.Repeat(map[string]func(*rapid.T){
			"tool": func(r *rapid.T) {
				name := rapid.SampledFrom(names).Draw(r, "file")
				q := Request{File: name, Actor: "kate", Edit: grammar.Edit{
					Op: rapid.SampledFrom(grammar.Ops).Draw(r, "op"), Rationale: "r", Override: "until it is curated",
					Create: rapid.Bool().Draw(r, "create"),
					Section: rapid.SampledFrom([]string{
						"People", "Plans", "Role", "Concerns", "Allies", "Inbox", "Change Log", "",
					}).Draw(r, "section"),
				}}
				count++
				text := fmt.Sprintf("entry %d é", count)
				switch q.Op {
				case grammar.AppendItem, grammar.CurateItems:
					q.Items = []string{text, "Ana"}
				case grammar.ReplaceSection, grammar.AppendSection:
					q.Content = text
				case grammar.TombstoneSection:
				}
				at := rapid.SampledFrom([]string{"", "", "recorded", "replaced"}).Draw(r, "killed")
				stopAt(e, at)
				result, err := e.Edit(t.Context(), q)
				e.crash = nil
				if at != "" {
					e = d.open()
					mustRecover(d, e)
				}
				if _, refused := fault.As(err); err != nil && !refused && !errors.Is(err, errCrash) {
					r.Fatal(err)
				}
				if err == nil && q.Op != grammar.TombstoneSection && strings.Count(d.read(name), text) != 1 {
					r.Fatalf("%s in %s (%+v) was acknowledged:\n%s", text, name, result, d.read(name))
				}
			},
			"hand": func(r *rapid.T) {
				name := rapid.SampledFrom(names).Draw(r, "file")
				data, err := os.ReadFile(filepath.Join(d.dir, name))
				if err != nil {
					d.write(name, "# New\n\n## Inbox\n")
					return
				}
				text := string(data)
				switch rapid.IntRange(0, 13).Draw(r, "change") {
				case 0:
					text += "\nby hand\n"
				case 1:
					text = strings.Replace(text, "## Pe", "## Pa", 1)
				case 2:
					text = strings.Replace(text, "## Concerns", "## Concern", 1)
				case 3:
					text = strings.Replace(text, "<!-- @anchor: role v1 -->\n", "", 1)
				case 4:
					text = text[:len(text)/2]
				case 5:
					text = strings.ReplaceAll(text, "\n", "\r\n")
				case 6:
					if err := os.Remove(filepath.Join(d.dir, name)); err != nil {
						r.Fatal(err)
					}
					return
				case 7:
					text += "\n##\n\n## \nno name\n"
				case 8:
					text += text // everything twice
				case 9:
					text = "\uFEFF" + text
				case 10:
					text = strings.TrimRight(text, "\r\n")
				case 11:
					text = strings.Replace(text, "## ", "```\n## ", 1) // an open code block
				case 12:
					text = strings.Replace(text, "\n- ", "\n<!-- ", 1) // an open comment
				case 13:
					if at := strings.LastIndex(text, "\n## "); at > 0 { // the last section first
						text = text[at+1:] + "\n" + text[:at]
					}
				}
				d.write(name, strings.ToValidUTF8(text, ""))
			},
			"rotate": func(r *rapid.T) {
				if _, err := e.RotateKey(t.Context(), "operator"); err != nil {
					r.Fatal(err)
				}
			},
			"erase": func(r *rapid.T) {
				name := rapid.SampledFrom(names).Draw(r, "file")
				if _, err := e.Erase(t.Context(), name, "operator", "r"); err != nil {
					if _, refused := fault.As(err); !refused {
						r.Fatal(err)
					}
				}
			},
			"decide": func(r *rapid.T) {
				for _, drift := range d.drifts(e) {
					var err error
					if rapid.Bool().Draw(r, "restore") {
						err = e.Restore(t.Context(), drift.File, "operator", "r")
					} else {
						_, err = e.Accept(t.Context(), drift.File, "operator", "r")
					}
					_, refused := fault.As(err)
					if err != nil && (!refused || strings.Contains(err.Error(), "cannot be reconstructed")) {
						r.Fatal(err)
					}
				}
			},
			"": func(r *rapid.T) {
				e := e
				if rapid.Bool().Draw(r, "restart") {
					e = d.open()
					mustRecover(d, e)
				}
				for _, name := range names {
					replayed, err := e.Replay(t.Context(), name, "")
					if err != nil {
						if _, never := fault.As(err); !never {
							r.Fatal(err)
						}
						continue
					}
					if replayed.Drift != nil && !slices.ContainsFunc(d.drifts(e),
						func(event Event) bool { return event.ID == replayed.Drift.ID }) {
						r.Fatalf("the replay of %s halts where there is nothing to decide: %s", name, replayed.Drift.Rationale)
					}
					data, err := os.ReadFile(filepath.Join(d.dir, name))
					if replayed.Drift == nil && (replayed.Exists != (err == nil) || replayed.Text != string(data)) {
						r.Fatalf("%s is\n%s\nand is replayed as\n%s", name, data, replayed.Text)
					}
				}
				if _, err := e.Verify(t.Context()); err != nil {
					r.Fatal(err)
				}
			},
		})
	})
}

// Where the note of the last edit cannot be written, edits are made as ever, and a link there is not followed.
func TestNoteThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	for name, place := range map[string]func(note, other string) error{
		"a folder": func(note, _ string) error { return os.Mkdir(note, 0o700) },
		"a pipe":   func(note, _ string) error { return syscall.Mkfifo(note, 0o600) },
		"a link":   func(note, other string) error { return os.Symlink(other, note) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newFixture(t, map[string]string{"MEMORY.md": memoryText, "other": "theirs"})
			d.edit(d.open(), request("MEMORY.md", grammar.AppendItem, "People", "Eva"))
			note := filepath.Join(d.dir, ".yamo", "private", "edits.applied")
			if err := errors.Join(os.Remove(note), place(note, filepath.Join(d.dir, "other"))); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			e := d.open()
			for _, who := range []string{"Ida", "Jon"} {
				if _, err := e.Edit(ctx, request("MEMORY.md", grammar.AppendItem, "People", who)); err != nil {
					t.Fatal(err)
				}
			}
			mustRecover(d, d.open())
			if got := d.read("MEMORY.md"); !strings.Contains(got, "- Eva\n- Ida\n- Jon\n") {
				t.Errorf("MEMORY.md is\n%s", got)
			}
			if got := d.read("other"); got != "theirs" {
				t.Errorf("what the note leads to is now %q", got)
			}
		})
	}
}
