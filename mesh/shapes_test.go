package mesh

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// A standing instruction comes with a request that brings it up, in a part of its own, until it is revised; with a
// question about something else it does not. What another group said is no instruction.
func TestStandingInstructionsApply(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := open(t, dir, audience.DM(), model(t))
	for _, text := range notes(100) {
		keep(t, v, record.Memory{Content: text})
	}
	units := keep(t, v, record.Memory{Content: "Always give temperatures in Celsius when I ask about the weather."})
	keep(t, v, record.Memory{Content: "The user prefers pytest to unittest for Python tests."})
	keep(t, v, record.Memory{Content: "Dark roast, no sugar.", Tags: []string{"preference"}})
	keep(t, v, record.Memory{Content: "Always give temperatures in Kelvin.", Source: "assistant"})
	red := open(t, dir, group(t, "red"), model(t))
	keep(t, red, record.Memory{Content: "Always give the weather in Fahrenheit."})
	settleVectors(t, red)
	settleVectors(t, v)
	check := func(v *View, query string, want ...string) {
		t.Helper()
		got := contents(search(t, v, SearchRequest{Query: query}).Standing)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
	celsius := "Always give temperatures in Celsius when I ask about the weather."
	check(v, "How warm will the weather be in Oslo, can you tell me?", celsius)
	check(v, "Can you write tests for this Python function?", "The user prefers pytest to unittest for Python tests.")
	check(v, "Could you order me a coffee with sugar?", "Dark roast, no sugar.")
	check(v, "Can you book a table for four people?")
	check(v, "Who is allergic to celery?")
	// A request for a summary brings up what holds for summaries only.
	keep(t, v, record.Memory{Content: "Keep summaries under 100 words."})
	keep(t, v, record.Memory{Content: "Always end summaries with a joke.", Source: "assistant"})
	settleVectors(t, v)
	check(v, "write a summary of what was said about the weather", "Keep summaries under 100 words.")
	// SECURITY: a group has its own only, and what it said is no instruction to the direct conversation.
	check(red, "Can you tell me the weather in Oslo?", "Always give the weather in Fahrenheit.")
	kelvin := "Always give temperatures in Kelvin and Celsius when I ask about the weather."
	revised(t, v, kelvin, units.ID)
	settleVectors(t, v)
	check(v, "How warm will the weather be in Oslo, can you tell me?", kelvin)
	// Of two that contradict each other without anybody's word the later one is first, whichever is nearer.
	later := "From now on give temperatures in Fahrenheit when I ask about the weather, and the wind in knots."
	keep(t, v, record.Memory{Content: later})
	settleVectors(t, v)
	check(v, "Can you give temperatures in Kelvin and Celsius for the weather in Oslo?", later, kelvin)
}

// A question about many memories has results from many sessions, in the order of time if it asks for one, and tells how
// many more there are.
func TestBroadQuestionsAreCovered(t *testing.T) {
	t.Parallel()
	v := open(t, t.TempDir(), audience.DM(), model(t))
	for session := range 6 {
		for turn := range 8 {
			keep(t, v, record.Memory{
				SessionID: fmt.Sprint("s", session), Source: "user",
				Content: fmt.Sprintf("The greenhouse needs step %d of week %d: %s.", turn, session,
					[]string{"new glass", "a pump", "more compost", "a heater", "shade cloth", "a door", "shelves", "seeds"}[turn]),
			})
		}
	}
	settleVectors(t, v)
	found := search(t, v, SearchRequest{Query: "Can you give me a summary of the work on the greenhouse?"})
	sessions := map[string]bool{}
	for _, h := range found.Hits {
		sessions[h.SessionID] = true
	}
	if len(sessions) < 5 {
		t.Errorf("the results are of %d of 6 sessions", len(sessions))
	}
	if found.More < 30 || found.More > 38 {
		t.Errorf("%d more memories, want most of the other 38", found.More)
	}
	ordered := search(t, v, SearchRequest{Query: "In which order did I bring up the work on the greenhouse?"})
	if !ordered.Ordered || !slices.IsSortedFunc(ordered.Hits, record.CompareStored) {
		t.Errorf("not in order: %q", contents(ordered.Hits))
	}
	one := search(t, v, SearchRequest{Query: "Where is the heater?"})
	if one.More != 0 || one.Ordered {
		t.Errorf("a question about one thing: %d more, ordered %v", one.More, one.Ordered)
	}
}
