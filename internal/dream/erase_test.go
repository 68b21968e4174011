package dream

import (
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/workspace"
)

// After what is recorded of MEMORY.md and DREAMS.md was erased, nothing is promoted again, and no diary written again.
func TestNothingAgainAfterErasure(t *testing.T) {
	t.Parallel()
	n := newFixture(t, map[string]string{"MEMORY.md": "# Memory\n"})
	n.remember(audience.DM(), "Ana keeps bees on the roof of the library")
	n.recall(3, "bees on the roof")
	s := n.open()
	if swept := n.sweep(s); len(swept.Promote) != 1 {
		t.Fatalf("%+v", swept)
	}
	// The person takes both texts away, and then what is recorded of them.
	for _, name := range []string{workspace.MemoryFile, workspace.DreamsFile} {
		n.write(name, "# Mine\n")
		drifts, err := s.Editor.Scan(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(drifts) > 0 {
			if _, err := s.Editor.Accept(t.Context(), name, "operator", "mine"); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Editor.Erase(t.Context(), name, "operator", "asked for"); err != nil {
			t.Fatal(err)
		}
	}
	for who, s := range map[string]*Sweeper{"the one": s, "the next": n.open()} {
		if swept := n.sweep(s); len(swept.Promote) != 0 || swept.EventID != "" {
			t.Errorf("%s: %+v", who, swept)
		}
	}
	for _, name := range []string{workspace.MemoryFile, workspace.DreamsFile} {
		if text := n.read(name); strings.Contains(text, "bees") || strings.Contains(text, "promoted") {
			t.Errorf("%s was written again:\n%s", name, text)
		}
	}
}
