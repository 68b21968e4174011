package conversation_test

import (
	"context"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/internal/conversation"
	"github.com/yamo-protocol/yamo-mcp/mesh/confidence"
)

// A question is shown with its reply: what was said last to it. What is asked often repeats the words of a query, and
// what is meant is the answer.
func TestQuestionsHaveTheirReply(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const secret = "ghp_" + "k3J9xQ2mZ7vB5nW8rT4yL1cD6fH0gS2aPqRs"
	w.said("s1", "user: Which port does the staging harbour use?", "assistant: Let me look.", "tool: listen 8443",
		"assistant: It listens on 8443.", "user: thanks", "assistant: You are welcome.")
	w.said("s2", "user: Which token does the staging harbour use?", "assistant: It is "+secret+" for now.")
	w.said("s3", "user: Which crane does the staging harbour use?", "user: or rather, the red one")
	w.said("s4", "user: The staging harbour has a new crane.", "assistant: Noted.")
	replies := map[string]string{}
	for _, h := range w.hits(w.open(audience.DM()), conversation.Query{Text: "which port does the staging harbour use"}) {
		replies[h.Preview] = h.Reply
	}
	for said, want := range map[string]string{
		"Which port does the staging harbour use?":  "It listens on 8443.",
		"Which token does the staging harbour use?": "It is [REDACTED:api_key] for now.",
		"Which crane does the staging harbour use?": "",
		"The staging harbour has a new crane.":      "",
	} {
		if got, ok := replies[said]; !ok || got != want {
			t.Errorf("%q: found %v, reply %q; want %q", said, ok, got, want)
		}
	}
}

// A search tells how likely a turn answers, as one in the memory does; of a question its reply counts.
func TestConfidence(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.said("s1", "user: We keep coordinates as latitude and longitude", "assistant: Noted.")
	w.said("s2", "user: How many berths has the marina?", "assistant: The marina has 212 berths.")
	v := w.open(audience.DM())
	judged := map[string]bool{}
	answers := v.Answers
	v.Answers = func(ctx context.Context, query string, texts []confidence.Text) ([]float64, error) {
		for _, one := range texts {
			judged[one.Content] = true
		}
		return answers(ctx, query, texts)
	}
	for query, want := range map[string]string{
		"coordinates as latitude and longitude": "likely",
		"How many berths has the marina?":       "likely",
		"who repaired the violin of the cellar": "unlikely",
	} {
		w.hits(v, conversation.Query{Text: query}) // until everything has its vector
		r, err := v.Search(t.Context(), conversation.Query{Text: query})
		if err != nil || r.Confidence != want || len(r.Hits) == 0 || r.Hits[0].Confidence != want {
			t.Errorf("%s: %s, %v; want %s\n%+v", query, r.Confidence, err, want, r.Hits)
		}
	}
	if !judged["How many berths has the marina?\nThe marina has 212 berths."] {
		t.Errorf("a question is not judged with its reply: %v", judged)
	}
	if r, err := v.Search(t.Context(), conversation.Query{Text: "violin", Project: "mountain"}); err != nil ||
		r.Confidence != "" {
		t.Errorf("without a hit: %q, %v", r.Confidence, err)
	}
}
