package integration

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/testsize"
)

// needles are memories with a question each that shares no word with them.
var needles = []struct{ memory, question string }{
	{"The sleeper berth to Oslo leaves on 3 May.", "How do we travel into Norway?"},
	{"The neighbour's dog barks whenever the porch light stays on.", "Which animal disturbs our sleep?"},
	{"Her physician prescribed penicillin against the infection.", "What medicine did a doctor give?"},
	{"Grandfather learned the violin from a blind teacher.", "Who taught musical instruments?"},
	{"The volcano erupted and ash grounded every aircraft.", "Why were flights cancelled?"},
	{"The lawyer advised signing the divorce papers.", "What happens with their marriage?"},
	{"The goalkeeper saved two penalties in the final.", "How did football end?"},
}

// chores are what the other memories are made of: unlike the needles, and all different.
var (
	chores = []string{
		"sorted",
		"counted",
		"painted",
		"labelled",
		"mended",
		"polished",
		"weighed",
		"packed",
		"measured",
		"stacked",
	}
	things = []string{"crates", "bricks", "ropes", "lamps", "screws", "buckets", "tiles", "hinges", "planks", "cables"}
	places = []string{
		"the cellar",
		"the attic",
		"the shed",
		"the workshop",
		"the garage",
		"the loft",
		"the yard",
		"the barn",
		"the depot",
		"the pantry",
	}
)

func chore(i int) string {
	return fmt.Sprintf("On round %d somebody %s %d %s in %s.", i/1000+1, chores[i%10], i+2, things[i/10%10],
		places[i/100%10])
}

// Thousands of memories stored one by one are found by meaning and by words, and the same ones with the
// same scores after the index has been made again.
func TestManyMemories(t *testing.T) {
	t.Parallel()
	count := testsize.Pick(800, 2000)
	workspace := sample(t)
	s := connect(t, launch{workspace: workspace})
	for i := range count - len(needles) {
		s.store(chore(i), nil)
		if at := i * len(needles) / (count - len(needles)); i%((count-len(needles))/len(needles)) == 0 && at < len(needles) {
			s.store(needles[at].memory, nil)
		}
	}
	for _, n := range needles { // those that rounding has left out, and nothing new of the others
		s.store(n.memory, nil)
	}
	s.settle()
	before := neighbours(t, s, count)
	s.end()
	rebuild := exec.Command(serverBinary(t), "index", "rebuild", "--workspace", workspace)
	rebuild.Env = launch{}.environment()
	output, err := rebuild.CombinedOutput()
	if err != nil {
		t.Fatalf("index rebuild: %v\n%s", err, output)
	}
	if want := fmt.Sprintf("private: %d memories", count); !strings.Contains(string(output), want) {
		t.Errorf("index rebuild says %q, not %q", output, want)
	}
	s = connect(t, launch{workspace: workspace})
	s.settle()
	after := neighbours(t, s, count)
	s.end()
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("what is found differs after index rebuild (-before +after):\n%s", diff)
	}
}

// neighbours asks for what must be found and returns everything that was.
func neighbours(t *testing.T, s *session, count int) (all []answer) {
	t.Helper()
	for _, n := range needles {
		got := s.search(n.question, map[string]any{"limit": 20, "type": "global"})
		if got.Semantic != "on" {
			t.Fatalf("semantic search is %s: are the assets installed?", got.Semantic)
		}
		if len(got.Results) == 0 || got.Results[0].Content != n.memory {
			t.Errorf("%q finds %+v first, not %q", n.question, got.Results[:min(1, len(got.Results))], n.memory)
		}
		all = append(all, got)
	}
	for i := 0; i < count-len(needles); i += (count - len(needles)) / 20 {
		got := s.search(chore(i), map[string]any{"limit": 20, "type": "global"})
		if len(got.Results) == 0 || got.Results[0].Content != chore(i) {
			t.Errorf("%q is not found first by its own words", chore(i))
		}
		if !slices.IsSortedFunc(got.Results, func(a, b found) int {
			switch {
			case a.Score > b.Score:
				return -1
			case a.Score < b.Score:
				return 1
			}
			return 0
		}) {
			t.Errorf("%q: the results are not the best first", chore(i))
		}
		all = append(all, got)
	}
	return all
}
