package dream

import (
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
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
	n.remember(audience.DM(), "The otter likes shells")
	n.remember(audience.DM(), "The heron is old")
	n.recall(3, "walrus shed", "otter shells", "old heron")
	n.sweep(n.open())
	changed := strings.Replace(n.read("MEMORY.md"), "in the shed", "in the barn", 1)
	n.write("MEMORY.md", changed)
	undone, err := n.open().Undo(t.Context(), "a test")
	if err != nil {
		t.Fatal(err)
	}
	if len(undone.Kept) != 1 || !strings.Contains(undone.Kept[0].Wrote, "in the shed") ||
		!strings.Contains(undone.Kept[0].Now, "in the barn") {
		t.Errorf("kept: %+v", undone.Kept)
	}
	text := n.read("MEMORY.md")
	if !strings.Contains(text, "in the barn") || strings.Contains(text, "otter") || strings.Contains(text, "heron") {
		t.Errorf("MEMORY.md:\n%s", text)
	}
	if strings.Contains(n.read("DREAMS.md"), "walrus") {
		t.Errorf("DREAMS.md:\n%s", n.read("DREAMS.md"))
	}
	if _, err := n.open().Undo(t.Context(), "a test"); err == nil {
		t.Error("the sweep is taken back twice")
	}
	if again := n.sweep(n.open()); !again.changesNothing() {
		t.Errorf("the next sweep repeats it: %+v", again)
	}
}

// An item that a person put back from the archive, and one that they removed there, do not keep the rest.
func TestUndoAfterAPersonMovedItems(t *testing.T) {
	t.Parallel()
	n := newFixture(t, nil)
	pump := n.remember(audience.DM(), "The pump is blue")
	door := n.remember(audience.DM(), "The door is red")
	n.recall(3, "blue pump", "red door")
	n.sweep(n.open())
	first := n.read("MEMORY.md")
	n.store(record.Memory{Content: "The pump is green"}, pump)
	n.store(record.Memory{Content: "The door is white"}, door)
	n.sweep(n.open())
	archived := n.read("MEMORY.md")
	n.write("MEMORY.md", strings.Replace(archived, "The door is red", "The old door was red", 1))
	undone, err := n.open().Undo(t.Context(), "a test")
	if err != nil {
		t.Fatal(err)
	}
	if len(undone.Kept) != 1 || !strings.Contains(undone.Kept[0].Now, "The old door was red") {
		t.Errorf("kept: %+v", undone.Kept)
	}
	text := n.read("MEMORY.md")
	for _, want := range []string{"The pump is blue", "The door is red", "The old door was red"} {
		if strings.Count(text, want) != 1 {
			t.Errorf("%q is in it %d times:\n%s\nbefore:\n%s", want, strings.Count(text, want), text, first)
		}
	}
	if strings.Contains(text, "white") || strings.Contains(text, "green") {
		t.Errorf("MEMORY.md:\n%s", text)
	}
}
