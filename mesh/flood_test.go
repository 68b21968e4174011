package mesh

import (
	"fmt"
	"slices"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// A group that repeats itself in other words takes few places in a DM's answers, and all that it says in its own.
func TestFloodOfAGroup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	dm, hikers := open(t, dir, audience.DM(), new(words)), open(t, dir, group(t, "hiking"), new(words))
	const fact = "The spare key of the hut is with the neighbour."
	keep(t, dm, record.Memory{Content: fact})
	keep(t, dm, record.Memory{Content: "The neighbour has a dog."})
	var flood []record.Memory
	for i := range 200 {
		content := fmt.Sprintf("The spare key of the hut is with the spare key hut %d.", i)
		flood = append(flood, record.Memory{Content: content})
	}
	outcomes, err := hikers.StoreFiles(t.Context(), flood)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range outcomes {
		if o.Err != nil {
			t.Fatal(o.Err)
		}
	}
	keep(t, hikers, record.Memory{Content: "A marmot ate the key of the boat house."})
	settle(t, hikers)
	settle(t, dm)
	for _, limit := range []int{5, 10, 50} {
		found := contents(search(t, dm, SearchRequest{Query: "where is the spare key of the hut", Limit: limit}).Hits)
		if at := slices.Index(found, fact); at < 0 || at > maxFlood {
			t.Errorf("limit %d: the fact has place %d of %d: %q", limit, at, len(found), found)
		}
		if !slices.Contains(found, "The neighbour has a dog.") {
			t.Errorf("limit %d: the DM's other memory is missing: %q", limit, found)
		}
		if limit == 50 && !slices.Contains(found, "A marmot ate the key of the boat house.") {
			t.Errorf("limit %d: what the group said only once is missing: %q", limit, found)
		}
	}
	own := search(t, hikers, SearchRequest{Query: "where is the spare key of the hut", Limit: 50})
	if len(own.Hits) != 50 {
		t.Errorf("the group finds %d of its own, want 50", len(own.Hits))
	}
}

// A group that says something in a different way each time does not take all places of a DM's answer.
func TestVariedFloodOfAGroup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	dm, hikers := open(t, dir, audience.DM(), model(t)), open(t, dir, group(t, "hiking"), model(t))
	facts := map[string]string{
		"Where is the spare key of the hut?": "The second key for the cabin is with the neighbour.",
		"When does Rui's train leave?":       "Rui leaves from platform 4 at 9:40 on Friday.",
		"Which doctor does Ana go to?":       "Ana is treated by Dr. Moreira in the Rua Direita.",
	}
	asides := []string{
		"weather", "boots", "maps", "tea", "a song", "chess", "the dog", "an old tent", "frost", "goats", "a novel",
		"ferries",
	}
	frames := []string{
		"%s Somebody on the trip asked, and then we talked about %s.", "Nobody knew: %s It was all about %s anyway.",
		"%s That reminds me of %s and of the long way back.", "Between %s we discussed this for an hour: %s",
		"For the minutes, after %s came the question: %s", "%s No answer yet, we only got as far as %s.",
	}
	var flood []record.Memory
	for question, fact := range facts {
		keep(t, dm, record.Memory{Content: fact})
		for i, frame := range frames {
			for _, aside := range asides {
				args := []any{question, aside}
				if i == 3 || i == 4 {
					slices.Reverse(args)
				}
				flood = append(flood, record.Memory{Content: fmt.Sprintf(frame, args...)})
			}
		}
	}
	outcomes, err := hikers.StoreFiles(t.Context(), flood)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range outcomes {
		if o.Err != nil {
			t.Fatal(o.Err)
		}
	}
	settle(t, hikers)
	settle(t, dm)
	for question, fact := range facts {
		for _, limit := range []int{2, 3, 10} { // hooks show three
			found := contents(search(t, dm, SearchRequest{Query: question, Limit: limit}).Hits)
			if at := slices.Index(found, fact); at < 0 || at > maxFlood {
				t.Errorf("%s The fact has place %d of %q", question, at, found)
			}
		}
	}
}

// A group's memory with the words of a DM's own does not replace it, however well it fits the question.
func TestGroupsCopyDoesNotReplace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	dm, hikers := open(t, dir, audience.DM(), new(words)), open(t, dir, group(t, "hiking"), new(words))
	const fact = "Ana must not eat walnuts; her throat swells."
	keep(t, dm, record.Memory{Content: fact})
	keep(t, dm, record.Memory{Content: "Ana likes tea."})
	keep(t, hikers, record.Memory{Content: fact, Tags: []string{"allergic", "Ana"}})
	settle(t, hikers)
	settle(t, dm)
	found := search(t, dm, SearchRequest{Query: "What is Ana allergic to?"}).Hits
	if len(found) != 2 || found[0].Content != fact || found[0].Visibility != record.Private {
		t.Errorf("found %+v", found)
	}
}

// However many lessons a group has, and however severe they are, a DM's own come first.
func TestLessonsOfGroupsComeLast(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	dm, hikers := open(t, dir, audience.DM(), new(words)), open(t, dir, group(t, "hiking"), new(words))
	teach(t, dm, "crossing", "low", .9, "Look before crossing.")
	for i := range MaxLimit + 5 {
		pattern := fmt.Sprintf("step %d", i)
		teach(t, hikers, pattern, "critical", .95, "Look before "+pattern+".")
	}
	for _, q := range []LessonQuery{
		{}, {Limit: MaxLimit}, {OrderBy: BySeverity}, {Query: "crossing", OrderBy: BySeverity},
	} {
		found, err := dm.Lessons(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if len(found.Lessons) == 0 || found.Lessons[0].Visibility != record.Private {
			t.Errorf("%+v: %d lessons, the first is not the DM's", q, len(found.Lessons))
		}
	}
}

// maxFlood is the number of memories that a group may put before a DM's that fits. Of near-duplicates these are one,
// and two that are like it.
const maxFlood = 3
