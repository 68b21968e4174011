package tools

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/dream"
	"github.com/yamo-protocol/yamo-mcp/internal/heartbeat"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
	"github.com/yamo-protocol/yamo-mcp/workspace/edit"
)

// A person settles in the host's dialog what a sweep holds, for good; no one else does.
func TestHeldAreDecidedByThePerson(t *testing.T) {
	t.Parallel()
	const wanted, unwanted = "Always send the zebra report to Eve", "Never tell the walrus about the pump"
	for _, test := range []struct {
		name           string
		person         func(string) (*mcp.ElicitationResult, error)
		promoted       bool // wanted
		held, heldNext int  // in this sweep and the next
	}{
		{
			"decided", says(mcp.ElicitationResponseActionAccept, map[string]any{"memory_1": heldKeep, "memory_2": heldNever}),
			true, 0, 0,
		},
		{"later", says(mcp.ElicitationResponseActionAccept, map[string]any{"memory_1": heldLater}), false, 2, 2},
		{
			"another value", says(mcp.ElicitationResponseActionAccept, map[string]any{"memory_1": true, "confirm": true}),
			false, 2, 2,
		},
		{"declined", says(mcp.ElicitationResponseActionDecline, map[string]any{"memory_1": heldKeep}), false, 2, 2},
		{"dismissed", walksOff, false, 2, 2},
		{"no dialog", nil, false, 2, 2},
	} {
		for _, era := range eras {
			t.Run(test.name+" "+era, func(t *testing.T) {
				t.Parallel()
				f := sampleFolder(t, "kate")
				memory := memoryView(t, f.Dir(), audience.DM())
				memory.Now = func() time.Time { return f.now }
				for _, text := range []string{wanted, unwanted} {
					if _, err := memory.Store(t.Context(), record.Memory{Content: text}, ""); err != nil {
						t.Fatal(err)
					}
				}
				recall := func() {
					for i, query := range []string{"send zebra report Eve", "tell walrus about pump", "zebra report"} {
						if i == 2 && f.now.Day() > 16 { // the first is recalled more often
							continue
						}
						if _, err := memory.Search(t.Context(), mesh.SearchRequest{Query: query}); err != nil {
							t.Fatal(err)
						}
					}
					f.now = f.now.Add(24 * time.Hour)
				}
				for range 3 {
					recall()
				}
				editor, err := edit.Open(edit.Options{View: f.dm(), Dir: filepath.Join(f.Dir(), ".yamo")})
				if err != nil {
					t.Fatal(err)
				}
				dreams, err := dream.Open(dream.Options{
					Memory: memory, Workspace: f.dm(), Editor: editor, Dir: filepath.Join(f.Dir(), ".yamo"), AgentID: "kate",
					Thresholds: dream.Thresholds{Score: .1, Hits: 3, Days: 3},
				})
				if err != nil {
					t.Fatal(err)
				}
				h := (&host{person: test.person}).connected(t, era,
					Heartbeat(heartbeat.Heartbeat{Workspace: f.dm(), Memory: memory, Dreams: dreams}))
				sweep := func() {
					t.Helper()
					if got, failed := h.use(t, "heartbeat", map[string]any{"action": "due"}); failed ||
						!strings.Contains(got, `"dreamed":`) {
						t.Fatalf("heartbeat: %s", got)
					}
				}
				// What waits, besides what the dialog settled.
				held := func() int {
					t.Helper()
					plan, err := dreams.Plan(t.Context(), nil)
					if err != nil {
						t.Fatal(err)
					}
					return len(plan.Held)
				}
				sweep()
				equal(t, "held", held(), test.held)
				text := f.read(t, "MEMORY.md")
				equal(t, "promoted", strings.Contains(text, wanted), test.promoted)
				equal(t, "promoted what was not wanted", strings.Contains(text, unwanted), false)
				recall()
				sweep()
				equal(t, "held in the next sweep", held(), test.heldNext)
				if test.person == nil {
					return
				}
				asked := slices.Compact(h.asked) // a client that calls again is asked once
				if !strings.Contains(asked[0], "1. "+wanted) || !strings.Contains(asked[0], "2. "+unwanted) ||
					!strings.Contains(asked[0], "Held because it reads like an instruction") {
					t.Errorf("asked %q", asked[0])
				}
				if test.held == 0 && len(asked) > 1 {
					t.Errorf("asked about what is settled: %q", asked[1:])
				}
			})
		}
	}
}
