package conversation

import (
	"context"

	"github.com/yamo-protocol/yamo-mcp/mesh/confidence"
	"github.com/yamo-protocol/yamo-mcp/mesh/keyword"
	"github.com/yamo-protocol/yamo-mcp/mesh/turns"
	"github.com/yamo-protocol/yamo-mcp/workspace/transcript"
)

const (
	// replied is the number of first hits that are shown with their reply, if they are questions.
	replied = 10
	// judged is the maximum length in characters of what is read of a hit, or of its reply, to tell whether it answers.
	judged = 400
	// replyChars is the maximum length of a reply that is shown, in characters.
	replyChars = 200
)

// from is where a hit is from.
type from struct {
	place turns.Place
	turn  *transcript.Turn // nil if it is not known
	marks []string
}

// answers sets the replies and the confidence of the hits.
func (a *answer) answers(ctx context.Context) error {
	texts := make([]confidence.Text, len(a.Hits.Hits))
	for i := range a.Hits.Hits {
		h := &a.Hits.Hits[i]
		texts[i] = confidence.Text{Content: h.Preview, Strength: a.from[i].place.Strength}
		if h.Project != "" {
			texts[i].Labels = []string{h.Project}
		}
		f := a.from[i]
		if f.turn == nil || i >= replied {
			continue
		}
		if f.place.Passage != "" {
			texts[i].Content = f.place.Passage
		} else if longer, ok := a.view.Show(logOf(f.place.Log), *f.turn, f.marks, judged); ok {
			texts[i].Content = longer.Preview
		}
		reply, ok, err := a.view.Reply(ctx, logOf(f.place.Log), *f.turn)
		if err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil || !ok { // the log has just been changed
			continue
		}
		said := a.view.Beginning(reply.Spoken, transcript.MaxMaxChars)
		h.Reply, _ = keyword.Excerpt(said, a.query.Text, min(replyChars, a.query.chars()))
		said, _ = keyword.Excerpt(said, a.query.Text, judged)
		texts[i].Content += "\n" + said
	}
	if a.view.Answers == nil {
		return nil
	}
	probabilities, err := a.view.Answers(ctx, a.query.Text, texts)
	if err != nil {
		return err
	}
	best := 0.
	for i, p := range probabilities {
		a.Hits.Hits[i].Confidence = string(confidence.Of(p))
		best = max(best, p)
	}
	if len(probabilities) > 0 {
		a.Hits.Confidence = string(confidence.Of(best))
	}
	return nil
}
