package mesh

import (
	"slices"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh/confidence"
	"github.com/yamo-protocol/yamo-mcp/mesh/confidence/confidencetest"
	"github.com/yamo-protocol/yamo-mcp/mesh/embed"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// The lessons that the coefficients were not fitted to, with the real model, in memories of five: a task that one
// applies to must find it, and any other task, most of which have a word of it, must find none.
func TestLessonsApply(t *testing.T) {
	held := slices.Clone(confidencetest.Lessons())
	for i := range len(held) / 2 {
		held[i] = held[2*i+1]
	}
	scores, found := applying(t, slices.Collect(slices.Chunk(held[:len(held)/2], 5)))
	applied, wrong := scores.From(confidence.PossibleFrom)
	certain, certainlyWrong := scores.From(confidence.LikelyFrom)
	t.Logf("AUC %.3f; possible: %.2f of those that apply, %.2f of others; likely: %.2f, %.2f; lessons found: %d",
		scores.AUC(), applied, wrong, certain, certainlyWrong, found)
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"AUC", scores.AUC(), .85},
		{"the share of tasks with their lesson", applied, .79},
		{"the share of others without a lesson", 1 - wrong, .8},
		{"the share of others without a likely lesson", 1 - certainlyWrong, .92},
	} {
		if c.got < c.want {
			t.Errorf("%s is %.3f, want at least %v", c.what, c.got, c.want)
		}
	}
}

// applying returns the probability of each task's lesson in a memory of its group, of other tasks the highest of any
// lesson, and how many lessons were found; 0 for those that a search leaves out.
func applying(t *testing.T, groups [][]confidencetest.Lesson) (scores confidencetest.Scores, found int) {
	t.Helper()
	e := embed.Cached(model(t), 0)
	for _, group := range groups {
		v := open(t, t.TempDir(), audience.DM(), e)
		for _, l := range group {
			if _, err := v.Distill(t.Context(), record.LessonRequest{
				Situation: l.Situation, ErrorPattern: l.ErrorPattern, Oversight: l.Oversight, Fix: l.Fix,
				PreventativeRule: l.Rule, Severity: "high", ApplicableScope: l.Scope,
			}); err != nil {
				t.Fatal(err)
			}
		}
		settle(t, v)
		ask := func(task, rule string) (best float64) {
			for _, h := range search(t, v, SearchRequest{Query: task, IncludeLessons: true}).Lessons {
				found++
				if rule == "" || rule == h.Lesson.PreventativeRule {
					best = max(best, h.Probability)
				}
			}
			return best
		}
		for _, l := range group {
			for _, task := range l.Applies {
				scores.Answerable = append(scores.Answerable, ask(task, l.Rule))
			}
			for _, task := range l.Other {
				scores.Unanswerable = append(scores.Unanswerable, ask(task, ""))
			}
		}
	}
	return scores, found
}
