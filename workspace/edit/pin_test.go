package edit

import (
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/workspace/grammar"
)

func TestPins(t *testing.T) {
	t.Parallel()
	d := newFixture(t, map[string]string{"MEMORY.md": memoryText, partFile: grammar.New(partFile, "2026-01-02T03:04:05Z")})
	e := d.open()
	for _, target := range []string{"MEMORY.md#Songs", "NOTHING.md", "../x.md"} {
		if _, err := e.SetPin(t.Context(), target, OpPin, "operator"); err == nil {
			t.Errorf("%s can be pinned", target)
		}
	}
	if _, err := e.SetPin(t.Context(), "MEMORY.md#Plans", OpUnlock, "operator"); err == nil {
		t.Error("what is not locked can be unlocked")
	}
	cannot := func(target, op, want string) {
		t.Helper()
		if _, err := e.SetPin(t.Context(), target, op, "operator"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s %s: %v, want %s", op, target, err, want)
		}
	}
	set := func(target, op string) {
		t.Helper()
		if _, err := e.SetPin(t.Context(), target, op, "operator"); err != nil {
			t.Fatal(err)
		}
	}
	replace, add := request("MEMORY.md", grammar.ReplaceSection, "Plans", "x"),
		request("MEMORY.md", grammar.AppendSection, "Plans", "more")
	refused := func(q Request, want string) {
		t.Helper()
		if _, err := d.open().Edit(t.Context(), q); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", q.Op, err, want)
		}
	}
	set("MEMORY.md#plans", OpPin)
	refused(replace, "is pinned by its owner")
	refused(request("MEMORY.md", grammar.TombstoneSection, "Plans", ""), "is pinned by its owner")
	d.edit(e, add)
	cannot("MEMORY.md#Plans", OpUnlock, "pinned, not locked")
	set("MEMORY.md#Plans", OpLock)
	cannot("MEMORY.md#Plans", OpUnpin, "yamo-mcp unlock")
	cannot("MEMORY.md#Plans", OpPin, "yamo-mcp unlock")
	refused(add, "is locked by its owner")
	switch pins, err := e.Pins(t.Context()); {
	case err != nil:
		t.Error(err)
	case len(pins) != 1:
		t.Errorf("len(pins) = %v, want 1", len(pins))
	case pins[0] != (Pin{"MEMORY.md", "plans", OpLock, false}):
		t.Errorf("pins[0] = %v, want %v", pins[0], (Pin{"MEMORY.md", "plans", OpLock, false}))
	}
	set("MEMORY.md#Plans", OpUnlock)
	d.edit(e, replace)
	set("MEMORY.md", OpLock)
	refused(add, "is locked")
	set("MEMORY.md", OpUnlock)
	set("MEMORY.md#People", OpLock)
	d.write("MEMORY.md", strings.Replace(d.read("MEMORY.md"), "## People", "## Persons", 1))
	switch pins, err := e.Pins(t.Context()); {
	case err != nil:
		t.Error(err)
	case len(pins) != 1:
		t.Errorf("len(pins) = %v, want 1", len(pins))
	case pins[0] != (Pin{"MEMORY.md", "people", OpLock, true}):
		t.Errorf("pins[0] = %v, want %v", pins[0], (Pin{"MEMORY.md", "people", OpLock, true}))
	}
	set(partFile+"#Role", OpLock)
	refused(request(partFile, grammar.AppendSection, "Role", "x"), `"Role" is locked`)
	d.edit(e, request(partFile, grammar.AppendSection, "Needs", "x"))
}
