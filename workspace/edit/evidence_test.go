package edit

import (
	"context"
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

func TestEvidence(t *testing.T) {
	t.Parallel()
	d := newFixture(t, map[string]string{"MEMORY.md": memoryText, partFile: grammar.New(partFile, "2026-01-02T03:04:05Z")})
	e := d.open()
	event := d.edit(e, request("MEMORY.md", grammar.AppendItem, "People", "Eva")).Event
	for _, ref := range []string{event.ID, event.Token()} {
		found, err := e.Resolve(t.Context(), ref)
		switch {
		case err != nil:
			t.Errorf("%s: %v", ref, err)
		case found.Token != event.Token():
			t.Errorf("%s: found.Token = %v, want %v", ref, found.Token, event.Token())
		case found.Event == nil:
			t.Errorf("%s: found.Event is nil", ref)
		case found.Event.ID != event.ID:
			t.Errorf("%s: found.Event.ID = %q, want %q", ref, found.Event.ID, event.ID)
		case found.Event.Changes[0].Insert != "- Eva\n":
			t.Errorf("%s: found.Event.Changes[0].Insert = %q, want %q", ref, found.Event.Changes[0].Insert, "- Eva\n")
		}
	}
	const memory = "mem_1767323045678_0a1b2c"
	found, err := e.Resolve(t.Context(), memory)
	if err != nil || found.MemoryID != memory {
		t.Fatalf("%+v, %v", found, err)
	}
	if again, err := e.Resolve(t.Context(), found.Token); err != nil || again.MemoryID != memory {
		t.Errorf("%+v, %v", again, err)
	}
	for _, ref := range []string{"", "ev:1", "mem_1_000000", "01KE0QJ1BM8Y4W8D6S0T2RTX3V"} {
		if got, err := e.Resolve(t.Context(), ref); err == nil {
			t.Errorf("%q leads to %+v", ref, got)
		}
	}
	// An edit of this session is evidence of the next, in its item and in the event.
	q := request(partFile, grammar.AppendItem, "Evidence (curated)", `"Eva was there"`)
	q.Refs = []string{event.ID, memory}
	done := d.edit(d.open(), q)
	if want := `- "Eva was there" (` + event.Token() + ", " + found.Token + ")\n"; !strings.Contains(d.read(partFile),
		want) || len(done.Event.Evidence) != 2 {
		t.Errorf("%+v\n%s", done, d.read(partFile))
	}
	q = request(partFile, grammar.AppendItem, "Evidence (curated)", `"x" (ev:20260102T044827Z-01KDYGJ72E0000000000000000)`)
	if _, err := e.Edit(t.Context(), q); err == nil || !strings.Contains(err.Error(), "no such event or memory") {
		t.Error(err)
	}
}

// What was made once is answered again, also if the memory that it rests on has been deleted since.
func TestRepeatedWithoutItsEvidence(t *testing.T) {
	t.Parallel()
	d := newFixture(t, map[string]string{"MEMORY.md": memoryText})
	q := request("MEMORY.md", grammar.AppendItem, "People", "Eva")
	q.Key, q.Refs = "k", []string{"mem_1767323045678_0a1b2c"}
	first := d.edit(d.open(), q)
	later := d.open()
	later.opt.Memory = func(context.Context, string) error { return fault.New("it was deleted") }
	if again := d.edit(later, q); !again.Repeated || again.Event.ID != first.Event.ID {
		t.Errorf("%+v", again)
	}
	q.Key = "another"
	if _, err := later.Edit(t.Context(), q); err == nil || !strings.Contains(err.Error(), "it was deleted") {
		t.Error(err)
	}
}
