package edit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

// What a file said before is nowhere in the record any more; the rest of the record, and other processes, go on.
func TestErase(t *testing.T) {
	t.Parallel()
	d := newFixture(t, map[string]string{"MEMORY.md": memoryText, "USER.md": "# U\n"})
	e, other := d.open(), d.open()
	first := request("MEMORY.md", grammar.AppendItem, "People", "Wilhelmina")
	first.Rationale, first.Key, first.Refs = "Zacharias told me", "k", []string{"mem_1767323045678_0a1b2c"}
	made := d.edit(e, first)
	d.edit(other, request("USER.md", grammar.AppendSection, "", "stays on record"))
	d.edit(e, request("MEMORY.md", grammar.ReplaceSection, "Plans", "Sail to Xanadu"))
	proposal := request("MEMORY.md", grammar.AppendItem, "Plans", "Xanadu, by hot-air balloon")
	proposal.Propose = true
	d.edit(e, proposal)
	if _, err := e.SetPin(t.Context(), "MEMORY.md#People", OpPin, "operator"); err != nil {
		t.Fatal(err)
	}
	// By hand: recorded by the erasure itself, and erased.
	d.write("MEMORY.md", strings.ReplaceAll(d.read("MEMORY.md"), "Sail to Xanadu", "Quietude"))
	d.write("MEMORY.md", memoryText)

	if n, err := e.Erase(t.Context(), "MEMORY.md", "operator", "asked for"); err != nil || n != 5 {
		t.Fatalf("erased %d, %v", n, err)
	}
	if d.read("MEMORY.md") != memoryText {
		t.Error("the file was changed")
	}
	files, err := filepath.Glob(filepath.Join(d.dir, ".yamo", "private", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil && !strings.HasSuffix(name, ".keys") {
			t.Fatal(err)
		}
		for _, word := range []string{"Wilhelmina", "Zacharias", "Xanadu"} {
			if strings.Contains(string(data), word) {
				t.Errorf("%s still contains %s", filepath.Base(name), word)
			}
		}
	}
	if left, err := other.Proposals(t.Context()); err != nil || len(left) != 0 {
		t.Errorf("proposals: %+v, %v", left, err)
	}
	for who, e := range map[string]*Editor{"the one": e, "the other": other, "the next": d.open()} {
		switch r := d.replay(e, "MEMORY.md", ""); {
		case r.Text != memoryText:
			t.Errorf("%s: r.Text = %q, want %q", who, r.Text, memoryText)
		case r.Drift != nil:
			t.Errorf("%s: r.Drift = %v, want nil", who, r.Drift)
		case r.Events == 0:
			t.Errorf("%s: r.Events = 0", who)
		}
		if r := d.replay(e, "USER.md", ""); !strings.Contains(r.Text, "stays on record") {
			t.Errorf("%s: %+v", who, r)
		}
		if _, err := e.Verify(t.Context()); err != nil {
			t.Errorf("%s: %v", who, err)
		}
		if _, err := e.Resolve(t.Context(), made.Event.Token()); err == nil ||
			!strings.Contains(err.Error(), "erased at 2026-02-14T") {
			t.Errorf("%s: %v", who, err)
		}
		q := request("MEMORY.md", grammar.CurateItems, "People", "")
		q.Items = []string{"Ana"}
		if _, err := e.Edit(t.Context(), q); err == nil || !strings.Contains(err.Error(), "pinned") {
			t.Errorf("%s: the pin is gone: %v", who, err)
		}
	}
	history, err := other.History(t.Context(), "MEMORY.md", "")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(ops(history), " "), "pin erase erase erase erase erase snapshot"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	switch kept := history[2]; {
	case kept.RefersTo != made.Event.ID:
		t.Errorf("kept.RefersTo = %v, want %v", kept.RefersTo, made.Event.ID)
	case kept.Key != "k":
		t.Errorf("kept.Key = %q, want %q", kept.Key, "k")
	case len(kept.Evidence) != 1:
		t.Errorf("len(kept.Evidence) = %v, want 1", len(kept.Evidence))
	case kept.Section != "":
		t.Errorf("kept.Section = %q, want none", kept.Section)
	}
	// Another process, which read the texts before, edits on; what was made once is no longer known as made.
	if r := d.edit(other, first); r.Repeated {
		t.Errorf("%+v", r)
	}
	if r := d.replay(e, "MEMORY.md", ""); r.Text != d.read("MEMORY.md") || r.Drift != nil {
		t.Errorf("%+v", r)
	}
}

func TestEraseRefuses(t *testing.T) {
	t.Parallel()
	d := newFixture(t, map[string]string{"MEMORY.md": memoryText})
	e := d.open()
	d.edit(e, request("MEMORY.md", grammar.ReplaceSection, "Plans", "x"))
	for _, name := range []string{"USER.md", "SOUL.md", "../x.md", "memory/2026-02-14.md"} {
		if _, err := e.Erase(t.Context(), name, "operator", "r"); err == nil ||
			!strings.Contains(err.Error(), "nothing recorded") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := e.Erase(t.Context(), "MEMORY.md", "operator", "his password was hunter2"); err == nil ||
		strings.Contains(err.Error(), "hunter2") {
		t.Error(err)
	}
	d.write("MEMORY.md", "# Memory\n")
	if _, err := e.Erase(t.Context(), "MEMORY.md", "operator", "r"); err == nil ||
		!strings.Contains(err.Error(), "drift accept") {
		t.Error(err)
	}
	if r := d.replay(e, "MEMORY.md", ""); r.Drift == nil {
		t.Error("the drift is gone")
	}
	// A file that is gone can be forgotten as well.
	if _, err := e.Accept(t.Context(), "MEMORY.md", "operator", "r"); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(d.dir, "MEMORY.md")); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Scan(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Accept(t.Context(), "MEMORY.md", "operator", "r"); err != nil {
		t.Fatal(err)
	}
	if n, err := e.Erase(t.Context(), "MEMORY.md", "operator", "r"); err != nil || n == 0 {
		t.Errorf("erased %d, %v", n, err)
	}
}
