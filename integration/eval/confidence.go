package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/yamo-protocol/yamo-mcp/internal/conversation"
	"github.com/yamo-protocol/yamo-mcp/mesh"
	"github.com/yamo-protocol/yamo-mcp/mesh/confidence"
	"github.com/yamo-protocol/yamo-mcp/mesh/confidence/confidencetest"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/index"
)

// aboutOther is LoCoMo's category of questions about the person who did not do what is asked for: nothing answers them.
const aboutOther = 5

// asking returns the probability that what is found answers a question.
type asking func(ctx context.Context, question string) (float64, error)

// judgement is the probabilities of the answers to the questions of some conversations.
type judgement struct{ answerable, other, elsewhere []float64 }

// measureConfidence prints how well the confidence of memories and of turns tells questions that a conversation answers
// from others: those about the other person, and those of another conversation with the names replaced. Every second
// question is asked.
func measureConfidence(ctx context.Context, embedder index.Embedder, dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "locomo*.json"))
	if err != nil || len(files) != 1 {
		return fmt.Errorf("%d files locomo*.json in %q: give a folder with one", len(files), dir)
	}
	raw, err := os.ReadFile(files[0])
	if err != nil {
		return err
	}
	dialogs, err := readLoCoMo(raw)
	if err != nil {
		return err
	}
	systems := []struct {
		name string
		open func(context.Context, index.Embedder, dialog) (asking, func(), error)
	}{{"memory_search", askMemory}, {"session_logs", askTurns}}
	for _, system := range systems {
		halves := [2]judgement{}
		for i, d := range dialogs {
			ask, end, err := system.open(ctx, embedder, d)
			if err != nil {
				return err
			}
			err = halves[i%2].ask(ctx, ask, d, dialogs[(i+1)%len(dialogs)])
			end()
			if err != nil {
				return err
			}
			fmt.Fprintf(os.Stderr, "%s: conversation %d of %d\n", system.name, i+1, len(dialogs))
		}
		for i, name := range []string{"odd conversations", "even conversations"} {
			fmt.Printf("%s, %s\n", system.name, name)
			if err := halves[i].print(); err != nil {
				return err
			}
		}
	}
	return nil
}

// ask adds every second question of a conversation, and of another one.
func (j *judgement) ask(ctx context.Context, ask asking, d, another dialog) error {
	names := strings.NewReplacer(another.speakers[0], d.speakers[0], another.speakers[1], d.speakers[1])
	for _, of := range []struct {
		into      *[]float64
		questions []question
		wanted    func(question) bool
		names     *strings.Replacer
	}{
		{&j.answerable, d.questions, func(q question) bool { return q.category != aboutOther }, strings.NewReplacer()},
		{&j.other, d.questions, func(q question) bool { return q.category == aboutOther }, strings.NewReplacer()},
		{&j.elsewhere, another.questions, func(q question) bool { return q.category != aboutOther }, names},
	} {
		kept := slices.DeleteFunc(slices.Clone(of.questions), func(q question) bool { return !of.wanted(q) })
		for i := 0; i < len(kept); i += 2 {
			p, err := ask(ctx, of.names.Replace(kept[i].text))
			if err != nil {
				return err
			}
			*of.into = append(*of.into, p)
		}
	}
	return nil
}

// print writes the separation of the questions, and how often those of a probability are answered.
func (j *judgement) print() error {
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "  unanswerable\tquestions\tAUC\tlikely\tpossible or likely")
	for _, of := range []struct {
		name string
		list []float64
	}{{"about the other person", j.other}, {"of another conversation", j.elsewhere}} {
		s := confidencetest.Scores{Answerable: j.answerable, Unanswerable: of.list}
		yes, no := s.From(confidence.LikelyFrom)
		maybe, wrongly := s.From(confidence.PossibleFrom)
		fmt.Fprintf(table, "  %s\t%d + %d\t%.3f\t%.2f / %.2f\t%.2f / %.2f\n", of.name, len(s.Answerable),
			len(s.Unanswerable), s.AUC(), yes, no, maybe, wrongly)
	}
	fmt.Fprintln(table, "  p\tquestions\tanswered\tmean p")
	for low := 0.; low < .99; low += .2 {
		in := func(list []float64) (n, sum float64) {
			for _, p := range list {
				if p >= low && (p < low+.2 || low > .79) {
					n, sum = n+1, sum+p
				}
			}
			return n, sum
		}
		yes, sumYes := in(j.answerable)
		no, sumNo := in(j.elsewhere)
		fmt.Fprintf(table, "  from %.1f\t%.0f\t%.2f\t%.2f\n", low, yes+no, yes/max(1, yes+no), (sumYes+sumNo)/max(1, yes+no))
	}
	return table.Flush()
}

// askMemory asks memory_search, where each turn is a memory.
func askMemory(ctx context.Context, embedder index.Embedder, d dialog) (asking, func(), error) {
	view, _, end, err := stored(ctx, embedder, d)
	return func(ctx context.Context, question string) (float64, error) {
		found, err := view.Search(ctx, mesh.SearchRequest{Query: question, Limit: 10})
		best := 0.
		for _, h := range found.Hits {
			best = max(best, h.Probability)
		}
		return best, err
	}, end, err
}

// askTurns asks session_logs, where the turns are in transcripts only.
func askTurns(ctx context.Context, embedder index.Embedder, d dialog) (asking, func(), error) {
	if _, ok := embedder.(embed.Tokenwise); !ok {
		return nil, nil, embed.ErrNoTokens
	}
	view, end, err := logged(ctx, embedder, d)
	if err != nil {
		return nil, nil, err
	}
	best, estimate := 0., view.Answers
	view.Answers = func(ctx context.Context, query string, texts []confidence.Text) ([]float64, error) {
		list, err := estimate(ctx, query, texts)
		best = slices.Max(append(list, 0))
		return list, err
	}
	return func(ctx context.Context, question string) (float64, error) {
		best = 0
		_, err := view.Search(ctx, conversation.Query{Text: question, Limit: 10})
		return best, err
	}, end, nil
}
