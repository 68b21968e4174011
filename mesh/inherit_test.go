package mesh

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh/confidence"
)

// A correction that does not repeat what it is about is found by the questions that found what it replaced.
func TestShortCorrectionIsFound(t *testing.T) {
	t.Parallel()
	v := open(t, t.TempDir(), audience.DM(), model(t))
	pairs := []correction{
		{Old: "Our landlord is Senhor Matos.", New: "Dona Graca bought the house.", Question: "Who is our landlord?"},
		{
			Old: "The dentist appointment is on 3 December.", New: "It was moved to 10 December.",
			Question: "When is the dentist appointment?",
		},
		{Old: "Rui works as a nurse at Santa Maria hospital.", New: "He retired.", Question: "Where does Rui work?"},
		{Old: "Our dog is called Bolt.", New: "We had to put Bolt to sleep.", Question: "What is our dog called?"},
	}
	old := make([]Remembered, len(pairs))
	for i, p := range pairs {
		old[i] = revised(t, v, p.Old)
	}
	for _, note := range readCorrections(t).Notes {
		revised(t, v, note)
	}
	for i, p := range pairs {
		revised(t, v, p.New, old[i].ID)
	}
	settleVectors(t, v)
	query := func(question string) SearchRequest {
		return SearchRequest{Query: question, Limit: 1, MinConfidence: confidence.Possible}
	}
	for _, p := range pairs {
		if diff := cmp.Diff([]string{p.New}, texts(t, v, query(p.Question))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", p.Question, diff)
		}
	}
	if got := texts(t, v, query("Where does Rui live?")); len(got) > 0 && got[0] != "He retired." {
		t.Errorf("another question finds %q", got)
	}

	// In a second step, and after the correction was deleted.
	hits := search(t, v, query("Where does Rui work?")).Hits
	if len(hits) == 0 {
		t.FailNow() // it was reported
	}
	retired := hits[0]
	last := revised(t, v, "Now he helps at the library.", retired.ID)
	settleVectors(t, v)
	first := SearchRequest{Query: "Where does Rui work?", Limit: 1}
	if diff := cmp.Diff([]string{"Now he helps at the library."}, texts(t, v, first)); diff != "" {
		t.Errorf("after two corrections (-want +got):\n%s", diff)
	}
	for _, id := range []string{last.ID, retired.ID} {
		if err := v.Delete(t.Context(), id, ""); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{pairs[2].Old}, texts(t, v, first)); diff != "" {
		t.Errorf("after both were deleted (-want +got):\n%s", diff)
	}
}

// Most of what a long text said may have gone, so it does not make what replaced it an answer.
func TestLongTextCountsForNothingThatReplacedIt(t *testing.T) {
	t.Parallel()
	v := open(t, t.TempDir(), audience.DM(), model(t))
	long := "Rui works as a nurse. "
	for _, note := range readCorrections(t).Notes[:8] {
		long += note + " "
	}
	old := revised(t, v, long)
	revised(t, v, "The notes of June are on paper.", old.ID)
	settleVectors(t, v)
	query := SearchRequest{Query: "Where does Rui work?", MinConfidence: confidence.Possible}
	if got := texts(t, v, query); len(got) > 0 {
		t.Errorf("found %q", got)
	}
}
