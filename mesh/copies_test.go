package mesh

import (
	"slices"
	"strings"
	"testing"

	"github.com/yamo-protocol/yamo-mcp/internal/audience"
	"github.com/yamo-protocol/yamo-mcp/mesh/record"
)

// One statement takes one place in an answer: texts of several sessions, and the extract that quotes them.
func TestOneStatementTakesOnePlace(t *testing.T) {
	v := open(t, t.TempDir(), audience.DM(), new(words))
	for _, session := range []string{"a", "b", "c"} {
		keep(t, v, record.Memory{Content: "The irrigation pump hums at night.", SessionID: session})
	}
	keep(t, v, record.Memory{Content: "The irrigation valve was replaced in May."})
	reflect(t, v, ReflectRequest{Topic: "irrigation"})
	got := texts(t, v, SearchRequest{Query: "irrigation pump"})
	slices.Sort(got)
	want := []string{"The irrigation pump hums at night.", "The irrigation valve was replaced in May."}
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	if got := texts(t, v, SearchRequest{Query: "irrigation pump", Type: "reflection"}); len(got) != 1 {
		t.Errorf("asked for reflections, found %q", got)
	}
}

// One statement in many words takes two places at most as long as others fit.
func TestRepetitionsComeLast(t *testing.T) {
	t.Parallel()
	v := open(t, t.TempDir(), audience.DM(), model(t))
	for _, content := range []string{
		"Ana likes green tea.", "Ana really likes green tea.", "Ana likes green tea a lot.", "Ana likes to drink green tea.",
		"Green tea is what Ana likes.", "Ana is fond of green tea.",
	} {
		keep(t, v, record.Memory{Content: content})
	}
	others := []string{"Ana does not like green tea after six.", "Rui likes tea with milk.", "Ana has tea without sugar."}
	for _, content := range others {
		keep(t, v, record.Memory{Content: content})
	}
	settleVectors(t, v)
	got := texts(t, v, SearchRequest{Query: "What tea does Ana like?"})
	for _, content := range others {
		if !slices.Contains(got[:min(5, len(got))], content) {
			t.Errorf("%q is not among the best of %q", content, got)
		}
	}
	if len(got) != 9 {
		t.Errorf("found %d of 9", len(got))
	}
}

// An extract and a skill that quote a memory are not found any more when it is corrected, and gone when it is deleted.
func TestCopiesOfPastMemories(t *testing.T) {
	const secret, query = "obsidian", "when to open the greenhouse windows"
	setup := func(t *testing.T) (v *View, dir, id string) {
		t.Helper()
		dir = t.TempDir()
		v = open(t, dir, audience.DM(), new(words))
		id = revised(t, v, "Always open the greenhouse windows when the obsidian thermometer shows 30 degrees.").ID
		revised(t, v, "The greenhouse windows must be closed before a storm.")
		reflect(t, v, ReflectRequest{Topic: "greenhouse windows"})
		if _, err := v.Synthesize(t.Context(), SynthesizeRequest{Topic: "greenhouse windows"}); err != nil {
			t.Fatal(err)
		}
		if found := searchSkills(t, v, query); len(found.Skills) != 1 {
			t.Fatalf("%d skills are found, want 1", len(found.Skills))
		}
		return v, dir, id
	}
	none := func(t *testing.T, v *View) {
		t.Helper()
		for _, q := range []SearchRequest{{Query: query}, {Query: query, Type: "reflection"}} {
			for _, text := range texts(t, v, q) {
				if strings.Contains(text, secret) {
					t.Errorf("a search for type %q finds %q", q.Type, text)
				}
			}
		}
		if found := searchSkills(t, v, query); len(found.Skills) != 0 {
			t.Errorf("the skill %q is found", found.Skills[0].Text)
		}
	}
	t.Run("corrected", func(t *testing.T) {
		v, _, id := setup(t)
		texts(t, v, SearchRequest{Query: query}) // fills the cache
		revised(t, v, "Open the greenhouse windows at 25 degrees.", id)
		none(t, v)
	})
	t.Run("deleted", func(t *testing.T) {
		v, dir, id := setup(t)
		settle(t, v)
		if err := v.Delete(t.Context(), id, ""); err != nil {
			t.Fatal(err)
		}
		none(t, v)
		if files := onDisk(t, dir, secret); len(files) > 0 {
			t.Errorf("it is still in %v", files)
		}
		if left, err := v.DerivedFrom(t.Context(), id); err != nil || len(left) > 0 {
			t.Errorf("derived and left: %v, %v", left, err)
		}
	})
}

// Lessons below the minimum confidence, and those that a better one replaced, are no ordinary results.
func TestOnlyGoodLessonsAreResults(t *testing.T) {
	v := open(t, t.TempDir(), audience.DM(), new(words))
	learn := func(rule, pattern string, confidence float64) {
		t.Helper()
		q := sampleLesson()
		q.PreventativeRule, q.ErrorPattern, q.Confidence = rule, pattern, &confidence
		if _, err := v.Distill(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	learn("quote the shell variables", "quoting", .7)
	learn("quote all shell variables and run shellcheck", "quoting", .95)
	learn("avoid shell scripts", "guess", .3)
	got := texts(t, v, SearchRequest{Query: "shell"})
	if len(got) != 1 || !strings.HasPrefix(got[0], "quote all") {
		t.Errorf("found %q", got)
	}
	if got := texts(t, v, SearchRequest{Query: "shell", Type: "lesson"}); len(got) != 2 {
		t.Errorf("asked for lessons, found %q", got)
	}
}

func TestFactsMakeNoSkill(t *testing.T) {
	v := open(t, t.TempDir(), audience.DM(), new(words))
	keep(t, v, record.Memory{Content: "Ana lives in Lisbon."})
	_, err := v.Synthesize(t.Context(), SynthesizeRequest{Topic: "Ana"})
	wantFault(t, err, "topic:", "lesson")
	keep(t, v, record.Memory{Content: "When Ana visits, make sure there is tea."})
	if _, err := v.Synthesize(t.Context(), SynthesizeRequest{Topic: "Ana"}); err != nil {
		t.Errorf("an instruction makes no skill: %v", err)
	}
}
