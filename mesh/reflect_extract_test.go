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
	t.Parallel()
	v := open(t, t.TempDir(), audience.DM(), model(t))
	ids := remember(t, v, greenhouse...)
	r := reflect(t, v, ReflectRequest{Topic: "the irrigation pump"})
	t.Log(r.Content, r.Confidence)
	switch {
	case !r.Created:
		t.Error("r.Created is false")
	case r.Method != record.ByExtract:
		t.Errorf("r.Method = %v, want %v", r.Method, record.ByExtract)
	case r.Model != "":
		t.Errorf(`r.Model = %v, want ""`, r.Model)
	case r.Topic != "the irrigation pump":
		t.Errorf(`r.Topic = %v, want "the irrigation pump"`, r.Topic)
	case r.Note != "":
		t.Errorf(`r.Note = %v, want ""`, r.Note)
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
	switch {
	case !strings.HasPrefix(r.Content, "Excerpts from "):
		t.Errorf(`r.Content does not begin with "Excerpts from ": %s`, r.Content)
	case !strings.Contains(r.Content, "without a language model"):
		t.Errorf(`r.Content does not contain "without a language model": %s`, r.Content)
	case !strings.Contains(r.Content, "- “With the new filter the irrigation pump has run for ten days without a "+
		"stop.” ("+ids[2]+", "):
		t.Error(`strings.Contains(r.Content, "- “With the new filter the irrigation pump has run …) is false`)
	}
	if r.Confidence <= .2 || r.Confidence >= 1 {
		t.Errorf("confidence %v", r.Confidence)
	}
	hit, err := v.Get(t.Context(), r.MemoryID)
	switch {
	case err != nil:
		t.Fatal(err)
	case hit.Type != "reflection":
		t.Errorf(`hit.Type = %v, want "reflection"`, hit.Type)
	case hit.Visibility != record.Private:
		t.Errorf("hit.Visibility = %v, want %v", hit.Visibility, record.Private)
	case hit.Reflection.ReflectionID != r.ReflectionID:
		t.Errorf("hit.Reflection.ReflectionID = %v, want %v", hit.Reflection.ReflectionID, r.ReflectionID)
	}
	switch again := reflect(t, v, ReflectRequest{Topic: "The irrigation pump"}); {
	case again.Created:
		t.Error("again.Created is true")
	case again.MemoryID != r.MemoryID:
		t.Errorf("again.MemoryID = %v, want %v", again.MemoryID, r.MemoryID)
	case again.ReflectionID != r.ReflectionID:
		t.Errorf("again.ReflectionID = %v, want %v", again.ReflectionID, r.ReflectionID)
	}
	remember(t, v, "The irrigation pump got new bearings.")
	switch more := reflect(t, v, ReflectRequest{Topic: "the irrigation pump"}); {
	case !more.Created:
		t.Error("more.Created is false")
	case more.MemoryID == r.MemoryID:
		t.Errorf("more.MemoryID = %v, must not be r.MemoryID", more.MemoryID)
	case len(more.Sources) != len(r.Sources)+1:
		t.Errorf("len(more.Sources) = %v, want %v", len(more.Sources), len(r.Sources)+1)
	}
}

// Without an embedding model words decide, and always the same way.
func TestExtractByWords(t *testing.T) {
	t.Parallel()
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
		switch {
		case got != first:
			t.Errorf("got = %v, want %v", got, first)
		case len(quotes) < 2:
			t.Errorf("len(quotes) = %v, must not be < 2", len(quotes))
		case !strings.Contains(got, "filter"):
			t.Errorf(`got does not contain "filter": %s`, got)
		case r.Confidence <= 0:
			t.Errorf("r.Confidence = %v, must not be <= 0", r.Confidence)
		}
	}
}

// failing is an embedder that has no model.
type failing struct{ *words }
