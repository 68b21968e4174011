package mesh

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh/confidence"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// The same text of another day is another event, and a search finds both.
func TestSameTextOfAnotherDay(t *testing.T) {
	t.Parallel()
	v := open(t, t.TempDir(), audience.DM(), new(words))
	const run = "Went for a run of 5 km."
	monday := kept(t, v, record.Memory{Content: run, OccurredAt: "2026-11-16"})
	friday := kept(t, v, record.Memory{Content: run, OccurredAt: "2026-11-20"})
	if friday.ID == monday.ID {
		t.Fatal("the second run is the first")
	}
	again := kept(t, v, record.Memory{Content: "went for a run of 5 km", OccurredAt: "2026-11-20"})
	if again.ID != friday.ID {
		t.Errorf("the same run in other words is %s, want %s", again.ID, friday.ID)
	}
	if exact := kept(t, v, record.Memory{Content: run, OccurredAt: "2026-11-16T09:00"}); exact.ID != monday.ID ||
		!slices.Equal(exact.Updated, []string{"occurred_at"}) {
		t.Errorf("its hour changes %v of %s, want occurred_at of %s", exact.Updated, exact.ID, monday.ID)
	}
	if diff := cmp.Diff([]string{run, run}, texts(t, v, SearchRequest{Query: "when did I go for a run"})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	day := SearchRequest{Query: "run", Since: "2026-11-16", Until: "2026-11-17"}
	if diff := cmp.Diff([]string{run}, texts(t, v, day)); diff != "" {
		t.Errorf("on Monday (-want +got):\n%s", diff)
	}
}

// What is said of a memory with its words in another form is kept, and named.
func TestNearDuplicateUpdates(t *testing.T) {
	t.Parallel()
	v := open(t, t.TempDir(), audience.DM(), new(words))
	first := kept(t, v, record.Memory{Content: "Bruno's shoe size is 44.", Source: "user"})
	importance := float32(.9)
	again := kept(t, v, record.Memory{
		Content: "bruno's shoe size is 44", Tags: []string{"clothes"}, Importance: &importance, Source: "assistant",
	})
	if diff := cmp.Diff([]string{"tags", "importance"}, again.Updated); again.ID != first.ID || diff != "" {
		t.Errorf("%s, want %s; updated (-want +got):\n%s", again.ID, first.ID, diff)
	}
	if diff := cmp.Diff([]string{`The source stays "user": "assistant" was not added.`}, again.Notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
	kept(t, v, record.Memory{Content: "Bruno's shoe size is 44.", Rationale: "for presents"})
	less := float32(.2)
	again = kept(t, v, record.Memory{
		Content: "Bruno's shoe size is 44.", Tags: []string{"shoes"}, Source: "Nuno", Importance: &less,
		Rationale: "for skis",
	})
	want := []string{
		"The tags were clothes.", "The importance was 0.9.", `The rationale was "for presents".`,
		`The source stays "user": "Nuno" was not added.`,
	}
	if diff := cmp.Diff(want, again.Notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
	kept(t, v, record.Memory{Content: "Bruno's shoe size is 44.", Tags: []string{"clothes"}})
	hits := search(t, v, SearchRequest{Query: "shoe size", Tags: []string{"clothes"}}).Hits
	if len(hits) != 1 || hits[0].Source != "user" || *hits[0].Importance != less {
		t.Errorf("found %+v", hits)
	}
}

// A verb that asks what was said is nothing that a memory must have.
func TestConfidenceOfWhatWasSaid(t *testing.T) {
	t.Parallel()
	v := open(t, t.TempDir(), audience.DM(), model(t))
	for _, text := range []string{
		"The ferry to Cacilhas takes ten minutes.", "Bruno is allergic to hazelnuts.", "The piano was tuned by Mr Alves.",
		"The car insurance is with Fidelidade.", "The wine cellar holds ninety bottles.", "Clara swims on Thursdays.",
	} {
		revised(t, v, text)
	}
	settleVectors(t, v)
	for question, want := range map[string]confidence.Level{
		"What did I say about the ferry?":               confidence.Likely,
		"What have I told you about Bruno?":             confidence.Likely,
		"What do you remember about the car insurance?": confidence.Likely,
		"What did I mention about the piano?":           confidence.Likely,
		"Remind me about the wine cellar":               confidence.Likely,
		"What did I say about skiing?":                  confidence.Unlikely,
		"What do you know about submarines?":            confidence.Unlikely,
		"In what order did we speak of the ferry?":      confidence.Likely,
		"Have we talked about taxes?":                   confidence.Unlikely,
	} {
		if got := search(t, v, SearchRequest{Query: question}).Confidence(); got != want {
			t.Errorf("%s %s, want %s", question, got, want)
		}
	}
}

// kept stores a memory.
func kept(t *testing.T, v *View, m record.Memory) Remembered {
	t.Helper()
	s, err := v.Scrub(m, "")
	if err != nil {
		t.Fatal(err)
	}
	done, err := v.Remember(t.Context(), s, Intent{})
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// What was kept for a session does not take in what is to last.
func TestLastingTextIsNotASessions(t *testing.T) {
	t.Parallel()
	v := open(t, t.TempDir(), audience.DM(), new(words))
	brief := kept(t, v, record.Memory{Content: "Gym is at seven.", Type: record.SessionType, SessionID: "s1"})
	if lasting := kept(t, v, record.Memory{Content: "Gym is at seven."}); lasting.ID == brief.ID {
		t.Errorf("the lasting fact is the session's %s", brief.ID)
	}
}
