package mesh

import (
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh/confidence"
	"github.com/yamo-protocol/yamo-mcp/mesh/confidence/confidencetest"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// The sets that the coefficients were not fitted to, with the real model: questions on what the memory knows, and
// others on the same people and things that it cannot answer.
func TestConfidenceSeparates(t *testing.T) {
	e := embed.Cached(model(t), 0)
	var all confidencetest.Scores
	for _, set := range confidencetest.Sets() {
		if set.Tuned {
			continue
		}
		v := open(t, t.TempDir(), audience.DM(), e)
		for _, c := range set.Cases {
			keep(t, v, record.Memory{Content: c.Fact})
		}
		var scores confidencetest.Scores
		for _, c := range set.Cases {
			scores.Answerable = append(scores.Answerable, top(t, v, c.Answerable))
			scores.Unanswerable = append(scores.Unanswerable, top(t, v, c.Unanswerable))
		}
		t.Logf("%s: AUC %.3f", set.Name, scores.AUC())
		all.Add(scores)
	}
	answered, wrong := all.From(confidence.LikelyFrom)
	t.Logf("AUC %.3f; likely: %.2f of the answerable, %.2f of the unanswerable", all.AUC(), answered, wrong)
	if auc := all.AUC(); auc < aucFloor {
		t.Errorf("AUC %.3f, want at least %v", auc, aucFloor)
	}
	if wrong > likelyCeiling {
		t.Errorf("%.2f of the unanswerable questions have a likely answer, want at most %v", wrong, likelyCeiling)
	}
	if answered < likelyFloor {
		t.Errorf("%.2f of the answerable questions have a likely answer, want at least %v", answered, likelyFloor)
	}
}

// What TestConfidenceSeparates measured, less a little for another processor's rounding.
const (
	aucFloor      = .83
	likelyCeiling = .08
	likelyFloor   = .35
)

// Questions about one of two people, and the same about the other one, which nothing answers: what one says of oneself
// and what the other replies are alike in everything but the person.
func TestConfidenceOfSomebodyElse(t *testing.T) {
	v := open(t, t.TempDir(), audience.DM(), embed.Cached(model(t), 0))
	talk := confidencetest.Talk()
	for _, turn := range talk.Turns {
		keep(t, v, record.Memory{Content: turn, SessionID: "talk"})
	}
	var scores confidencetest.Scores
	for _, c := range talk.Cases {
		scores.Answerable = append(scores.Answerable, top(t, v, c.Answerable))
		scores.Unanswerable = append(scores.Unanswerable, top(t, v, c.Unanswerable))
	}
	answered, wrong := scores.From(confidence.LikelyFrom)
	t.Logf("AUC %.3f; likely: %.2f of the answerable, %.2f of the unanswerable", scores.AUC(), answered, wrong)
	if auc := scores.AUC(); auc < somebodyFloor {
		t.Errorf("AUC %.3f, want at least %v", auc, somebodyFloor)
	}
}

// somebodyFloor is what TestConfidenceOfSomebodyElse measured, less a little; without Features.Other it is .91.
const somebodyFloor = .94

// top returns the probability that a result answers the question.
func top(t *testing.T, v *View, question string) float64 {
	t.Helper()
	hits := search(t, v, SearchRequest{Query: question}).Hits
	if len(hits) == 0 {
		return 0
	}
	return hits[0].Score
}
