package mesh

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

func TestReflectByExtract(t *testing.T) {
	v := open(t, t.TempDir(), audience.DM(), model(t))
	ids := remember(t, v, greenhouse...)
	r := reflect(t, v, ReflectRequest{Topic: "the irrigation pump"})
	t.Log(r.Content, r.Confidence)
	if !r.Created || r.Method != record.ByExtract || r.Model != "" || r.Topic != "the irrigation pump" || r.Note != "" {
		t.Errorf("got %+v", r)
	}
	var sources []string
	for _, s := range r.Sources {
		sources = append(sources, s.ID)
		if s.Origin != record.Private {
			t.Errorf("origin of %s: %s", s.ID, s.Origin)
		}
	}
	if diff := cmp.Diff(ids[:3], sources[:3]); diff != "" || slices.Contains(sources, ids[5]) {
		t.Errorf("sources %v\n%s", sources, diff)
	}
	if !strings.HasPrefix(r.Content, "Excerpts from ") || !strings.Contains(r.Content, "without a language model") ||
		!strings.Contains(r.Content, "- “With the new filter the irrigation pump has run for ten days without a stop.” ("+ids[2]+", ") {
		t.Error("it quotes, names the sources and says how it was made")
	}
	if r.Confidence <= .2 || r.Confidence >= 1 {
		t.Errorf("confidence %v", r.Confidence)
	}
	hit, err := v.Get(t.Context(), r.MemoryID)
	if err != nil || hit.Type != "reflection" || hit.Visibility != record.Private || hit.Reflection.ReflectionID != r.ReflectionID {
		t.Errorf("as a memory: %+v, %v", hit, err)
	}
	if again := reflect(t, v, ReflectRequest{Topic: "The irrigation pump"}); again.Created || again.MemoryID != r.MemoryID || again.ReflectionID != r.ReflectionID {
		t.Errorf("again: %+v", again)
	}
	remember(t, v, "The irrigation pump got new bearings.")
	if more := reflect(t, v, ReflectRequest{Topic: "the irrigation pump"}); !more.Created || more.MemoryID == r.MemoryID || len(more.Sources) != len(r.Sources)+1 {
		t.Errorf("with another source: %+v", more)
	}
}

// Without an embedding model words decide, and always the same way.
func TestExtractByWords(t *testing.T) {
	var first string
	for range 3 {
		v := open(t, t.TempDir(), audience.DM(), failing{&words{}})
		remember(t, v, greenhouse...)
		r := reflect(t, v, ReflectRequest{Topic: "irrigation pump filter", Lookback: 3})
		var quotes []string
		for part := range strings.SplitSeq(r.Content, "“") {
			if quote, _, ok := strings.Cut(part, "”"); ok {
				quotes = append(quotes, quote)
			}
		}
		got := strings.Join(quotes, "|")
		if first == "" {
			first = got
		}
		if got != first || len(quotes) < 2 || !strings.Contains(got, "filter") || r.Confidence <= 0 {
			t.Errorf("quotes %q, at first %q, confidence %v", got, first, r.Confidence)
		}
	}
}

// failing is an embedder that has no model.
type failing struct{ *words }

func TestSentences(t *testing.T) {
	for text, want := range map[string][]string{
		"One is here. Two is there! Three?": {"One is here.", "Two is there!", "Three?"},
		"- a list item\n- another":          {"a list item", "another"},
		"It costs 4.50 euros, e.g. in May.": {"It costs 4.50 euros, e.g. in May."},
		"# Title\n\ntext without an end":    {"Title", "text without an end"},
		"彼は来た。彼女も来た。":                       {"彼は来た。", "彼女も来た。"},
		" \n ":                              nil,
	} {
		if diff := cmp.Diff(want, sentences(text)); diff != "" {
			t.Errorf("%q:\n%s", text, diff)
		}
	}
}
