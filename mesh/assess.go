package mesh

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/yamo-protocol/yamo-mcp/mesh/confidence"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/keyword"
	"github.com/yamo-protocol/yamo-mcp/mesh/rank"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

const (
	// assessed is the maximum number of results whose words are compared with the query's. What ranks below them is no
	// more confident than the least confident of them.
	assessed = 10
	// deciding is the number of first results that decide how confident the whole answer is. None below them is more
	// confident than the best of them: among many results one fits by chance.
	deciding = 5
	// passage is the maximum length in characters of what is read of a result: the passage that the query is about.
	passage = 400
)

// candidate is a text that may answer a query.
type candidate struct {
	text     string
	passage  string  // what is compared with the query instead of text, such as the part of a long one that it is about
	occasion string  // what a rule or a procedure says of when it applies; "" is all of it
	strength float64 // the ranking's score, 0..1
}

// assess returns the probability of each candidate, which are in the ranking's order, that it answers the query, as
// estimate computes it. Only the end of ctx is an error.
func (v *View) assess(
	ctx context.Context, query string, list []candidate, estimate func(confidence.Features) float64,
) ([]float64, error) {
	sentences := confidence.Sentences(query)
	texts := make([]string, 0, len(sentences)+assessed)
	for _, s := range sentences {
		texts = append(texts, s.Text)
	}
	cut := make([]bool, len(list))
	for i, c := range list[:min(assessed, len(list))] {
		text := c.passage
		if text == "" {
			text, cut[i] = keyword.Excerpt(c.text, query, passage)
		}
		texts = append(texts, text)
	}
	for i := range sentences {
		sentences[i].Hear(texts[len(sentences):])
	}
	occasions := make([]int, len(list)) // their places in texts
	for i, c := range list[:min(assessed, len(list))] {
		occasions[i] = len(sentences) + i
		if c.occasion != "" {
			occasions[i], texts = len(texts), append(texts, c.occasion)
		}
	}
	tokens, err := v.tokens(ctx, texts)
	if err != nil {
		return nil, err
	}
	probabilities := make([]float64, len(list))
	best, least := 0., 1.
	for i, c := range list {
		rough := 0.
		for _, s := range sentences {
			f := s.Expects(c.text)
			f.Strength, f.Rough = c.strength, true
			rough = max(rough, estimate(f))
		}
		if i >= assessed {
			probabilities[i] = min(least, rough)
			continue
		}
		p := 0.
		if tokens == nil || cut[i] { // the passage may be another one than that with the answer
			p = rough
		}
		for j := range tokens[:min(len(sentences), len(tokens))] {
			at := len(sentences) + i
			f := sentences[j].Compare(
				confidence.Tokens(tokens[j]), confidence.Tokens(tokens[at]), texts[at], c.strength)
			f.Occasion = dot(tokens[j].Mean, tokens[occasions[i]].Mean)
			p = max(p, estimate(f))
		}
		if i < deciding {
			best = max(best, p)
		}
		probabilities[i] = min(p, best)
		least = min(least, p)
	}
	return probabilities, nil
}

// tokens returns the vectors of the texts' tokens, nil if the embedder has none. Only the end of ctx is an error.
//
// SECURITY: the embedder, with its cache of tokens, belongs to one audience, as its cache of vectors does.
func (v *View) tokens(ctx context.Context, texts []string) ([]embed.Tokens, error) {
	e, ok := v.Embedder.(embed.Tokenwise)
	if !ok {
		return nil, nil
	}
	tokens, err := e.Tokens(ctx, texts)
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil && !errors.Is(err, embed.ErrNoTokens) && !errors.Is(err, embed.ErrNoAssets) {
		v.Logger.Warn("compare the words of the results with the query's; their confidence is rough", "error", err)
	}
	return tokens, nil
}

// Answers returns the probability of each text, the best ranked first, that it answers a query, estimated as that of a
// memory is. Only the end of ctx is an error.
func (v *View) Answers(ctx context.Context, query string, texts []confidence.Text) ([]float64, error) {
	list := make([]candidate, len(texts))
	for i, t := range texts {
		text := labelled(query, t.Labels, t.Content)
		list[i] = candidate{text: text, passage: text, strength: t.Strength}
	}
	return v.assess(ctx, query, list, confidence.Question)
}

// byTime is the probability of what answers by its time and not by its words: likely. vaguelyByTime is that of what
// fits the time by less than vagueShare: possible. What is ofAnotherTime is unlikely.
const (
	byTime        = (1 + confidence.LikelyFrom) / 2
	vaguelyByTime = (confidence.LikelyFrom + confidence.PossibleFrom) / 2
	vagueShare    = .8
	ofAnotherTime = confidence.PossibleFrom / 2
)

// allOf returns how well a memory fits the time that the query names, 0 to 1, if the query asks for all of that time:
// "What did I do?" without its "last Tuesday". Otherwise it returns nil.
func allOf(query string, f rank.Filter) func(*record.Record) float32 {
	if f.Prefer == nil || !keyword.AsksAll(query) {
		return nil
	}
	return f.Prefer
}

// timely returns up to limit of the candidates that f admits: first those that fit the time that the query asks for all
// of, so that others with more of its words do not displace them, and then of others.
func timely(
	candidates *rank.Candidates, limit int, f rank.Filter, all func(*record.Record) float32, others []record.Hit,
) []record.Hit {
	admit := f.Admit
	f.AllOrdinary, f.Lance = false, nil
	f.Admit = func(r *record.Record) bool { return all(r) > 0 && (admit == nil || admit(r)) }
	hits := candidates.Top(limit, f)
	for _, h := range others {
		if len(hits) < limit && all(h.Record) == 0 {
			hits = append(hits, h)
		}
	}
	return hits
}

// assessTime is assessHits for a query that asks for all of a time, which leaves no words to compare: all is that of
// allOf. What fits the time best comes first.
func (v *View) assessTime(
	hits []record.Hit, all func(*record.Record) float32, least confidence.Level,
) []record.Hit {
	probability := func(h record.Hit) float64 {
		switch share := all(h.Record); {
		case share >= vagueShare:
			return byTime
		case share > 0:
			return vaguelyByTime
		}
		return ofAnotherTime
	}
	slices.SortStableFunc(hits, func(a, b record.Hit) int { return cmp.Compare(probability(b), probability(a)) })
	probabilities := make([]float64, len(hits))
	for i, h := range hits {
		probabilities[i] = probability(h)
	}
	return v.conclude(hits, probabilities, least)
}

// assessHits sets the probability of each hit that it answers the query, and returns those of at least a level.
func (v *View) assessHits(
	ctx context.Context, query string, hits []record.Hit, least confidence.Level,
) ([]record.Hit, error) {
	list := make([]candidate, len(hits))
	for i, h := range hits {
		list[i] = candidate{
			text: labelled(query, h.Labels(), h.Content), passage: labelled(query, h.Labels(), h.Passage), strength: h.Score,
		}
	}
	probabilities, err := v.assess(ctx, query, list, confidence.Question)
	if err != nil {
		return nil, err
	}
	if !replacedTexts(query, hits, list) {
		return v.conclude(hits, probabilities, least), nil
	}
	before, err := v.assess(ctx, query, list, confidence.Question)
	if err != nil {
		return nil, err
	}
	for i := range probabilities {
		probabilities[i] = max(probabilities[i], before[i])
	}
	return v.conclude(hits, probabilities, least), nil
}

// assessLessons sets the probability of each lesson that it applies to the query, and returns those of at least a
// level. The names of a lesson's fields, which are in its content, would make all lessons alike.
func (v *View) assessLessons(
	ctx context.Context, query string, hits []record.Hit, least confidence.Level,
) ([]record.Hit, error) {
	list := make([]candidate, len(hits))
	for i, h := range hits {
		l := h.Lesson
		list[i] = candidate{
			text: h.Content, strength: h.Score, occasion: l.Situation + "\n" + l.ApplicableScope,
			passage: strings.Join([]string{
				l.PreventativeRule, l.Situation, l.ErrorPattern, l.Oversight, l.Fix, l.ApplicableScope,
			}, "\n"),
		}
	}
	probabilities, err := v.assess(ctx, query, list, confidence.Task)
	if err != nil {
		return nil, err
	}
	return v.conclude(hits, probabilities, least), nil
}

// replacedTexts puts the statement that a hit replaced, or says is not so any more, in its place in list, and reports
// whether one did: what answers a question answered by "Rui works as a nurse" is what replaced that, "He retired.".
func replacedTexts(query string, hits []record.Hit, list []candidate) (found bool) {
	for i, h := range hits {
		before := h.Corrects
		if n := len(h.Replaced); n > 0 {
			before = h.Replaced[n-1].Content
		}
		if before != "" && len(before) <= passage {
			list[i].text, list[i].passage, found = labelled(query, h.Labels(), before), "", true
		}
	}
	return found
}

// conclude sets the hits' probabilities and returns those of at least a level. Their score becomes the probability that
// they or a later one answer the query, except for RFC-0011's ranking, which defines the score.
func (v *View) conclude(hits []record.Hit, probabilities []float64, least confidence.Level) []record.Hit {
	rest := 0.
	for i := len(hits) - 1; i >= 0; i-- {
		hits[i].Strength, hits[i].Probability = hits[i].Score, probabilities[i]
		if rest = max(rest, probabilities[i]); v.Ranking != rank.RFC0011 {
			hits[i].Score = rank.Round(float32(rest))
		}
	}
	return slices.DeleteFunc(hits, func(h record.Hit) bool { return !confidence.Of(h.Probability).AtLeast(least) })
}
