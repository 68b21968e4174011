package dream

import (
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/fault"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// A sweep that promoted and archived is taken back byte for byte, the ones before it after it, and no later sweep
// repeats what was taken back.
func TestUndo(t *testing.T) {
	t.Parallel()
	n := newFixture(t, nil)
	pump := n.remember(audience.DM(), "The pump is blue")
	n.remember(audience.DM(), "The door is red")
	n.recall(3, "blue pump", "red door")
	if _, err := n.open().Undo(t.Context(), "a test"); err == nil || !strings.Contains(err.Error(), "no sweep is left") {
		t.Errorf("without a sweep: %v", err)
	}
	files := func() [2]string { return [2]string{n.read("MEMORY.md"), n.read("DREAMS.md")} }
	n.sweep(n.open())
	first := files()
	n.store(record.Memory{Content: "The pump is green"}, pump)
	n.remember(audience.DM(), "The walrus sleeps in the shed")
	n.recall(3, "walrus shed")
	swept := n.sweep(n.open())
	if len(swept.Retire) != 1 || len(swept.Promote) != 2 {
		t.Fatalf("the second sweep promotes %q and retires %+v", names(swept.Promote), swept.Retire)
	}
	undone, err := n.open().Undo(t.Context(), "a test")
	if err != nil {
		t.Fatal(err)
	}
	if got := files(); got != first {
		t.Errorf("before the second sweep:\n%s\nafter its undo:\n%s", first, got)
	}
	if len(undone.Events) != 4 || len(undone.Files) != 2 {
		t.Errorf("taken back: %+v", undone)
	}
	if again := n.sweep(n.open()); !again.changesNothing() || files() != first {
		t.Errorf("the next sweep repeats it: %+v", again)
	}
	if _, err := n.open().Undo(t.Context(), "a test"); err != nil {
		t.Fatal(err)
	}
	for _, text := range files() {
		if strings.Contains(text, "red") || strings.Contains(text, "pump") {
			t.Errorf("after the undo of both sweeps:\n%s", text)
		}
	}
	if _, err := n.open().Undo(t.Context(), "a test"); err == nil {
		t.Error("a third sweep was taken back")
	}
}

// A line that a person wrote next to what a sweep promoted stays; a promoted line that they changed is not taken back.
func TestUndoKeepsWhatAPersonWrote(t *testing.T) {
	t.Parallel()
	n := newFixture(t, nil)
	n.remember(audience.DM(), "The door is red")
	n.recall(3, "red door")
	n.sweep(n.open())
	swept := n.read("MEMORY.md")
	n.write("MEMORY.md", swept+"\n## Mine\n\n- By hand\n")
	if _, err := n.open().Undo(t.Context(), "a test"); err != nil {
		t.Fatal(err)
	}
	if text := n.read("MEMORY.md"); !strings.Contains(text, "- By hand\n") || strings.Contains(text, "red") {
		t.Errorf("MEMORY.md:\n%s", text)
	}
	n.remember(audience.DM(), "The walrus sleeps in the shed")
	n.recall(3, "walrus shed")
	n.sweep(n.open())
	changed := strings.Replace(n.read("MEMORY.md"), "in the shed", "in the barn", 1)
	n.write("MEMORY.md", changed)
	if _, err := n.open().Undo(t.Context(), "a test"); err == nil {
		t.Error("what a person changed was taken back")
	} else if _, ok := fault.As(err); !ok || !strings.Contains(err.Error(), "changed since") {
		t.Errorf("the error is %v", err)
	}
	if got := n.read("MEMORY.md"); got != changed {
		t.Errorf("MEMORY.md:\n%s", got)
	}
}
